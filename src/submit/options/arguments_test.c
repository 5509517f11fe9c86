/* The cases of Spark's SparkSubmitSuite about arguments. */
#include "submit/options/arguments.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "launch/resolve_uri.h"
#include "unit/cases.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const no_environment[] = {NULL};
static const char *const *environment = no_environment; /* "NAME=value" */

static const char *get_environment(const char *name)
{
        size_t n = strlen(name);
        for (size_t i = 0; environment[i]; i++) {
                if (strncmp(environment[i], name, n) == 0 && environment[i][n] == '=')
                        return environment[i] + n + 1;
        }
        return NULL;
}

/* Parses, completes and validates a command line of words between blanks. */
static int understand(struct submit_arguments *a, const char *line, const char *defaults, struct fst_error *error)
{
        _cleanup_free_ char *copy = mem_strdup(line);
        char *words[40], *rest = copy;
        int n = 0;
        for (char *word; (word = strsep(&rest, " "));)
                words[n++] = word;
        submit_arguments_init(a);
        int r = submit_arguments_parse(a, n, words, error);
        if (r == 0)
                r = submit_arguments_complete(a, defaults, get_environment, error);
        return r < 0 ? r : submit_arguments_validate(a, get_environment, error);
}

static void assert_error(const char *line, const char *message, bool usage)
{
        struct submit_arguments a;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_not_equal(understand(&a, line, NULL, &error), 0);
        assert_string_equal(error.message, message);
        assert_int_equal(a.usage_error, usage);
        error_deinit(&error);
        submit_arguments_deinit(&a);
}

static char *write_file(char *path, const char *content)
{
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_true(write(fd, content, strlen(content)) == (ssize_t)strlen(content));
        close(fd);
        return path;
}

/*
 * Errors that Spark's launcher finds, which print the usage, then errors that SparkSubmit finds, both in Spark's order.
 */
static void reports_errors_as_spark(void **state)
{
        assert_error("--nope x.so", "Unrecognized option: --nope", true);
        assert_error("--nope=1 x.so", "Unrecognized option: --nope", true);
        assert_error("--version --nope", "Unrecognized option: --nope", true);
        assert_error("--deploy-mode foo --nope", "Unrecognized option: --nope", true);
        assert_error("--master", "Missing argument for option '--master'.", true);
        assert_error("--conf a x.so", "Invalid argument to --conf: a", true);
        assert_error("--master local", "Missing application resource.", true);
        assert_error("--properties-file /nonexistent/p x.so", "Invalid properties file '/nonexistent/p'.", true);
        assert_error("--extra-properties-file / x.so", "Invalid properties file '/'.", true);
        assert_error("--driver-java-options -Xmx1g --deploy-mode foo x.so",
                     "Not allowed to specify max heap(Xmx) memory settings through java options (was -Xmx1g). Use the "
                     "corresponding --driver-memory or spark.driver.memory configuration instead.",
                     true);
        assert_error("--conf spark.driver.defaultJavaOptions=-Xmx1g x.so",
                     "Not allowed to specify max heap(Xmx) memory settings through java options (was -Xmx1g). Use the "
                     "corresponding --driver-memory or spark.driver.memory configuration instead.",
                     true);
        assert_error("--deploy-mode foo --executor-cores 0 x.so",
                     "--deploy-mode must be either \"client\" or \"cluster\"", false);
        assert_error("--kill a --status b", "Action cannot be both KILL and REQUEST_STATUS.", false);
        assert_error("--status a --kill b", "Action cannot be both REQUEST_STATUS and KILL.", false);
        assert_error("--kill a --kill b", "Action cannot be both KILL and KILL.", false);
        assert_error("--kill= x.so", "Unrecognized option: --kill=", true);
        assert_error("--conf spark.master.rest.enabled=yes x.so", "For input string: \"yes\"", false);
        assert_error("--conf spark.firesteel.compat=1.6 x.so",
                     "spark.firesteel.compat is '1.6', but may be 2.4, 3.5 or 4.3", false);
        assert_error("--remote sc://a --master local --driver-memory 0 x.so",
                     "Remote cannot be specified with master and/or deploy mode.", false);
        assert_error("--remote sc://a --deploy-mode client x.so",
                     "Remote cannot be specified with master and/or deploy mode.", false);
        assert_error("--driver-memory 0 --executor-memory 0 x.so", "Driver memory must be a positive number", false);
        assert_error("--driver-memory many x.so", "Driver memory must be a positive number", false);
        assert_error("--executor-memory -1g x.so", "Executor memory must be a positive number", false);
        assert_error("--driver-cores 0 x.so", "Driver cores must be a positive number", false);
        assert_error("--driver-cores 2.0 --master local x.so", "Driver cores must be a positive number", false);
        assert_error("--driver-cores 1.5 --master mesos://h:5050 x.so", "Driver cores must be a positive number", false);
        assert_error("--driver-cores 0.0 --master mesos://h:5050 x.so", "Driver cores must be a positive number", false);
        assert_error("--driver-cores 2.0 --executor-cores 0 --master mesos://h:5050 x.so",
                     "Executor cores must be a positive number", false);
        assert_error("--executor-cores 1.5 x.so", "Executor cores must be a positive number", false);
        assert_error("--total-executor-cores x x.so", "Total executor cores must be a positive number", false);
        assert_error("--num-executors 0 x.so", "Number of executors must be a positive number", false);
        assert_error("--num-executors 2147483648 x.so", "Number of executors must be a positive number", false);
        assert_error("--master yarn x.so",
                     "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the "
                     "environment.",
                     false);
        assert_error("--master yarn --deploy-mode cluster x.c",
                     "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the "
                     "environment.",
                     false);
        assert_error("--master yarn --dry-run x.so",
                     "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the "
                     "environment.",
                     false);
        assert_error("--master yarn x.jar",
                     "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the "
                     "environment.",
                     false);
        assert_error("--proxy-user u --principal p x.so", "Only one of --proxy-user or --principal can be provided.",
                     false);
}

static void accepts_output_only_with_dry_run(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a, "--dry-run x.so", NULL, NULL), 0);
        assert_true(a.dry_run);
        assert_int_equal(a.output, SUBMIT_OUTPUT_TEXT);
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--output=json --dry-run x.so --output", NULL, NULL), 0);
        assert_int_equal(a.output, SUBMIT_OUTPUT_JSON);
        submit_arguments_deinit(&a);
        assert_error("--output json x.so", "--output is for --dry-run: add --dry-run to see what would be run", true);
        assert_error("--dry-run --output yaml x.so",
                     "--output must be \"text\", \"json\" or \"objects\", but is 'yaml'", true);
}

static void accepts_zero_executors_with_dynamic_allocation(void **state)
{
        struct submit_arguments a;
        assert_int_equal(
                understand(&a, "--num-executors 0 --conf spark.dynamicAllocation.enabled=True x.so", NULL, NULL), 0);
        submit_arguments_deinit(&a);
}

static void refuses_a_driver_that_cannot_resume(void **state)
{
#define RESUMING "--conf spark.firesteel.resume.enabled=true "
#define DIRECTORY(dir)                                                                                                 \
        RESUMING "--master spark://h:1 --deploy-mode cluster --conf spark.firesteel.resume.dir=" dir " x.so"
        static const char message[] =
                "spark.firesteel.resume.enabled is true: set spark.firesteel.resume.dir to a directory that the next driver can "
                "read, because a supervised driver without one would be restarted forever";
        static const char unsupervised[] =
                "spark.firesteel.resume.enabled is true: set spark.firesteel.resume.dir to a directory that the next driver can "
                "read";
        static const char *const accepted[] = {
                RESUMING "--master spark://h:1 --conf spark.firesteel.resume.dir=rel x.so",
                RESUMING "--master spark://h:1 --supervise x.so",
                RESUMING
                "--master spark://h:1 --deploy-mode cluster --supervise --conf spark.firesteel.resume.dir=/j x.so",
                "--master spark://h:1 --deploy-mode cluster --supervise x.so",
                "--master spark://h:1 --deploy-mode cluster --conf spark.firesteel.resume.dir=rel x.so",
                DIRECTORY("/j"),
                DIRECTORY("file:///j"),
                DIRECTORY("hdfs://h:1/j"),
                DIRECTORY("s3a://bucket/j"),
        };
        assert_error(DIRECTORY(""), unsupervised, false);
        assert_error(RESUMING "--master spark://h:1 --deploy-mode cluster x.so", unsupervised, false);
        assert_error(RESUMING "--master mesos://h:1 --deploy-mode cluster x.so", unsupervised, false);
        assert_error(
                DIRECTORY("rel"),
                "spark.firesteel.resume.dir is \"rel\": set it to a whole path, with its scheme (s3a://, hdfs:// or "
                "file://)",
                false);
        assert_error(
                RESUMING "--master mesos://h:1 --deploy-mode cluster --supervise "
                         "--conf spark.firesteel.resume.dir=a/b:c x.so",
                "spark.firesteel.resume.dir is \"a/b:c\": set it to a whole path, with its scheme (s3a://, hdfs:// or "
                "file://)",
                false);
        assert_error(
                DIRECTORY("foo:///x"),
                "spark.firesteel.resume.dir is \"foo:///x\": no file system has the scheme \"foo\": set it to a path of "
                "s3a://, hdfs:// or file://",
                false);
        assert_error(
                DIRECTORY("file:x"),
                "spark.firesteel.resume.dir is \"file:x\": set it to a whole path, with its scheme (s3a://, hdfs:// or "
                "file://)",
                false);
        assert_error(RESUMING "--master spark://h:1 --deploy-mode cluster --supervise x.so", message, false);
        assert_error(RESUMING "--master mesos://h:1 --deploy-mode cluster --supervise x.so", message, false);
        assert_error(RESUMING "--master spark://h:1 --deploy-mode cluster --conf spark.driver.supervise=true x.so",
                     message, false);
        assert_error(RESUMING
                     "--master spark://h:1 --deploy-mode cluster --supervise --conf spark.firesteel.resume.dir= x.so",
                     message, false);
        for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
                CASE_LABEL("%zu of accepted: \"%s\"", i, accepted[i]);
                struct submit_arguments a;
                assert_int_equal(understand(&a, accepted[i], NULL, NULL), 0);
                submit_arguments_deinit(&a);
        }
#undef DIRECTORY
#undef RESUMING
}

static void passes_words_after_application(void **state)
{
        struct submit_arguments a;
        assert_int_equal(
                understand(&a, "--name myApp --class=Foo userjar.so --master local some --weird args", NULL, NULL), 0);
        assert_int_equal(a.application_arguments.len, 5);
        assert_string_equal(a.application_arguments.data[0], "--master");
        assert_string_equal(a.application_arguments.data[3], "--weird");
        assert_string_equal(a.value[SUBMIT_NAME], "myApp");
        assert_string_equal(a.value[SUBMIT_CLASS], "Foo");
        assert_string_equal(a.application, "userjar.so");
        assert_string_equal(submit_arguments_master(&a), "local[*]");
        submit_arguments_deinit(&a);
}

/* Words after --version do not count, except those that the launcher reads and passes on first. */
static void stops_parsing_at_version(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a,
                                    "--supervise --version --verbose --kill x --executor-memory 2g --master local app",
                                    NULL, NULL),
                         0);
        assert_int_equal(a.action, SUBMIT_ACTION_VERSION);
        assert_true(a.supervise);
        assert_false(a.verbose);
        assert_null(a.value[SUBMIT_EXECUTOR_MEMORY]);
        assert_string_equal(a.value[SUBMIT_MASTER], "local");
        assert_null(a.primary_resource);
        assert_int_equal(a.application_arguments.len, 6);
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--kill x --version", NULL, NULL), 0);
        assert_int_equal(a.action, SUBMIT_ACTION_VERSION);
        submit_arguments_deinit(&a);
        char *words[] = {"--usage-error", "--help", "--usage-error"};
        submit_arguments_init(&a);
        assert_int_equal(submit_arguments_parse(&a, 2, words, NULL), 0);
        assert_int_equal(a.action, SUBMIT_ACTION_HELP);
        assert_true(a.usage_error);
        submit_arguments_deinit(&a);
        submit_arguments_init(&a);
        assert_int_equal(submit_arguments_parse(&a, 2, words + 1, NULL), 0);
        assert_int_equal(a.action, SUBMIT_ACTION_HELP);
        assert_false(a.usage_error);
        submit_arguments_deinit(&a);
}

static void kill_and_status_need_no_application(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a, "--kill driver-1 --master spark://h:1", NULL, NULL), 0);
        assert_int_equal(a.action, SUBMIT_ACTION_KILL);
        assert_string_equal(a.submission, "driver-1");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--status=driver-2", NULL, NULL), 0);
        assert_int_equal(a.action, SUBMIT_ACTION_STATUS);
        assert_string_equal(a.submission, "driver-2");
        submit_arguments_deinit(&a);
}

static void shell_classes_mix_options_and_arguments(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a,
                                    "--class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver -e select "
                                    "--master local[3] --hiveconf=a=b",
                                    NULL, NULL),
                         0);
        assert_string_equal(a.primary_resource, "spark-internal");
        assert_string_equal(a.value[SUBMIT_MASTER], "local[3]");
        assert_int_equal(a.application_arguments.len, 3);
        assert_string_equal(a.application_arguments.data[1], "select");
        assert_string_equal(a.application_arguments.data[2], "--hiveconf");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--class org.apache.spark.repl.Main spark-shell --master local", NULL, NULL),
                         0);
        assert_string_equal(a.primary_resource, "spark-shell");
        assert_string_equal(a.value[SUBMIT_MASTER], "local");
        assert_int_equal(a.application_arguments.len, 1);
        assert_string_equal(a.application_arguments.data[0], "spark-shell");
        submit_arguments_deinit(&a);
}

/* A script with Windows line ends. */
static void strips_windows_line_ends(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a, "--master local\r --conf spark.a=b\r /n/x.so\r 1\r", NULL, NULL), 0);
        assert_string_equal(a.value[SUBMIT_MASTER], "local");
        assert_string_equal(strmap_get(&a.properties, "spark.a"), "b");
        assert_string_equal(a.primary_resource, "file:/n/x.so");
        assert_string_equal(a.application_arguments.data[0], "1");
        submit_arguments_deinit(&a);
}

/* Spark's launcher turns these into settings, so the last one wins. */
static void driver_options_rank_as_settings(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a,
                                    "--driver-memory 1g --driver-class-path a:b --driver-default-class-path c "
                                    "--driver-library-path d --driver-java-options -Da=b /n/x.so",
                                    NULL, NULL),
                         0);
        assert_string_equal(strmap_get(&a.properties, "spark.driver.memory"), "1g");
        assert_string_equal(strmap_get(&a.properties, "spark.driver.extraClassPath"), "a:b");
        assert_string_equal(strmap_get(&a.properties, "spark.driver.defaultExtraClassPath"), "c");
        assert_string_equal(strmap_get(&a.properties, "spark.driver.extraLibraryPath"), "d");
        assert_string_equal(strmap_get(&a.properties, "spark.driver.extraJavaOptions"), "-Da=b");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--driver-memory 1g --conf spark.driver.memory=2g /n/x.so", NULL, NULL), 0);
        assert_string_equal(a.value[SUBMIT_DRIVER_MEMORY], "2g");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "--conf spark.driver.memory=2g --driver-memory 1g /n/x.so", NULL, NULL), 0);
        assert_string_equal(a.value[SUBMIT_DRIVER_MEMORY], "1g");
        submit_arguments_deinit(&a);
}

static void last_of_equal_options_wins(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a, "--name a --name b --conf spark.k=1 -c spark.k=2=3 x.so", NULL, NULL), 0);
        assert_string_equal(a.value[SUBMIT_NAME], "b");
        assert_string_equal(strmap_get(&a.properties, "spark.k"), "2=3");
        submit_arguments_deinit(&a);
}

static void stronger_source_wins(void **state)
{
        char named[] = "/tmp/properties-XXXXXX", defaults[] = "/tmp/defaults-XXXXXX";
        write_file(named,
                   "spark.executor.memory 3g\nspark.driver.memory 3g\nspark.executor.cores=3\nspark.only.named 3\n");
        write_file(defaults, "spark.driver.memory 2g\nspark.only.defaults 2\nforeign x\n");
        const char *const set[] = {"SPARK_EXECUTOR_MEMORY=1g", "SPARK_EXECUTOR_CORES=1", "DEPLOY_MODE=client",
                                   "MASTER=local[7]",          "SPARK_DRIVER_MEMORY=1g", NULL};
        environment = set;
        struct submit_arguments a;
        _cleanup_free_ char *line =
                mem_printf("--executor-memory 5g --conf spark.executor.memory=4g --conf spark.driver.memory=4g "
                           "--properties-file %s x.so",
                           named);
        assert_int_equal(understand(&a, line, defaults, NULL), 0);
        assert_string_equal(a.value[SUBMIT_EXECUTOR_MEMORY], "5g");
        assert_string_equal(a.value[SUBMIT_DRIVER_MEMORY], "4g");
        assert_string_equal(a.value[SUBMIT_EXECUTOR_CORES], "3");
        assert_string_equal(submit_arguments_master(&a), "local[7]");
        assert_string_equal(a.value[SUBMIT_DEPLOY_MODE], "client");
        /* A named file replaces the defaults … */
        assert_null(strmap_get(&a.properties, "spark.only.defaults"));
        submit_arguments_deinit(&a);
        /* … unless the user asks for both. */
        _cleanup_free_ char *both = mem_printf("--load-spark-defaults --properties-file %s x.so", named);
        assert_int_equal(understand(&a, both, defaults, NULL), 0);
        assert_string_equal(a.value[SUBMIT_DRIVER_MEMORY], "3g");
        assert_string_equal(strmap_get(&a.properties, "spark.only.defaults"), "2");
        assert_null(strmap_get(&a.properties, "foreign"));
        assert_int_equal(a.messages.len, 1);
        assert_string_equal(a.messages.data[0], "Warning: Ignoring non-Spark config property: foreign");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "x.so", defaults, NULL), 0);
        assert_string_equal(a.value[SUBMIT_DRIVER_MEMORY], "2g");
        assert_string_equal(a.value[SUBMIT_EXECUTOR_MEMORY], "1g");
        submit_arguments_deinit(&a);
        environment = no_environment;
        unlink(named);
        unlink(defaults);
}

/* The last --properties-file wins. spark-defaults.conf counts unless --properties-file names a file. */
static void extra_properties_files_override(void **state)
{
        char first[] = "/tmp/properties-XXXXXX", second[] = "/tmp/properties-XXXXXX",
             defaults[] = "/tmp/defaults-XXXXXX";
        write_file(first, "spark.a 1\nspark.b 1\nspark.c 1\n");
        write_file(second, "spark.a 2\nspark.b 2\n");
        write_file(defaults, "spark.a 3\nspark.d 3\n");
        struct submit_arguments a;
        _cleanup_free_ char *line =
                mem_printf("-v --properties-file %s --extra-properties-file=%s -c spark.a=0 /n/x.so", first, second);
        assert_int_equal(understand(&a, line, defaults, NULL), 0);
        assert_string_equal(strmap_get(&a.properties, "spark.a"), "0");
        assert_string_equal(strmap_get(&a.properties, "spark.b"), "2");
        assert_string_equal(strmap_get(&a.properties, "spark.c"), "1");
        assert_null(strmap_get(&a.properties, "spark.d"));
        assert_int_equal(a.messages.len, 7);
        _cleanup_free_ char *told = mem_printf("Using properties file: %s", second);
        assert_string_equal(a.messages.data[4], told);
        assert_string_equal(a.messages.data[5], "Adding default property: spark.a=2");
        submit_arguments_deinit(&a);
        _cleanup_free_ char *only_extra = mem_printf("--extra-properties-file %s /n/x.so", second);
        assert_int_equal(understand(&a, only_extra, defaults, NULL), 0);
        assert_string_equal(strmap_get(&a.properties, "spark.a"), "2");
        assert_string_equal(strmap_get(&a.properties, "spark.d"), "3");
        assert_null(a.value[SUBMIT_PROPERTIES_FILE]);
        submit_arguments_deinit(&a);
        unlink(first);
        unlink(second);
        unlink(defaults);
}

static void takes_name_from_first_source(void **state)
{
        static const struct {
                const char *line, *name;
        } cases[] = {
                {"--name a --conf spark.app.name=c --class K dir/x.so", "a"},
                {"--conf spark.app.name=c --class K dir/x.so", "c"},
                {"--master yarn --class K dir/x.so", "from yarn"},
                {"--class K dir/x.so", "K"},
                {"dir/x.so", "x.so"},
                {"hdfs://h/a%20b.jar", "a%20b.jar"},
                {"/n/x.py#y", "x.py#y"},
                {"s3a://b/folder//", "folder"},
                {"pyspark-shell", "pyspark-shell"},
        };
        const char *const set[] = {"SPARK_YARN_APP_NAME=from yarn", "YARN_CONF_DIR=", NULL};
        environment = set;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: line \"%s\", name \"%s\"", i, cases[i].line ? cases[i].line : "(none)",
                           cases[i].name ? cases[i].name : "(none)");
                struct submit_arguments a;
                assert_int_equal(understand(&a, cases[i].line, NULL, NULL), 0);
                assert_string_equal(a.value[SUBMIT_NAME], cases[i].name);
                submit_arguments_deinit(&a);
        }
        environment = no_environment;
}

/* Every field that a setting or the environment sets, and the stronger one of two keys. */
static void settings_and_environment_fill_fields(void **state)
{
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                const struct submit_option *o = submit_option_of(f);
                for (size_t k = 0; k < ARRAY_SIZE(o->keys) && o->keys[k]; k++) {
                        struct submit_arguments a;
                        _cleanup_free_ char *line = mem_printf("--conf %s=client --kill x", o->keys[k]);
                        assert_int_equal(understand(&a, line, NULL, NULL), 0);
                        assert_string_equal(a.value[f], "client");
                        submit_arguments_deinit(&a);
                }
                if (o->env) {
                        struct submit_arguments a;
                        _cleanup_free_ char *variable = mem_printf("%s=client", o->env);
                        const char *const set[] = {variable, NULL};
                        environment = set;
                        assert_int_equal(understand(&a, "--kill x", NULL, NULL), 0);
                        assert_string_equal(a.value[f], "client");
                        submit_arguments_deinit(&a);
                        environment = no_environment;
                }
        }
        struct submit_arguments a;
        assert_int_equal(understand(&a, "-c spark.yarn.keytab=a -c spark.kerberos.keytab=b /n/x.so", NULL, NULL), 0);
        assert_string_equal(a.value[SUBMIT_KEYTAB], "b");
        submit_arguments_deinit(&a);
}

static void compat_selects_older_rules(void **state)
{
        char defaults[] = "/tmp/defaults-XXXXXX";
        write_file(defaults, "spark.submit.pyFiles a.py\nspark.kerberos.keytab k\nspark.yarn.principal p\n");
        struct submit_arguments a;
        assert_int_equal(understand(&a, "-c spark.firesteel.compat=2.4 --driver-cores 0 /n/x.so", defaults, NULL), 0);
        assert_string_equal(a.value[SUBMIT_PY_FILES], "a.py");
        assert_null(a.value[SUBMIT_KEYTAB]);
        assert_string_equal(a.value[SUBMIT_PRINCIPAL], "p");
        _cleanup_free_ char *old = submit_arguments_report(&a);
        assert_null(strstr(old, "\n  remote "));
        assert_null(strstr(old, "\n  extraPropertiesFiles "));
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a,
                                    "-c spark.firesteel.compat=2.4 -c other.key=1 --verbose -c "
                                    "spark.driver.defaultJavaOptions=-Xmx1g /n/x.so",
                                    NULL, NULL),
                         0);
        assert_int_equal(a.messages.len, 2);
        assert_string_equal(a.messages.data[0], "Using properties file: null");
        assert_string_equal(a.messages.data[1], "Warning: Ignoring non-spark config property: other.key=1");
        submit_arguments_deinit(&a);
        assert_int_equal(understand(&a, "-c spark.firesteel.compat=3.5 /n/x.so", defaults, NULL), 0);
        assert_string_equal(a.value[SUBMIT_PY_FILES], "a.py");
        assert_string_equal(a.value[SUBMIT_PROPERTIES_FILE], defaults);
        _cleanup_free_ char *report = submit_arguments_report(&a);
        _cleanup_free_ char *line = mem_printf(" --conf and those from the properties file %s:\n", defaults);
        assert_non_null(strstr(report, line));
        assert_non_null(strstr(report, "\n  remote                  null\n"));
        submit_arguments_deinit(&a);
        unlink(defaults);
}

static void resolves_files_to_uris(void **state)
{
        char here[PATH_MAX];
        assert_non_null(getcwd(here, sizeof(here)));
        _cleanup_free_ char *jar = mem_printf("file:%s/nonexistent.jar", here);
        const struct {
                const char *path, *uri;
        } cases[] =
                {
                        {"hdfs:/root/spark.jar", "hdfs:/root/spark.jar"},
                        {"hdfs:///root/spark.jar#app.jar", "hdfs:///root/spark.jar#app.jar"},
                        {"nonexistent.jar", jar},
                        {"./nonexistent.jar", jar},
                        {"../nonexistent-a/../nonexistent-b/../../../../../../../../../x", "file:/x"},
                        {"file:/C:/file.txt", "file:/C:/file.txt"},
                        {"/nonexistent/a b#c", "file:/nonexistent/a%20b%23c"},
                        {"/nonexistent/a#c", "file:/nonexistent/a#c"},
                        {"/", "file:/"},
                        {"/nonexistent/a?b%41", "file:/nonexistent/a%3Fb%2541"},
                        {"/nonexistent/a?b#c", "file:/nonexistent/a#c"},
                },
          old[] = {
                  {"/nonexistent/./a//b/../c/", "file:/nonexistent/./a/b/../c"},
                  {"/nonexistent/../a.py#b", "file:/nonexistent/../a.py#b"},
                  {"//", "file:/"},
                  {"s3a://b/./c", "s3a://b/./c"},
          };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *uri = submit_resolve_uri(cases[i].path, COMPAT_4_3);
                assert_string_equal(uri, cases[i].uri);
                _cleanup_free_ char *again = submit_resolve_uri(uri, COMPAT_4_3);
                assert_string_equal(again, uri);
        }
        for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
                _cleanup_free_ char *uri = submit_resolve_uri(old[i].path, COMPAT_2_4);
                assert_string_equal(uri, old[i].uri);
        }
        _cleanup_free_ char *list = submit_resolve_uris("/nonexistent/a , ,s3a://b/c,", COMPAT_4_3);
        assert_string_equal(list, "file:/nonexistent/a%20,s3a://b/c");
}

static void prints_report_as_spark(void **state)
{
        struct submit_arguments a;
        assert_int_equal(understand(&a,
                                    "-v --conf spark.x.password=abc --conf spark.y=plain --master local[2] --name hi "
                                    "--driver-memory 1g /nonexistent/nope.so x --name y",
                                    NULL, NULL),
                         0);
        _cleanup_free_ char *report = submit_arguments_report(&a);
        assert_string_equal(report, "Parsed arguments:\n"
                                    "  master                  local[2]\n"
                                    "  remote                  null\n"
                                    "  deployMode              null\n"
                                    "  executorMemory          null\n"
                                    "  executorCores           null\n"
                                    "  totalExecutorCores      null\n"
                                    "  propertiesFile          null\n"
                                    "  extraPropertiesFiles    []\n"
                                    "  driverMemory            1g\n"
                                    "  driverCores             null\n"
                                    "  driverExtraClassPath    null\n"
                                    "  driverExtraLibraryPath  null\n"
                                    "  driverExtraJavaOptions  null\n"
                                    "  supervise               false\n"
                                    "  queue                   null\n"
                                    "  numExecutors            null\n"
                                    "  files                   null\n"
                                    "  pyFiles                 null\n"
                                    "  archives                null\n"
                                    "  mainClass               null\n"
                                    "  primaryResource         file:/nonexistent/nope.so\n"
                                    "  name                    hi\n"
                                    "  childArgs               [x --name y]\n"
                                    "  jars                    null\n"
                                    "  packages                null\n"
                                    "  packagesExclusions      null\n"
                                    "  repositories            null\n"
                                    "  verbose                 true\n"
                                    "\n"
                                    "Spark properties used, including those specified through\n"
                                    " --conf and those from the properties files:\n"
                                    "  (spark.driver.memory,1g)\n"
                                    "  (spark.x.password,*********(redacted))\n"
                                    "  (spark.y,plain)\n"
                                    "\n"
                                    "    \n");
        submit_arguments_deinit(&a);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_errors_as_spark),
                cmocka_unit_test(accepts_output_only_with_dry_run),
                cmocka_unit_test(accepts_zero_executors_with_dynamic_allocation),
                cmocka_unit_test(refuses_a_driver_that_cannot_resume),
                cmocka_unit_test(passes_words_after_application),
                cmocka_unit_test(stops_parsing_at_version),
                cmocka_unit_test(kill_and_status_need_no_application),
                cmocka_unit_test(shell_classes_mix_options_and_arguments),
                cmocka_unit_test(strips_windows_line_ends),
                cmocka_unit_test(driver_options_rank_as_settings),
                cmocka_unit_test(last_of_equal_options_wins),
                cmocka_unit_test(stronger_source_wins),
                cmocka_unit_test(extra_properties_files_override),
                cmocka_unit_test(settings_and_environment_fill_fields),
                cmocka_unit_test(compat_selects_older_rules),
                cmocka_unit_test(takes_name_from_first_source),
                cmocka_unit_test(resolves_files_to_uris),
                cmocka_unit_test(prints_report_as_spark),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
