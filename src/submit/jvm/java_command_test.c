/*
 * The java command: the cases of Spark's SparkSubmitCommandBuilderSuite, and those that tests/spark/check_java_command
 * cannot test without a genuine Spark. Each test has its own SPARK_HOME, whose jars are empty files with the right
 * names.
 */
#include "submit/jvm/java_command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

/* cmocka's header needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct strmap environment;

static const char *env(const char *name)
{
        return strmap_get(&environment, name);
}

static void make(const char *path, const char *content)
{
        _cleanup_free_ char *whole = mem_printf("%s/%s", temp_dir, path);
        for (char *slash = strchr(whole + strlen(temp_dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = 0;
                mkdir(whole, 0755);
                *slash = '/';
        }
        FILE *file = fopen(whole, "w");
        assert_non_null(file);
        fputs(content, file);
        assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
        (void)state;
        assert_int_equal(temp_dir_make(NULL), 0);
        environment = STRMAP_INIT;
        strmap_set(&environment, "SPARK_HOME", temp_dir);
        strmap_set(&environment, "JAVA_HOME", "/java");
        make("RELEASE", "");
        make("jars/spark-launcher_2.13-4.3.0.jar", "");
        make("jars/slf4j-api-2.0.17.jar", "");
        make("examples/jars/spark-examples_2.13-4.3.0.jar", "");
        make("conf/spark-defaults.conf", "spark.driver.memory=1g\nspark.driver.extraClassPath=/driver\n"
                                         "spark.driver.extraJavaOptions=-Ddriver -XX:MaxMetaspaceSize=256m\n"
                                         "spark.driver.extraLibraryPath=/native\n");
        return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st;
        (void)flag;
        (void)ftw;
        return remove(path);
}

static int teardown(void **state)
{
        (void)state;
        strmap_deinit(&environment);
        return nftw(temp_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Builds the command for @class with the words. NULL ends them. */
static int build_class(struct java_command *c, struct fst_error *error, const char *class, va_list args)
{
        char *words[32];
        int n = 0;
        while ((words[n] = va_arg(args, char *)))
                n++;
        *c = JAVA_COMMAND_INIT;
        return java_command_build(c, class, n, words, env, error);
}

static int build(struct java_command *c, struct fst_error *error, ...)
{
        va_list args;
        va_start(args, error);
        int r = build_class(c, error, JAVA_CLASS_SUBMIT, args);
        va_end(args);
        return r;
}

static int build_plain(struct java_command *c, struct fst_error *error, const char *class, ...)
{
        va_list args;
        va_start(args, class);
        int r = build_class(c, error, class, args);
        va_end(args);
        return r;
}

/* The index of @word among the words, or -1. */
static int at(const struct java_command *c, const char *word)
{
        for (size_t i = 0; i < c->words.len; i++) {
                if (strcmp(c->words.data[i], word) == 0)
                        return (int)i;
        }
        return -1;
}

static const char *after(const struct java_command *c, const char *word)
{
        int i = at(c, word);
        assert_true(i >= 0);
        assert_true((size_t)i + 1 < c->words.len);
        return c->words.data[i + 1];
}

/* The words from @first on, separated by blanks. */
static void check_rest(const struct java_command *c, const char *first, const char *expected)
{
        struct buf text = BUF_INIT;
        int i = at(c, first);
        assert_true(i >= 0);
        for (size_t k = (size_t)i; k < c->words.len; k++)
                buf_printf(&text, "%s%s", buf_text(&text)[0] ? " " : "", c->words.data[k]);
        assert_string_equal(buf_text(&text), expected);
        buf_deinit(&text);
}

static bool in_path(const char *path, const char *entry)
{
        size_t n = strlen(entry);
        for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
                if (strncmp(p, entry, n) == 0 && (p[n] == ':' || !p[n]))
                        return true;
        }
        return false;
}

static void check_driver(const char *mode, bool by_options)
{
        struct java_command c;
        bool client = strcmp(mode, "client") == 0;
        _cleanup_free_ char *empty = mem_printf("%s/empty.conf", temp_dir);
        make("empty.conf", "");
        int r = by_options
                        ? build(&c, NULL, "--properties-file", empty, "--driver-memory", "1g", "--driver-class-path",
                                "/driver", "--driver-java-options", "-Ddriver -XX:MaxMetaspaceSize=256m",
                                "--driver-library-path", "/native", "--master", "yarn", "--deploy-mode", mode, "--name",
                                "MyApp", "--conf", "spark.foo=foo", "--class", "my.Class", "/foo", "foo", "bar", NULL)
                        : build(&c, NULL, "--master", "yarn", "--deploy-mode", mode, "--name", "MyApp", "--conf",
                                "spark.foo=foo", "--class", "my.Class", "/foo", "foo", "bar", NULL);
        assert_int_equal(r, 0);
        assert_int_equal(at(&c, "-Xmx1g") >= 0, client);
        assert_int_equal(at(&c, "-XX:MaxMetaspaceSize=256m") >= 0, client);
        assert_int_equal(in_path(after(&c, "-cp"), "/driver"), client);
        const char *library = strmap_get(&c.environment, "LD_LIBRARY_PATH");
        if (client)
                assert_string_equal(library, "/native");
        else
                assert_null(library);
        if (by_options)
                assert_string_equal(after(&c, "--properties-file"), empty);
        assert_string_equal(after(&c, "--master"), "yarn");
        assert_string_equal(after(&c, "--deploy-mode"), mode);
        assert_string_equal(after(&c, "--class"), "my.Class");
        assert_string_equal(after(&c, "--name"), "MyApp");
        assert_true(at(&c, "spark.foo=foo") > 0);
        check_rest(&c, "/foo", "/foo foo bar");
        java_command_deinit(&c);
}

static void test_driver(void **state)
{
        (void)state;
        check_driver("client", false);
        check_driver("client", true);
}

static void test_cluster(void **state)
{
        (void)state;
        check_driver("cluster", false);
        check_driver("cluster", true);
}

static void test_help_and_no_arguments(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "--help", NULL), 0);
        check_rest(&c, JAVA_CLASS_SUBMIT, JAVA_CLASS_SUBMIT " --help");
        java_command_deinit(&c);
        assert_int_equal(build(&c, NULL, NULL), 0);
        check_rest(&c, JAVA_CLASS_SUBMIT, JAVA_CLASS_SUBMIT);
        java_command_deinit(&c);
}

static void test_options(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "--master", "local", "--driver-memory", "42g", "--driver-class-path",
                               "/driverCp", "--driver-java-options", "extraJavaOpt", "--conf", "spark.randomOption=foo",
                               "--conf", "spark.driver.extraLibraryPath=/driverLibPath", "spark-internal", NULL),
                         0);
        assert_string_equal(strmap_get(&c.environment, "LD_LIBRARY_PATH"), "/driverLibPath");
        assert_true(in_path(after(&c, "-cp"), "/driverCp"));
        assert_true(at(&c, "-Xmx42g") > 0);
        assert_true(at(&c, "extraJavaOpt") > 0);
        assert_string_equal(c.words.data[at(&c, "spark.randomOption=foo") - 1], "--conf");
        java_command_deinit(&c);
}

static void test_shell_mixes_words(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "--class", "org.apache.spark.repl.Main", "--master", "foo", "--app-arg", "bar",
                               "--app-switch", "--files", "baz", "--name", "appName", NULL),
                         0);
        check_rest(&c, "--master",
                   "--master foo --class org.apache.spark.repl.Main --files baz --name appName spark-shell --app-arg "
                   "bar --app-switch");
        java_command_deinit(&c);
        assert_int_equal(build(&c, NULL, "--class", "org.apache.spark.repl.Main", "--foo=bar", "x=y", "--baz=", NULL),
                         0);
        check_rest(&c, "--class", "--class org.apache.spark.repl.Main spark-shell --foo x=y --baz=");
        java_command_deinit(&c);
}

static void test_equals_spelling(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(
                build(&c, NULL, "--class=org.my.Class", "--master=foo", "--deploy-mode=bar", "spark-internal", NULL),
                0);
        check_rest(&c, "--master", "--master foo --deploy-mode bar --class org.my.Class spark-internal");
        java_command_deinit(&c);
}

static void test_python_shell(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "pyspark-shell-main", "--master=foo", "--deploy-mode=bar", NULL), 0);
        check_rest(&c, "python3", "python3");
        assert_int_equal(c.words.len, 1);
        assert_string_equal(strmap_get(&c.environment, "PYSPARK_SUBMIT_ARGS"),
                            "\"--master\" \"foo\" \"--deploy-mode\" \"bar\" \"pyspark-shell\"");
        assert_string_equal(strmap_get(&c.environment, "SPARK_API_MODE"), "classic");
        java_command_deinit(&c);
}

static void test_scripts_are_not_for_the_shell(void **state)
{
        struct java_command c;
        struct fst_error error = FST_ERROR_INIT;
        (void)state;
        assert_true(build(&c, &error, "pyspark-shell-main", "x.py", NULL) < 0);
        assert_int_equal(c.status, 255);
        assert_non_null(strstr(error_message(&error), "is not supported as of Spark 2.0.\nUse ./bin/spark-submit <py"));
        java_command_deinit(&c);
        error_deinit(&error);
        assert_int_equal(build(&c, NULL, "--master=foo", "--deploy-mode=bar", "script.py", "arg1", NULL), 0);
        check_rest(&c, "--master", "--master foo --deploy-mode bar script.py arg1");
        java_command_deinit(&c);
}

static void test_examples(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "run-example", "--master=foo", "--deploy-mode=bar", "SparkPi", "42", NULL), 0);
        _cleanup_free_ char *jar = mem_printf("%s/examples/jars/spark-examples_2.13-4.3.0.jar", temp_dir);
        _cleanup_free_ char *rest = mem_printf("--master foo --deploy-mode bar --jars %s --class "
                                               "org.apache.spark.examples.SparkPi %s 42",
                                               jar, jar);
        check_rest(&c, "--master", rest);
        java_command_deinit(&c);
}

static void test_invalid_options_print_usage(void **state)
{
        struct java_command c;
        (void)state;
        assert_int_equal(build(&c, NULL, "--class", "x.Y", "--master", "local", NULL), JAVA_COMMAND_E_USAGE);
        assert_string_equal(c.messages.data[0], "Error: Missing application resource.\n");
        check_rest(&c, JAVA_CLASS_SUBMIT, JAVA_CLASS_SUBMIT " --class x.Y --usage-error");
        java_command_deinit(&c);
        make("malformed.conf", "spark.a=\\u12\n");
        _cleanup_free_ char *file = mem_printf("%s/malformed.conf", temp_dir);
        assert_int_equal(build(&c, NULL, "--properties-file", file, "--class", "x.Y", "a.jar", NULL),
                         JAVA_COMMAND_E_USAGE);
        assert_string_equal(c.messages.data[0], "Error: Malformed \\uxxxx encoding.\n");
        java_command_deinit(&c);
}

static void test_class_path_and_modules(void **state)
{
        struct java_command c;
        (void)state;
        strmap_set(&environment, "SPARK_MASTER_OPTS", "-Da='b c'");
        strmap_set(&environment, "SPARK_DAEMON_MEMORY", "3g");
        strmap_set(&environment, "SPARK_DAEMON_CLASSPATH", "/x:/x:/y");
        strmap_set(&environment, "HADOOP_CONF_DIR", "/hadoop");
        make("conf/java-opts", "-Dfirst\n\n-Dsecond\n");
        assert_int_equal(build_plain(&c, NULL, "org.apache.spark.deploy.master.Master", "--port", "1", NULL), 0);
        _cleanup_free_ char *path = mem_printf("/x:/y:%s/conf/:%s/jars/slf4j-api-2.0.17.jar:%s/jars/*:/hadoop",
                                               temp_dir, temp_dir, temp_dir);
        assert_string_equal(after(&c, "-cp"), path);
        assert_string_equal(c.words.data[0], "/java/bin/java");
        assert_string_equal(c.words.data[2], "-Dsecond");
        assert_string_equal(after(&c, "-Da=b c"), "-Xmx3g");
        assert_string_equal(after(&c, "-Xmx3g"), "-XX:+IgnoreUnrecognizedVMOptions");
        assert_true(at(&c, "--add-opens=java.base/java.lang=ALL-UNNAMED") > 0);
        check_rest(&c, "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.master.Master --port 1");
        java_command_deinit(&c);
}

static void test_rejects_heap_size_in_java_options(void **state)
{
        struct java_command c;
        struct fst_error error = FST_ERROR_INIT;
        (void)state;
        strmap_set(&environment, "SPARK_WORKER_OPTS", "-Xmx2g");
        assert_int_equal(build_plain(&c, &error, "org.apache.spark.deploy.worker.Worker", NULL), -EINVAL);
        assert_string_equal(error_message(&error),
                            "SPARK_WORKER_OPTS is not allowed to specify max heap(Xmx) memory settings (was -Xmx2g). "
                            "Use the corresponding configuration instead.");
        java_command_deinit(&c);
        error_deinit(&error);
        assert_int_equal(build(&c, NULL, "--driver-java-options", "-Xmx2g", "x.jar", NULL), JAVA_COMMAND_E_USAGE);
        assert_non_null(strstr(c.messages.data[0], "Not allowed to specify max heap(Xmx) memory settings through java "
                                                   "options (was -Xmx2g)."));
        java_command_deinit(&c);
        assert_int_equal(build(&c, NULL, "--driver-java-options", "-Dx=-Xmx2g", "x.jar", NULL), 0);
        java_command_deinit(&c);
}

static void test_written_and_printed_forms(void **state)
{
        struct java_command c = JAVA_COMMAND_INIT;
        char *text = NULL;
        size_t size = 0;
        (void)state;
        option_words_add(&c.words, "java");
        option_words_add(&c.words, "-Dmy.Password=x");
        option_words_add(&c.words, "last\r");
        strmap_set(&c.environment, "A", "b");
        FILE *out = open_memstream(&text, &size);
        java_command_write(&c, out);
        fclose(out);
        assert_int_equal(size, sizeof("\0\nenv\0A=b\0java\0-Dmy.Password=x\0last"));
        assert_memory_equal(text, "\0\nenv\0A=b\0java\0-Dmy.Password=x\0last", size);
        free(text);
        out = open_memstream(&text, &size);
        java_command_tell(&c, out);
        fclose(out);
        assert_string_equal(text, "Spark Command: java -Dmy.Password=*********(redacted) last\r\n"
                                  "========================================\n");
        free(text);
        java_command_deinit(&c);
}

static void test_special_words(void **state)
{
        (void)state;
        assert_true(java_command_is_special("pyspark-shell-main"));
        assert_true(java_command_is_special("sparkr-shell-main"));
        assert_true(java_command_is_special("run-example"));
        assert_false(java_command_is_special("pyspark-shell"));
        assert_false(java_command_is_special("--class"));
}

static void test_no_home(void **state)
{
        struct java_command c;
        struct fst_error error = FST_ERROR_INIT;
        (void)state;
        strmap_remove(&environment, "SPARK_HOME");
        assert_true(build(&c, &error, "x.jar", NULL) < 0);
        assert_non_null(strstr(error_message(&error), "SPARK_HOME"));
        java_command_deinit(&c);
        error_deinit(&error);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_driver),
                TEST(test_cluster),
                TEST(test_help_and_no_arguments),
                TEST(test_options),
                TEST(test_shell_mixes_words),
                TEST(test_equals_spelling),
                TEST(test_python_shell),
                TEST(test_scripts_are_not_for_the_shell),
                TEST(test_examples),
                TEST(test_invalid_options_print_usage),
                TEST(test_class_path_and_modules),
                TEST(test_rejects_heap_size_in_java_options),
                TEST(test_written_and_printed_forms),
                TEST(test_special_words),
                TEST(test_no_home),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
