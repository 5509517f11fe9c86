/* firesteel executor and firesteel mesos-executor: started by cluster managers for an application; see exec/executor.h. */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "conf/conf.h"
#include "exec/app/sanitizers.h"
#include "exec/guard/crash.h"
#include "exec/executor.h"
#include "hadoop/credentials.h"
#include "mesos/executor/agent_gate.h"
#include "net/socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char command_executor_help[] =
        "Usage: firesteel executor [OPTIONS]\n"
        "\n"
        "Run an application's tasks. Cluster managers start this program. The driver sends it the configuration.\n"
        "\n"
        "  --driver-url URL            the driver: spark://CoarseGrainedScheduler@HOST:PORT\n"
        "  --executor-id ID            its id in the application\n"
        "  --hostname HOST             the name under which other executors reach it (default: this host's address)\n"
        "  --cores N                   number of concurrent tasks\n"
        "  --group-processes N         how many processes of the application share its control group\n"
        "  --app-id ID                 the application\n"
        "  --worker-url URL            the worker that started it\n"
        "  --started-by driver         the driver of a local cluster started it: log its SIGTERM at INFO\n"
        "  --bind-address ADDRESS      where it listens (default: the hostname)\n"
        "  --user-class-path FILE      a shared object to load at the start; may be given several times\n"
        "  --resourcesFile FILE        its custom resources, as JSON\n"
        "  --resourceProfileId N       the resource profile that it was asked for with\n"
        "  --conf KEY=VALUE            a setting for the start (spark.rpc.*, spark.ssl.*, ports, ...)\n"
        "\n"
        "The secret of spark.authenticate comes in the environment variable _SPARK_AUTH_SECRET, or in the credentials\n"
        "that HADOOP_TOKEN_FILE_LOCATION names.\n";

const char command_mesos_executor_help[] =
        "Usage: firesteel mesos-executor\n"
        "\n"
        "Run an application's tasks in the fine-grained mode of Mesos, in which each of them is a task of Mesos. The\n"
        "agent starts this program and says in its environment where it is (MESOS_AGENT_ENDPOINT, MESOS_FRAMEWORK_ID,\n"
        "MESOS_EXECUTOR_ID).\n";

struct executor_arguments {
        struct executor_options options;
        struct fst_conf conf;
        VEC(const char *) class_path;
        char *local_host; /* without --hostname */
};

static int executor_command_usage(const char *problem, const char *word)
{
        command_usage(command_executor_help, problem, word);
        return EXECUTOR_EXIT_FAILED;
}

/* The place where an option's value is stored, or NULL for options that need more work. */
static const char **executor_command_text_option(struct executor_arguments *a, const char *name)
{
        const struct {
                const char *name, **value;
        } options[] = {
                {"--driver-url", &a->options.driver_url},
                {"--executor-id", &a->options.executor_id},
                {"--hostname", &a->options.hostname},
                {"--app-id", &a->options.app_id},
                {"--worker-url", &a->options.worker_url},
                {"--bind-address", &a->options.bind_address},
                {"--resourcesFile", &a->options.resources_file},
        };
        for (size_t i = 0; i < ARRAY_SIZE(options); i++)
                if (strcmp(options[i].name, name) == 0)
                        return options[i].value;
        return NULL;
}

static bool executor_command_parse_number(const char *text, long least, int *out)
{
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end || errno || value < least || value > 65536)
                return false;
        *out = (int)value;
        return true;
}

static int executor_command_parse_other(struct executor_arguments *a, const char *name, const char *value)
{
        if (strcmp(name, "--cores") == 0)
                return executor_command_parse_number(value, 1, &a->options.cores)
                               ? 0
                               : executor_command_usage("--cores needs a number, not", value);
        if (strcmp(name, "--group-processes") == 0)
                return executor_command_parse_number(value, 1, &a->options.group_processes)
                               ? 0
                               : executor_command_usage("--group-processes needs a number, not", value);
        if (strcmp(name, "--resourceProfileId") == 0)
                return executor_command_parse_number(value, 0, &a->options.resource_profile)
                               ? 0
                               : executor_command_usage("--resourceProfileId needs a number, not", value);
        if (strcmp(name, "--started-by") == 0) {
                a->options.started_by_driver = strcmp(value, "driver") == 0;
                return a->options.started_by_driver
                               ? 0
                               : executor_command_usage("--started-by needs \"driver\", not", value);
        }
        if (strcmp(name, "--user-class-path") == 0) {
                vec_push(&a->class_path, value);
                return 0;
        }
        if (strcmp(name, "--conf") != 0)
                return executor_command_usage("unknown option", name);
        const char *equals = strchr(value, '=');
        if (!equals || equals == value)
                return executor_command_usage("--conf needs KEY=VALUE, not", value);
        _cleanup_free_ char *key = mem_strndup(value, (size_t)(equals - value));
        conf_set(&a->conf, key, equals + 1);
        return 0;
}

static int executor_command_parse(struct executor_arguments *a, int argc, char **argv)
{
        for (int i = 1; i < argc; i += 2) {
                if (i + 1 == argc)
                        return executor_command_usage("a value is missing after", argv[i]);
                const char **text = executor_command_text_option(a, argv[i]);
                int r = text ? 0 : executor_command_parse_other(a, argv[i], argv[i + 1]);
                if (r)
                        return r;
                if (text)
                        *text = argv[i + 1];
        }
        const struct executor_options *o = &a->options;
        const char *missing = !o->driver_url    ? "--driver-url"
                              : !o->executor_id ? "--executor-id"
                              : !o->app_id      ? "--app-id"
                              : !o->cores       ? "--cores"
                                                : NULL;
        return missing ? executor_command_usage("missing option", missing) : 0;
}

/* Crash reports go to the parent process if it asks for them, else to the log. */
static int executor_command_crash_descriptor(void)
{
        const char *text = getenv("FIRESTEEL_CRASH_FD");
        int fd = -1;
        unsetenv("FIRESTEEL_CRASH_FD");
        return text && executor_command_parse_number(text, 3, &fd) ? fd : STDERR_FILENO;
}

/* In a container of YARN the secret comes in the credentials. */
static int executor_command_take_secret(const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials credentials = {0};
        const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");
        bool wanted;
        int r = conf_get_bool(conf, "spark.authenticate", &wanted, error);
        if (r < 0 || !wanted || !path || getenv("_SPARK_AUTH_SECRET"))
                return r;
        r = hadoop_credentials_load(&credentials, path, error);
        const struct buf *secret = r < 0 ? NULL : hadoop_credentials_secret(&credentials, HADOOP_SECRET_OF_SPARK);
        if (secret)
                setenv("_SPARK_AUTH_SECRET", buf_text(secret), 1);
        return r;
}

static int executor_command_run(struct executor_arguments *a)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        sanitizers_start();
        if (executor_command_take_secret(&a->conf, &error) < 0 ||
            crash_init(executor_command_crash_descriptor(), NULL, &error)) {
                fprintf(stderr, "Error: %s\n", error_message(&error));
                return EXECUTOR_EXIT_FAILED;
        }
        a->options.conf = &a->conf;
        a->options.user_class_path = a->class_path.data;
        a->options.n_user_class_path = a->class_path.len;
        return executor_run(&a->options);
}

int command_executor(int argc, char **argv)
{
        struct executor_arguments a = {0};
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_executor_help, stdout) < 0 || fflush(stdout) != 0;
        conf_init(&a.conf);
        int r = executor_command_parse(&a, argc, argv);
        if (r == 0 && !a.options.hostname) {
                a.options.hostname = a.local_host = socket_local_host();
                log_info("CoarseGrainedExecutorBackend",
                         "Executor hostname is not provided, will use '%s' to advertise itself", a.local_host);
        }
        if (r == 0)
                r = executor_command_run(&a);
        vec_deinit(&a.class_path);
        conf_deinit(&a.conf);
        free(a.local_host);
        return r;
}

int command_mesos_executor(int argc, char **argv)
{
        struct executor_arguments a = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct agent_gate *gate = NULL;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_mesos_executor_help, stdout) < 0 || fflush(stdout) != 0;
        if (argc > 1) {
                command_usage(command_mesos_executor_help, "unknown argument", argv[1]);
                return EXECUTOR_EXIT_FAILED;
        }
        conf_init(&a.conf);
        int r = agent_gate_new(&a.options, &a.conf, &gate, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        r = r < 0 ? EXECUTOR_EXIT_FAILED : executor_command_run(&a);
        agent_gate_free(gate);
        conf_deinit(&a.conf);
        return r;
}
