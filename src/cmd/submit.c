/*
 * firesteel submit, spark-submit: parses and validates the command line, then runs the submission.
 *
 * All output goes to standard error, as Spark's does, because standard output belongs to the application. Exit statuses
 * are Spark's: 255 without arguments, 1 for an error, 101 for a missing class, otherwise the application's own.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/run_example.h"
#include "conf/conf.h"
#include "driver/backend/cluster_manager.h"
#include "events/event_json.h"
#include "launch/environment.h"
#include "process/exit_cleanup.h"
#include "submit/options/arguments.h"
#include "submit/prepare/submission.h"
#include "submit/submit_main.h"
#include "text/json_string.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage_head[] =
        "Usage: spark-submit [options] <app .so | .c file | jar | python file | R file> [app arguments]\n"
        "Usage: spark-submit --kill [submission ID] --master [spark://...]\n"
        "Usage: spark-submit --status [submission ID] --master [spark://...]\n"
        "Usage: spark-submit run-example [options] example-class [example args]\n";

#define FIRST_OPTIONS_HELP                                                                                             \
        "\n"                                                                                                           \
        "Options:\n"                                                                                                   \
        "  --master MASTER_URL         Where to run: local, local[N], local[*], local[N,maxFailures];\n"               \
        "                              spark://host:port, k8s://https://host:port, yarn, or\n"                         \
        "                              mesos://host:port (Default: local[*]).\n"                                       \
        "  --deploy-mode DEPLOY_MODE   \"client\": the driver runs here; \"cluster\": on one of the\n"                 \
        "                              machines inside the cluster (Default: client).\n"                               \
        "  --class CLASS_NAME          The class, or for a native application the function, that\n"                    \
        "                              starts it (Default: main).\n"                                                   \
        "  --name NAME                 A name for the application.\n"                                                  \
        "  --jars JARS                 Comma-separated jars for the class paths of driver and\n"                       \
        "                              executors.\n"                                                                   \
        "  --packages                  Comma-separated Maven coordinates, groupId:artifactId:version,\n"               \
        "                              of further jars, from the local repository, Maven central and\n"                \
        "                              --repositories.\n"                                                              \
        "  --exclude-packages          Comma-separated groupId:artifactId to exclude from --packages.\n"               \
        "  --repositories              Comma-separated further repositories for --packages.\n"                         \
        "  --py-files PY_FILES         Comma-separated .zip, .egg or .py files for the PYTHONPATH.\n"                  \
        "  --files FILES               Comma-separated files for the working directory of each\n"                      \
        "                              executor.\n"                                                                    \
        "  --archives ARCHIVES         Comma-separated archives to unpack in the working directory\n"                  \
        "                              of each executor.\n"                                                            \
        "\n"                                                                                                           \
        "  --conf, -c PROP=VALUE       A configuration property.\n"                                                    \
        "  --properties-file FILE      A file with properties, instead of conf/spark-defaults.conf.\n"

#define LOAD_DEFAULTS_HELP "  --load-spark-defaults       Read conf/spark-defaults.conf as well, below that file.\n"

#define OTHER_OPTIONS_HELP                                                                                             \
        "\n"                                                                                                           \
        "  --driver-memory MEM         Memory of the driver: 1000M, 2G (Default: 1024M).\n"                            \
        "  --driver-java-options       Options for the driver's JVM.\n"                                                \
        "  --driver-library-path       Library path entries for the driver.\n"                                         \
        "  --driver-class-path         Class path entries for the driver; --jars are there already.\n"                 \
        "\n"                                                                                                           \
        "  --executor-memory MEM       Memory of each executor: 1000M, 2G (Default: 1G).\n"                            \
        "\n"                                                                                                           \
        "  --proxy-user NAME           Act for this user. Not together with --principal / --keytab.\n"                 \
        "\n"                                                                                                           \
        "  --dry-run                   Show what would be started, and stop.\n"                                        \
        "  --output FORMAT             How --dry-run shows it: text, json, or objects, those that would\n"             \
        "                              be created in Kubernetes (Default: text).\n"                                    \
        "\n"                                                                                                           \
        "  --help, -h                  Show this help message and exit.\n"                                             \
        "  --verbose, -v               Print the parsed arguments.\n"                                                  \
        "  --version,                  Show the version.\n"                                                            \
        "\n"

#define CONNECT_OPTIONS_HELP                                                                                           \
        " Spark Connect only:\n"                                                                                       \
        "   --remote CONNECT_URL       The server: sc://host:port. Not together with --master and\n"                   \
        "                              --deploy-mode.\n"                                                               \
        "\n"

#define MANAGER_OPTIONS_HELP                                                                                           \
        " Cluster deploy mode only:\n"                                                                                 \
        "  --driver-cores NUM          Processors of the driver (Default: 1).\n"                                       \
        "\n"                                                                                                           \
        " Spark standalone or Mesos with cluster deploy mode only:\n"                                                  \
        "  --supervise                 Start the driver again when it fails.\n"                                        \
        "\n"                                                                                                           \
        " Spark standalone, Mesos or K8s with cluster deploy mode only:\n"                                             \
        "  --kill SUBMISSION_ID        End this driver.\n"                                                             \
        "  --status SUBMISSION_ID      Ask for the state of this driver.\n"                                            \
        "\n"                                                                                                           \
        " Spark standalone and Mesos only:\n"                                                                          \
        "  --total-executor-cores NUM  Processors of all executors together.\n"                                        \
        "\n"                                                                                                           \
        " Spark standalone, YARN and Kubernetes only:\n"                                                               \
        "  --executor-cores NUM        Processors of each executor (Default: 1 on YARN and\n"                          \
        "                              Kubernetes, all of a worker's in standalone mode).\n"                           \
        "\n"                                                                                                           \
        " Spark on YARN and Kubernetes only:\n"                                                                        \
        "  --num-executors NUM         How many executors to start (Default: 2); with dynamic\n"                       \
        "                              allocation, at least so many in the beginning.\n"                               \
        "  --principal PRINCIPAL       The principal to log in to the KDC with.\n"                                     \
        "  --keytab KEYTAB             The full path of its keytab.\n"                                                 \
        "\n"                                                                                                           \
        " Spark on YARN only:\n"                                                                                       \
        "  --queue QUEUE_NAME          The queue to submit to (Default: \"default\").\n"

/* Follows the options, for the SQL shell. */
static const char sql_shell_help[] = "CLI options:\n"
                                     " -d,--define <key=value>          Variable substitution to apply to Hive\n"
                                     "                                  commands. e.g. -d A=B or --define A=B\n"
                                     "    --database <databasename>     Specify the database to use\n"
                                     " -e <quoted-query-string>         SQL from command line\n"
                                     " -f <filename>                    SQL from files\n"
                                     " -H,--help                        Print help information\n"
                                     "    --hiveconf <property=value>   Use value for given property\n"
                                     "    --hivevar <key=value>         Variable substitution to apply to Hive\n"
                                     "                                  commands. e.g. --hivevar A=B\n"
                                     " -i <filename>                    Initialization SQL file\n"
                                     " -S,--silent                      Silent mode in interactive shell\n"
                                     " -v,--verbose                     Verbose mode (echo executed SQL to the\n"
                                     "                                  console)\n";

const char command_submit_help[] =
        "Usage: firesteel submit [options] <app .so | .c file | jar | python file | R file> [app arguments]\n"
        "The same as spark-submit.\n" FIRST_OPTIONS_HELP LOAD_DEFAULTS_HELP OTHER_OPTIONS_HELP CONNECT_OPTIONS_HELP
                MANAGER_OPTIONS_HELP;

static void submit_command_print_usage(const struct submit_arguments *a)
{
        const char *head = getenv("_SPARK_CMD_USAGE");
        enum submit_compat compat = COMPAT_4_3;
        (void)submit_compat_parse(strmap_get(&a->properties, "spark.firesteel.compat"), &compat, NULL);
        fprintf(stderr, "%s%s" FIRST_OPTIONS_HELP "%s" OTHER_OPTIONS_HELP "%s" MANAGER_OPTIONS_HELP,
                head ? head : usage_head, head ? "\n" : "", compat == COMPAT_4_3 ? LOAD_DEFAULTS_HELP : "",
                compat > COMPAT_2_4 ? CONNECT_OPTIONS_HELP : "");
        if (submit_is_sql_shell(a->value[SUBMIT_CLASS]))
                fputs(sql_shell_help, stderr);
}

/* Programs find Spark's version in a line that ends with "version" and a number. */
static void submit_command_print_version(void)
{
        fputs("Welcome to\n"
              "      _____                 __          __\n"
              "     / __(_)______ ___ ___ / /____ ___ / /\n"
              "    / _// / __/ -_|_-</ __/ / -_) -_) /\n"
              "   /_/ /_/_/  \\__/___/\\__/_/\\__/\\__/_/   " FIRESTEEL_VERSION "\n"
              "\n"
              "In the place of Spark version " EVENT_JSON_SPARK_VERSION "\n"
              "Using C, no JVM; compiled with " __VERSION__ "\n"
              "Type --help for more information.\n",
              stderr);
}

/* The absolute path of conf/spark-defaults.conf, or NULL if it does not exist. */
static char *submit_command_find_defaults(const char *conf_dir)
{
        _cleanup_free_ char *path = conf_dir ? mem_printf("%s/spark-defaults.conf", conf_dir) : NULL;
        struct stat st;
        if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return NULL;
        if (path[0] == '/')
                return steal(path);
        _cleanup_free_ char *here = getcwd(NULL, 0);
        return here ? mem_printf("%s/%s", here, path) : NULL;
}

/* Completes the arguments from files and the environment, and validates them. */
static int submit_command_complete(struct submit_arguments *a, struct fst_error *error)
{
        _cleanup_free_ char *conf_dir = submit_conf_dir();
        int r = submit_load_spark_env(conf_dir, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *defaults = submit_command_find_defaults(conf_dir);
        r = submit_arguments_complete(a, defaults, conf_environment, error);
        bool valid = r == 0 && submit_arguments_validate(a, conf_environment, error) == 0;
        if (valid && runner_is_foreign(a))
                return 0;
        for (size_t i = 0; i < a->messages.len; i++)
                fprintf(stderr, "%s\n", a->messages.data[i]);
        if (valid && a->verbose) {
                _cleanup_free_ char *report = submit_arguments_report(a);
                fputs(report, stderr);
        }
        return valid ? 0 : r < 0 ? r : -EINVAL;
}

/* --dry-run: prints the prepared submission to standard output. */
static int submit_command_show(struct submit_arguments *a, struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = {.progress = stderr};
        int r = submission_prepare(a, &s, error);
        for (size_t i = 0; i < s.messages.len; i++)
                fprintf(stderr, "%s\n", s.messages.data[i]);
        if (r < 0)
                return r;
        if (a->output == SUBMIT_OUTPUT_OBJECTS) {
                if (!s.manager->show_objects)
                        return error_set(error, -EINVAL,
                                         "this submission creates no objects: use --master k8s://… with --deploy-mode "
                                         "cluster");
                r = s.manager->show_objects(&s, stdout, error);
                if (r < 0)
                        return r;
        } else if (a->output == SUBMIT_OUTPUT_JSON) {
                _cleanup_free_ char *json = submission_json(&s);
                printf("%s\n", json);
        } else {
                submission_print(&s, stdout);
        }
        return fflush(stdout) == 0 ? 0 : error_errno(error, "standard output");
}

/* --dry-run of --kill or --status: prints the request and its master. */
static int submit_command_show_request(const struct submit_arguments *a, int *status, struct fst_error *error)
{
        const char *what = a->action == SUBMIT_ACTION_KILL ? "kill" : "status";
        const char *master = submit_arguments_master(a);
        if (a->output == SUBMIT_OUTPUT_JSON) {
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                buf_printf(&out, "{\"%s\":", what);
                json_put_string(&out, a->submission);
                buf_puts(&out, ",\"master\":");
                json_put_string(&out, master);
                buf_puts(&out, "}");
                printf("%s\n", buf_text(&out));
        } else {
                printf("Would send to %s: --%s %s\n", master, what, a->submission);
        }
        *status = 0;
        return fflush(stdout) == 0 ? 0 : error_errno(error, "standard output");
}

static int submit_command_run_action(struct submit_arguments *a, int argc, char **argv, int *status,
                                     struct fst_error *error)
{
        exit_cleanup_on_signals();
        if (!a->dry_run)
                return runner_run(a, argc - 1, argv + 1, status, error);
        if (a->action != SUBMIT_ACTION_SUBMIT)
                return submit_command_show_request(a, status, error);
        int r = submit_command_show(a, error);
        *status = r < 0;
        return r;
}

/* Runs Python's shell, R's shell or an example, as Spark's scripts request them. */
static int submit_command_delegate(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        int status = 1;
        if (strcmp(argv[1], "run-example") == 0 && run_example_is_native(argc - 2, argv + 2))
                return run_example(argc - 2, argv + 2);
        runner_exec("a shell or an example of Spark", argc - 1, argv + 1, &status, &error);
        fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return status;
}

/* With --output json, prints the error as JSON where the caller expects the result. */
static void submit_command_print_error(const struct submit_arguments *a, const char *message)
{
        if (a->dry_run && a->output == SUBMIT_OUTPUT_JSON) {
                _cleanup_free_ char *json = submission_json_error(message);
                printf("%s\n", json);
        } else {
                fprintf(stderr, "Error: %s\n", message);
        }
}

/* Prints what needs no files: the help, and the version alone. */
static int submit_command_run(struct submit_arguments *a, int argc, char **argv, int *status, struct fst_error *error)
{
        int r = submit_command_complete(a, error);
        if (r == 0 && a->action == SUBMIT_ACTION_VERSION)
                submit_command_print_version();
        else if (r == 0)
                return submit_command_run_action(a, argc, argv, status, error);
        *status = r < 0;
        return r;
}

int command_submit(int argc, char **argv)
{
        struct submit_arguments a;
        struct fst_error error = FST_ERROR_INIT;
        int status = 0;
        if (runner_is_special(argc - 1, argv + 1))
                return submit_command_delegate(argc, argv);
        submit_arguments_init(&a);
        int r = submit_arguments_parse(&a, argc - 1, argv + 1, &error);
        if (argc < 2) {
                submit_command_print_usage(&a);
                status = 255;
        } else if (r == 0 && a.action == SUBMIT_ACTION_HELP) {
                submit_command_print_usage(&a);
                status = a.usage_error;
        } else if (r == 0 && a.action == SUBMIT_ACTION_VERSION && !a.verbose) {
                submit_command_print_version();
        } else {
                status = 1;
                if (r == 0)
                        r = submit_command_run(&a, argc, argv, &status, &error);
                if (error.message)
                        submit_command_print_error(&a, error.message);
                if (r < 0 && a.usage_error) {
                        fputs("\n", stderr);
                        submit_command_print_usage(&a);
                        if (error.message) /* once more, where it is seen below the long usage */
                                fprintf(stderr, "\nError: %s\n", error.message);
                }
                if (r < 0 && a.remedy)
                        fprintf(stderr, "%s\n", a.remedy);
        }
        error_deinit(&error);
        submit_arguments_deinit(&a);
        return status;
}
