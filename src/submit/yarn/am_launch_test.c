/* The container of the ApplicationMaster: command, quoting, environment and class path, as Spark 4.3 builds them. */
#include "submit/yarn/am_launch.h"

#include "yarn/application/yarn_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct fst_conf conf;
static struct yarn_settings settings;
static struct hadoop_conf hadoop;
static struct am_arguments arguments;
static struct am_launch launch;
static struct fst_error error;
static struct string_list archives;
static const char *const *variables;

static const char *env(const char *name)
{
        const size_t n = strlen(name);
        for (const char *const *v = variables; v && *v; v++)
                if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
                        return *v + n + 1;
        return NULL;
}

static int teardown(void **state)
{
        conf_deinit(&conf);
        yarn_settings_deinit(&settings);
        hadoop_conf_deinit(&hadoop);
        am_arguments_deinit(&arguments);
        am_launch_deinit(&launch);
        string_list_deinit(&archives);
        error_deinit(&error);
        variables = NULL;
        return 0;
}

static int setup(void **state)
{
        conf_init(&conf);
        conf_set(&conf, "spark.submit.deployMode", "cluster");
        hadoop_conf_init(&hadoop, env);
        return 0;
}

/* Parses the client's arguments, which end with NULL. */
static void given(const char *const *words)
{
        size_t n = 0;
        while (words[n])
                n++;
        assert_int_equal(am_arguments_parse(&arguments, (char *const *)words, n, &error), 0);
}
#define GIVEN(...) given((const char *const[]){__VA_ARGS__, NULL})

static int build(void)
{
        const struct am_launch_request q = {
                .conf = &conf,
                .hadoop = &hadoop,
                .arguments = &arguments,
                .settings = &settings,
                .env = env,
                .staging = "hdfs://nn/user/me/.sparkStaging/application_1_0002",
                .user = "me",
                .application_id = "application_1_0002",
                .python_archives = &archives,
        };
        assert_int_equal(yarn_settings_read(&settings, &conf, &error), 0);
        return am_launch_build(&launch, &q, &error);
}

/* The command, joined by blanks as YARN does. */
static char *command(void)
{
        struct buf text = BUF_INIT;
        for (size_t i = 0; i < launch.container.command.len; i++)
                buf_printf(&text, "%s%s", i ? " " : "", launch.container.command.data[i]);
        return buf_steal(&text);
}

static void assert_command_has(const char *part)
{
        _cleanup_free_ char *text = command();
        if (!strstr(text, part))
                fail_msg("\"%s\" is not in \"%s\"", part, text);
}

#define MODULES                                                                                                            \
        "-XX:+IgnoreUnrecognizedVMOptions --add-modules=jdk.incubator.vector --add-opens=java.base/java.lang=ALL-UNNAMED " \
        "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED --add-opens=java.base/java.lang.reflect=ALL-UNNAMED "          \
        "--add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/java.net=ALL-UNNAMED "                            \
        "--add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED "                          \
        "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED "                                                          \
        "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED "                                                   \
        "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED "                 \
        "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED --add-opens=java.base/sun.security.action=ALL-UNNAMED "              \
        "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED "                                                             \
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED -Dio.netty.tryReflectionSetAccessible=true "         \
        "-Dio.netty.allocator.type=pooled -Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE "               \
        "--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED"

/* `firesteel yarn-am` runs the driver of a native application. */
static void starts_native_applications(void **state)
{
        conf_set(&conf, "spark.yarn.appMasterEnv.A", "1");
        GIVEN("--jar", "/home/me/my app.so", "--class", "main", "--arg", "b c", "--arg", "$HOME {{x}}");
        const struct am_launch_request q = {.conf = &conf,
                                            .hadoop = &hadoop,
                                            .arguments = &arguments,
                                            .settings = &settings,
                                            .env = env,
                                            .staging = "hdfs://nn/s",
                                            .user = "me",
                                            .application_id = "application_1_0002",
                                            .native = true};
        assert_int_equal(am_launch_build(&launch, &q, &error), 0);
        _cleanup_free_ char *text = command();
        assert_string_equal(text,
                            "LD_LIBRARY_PATH='{{PWD}}/__firesteel__/lib' exec __firesteel__/bin/firesteel yarn-am "
                            "--class 'main' --jar 'my app.so' --arg 'b c' --arg '\\$HOME {''{x}''}' "
                            "--properties-file {{PWD}}/__spark_conf__/__spark_conf__.properties --dist-cache-conf "
                            "{{PWD}}/__spark_conf__/__spark_dist_cache__.properties 1> <LOG_DIR>/stdout 2> "
                            "<LOG_DIR>/stderr");
        assert_string_equal(strmap_get(&launch.container.environment, "A"), "1");
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_USER"), "me");
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_YARN_STAGING_DIR"), "hdfs://nn/s");
        assert_string_equal(strmap_get(&launch.container.environment, "HADOOP_CONF_DIR"),
                            "{{PWD}}/__spark_conf__/__hadoop_conf__");
        assert_string_equal(strmap_get(&launch.container.environment, "SASL_PATH"), "{{PWD}}/__firesteel__/lib/sasl2");
        assert_null(strmap_get(&launch.container.environment, "CLASSPATH"));
}

/* … and that of a program in Python, with its modules on PYTHONPATH. */
static void starts_native_programs_in_python(void **state)
{
        static const char *const set[] = {"PYSPARK_PYTHON=/opt/python", "PYTHONPATH=/mine", NULL};
        struct string_list fallback = {0};
        conf_set(&conf, "spark.yarn.isPython", "true");
        conf_set(&conf, "spark.yarn.dist.pyFiles", "file:/me/first.py,hdfs://nn/second.zip");
        conf_set(&conf, "spark.yarn.appMasterEnv.PYSPARK_DRIVER_PYTHON", "./env/bin/python");
        variables = set;
        GIVEN("--primary-py-file", "file:/me/pro gram.py", "--class", "org.apache.spark.deploy.PythonRunner", "--arg",
              "a b");
        string_list_add(&fallback, "/venv/pyspark.zip");
        string_list_add(&fallback, "/venv/py4j-0-src.zip");
        const struct am_launch_request q = {.conf = &conf,
                                            .hadoop = &hadoop,
                                            .arguments = &arguments,
                                            .settings = &settings,
                                            .env = env,
                                            .staging = "hdfs://nn/s",
                                            .user = "me",
                                            .application_id = "application_1_0002",
                                            .fallback_archives = &fallback,
                                            .native = true};
        assert_int_equal(am_launch_build(&launch, &q, &error), 0);
        string_list_deinit(&fallback);
        assert_command_has("__firesteel__/bin/firesteel yarn-am --class 'org.apache.spark.deploy.PythonRunner' "
                           "--primary-py-file 'pro gram.py' --pyspark 'pyspark.zip' --pyspark 'py4j-0-src.zip' --arg "
                           "'a b' --properties-file ");
        const struct strmap *variables_of = &launch.container.environment;
        assert_string_equal(strmap_get(variables_of, "PYTHONPATH"),
                            "/mine<CPS>{{PWD}}/__pyfiles__<CPS>{{PWD}}/second.zip");
        assert_string_equal(strmap_get(variables_of, "PYSPARK_PYTHON"), "/opt/python");
        assert_string_equal(strmap_get(variables_of, "PYSPARK_DRIVER_PYTHON"), "./env/bin/python");
        assert_string_equal(strmap_get(variables_of, "PYTHONHASHSEED"), "0");
        assert_string_equal(conf_get_raw(&conf, "spark.executorEnv.PYTHONPATH"),
                            "/mine<CPS>{{PWD}}/__pyfiles__<CPS>{{PWD}}/second.zip");
        assert_null(strmap_get(variables_of, "CLASSPATH"));
}

static void starts_native_programs_in_r(void **state)
{
        GIVEN("--primary-r-file", "pro gram.R", "--class", "org.apache.spark.deploy.RRunner", "--arg", "a b");
        const struct am_launch_request q = {.conf = &conf,
                                            .hadoop = &hadoop,
                                            .arguments = &arguments,
                                            .settings = &settings,
                                            .env = env,
                                            .staging = "hdfs://nn/s",
                                            .user = "me",
                                            .application_id = "application_1_0002",
                                            .native = true};
        assert_int_equal(am_launch_build(&launch, &q, &error), 0);
        assert_command_has("__firesteel__/bin/firesteel yarn-am --class 'org.apache.spark.deploy.RRunner' "
                           "--primary-r-file 'pro gram.R' --arg 'a b' --properties-file ");
        assert_null(strmap_get(&launch.container.environment, "CLASSPATH"));
}

/* PYSPARK_ARCHIVES_PATH comes before what Pythons have. */
static void finds_archives_for_native_programs(void **state)
{
        static const char *const set[] = {"PYSPARK_ARCHIVES_PATH=hdfs:/a.zip,/b.zip", NULL}, *const unset[] = {NULL};
        struct string_list fallback = {0};
        _cleanup_free_ char *lib = temp_dir_path("lib/python3.9/site-packages/pyspark/python/lib"),
                            *bin = temp_dir_path("bin"), *py4j = temp_dir_path("lib/python3.9/site-packages/py4j");
        variables = set;
        am_launch_native_python_archives(&conf, env, &archives, &fallback);
        assert_int_equal(archives.len, 2);
        assert_string_equal(archives.data[0], "hdfs:/a.zip");
        assert_int_equal(fallback.len, 0);
        string_list_deinit(&archives);
        archives = (struct string_list){0};

        assert_int_equal(make_dirs(lib, 0700), 0);
        assert_int_equal(make_dirs(bin, 0700), 0);
        assert_int_equal(make_dirs(py4j, 0700), 0);
        free(temp_dir_write("lib/python3.9/site-packages/pyspark/version.py", "__version__ = '4.0.0'\n"));
        free(temp_dir_write("lib/python3.9/site-packages/pyspark/python/lib/pyspark.zip", ""));
        free(temp_dir_write("lib/python3.9/site-packages/pyspark/python/lib/py4j-1-src.zip", ""));
        _cleanup_free_ char *python = temp_dir_write("bin/python", "");
        variables = unset;
        conf_set(&conf, "spark.pyspark.driver.python", "./env/bin/python"); /* only on the cluster */
        conf_set(&conf, "spark.pyspark.python", python);
        am_launch_native_python_archives(&conf, env, &archives, &fallback);
        assert_int_equal(archives.len, 0);
        assert_int_equal(fallback.len, 2);
        assert_non_null(strstr(fallback.data[0], "site-packages/pyspark/python/lib/pyspark.zip"));
        string_list_deinit(&fallback);
}

/* The command and variables that genuine Spark 4.3 sent for these arguments. */
static void equals_a_captured_submission(void **state)
{
        conf_set(&conf, "spark.driver.memory", "512m");
        GIVEN("--jar", "file:/s/jars/spark-core_2.13-4.3.0.jar", "--class", "org.apache.Missing", "--arg", "a", "--arg",
              "b c", "--arg", "$HOME");
        assert_int_equal(build(), 0);
        _cleanup_free_ char *text = command();
        assert_string_equal(
                text, "{{JAVA_HOME}}/bin/java -server -Djava.net.preferIPv6Addresses=false " MODULES
                      " -Xmx512m -Djava.io.tmpdir={{PWD}}/tmp -Dspark.yarn.app.container.log.dir=<LOG_DIR> "
                      "org.apache.spark.deploy.yarn.ApplicationMaster --class 'org.apache.Missing' --jar "
                      "file:/s/jars/spark-core_2.13-4.3.0.jar --arg 'a' --arg 'b c' --arg '\\$HOME' --properties-file "
                      "{{PWD}}/__spark_conf__/__spark_conf__.properties --dist-cache-conf "
                      "{{PWD}}/__spark_conf__/__spark_dist_cache__.properties 1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr");
        assert_int_equal(launch.container.environment.count, 5);
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_YARN_STAGING_DIR"),
                            "hdfs://nn/user/me/.sparkStaging/application_1_0002");
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_PREFER_IPV6"), "false");
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_USER"), "me");
        assert_string_equal(strmap_get(&launch.container.environment, "PYTHONHASHSEED"), "0");
        assert_string_equal(strmap_get(&launch.container.environment, "CLASSPATH"),
                            "{{PWD}}<CPS>{{PWD}}/__spark_conf__<CPS>{{PWD}}/__spark_libs__/*<CPS>"
                            "{{PWD}}/__spark_conf__/__hadoop_conf__");
}

static void quotes_for_bash_in_double_quotes(void **state)
{
        static const char *const cases[][2] = {
                {"", "''"},
                {"a b", "'a b'"},
                {"it's", "'it'\\''s'"},
                {"say \"$X\" `date` \\", "'say \\\"\\$X\\\" `date` \\'"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *quoted = am_launch_quote(cases[i][0]);
                assert_string_equal(quoted, cases[i][1]);
        }
}

static void driver_options_are_split_and_quoted(void **state)
{
        conf_set(&conf, "spark.driver.defaultJavaOptions", "-Da={{APP_ID}}");
        conf_set(&conf, "spark.driver.extraJavaOptions", "-Db=\"x y\" -XX:OnError='kill %p'");
        conf_set(&conf, "spark.driver.extraLibraryPath", "/l\"ib:/opt");
        conf_set(&conf, "spark.driver.limitActiveProcessorCount.enabled", "true");
        conf_set(&conf, "spark.driver.cores", "3");
        conf_set(&conf, "spark.yarn.am.extraJavaOptions", "-Dc");
        GIVEN("--class", "C");
        assert_int_equal(build(), 0);
        assert_command_has("LD_LIBRARY_PATH=\\\"/l\\\\\\\"ib:/opt:$LD_LIBRARY_PATH\\\" {{JAVA_HOME}}/bin/java -server "
                           "-XX:ActiveProcessorCount=3 -Djava");
        assert_command_has("/tmp '-Da=application_1_0002' '-Db=x y' '-XX:OnError=kill %p' -Dspark.yarn.app");
        assert_int_equal(launch.warnings.len, 1);
        assert_string_equal(launch.warnings.data[0],
                            "spark.yarn.am.extraJavaOptions will not take effect in cluster mode");
}

static void only_double_quotes_have_escapes(void **state)
{
        conf_set(&conf, "spark.driver.extraJavaOptions", "-Da=\\x\\ b -Dc=\"d\\e\" -Df='g h");
        GIVEN("--class", "C");
        assert_int_equal(build(), 0);
        assert_command_has("/tmp '-Da=\\x\\' 'b' '-Dc=de' '-Df=g h' -Dspark.yarn.app");
}

static void class_path_has_jars_in_sparks_order(void **state)
{
        variables = (const char *const[]){"SPARK_DIST_CLASSPATH=/gate/dist/*", NULL};
        conf_set(&conf, "spark.driver.extraClassPath", "/gate/x:/y");
        conf_set(&conf, "spark.yarn.config.gatewayPath", "/gate");
        conf_set(&conf, "spark.yarn.config.replacementPath", "{{ROOT}}");
        conf_set(&conf, "spark.yarn.jars", "local:/gate/jars/*,hdfs:///jars/*.jar");
        conf_set(&conf, "spark.yarn.user.classpath.first", "true");
        conf_set(&conf, "spark.yarn.dist.jars", "file:/a/b.jar,file:/a/c.jar#d.jar,local:/e.jar");
        conf_set(&conf, "spark.yarn.populateHadoopClasspath", "true");
        hadoop_conf_set(&hadoop, "yarn.application.classpath", "$Y/a, $Y/b");
        GIVEN("--jar", "file:/a.jar", "--class", "C");
        assert_int_equal(build(), 0);
        assert_string_equal(
                strmap_get(&launch.container.environment, "CLASSPATH"),
                "{{ROOT}}/x:/y<CPS>{{PWD}}<CPS>{{PWD}}/__spark_conf__<CPS>{{PWD}}/__app__.jar<CPS>{{PWD}}/b.jar<CPS>"
                "{{PWD}}/d.jar<CPS>/e.jar<CPS>{{PWD}}/__spark_libs__/*<CPS>{{ROOT}}/jars/*<CPS>$Y/a<CPS>$Y/b<CPS>"
                "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/*<CPS>$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/lib/*<CPS>"
                "{{ROOT}}/dist/*<CPS>{{PWD}}/__spark_conf__/__hadoop_conf__");
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_DIST_CLASSPATH"), "/gate/dist/*");
}

static void application_variables_extend_others(void **state)
{
        variables = (const char *const[]){"PYSPARK_PYTHON=python9", "SPARK_PREFER_IPV6=True", NULL};
        conf_set(&conf, "spark.yarn.appMasterEnv.A", "b c");
        conf_set(&conf, "spark.yarn.appMasterEnv.CLASSPATH", "/mine");
        conf_set(&conf, "spark.yarn.appMasterEnv.SPARK_USER", "other");
        conf_set(&conf, "spark.yarn.appMasterEnv.PYSPARK_PYTHON", "python3");
        GIVEN("--class", "C");
        assert_int_equal(build(), 0);
        assert_string_equal(strmap_get(&launch.container.environment, "A"), "b c");
        assert_non_null(strstr(strmap_get(&launch.container.environment, "CLASSPATH"), "__hadoop_conf__<CPS>/mine"));
        assert_string_equal(strmap_get(&launch.container.environment, "SPARK_USER"), "other");
        assert_string_equal(strmap_get(&launch.container.environment, "PYSPARK_PYTHON"), "python3");
        assert_command_has("-Djava.net.preferIPv6Addresses=true");
}

static void python_files_go_on_the_path(void **state)
{
        variables = (const char *const[]){"PYTHONPATH=/here", NULL};
        string_list_add(&archives, "/s/python/lib/pyspark.zip");
        string_list_add(&archives, "local:/s/py4j-src.zip");
        conf_set(&conf, "spark.yarn.isPython", "true");
        conf_set(&conf, "spark.yarn.dist.pyFiles", "file:/m.zip,file:/a/x.py,hdfs://nn/e.egg,local:/p/l.zip");
        conf_set(&conf, "spark.executorEnv.PYTHONPATH", "/theirs");
        conf_set(&conf, "spark.yarn.appMasterEnv.PYTHONPATH", "/am");
        GIVEN("--primary-py-file", "file:/d/pi.py", "--class", "org.apache.spark.deploy.PythonRunner", "--arg", "1");
        assert_int_equal(build(), 0);
        assert_command_has("--class 'org.apache.spark.deploy.PythonRunner' --primary-py-file pi.py --arg '1' --prop");
#define PYTHON_PATH                                                                                                    \
        "/here<CPS>{{PWD}}/__pyfiles__<CPS>{{PWD}}/pyspark.zip<CPS>/s/py4j-src.zip<CPS>{{PWD}}/m.zip<CPS>"             \
        "{{PWD}}/e.egg<CPS>/p/l.zip"
        assert_string_equal(strmap_get(&launch.container.environment, "PYTHONPATH"), "/am<CPS>" PYTHON_PATH);
        assert_string_equal(conf_get_raw(&conf, "spark.executorEnv.PYTHONPATH"), "/theirs<CPS>" PYTHON_PATH);
}

static void r_source_is_the_first_argument(void **state)
{
        GIVEN("--primary-r-file", "a.R", "--class", "org.apache.spark.deploy.RRunner", "--arg", "1");
        assert_int_equal(build(), 0);
        assert_command_has("--primary-r-file a.R --arg 'a.R' --arg '1' --properties-file");
}

static void finds_python_archives(void **state)
{
        _cleanup_free_ char *home = mem_printf("SPARK_HOME=%s", temp_dir), *lib = temp_dir_path("python/lib");
        _cleanup_free_ char *spark = mem_printf("%s/pyspark.zip", lib), *py4j = mem_printf("%s/py4j-9-src.zip", lib);
        variables = (const char *const[]){home, NULL};
        assert_int_equal(make_dirs(lib, 0777), 0);
        assert_int_equal(am_launch_python_archives(env, &archives, &error), -ENOENT);
        assert_non_null(
                strstr(error_message(&error), "pyspark.zip not found; cannot run pyspark application in YARN mode."));
        fclose(fopen(spark, "w"));
        fclose(fopen(py4j, "w"));
        string_list_deinit(&archives);
        assert_int_equal(am_launch_python_archives(env, &archives, &error), 0);
        assert_int_equal(archives.len, 2);
        assert_string_equal(archives.data[0], spark);
        assert_string_equal(archives.data[1], py4j);
        string_list_deinit(&archives);
        variables = (const char *const[]){"PYSPARK_ARCHIVES_PATH=a.zip,b.zip", NULL};
        assert_int_equal(am_launch_python_archives(env, &archives, &error), 0);
        assert_string_equal(archives.data[1], "b.zip");
}

static void refuses_unknown_arguments(void **state)
{
        char *const unknown[] = {"--what", "x"}, *const missing[] = {"--jar"};
        char *const both[] = {"--primary-py-file", "a", "--primary-r-file", "b"};
        struct am_arguments a;
        assert_int_equal(am_arguments_parse(&a, unknown, 2, &error), -EINVAL);
        am_arguments_deinit(&a);
        assert_int_equal(am_arguments_parse(&a, missing, 1, &error), -EINVAL);
        am_arguments_deinit(&a);
        assert_int_equal(am_arguments_parse(&a, both, 4, &error), -EINVAL);
        assert_string_equal(error_message(&error), "Cannot have primary-py-file and primary-r-file at the same time");
        am_arguments_deinit(&a);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(equals_a_captured_submission, setup, teardown),
                cmocka_unit_test_setup_teardown(starts_native_applications, setup, teardown),
                cmocka_unit_test_setup_teardown(starts_native_programs_in_python, setup, teardown),
                cmocka_unit_test_setup_teardown(starts_native_programs_in_r, setup, teardown),
                cmocka_unit_test_setup_teardown(finds_archives_for_native_programs, setup, teardown),
                cmocka_unit_test_setup_teardown(quotes_for_bash_in_double_quotes, setup, teardown),
                cmocka_unit_test_setup_teardown(driver_options_are_split_and_quoted, setup, teardown),
                cmocka_unit_test_setup_teardown(only_double_quotes_have_escapes, setup, teardown),
                cmocka_unit_test_setup_teardown(class_path_has_jars_in_sparks_order, setup, teardown),
                cmocka_unit_test_setup_teardown(application_variables_extend_others, setup, teardown),
                cmocka_unit_test_setup_teardown(python_files_go_on_the_path, setup, teardown),
                cmocka_unit_test_setup_teardown(r_source_is_the_first_argument, setup, teardown),
                cmocka_unit_test_setup_teardown(finds_python_archives, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_unknown_arguments, setup, teardown),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
