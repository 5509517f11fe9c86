/* Compares with the rules of org.apache.hadoop.conf.Configuration. */
#include "io/fs/hadoop_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static struct strmap environment;

static const char *env(const char *name)
{
        return strmap_get(&environment, name);
}

static void assert_value(const struct hadoop_conf *conf, const char *key, const char *expected)
{
        _cleanup_free_ char *value = hadoop_conf_get(conf, key);
        if (!expected)
                assert_null(value);
        else if (!value)
                fail_msg("%s has no value", key);
        else
                assert_string_equal(value, expected);
}

static void parse(struct hadoop_conf *conf, const char *text)
{
        struct fst_error error = FST_ERROR_INIT;
        if (hadoop_conf_parse(conf, text, strlen(text), "x.xml", &error) < 0)
                fail_msg("%s", error_message(&error));
}

static void reads_properties(void **state)
{
        struct hadoop_conf conf;
        hadoop_conf_init(&conf, env);
        parse(&conf,
              "<?xml version=\"1.0\"?><configuration>\n"
              "<property><name> a </name><value> 1 </value><source>me</source></property>\n"
              "<property name=\"b\" value=\"2\"/>\n"
              "<property><name>c</name><value>3</value><final>true</final></property>\n"
              "<property><name>d</name><value></value></property><property name=\"f\" value=\"\"/><property><name>e</name></property>\n"
              "<property><name>fs.default.name</name><value>hdfs://nn</value></property>"
              "<property><name>x</name><value>a&amp;b<!-- no -->c</value></property>"
              "<configuration><property><name>y</name><value>inner</value></property></configuration>"
              "</configuration>");
        parse(&conf, "<configuration><property><name>a</name><value>new</value></property>"
                     "<property><name>b</name><value/></property>"
                     "<property><name>c</name><value>new</value></property></configuration>");
        assert_value(&conf, "a", "new");
        assert_value(&conf, "b", "2");
        assert_value(&conf, "c", "3"); /* final */
        assert_value(&conf, "d", NULL);
        assert_value(&conf, "f", "");
        assert_value(&conf, "e", NULL);
        assert_value(&conf, "fs.defaultFS", "hdfs://nn");
        assert_value(&conf, "fs.default.name", "hdfs://nn");
        assert_value(&conf, "x", "a&bc");
        assert_value(&conf, "y", "inner");
        hadoop_conf_set(&conf, "c", "ours");
        assert_value(&conf, "c", "ours");
        hadoop_conf_deinit(&conf);
}

static void expands_variables(void **state)
{
        struct hadoop_conf conf;
        hadoop_conf_init(&conf, env);
        strmap_set(&environment, "SET", "from-env");
        strmap_set(&environment, "EMPTY", "");
        strmap_set(&environment, "HADOOP_USER_NAME", "jo");
        static const char *const cases[][2] = {
                {"${host}:1", "nn:1"},
                {"${a}${b}", "${b}${b}"}, /* stops at unknown variables */
                {"${in${x}}", "inner"},
                {"${loop}", "${loop}"},
                {"${env.SET}", "from-env"},
                {"${env.NONE}", "${env.NONE}"},
                {"${env.NONE-x}", "x"},
                {"${env.EMPTY-x}", ""},
                {"${env.EMPTY:-x}", "x"},
                {"/user/${user.name}", "/user/jo"},
                {"${}", "${}"},
                {"$host ${a b}", "$host ${a b}"},
        };
        hadoop_conf_set(&conf, "host", "nn");
        hadoop_conf_set(&conf, "a", "${b}");
        hadoop_conf_set(&conf, "x", "side");
        hadoop_conf_set(&conf, "inside", "inner");
        hadoop_conf_set(&conf, "loop", "${loop}");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                hadoop_conf_set(&conf, "case", cases[i][0]);
                assert_value(&conf, "case", cases[i][1]);
        }
        hadoop_conf_set(&conf, "flag", " TRUE ");
        assert_true(hadoop_conf_flag(&conf, "flag", false));
        hadoop_conf_set(&conf, "flag", "yes");
        assert_false(hadoop_conf_flag(&conf, "flag", false));
        assert_true(hadoop_conf_flag(&conf, "none", true));
        hadoop_conf_deinit(&conf);
        strmap_deinit(&environment);
}

static void rejects_invalid_files(void **state)
{
        static const char *const cases[][2] = {
                {"<configuration>", "error parsing conf x.xml: line 1: no element found"},
                {"<!DOCTYPE c [<!ENTITY a \"b\">]><c>&a;</c>",
                 "error parsing conf x.xml: line 1: entity declarations are not accepted; remove the DOCTYPE"},
                {"nothing", "error parsing conf x.xml: line 1: syntax error"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct hadoop_conf conf;
                hadoop_conf_init(&conf, env);
                assert_int_equal(hadoop_conf_parse(&conf, cases[i][0], strlen(cases[i][0]), "x.xml", &error), -EINVAL);
                assert_string_equal(error_message(&error), cases[i][1]);
                error_deinit(&error);
                hadoop_conf_deinit(&conf);
        }
}

static void write_file(const char *name, const char *text)
{
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
}

static void merges_files_environment_and_spark(void **state)
{
        struct hadoop_conf conf;
        struct strmap spark = STRMAP_INIT;
        struct fst_error error = FST_ERROR_INIT;
        write_file("core-site.xml", "<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">"
                                    "<xi:include href=\"more.xml\"/>"
                                    "<property><name>fs.defaultFS</name><value>hdfs://ns</value><final>true</final>"
                                    "</property></configuration>");
        write_file("more.xml", "<configuration><property><name>m</name><value>1</value></property></configuration>");
        write_file("hdfs-site.xml", "<configuration><property><name>dfs.nameservices</name><value>ns</value></property>"
                                    "<property><name>fs.defaultFS</name><value>no</value></property></configuration>");
        strmap_set(&environment, "SPARK_HOME", "/nowhere");
        strmap_set(&environment, "HADOOP_CONF_DIR", "/nowhere/else");
        strmap_set(&environment, "YARN_CONF_DIR", temp_dir);
        strmap_set(&environment, "AWS_ACCESS_KEY_ID", "id");
        strmap_set(&environment, "AWS_SECRET_ACCESS_KEY", "secret");
        strmap_set(&environment, "AWS_SESSION_TOKEN", "token");
        strmap_set(&spark, "spark.hadoop.fs.s3a.endpoint", "here:9000");
        strmap_set(&spark, "spark.hadoop.fs.defaultFS", "s3a://b");
        strmap_set(&spark, "spark.other", "no");
        hadoop_conf_init(&conf, env);
        assert_int_equal(hadoop_conf_load(&conf, NULL, &error), 0);
        assert_value(&conf, "fs.defaultFS", "hdfs://ns");
        assert_value(&conf, "dfs.nameservices", "ns");
        assert_value(&conf, "m", "1");
        assert_value(&conf, "fs.s3a.access.key", "id");
        assert_value(&conf, "fs.s3n.awsSecretAccessKey", "secret");
        assert_value(&conf, "fs.s3a.session.token", "token");
        assert_value(&conf, "fs.s3a.endpoint", NULL);
        assert_int_equal(hadoop_conf_load(&conf, &spark, &error), 0);
        assert_value(&conf, "fs.defaultFS", "s3a://b");
        assert_value(&conf, "fs.s3a.endpoint", "here:9000");
        assert_value(&conf, "other", NULL);
        hadoop_conf_deinit(&conf);
        /* YARN's files, of which the last one has the resource types. */
        write_file("yarn-site.xml",
                   "<configuration><property><name>m</name><value>2</value></property></configuration>");
        write_file("mapred-site.xml", "<configuration><property><name>m</name><value>0</value></property><property>"
                                      "<name>of.mapred</name><value>yes</value></property></configuration>");
        write_file("resource-types.xml", "<configuration><property><name>yarn.resource-types</name><value>w</value>"
                                         "</property></configuration>");
        hadoop_conf_init(&conf, env);
        assert_int_equal(hadoop_conf_load(&conf, NULL, &error), 0);
        assert_value(&conf, "yarn.resource-types", NULL);
        assert_int_equal(hadoop_conf_load_yarn(&conf, NULL, &error), 0);
        assert_value(&conf, "m", "2");
        assert_value(&conf, "of.mapred", "yes");
        assert_value(&conf, "yarn.resource-types", "w");
        hadoop_conf_deinit(&conf);
        /* Files that include each other, and a missing file. */
        write_file("more.xml", "<configuration><include href=\"core-site.xml\"/></configuration>");
        hadoop_conf_init(&conf, env);
        assert_int_equal(hadoop_conf_load(&conf, NULL, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "include each other"));
        write_file("more.xml", "<configuration><include href=\"missing.xml\"/></configuration>");
        assert_int_equal(hadoop_conf_load(&conf, NULL, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "missing.xml"));
        hadoop_conf_deinit(&conf);
        error_deinit(&error);
        strmap_deinit(&spark);
        strmap_deinit(&environment);
}

static int make_folder(void **state)
{
        return temp_dir_make(state);
}

static int remove_folder(void **state)
{
        static const char *const files[] = {"core-site.xml", "hdfs-site.xml", "more.xml"};
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                char path[128];
                snprintf(path, sizeof(path), "%s/%s", temp_dir, files[i]);
                unlink(path);
        }
        return rmdir(temp_dir);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_properties),
                cmocka_unit_test(expands_variables),
                cmocka_unit_test(rejects_invalid_files),
                cmocka_unit_test(merges_files_environment_and_spark),
        };
        return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
