/* firesteel class, spark-class: starts a class of Spark, or prints its command line. */
#include "base/error.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "conf/conf.h"
#include "launch/spark_home.h"
#include "submit/jvm/java_launcher.h"
#include "submit/standalone/legacy_client.h"

#include <stdio.h>

const char command_class_help[] =
        "Usage: firesteel class [--print-launch-command] CLASS [ARGUMENTS]\n"
        "The same as spark-class: start a class of Spark with the java command that Spark's own launcher would make.\n"
        "Needs SPARK_HOME, and java by JAVA_HOME or in PATH. With SPARK_PRINT_LAUNCH_COMMAND=1 it first prints\n"
        "the command to standard error. Without SPARK_HOME the daemons of a standalone cluster, the history server and\n"
        "Mesos' dispatcher are Firesteel's own, and so is org.apache.spark.deploy.Client, which submits to a cluster.\n"
        "\n"
        "  --print-launch-command  start nothing: print a NUL and a newline, then the words of the command, each followed\n"
        "                          by a NUL\n";

static int class_command_run_client(int argc, char **argv)
{
        int status = 1;
        legacy_command(argc - 1, argv + 1, &status);
        return fflush(stdout) == 0 ? status : 1;
}

/*
 * Classes that Firesteel implements itself, for scripts that start them by class. A Spark in SPARK_HOME takes
 * precedence.
 */
static int (*own_class(const char *class))(int, char **)
{
        static const struct {
                const char *class;
                int (*run)(int argc, char **argv);
        } own[] = {
                {"org.apache.spark.deploy.Client", class_command_run_client},
                {"org.apache.spark.deploy.history.HistoryServer", command_history_server},
                {"org.apache.spark.deploy.master.Master", command_master},
                {"org.apache.spark.deploy.mesos.MesosClusterDispatcher", command_mesos_dispatcher},
                {"org.apache.spark.deploy.mesos.MesosExternalShuffleService", command_shuffle_service},
                {"org.apache.spark.deploy.worker.Worker", command_worker},
                {"org.apache.spark.deploy.ExternalShuffleService", command_shuffle_service},
        };
        struct spark_home home = {0};
        bool spark = spark_home_find(&home, conf_environment, NULL) == 0 && home.jars;
        spark_home_deinit(&home);
        for (size_t i = 0; i < ARRAY_SIZE(own) && !spark; i++)
                if (strcmp(own[i].class, class) == 0)
                        return own[i].run;
        return NULL;
}

int command_class(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        bool print = argc > 1 && strcmp(argv[1], "--print-launch-command") == 0;
        int first = print ? 2 : 1, status = 1, r = -EINVAL;
        int (*own)(int, char **) = NULL;
        if (argc <= first)
                error_set(&error, -EINVAL, "Not enough arguments: missing class name.");
        else if ((own = own_class(argv[first])) && !print)
                return own(argc - first, argv + first);
        else
                r = java_launch(argv[first], argc - first - 1, argv + first + 1, print, &status, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        if (r == 0)
                status = fflush(stdout) == 0 ? 0 : 1;
        return status;
}
