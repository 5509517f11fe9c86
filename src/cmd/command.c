/* The table of commands, and `firesteel` without a command; see command.h. */
#include "cmd/command.h"

#include "base/mem.h"
#include "process/standard_streams.h"

#include <stdio.h>

static const struct program_command {
        const char *name, *summary;
        int (*run)(int argc, char **argv);
        const char *help;
} commands[] = {
        {"submit", "run an application (the same as spark-submit)", command_submit, command_submit_help},
        {"applications", "print the applications of an event log, a driver or a history server", command_applications,
         command_applications_help},
        {"class", "start a class of Spark (the same as spark-class)", command_class, command_class_help},
        {"compare", "compare two runs of an application", command_compare, command_compare_help},
        {"compile", "compile C files into a shared object for submit", command_compile, command_compile_help},
        {"decommission", "decommission an executor before its container stops", command_decommission,
         command_decommission_help},
        {"driver", "run an application's driver, started by a worker", command_driver, command_driver_help},
        {"entrypoint", "the first process of a container", command_entrypoint, command_entrypoint_help},
        {"executor", "run an application's tasks, started by cluster managers", command_executor,
         command_executor_help},
        {"executors", "print the executors of an event log, a driver or a history server", command_executors,
         command_executors_help},
        {"history-server", "show applications from their event logs", command_history_server,
         command_history_server_help},
        {"image", "write a container image of this Firesteel", command_image, command_image_help},
        {"jobs", "print the jobs of an event log, a driver or a history server", command_jobs, command_jobs_help},
        {"logs", "print durable logs of an application, or those that YARN has", command_logs, command_logs_help},
        {"master", "the master of a standalone cluster", command_master, command_master_help},
        {"mesos-dispatcher", "run drivers on Mesos in cluster mode", command_mesos_dispatcher,
         command_mesos_dispatcher_help},
        {"mesos-executor", "run tasks in the fine-grained mode of Mesos, started by an agent", command_mesos_executor,
         command_mesos_executor_help},
        {"operator", "the operator of SparkApplications on Kubernetes, and its client", command_operator,
         command_operator_help},
        {"resume", "start the driver of an application again that has died", command_resume, command_resume_help},
        {"shuffle-service", "serve map outputs, even after their executors have ended", command_shuffle_service,
         command_shuffle_service_help},
        {"simulate", "run the scheduler under a virtual clock, or replay a trace of it", command_simulate,
         command_simulate_help},
        {"stages", "print the stages of an event log, a driver or a history server", command_stages,
         command_stages_help},
        {"worker", "run executors and drivers for a standalone master", command_worker, command_worker_help},
        {"yarn-am", "the ApplicationMaster on YARN", command_yarn_am, command_yarn_am_help},
};

static const struct program_command *command_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
                if (strcmp(commands[i].name, name) == 0)
                        return &commands[i];
        }
        return NULL;
}

static void command_print_help(FILE *out)
{
        fputs("Usage: firesteel COMMAND [ARGUMENTS]\n"
              "\n"
              "Firesteel runs Spark's kind of distributed work without a JVM. Commands:\n",
              out);
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                fprintf(out, "  %-16s %s\n", commands[i].name, commands[i].summary);
        fputs("\n"
              "  --version  print the version\n"
              "  --help     print this; `firesteel help COMMAND` describes a command\n",
              out);
}

/* Reports a failed write to standard output. */
static int command_finish(void)
{
        if (fflush(stdout) == 0)
                return 0;
        perror("firesteel: standard output");
        return 1;
}

int command_usage(const char *help, const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s%s%s\n\n%s", problem, word ? " " : "", word ? word : "", help);
        return 2;
}

static int command_unknown(const char *name)
{
        fprintf(stderr, "Error: '%s' is not a firesteel command. The commands are:", name);
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
        fputs(" (see `firesteel --help`)\n", stderr);
        return 2;
}

static int command_help(int argc, char **argv)
{
        const struct program_command *command = argc > 2 ? command_find(argv[2]) : NULL;
        if (argc > 2 && !command)
                return command_unknown(argv[2]);
        if (command)
                fputs(command->help, stdout);
        else
                command_print_help(stdout);
        return command_finish();
}

int firesteel_main(int argc, char **argv)
{
        standard_streams_open();
        const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
        const char *called = argc > 0 ? (slash ? slash + 1 : argv[0]) : "firesteel";
        if (strcmp(called, "spark-submit") == 0)
                return command_submit(argc, argv);
        if (strcmp(called, "spark-class") == 0)
                return command_class(argc, argv);
        if (strcmp(called, "entrypoint.sh") == 0)
                return command_entrypoint(argc, argv);
        if (strcmp(called, "decom.sh") == 0)
                return command_decommission(argc, argv);
        if (command_is_shell(called))
                return command_shell(called, argc, argv);
        if (argc < 2) {
                command_print_help(stderr);
                return 2;
        }
        if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
                puts("firesteel " FIRESTEEL_VERSION);
                return command_finish();
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
                return command_help(argc, argv);
        const struct program_command *command = command_find(argv[1]);
        return command ? command->run(argc - 1, argv + 1) : command_unknown(argv[1]);
}
