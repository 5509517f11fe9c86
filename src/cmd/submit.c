/*
 * firesteel submit, spark-submit: read what was asked, say what is wrong with it, or run it.
 *
 * Everything that is printed goes to standard error, as Spark's does: standard output is the application's. Exit
 * statuses are Spark's: 255 without any argument, 1 for what cannot be, 101 for a class that is not there, and
 * otherwise the application's own.
 */
#include "base/error.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "deploy/submit/arguments.h"
#include "deploy/submit/environment.h"
#include "deploy/submit/launcher.h"
#include "deploy/submit/rest_client.h"
#include "deploy/submit/submission.h"

#include <stdio.h>
#include <unistd.h>

static const char usage_head[] =
        "Usage: spark-submit [options] <application.so | application.c> [application arguments]\n"
        "Usage: spark-submit --kill <submission> --master <spark://...>\n"
        "Usage: spark-submit --status <submission> --master <spark://...>\n";

#define OPTIONS_HELP                                                                                                   \
        "\n"                                                                                                           \
        "Options:\n"                                                                                                   \
        "  --master URL                where to run: local, local[N], local[*], local[N,maxFailures];\n"               \
        "                              spark://host:port, yarn and k8s://https://host:port are understood\n"           \
        "                              but not supported by this version (default: local[*])\n"                        \
        "  --deploy-mode MODE          client: the driver runs here; cluster: inside the cluster\n"                    \
        "                              (default: client)\n"                                                            \
        "  --class NAME                the function that starts the application (default: main)\n"                     \
        "  --name NAME                 a name for the application\n"                                                   \
        "  --files LIST                files for the working folder of each executor\n"                                \
        "  --archives LIST             archives to unpack in the working folder of each executor\n"                    \
        "  --jars LIST                 jars for driver and executors\n"                                                \
        "  --packages LIST             Maven coordinates group:artifact:version of further jars\n"                     \
        "  --exclude-packages LIST     group:artifact to leave out of what --packages brings\n"                        \
        "  --repositories LIST         further repositories for --packages\n"                                          \
        "  --py-files LIST             .zip, .egg, .py files for Python's path\n"                                      \
        "\n"                                                                                                           \
        "  --conf, -c KEY=VALUE        a configuration property\n"                                                     \
        "  --properties-file FILE      a file with properties, instead of conf/spark-defaults.conf\n"                  \
        "  --load-spark-defaults       read conf/spark-defaults.conf as well, below that file\n"                       \
        "\n"                                                                                                           \
        "  --driver-memory SIZE        memory of the driver: 1000M, 2G (default: 1024M)\n"                             \
        "  --driver-java-options TEXT  for a Java driver\n"                                                            \
        "  --driver-library-path PATH  for a Java driver\n"                                                            \
        "  --driver-class-path PATH    for a Java driver\n"                                                            \
        "  --executor-memory SIZE      memory of each executor: 1000M, 2G (default: 1G)\n"                             \
        "  --proxy-user NAME           act for this user; not with --principal and --keytab\n"                         \
        "  --dry-run                   show what would be run, and stop\n"                                             \
        "  --output FORMAT             of --dry-run: text or json (default: text)\n"                                   \
        "  --help, -h                  show this\n"                                                                    \
        "  --verbose, -v               show what was understood\n"                                                     \
        "  --version                   show the version\n"                                                             \
        "\n"                                                                                                           \
        "Spark Connect only:\n"                                                                                        \
        "  --remote URL                sc://host:port; not with --master and --deploy-mode\n"                          \
        "\n"                                                                                                           \
        "Cluster deploy mode only:\n"                                                                                  \
        "  --driver-cores N            processors of the driver (default: 1)\n"                                        \
        "\n"                                                                                                           \
        "Standalone and Mesos with cluster deploy mode only:\n"                                                        \
        "  --supervise                 start the driver again when it fails\n"                                         \
        "\n"                                                                                                           \
        "Standalone, Mesos and Kubernetes with cluster deploy mode only:\n"                                            \
        "  --kill ID                   end this driver\n"                                                              \
        "  --status ID                 ask for the state of this driver\n"                                             \
        "\n"                                                                                                           \
        "Standalone, Mesos and Kubernetes only:\n"                                                                     \
        "  --total-executor-cores N    processors of all executors together\n"                                         \
        "\n"                                                                                                           \
        "Standalone, YARN and Kubernetes only:\n"                                                                      \
        "  --executor-cores N          processors of each executor (default: 1; standalone: all of a worker's)\n"      \
        "\n"                                                                                                           \
        "YARN and Kubernetes only:\n"                                                                                  \
        "  --num-executors N           how many executors to start, at least, with dynamic allocation (default: 2)\n"  \
        "  --principal NAME            the principal for Kerberos\n"                                                   \
        "  --keytab FILE               its keytab\n"                                                                   \
        "\n"                                                                                                           \
        "YARN only:\n"                                                                                                 \
        "  --queue NAME                the queue (default: default)\n"

const char command_submit_help[] =
        "Usage: firesteel submit [options] <application.so | application.c> [application arguments]\n"
        "The same as spark-submit.\n" OPTIONS_HELP;

static void print_usage(void)
{
        const char *head = getenv("_SPARK_CMD_USAGE");
        fprintf(stderr, "%s%s%s", head ? head : usage_head, head ? "\n" : "", OPTIONS_HELP);
}

static void print_version(void)
{
        fputs("Welcome to\n"
              "      _____                 __          __\n"
              "     / __(_)______ ___ ___ / /____ ___ / /\n"
              "    / _// / __/ -_|_-</ __/ / -_) -_) /\n"
              "   /_/ /_/_/  \\__/___/\\__/_/\\__/\\__/_/   version " FIRESTEEL_VERSION "\n"
              "\n"
              "Using C, no JVM; compiled with " __VERSION__ "\n"
              "Type --help for more information.\n",
              stderr);
}

static const char *environment(const char *name)
{
        return getenv(name);
}

/* Read the rest of what a submission depends on, and check it. */
static int prepare(struct submit_arguments *a, struct fst_error *error)
{
        _cleanup_free_ char *conf_dir = submit_conf_dir();
        _cleanup_free_ char *defaults = conf_dir ? mem_printf("%s/spark-defaults.conf", conf_dir) : NULL;
        int r = submit_load_spark_env(conf_dir, error);
        if (r == 0)
                r = submit_arguments_complete(a, defaults && access(defaults, F_OK) == 0 ? defaults : NULL, environment,
                                              error);
        for (size_t i = 0; i < a->messages.len; i++)
                fprintf(stderr, "%s\n", a->messages.data[i]);
        if (r == 0 && a->verbose) {
                _cleanup_free_ char *report = submit_arguments_report(a);
                fputs(report, stderr);
        }
        return r < 0 ? r : submit_arguments_validate(a, environment, error);
}

/* --dry-run: what would be started, on standard output. */
static int show(struct submit_arguments *a, struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = SUBMISSION_INIT;
        int r = submission_prepare(a, &s, error);
        for (size_t i = 0; i < s.messages.len; i++)
                fprintf(stderr, "%s\n", s.messages.data[i]);
        if (r < 0)
                return r;
        if (a->output == SUBMIT_OUTPUT_JSON) {
                _cleanup_free_ char *json = submission_json(&s);
                printf("%s\n", json);
        } else {
                submission_print(&s, stdout);
        }
        return fflush(stdout) == 0 ? 0 : error_errno(error, "standard output");
}

/* --kill and --status. */
static int operate(const struct submit_arguments *a, int *status, struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        bool kill = a->action == SUBMIT_ACTION_KILL;
        if (rest_client_supports(master))
                return (kill ? rest_kill : rest_status)(master, a->submission, &a->properties, status, error);
        if (strncmp(master, "k8s", 3) == 0)
                return error_set(error, -ENOTSUP, "%s for Kubernetes is not built yet", kill ? "--kill" : "--status");
        return error_set(error, -ENOTSUP, "No external SparkSubmitOperations clients found for master url: '%s'",
                         master);
}

/* A master that speaks REST starts the application. */
static int submit_by_rest(struct submit_arguments *a, int *status, struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = SUBMISSION_INIT;
        int r = submission_prepare(a, &s, error);
        for (size_t i = 0; i < s.messages.len; i++)
                fprintf(stderr, "%s\n", s.messages.data[i]);
        if (r == 0 && s.main_class && strcmp(s.main_class, SUBMIT_CLASS_REST) == 0)
                r = rest_submit(&s, status, error);
        else if (r == 0)
                r = FST_REST_E_NO_SERVER;
        if (r == FST_REST_E_NO_SERVER)
                r = error_set(error, -ENOTSUP,
                              "the legacy submission gateway of standalone masters is not built yet: use the master's "
                              "REST server (spark.master.rest.enabled=true, port 6066)");
        return r;
}

static int act(struct submit_arguments *a, int *status, struct fst_error *error)
{
        const char *mode = a->value[SUBMIT_DEPLOY_MODE];
        if (a->action != SUBMIT_ACTION_SUBMIT)
                return operate(a, status, error);
        if (!a->dry_run && mode && strcmp(mode, "cluster") == 0 && rest_client_supports(submit_arguments_master(a)))
                return submit_by_rest(a, status, error);
        if (!a->dry_run)
                return submit_launch(a, status, error);
        int r = show(a, error);
        *status = r < 0;
        return r;
}

/* Programs that asked for JSON find the error where they look for the answer. */
static void print_error(const struct submit_arguments *a, const char *message)
{
        if (a->dry_run && a->output == SUBMIT_OUTPUT_JSON) {
                _cleanup_free_ char *json = submission_json_error(message);
                printf("%s\n", json);
        } else {
                fprintf(stderr, "Error: %s\n", message);
        }
}

int command_submit(int argc, char **argv)
{
        struct submit_arguments a;
        struct fst_error error = FST_ERROR_INIT;
        int status = 1;
        if (argc < 2) {
                print_usage();
                return 255;
        }
        submit_arguments_init(&a);
        int r = submit_arguments_parse(&a, argc - 1, argv + 1, &error);
        if (r == 0 && a.action == SUBMIT_ACTION_VERSION) {
                print_version();
                status = 0;
        } else if (r == 0 && a.action == SUBMIT_ACTION_HELP) {
                print_usage();
                status = 0;
        } else {
                if (r == 0)
                        r = prepare(&a, &error);
                if (r == 0)
                        r = act(&a, &status, &error);
                if (error.message)
                        print_error(&a, error.message);
                if (r < 0 && a.usage_error) {
                        fputs("\n", stderr);
                        print_usage();
                }
        }
        error_deinit(&error);
        submit_arguments_deinit(&a);
        return status;
}
