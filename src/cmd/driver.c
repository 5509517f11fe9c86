/*
 * The commands that start a driver on behalf of somebody else: `firesteel driver` of a worker, for a driver in cluster
 * mode (submit/jvm/driver_wrapper.h), and `firesteel resume`, for one that has died (driver/resume).
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "cmd/command.h"
#include "driver/resume/restart.h"
#include "submit/jvm/driver_wrapper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int words_fd = -1; /* carries the last message to the parent process */

const char command_driver_help[] =
        "Usage: firesteel driver [--properties-file FILE] WORKER_URL APPLICATION CLASS [ARGUMENTS]\n"
        "\n"
        "Run an application's driver under a worker of a standalone cluster, and end when that worker ends. Workers\n"
        "start this for `spark-submit --deploy-mode cluster`.\n"
        "\n"
        "  --properties-file FILE      the configuration\n"
        "  WORKER_URL                  spark://Worker@HOST:PORT\n"
        "  APPLICATION                 a shared object (.so), a C file (.c), or a .jar, which runs in a JVM with a\n"
        "                              local master\n"
        "  CLASS                       the function, or class, that starts it\n"
        "\n"
        "The secret of spark.authenticate comes in the environment variable _SPARK_AUTH_SECRET.\n";

/* Reports a failure to the log and to the worker, which passes it to the master. */
static void driver_command_report_error(const char *message)
{
        fprintf(stderr, "Error: %s\n", message);
        if (words_fd >= 0)
                dprintf(words_fd, "%s\n", message);
}

int command_driver(int argc, char **argv)
{
        const char *words = getenv("FIRESTEEL_CRASH_FD");
        struct driver_wrapper_options options = {0};
        struct fst_error error = FST_ERROR_INIT;
        int first = 1, status = 1;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_driver_help, stdout) < 0 || fflush(stdout) != 0;
        if (words && (words_fd = atoi(words)) > STDERR_FILENO)
                fcntl(words_fd, F_SETFD, FD_CLOEXEC);
        unsetenv("FIRESTEEL_CRASH_FD"); /* the driver's children must not inherit the worker's descriptor */
        if (argc > 2 && strcmp(argv[1], "--properties-file") == 0) {
                options.properties_file = argv[2];
                first = 3;
        }
        if (argc < first + 3) {
                fputs(command_driver_help, stderr);
                return 255; /* Spark's exit status */
        }
        options.words_fd = words_fd;
        options.worker_url = argv[first];
        options.jar = argv[first + 1];
        options.main_class = argv[first + 2];
        options.arguments = argv + first + 3;
        options.n = (size_t)(argc - first - 3);
        if (driver_wrapper_run(&options, &status, &error) < 0) {
                driver_command_report_error(error_message(&error));
                status = 1;
        } else if (error.message) {
                driver_command_report_error(error_message(&error));
        }
        error_deinit(&error);
        return status;
}

const char command_resume_help[] =
        "Usage: firesteel resume --dir DIRECTORY APPLICATION\n"
        "\n"
        "Starts the driver of an application again that has died, with its program, arguments and working directory. The new\n"
        "driver takes over from the old one, if that is still alive, and goes on where the journal ends.\n"
        "\n"
        "  --dir DIRECTORY   spark.firesteel.resume.dir of the application\n"
        "  --print           print the command, and start nothing\n"
        "  --help            print this\n"
        "\n"
        "APPLICATION is the name of its directory there: the id of the application that its first driver has logged.\n";

int command_resume(int argc, char **argv)
{
        const char *directory = NULL, *id = NULL;
        bool only_print = false;
        for (int i = 1; i < argc; i++) {
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(command_resume_help, stdout) < 0 || fflush(stdout) != 0;
                if (strcmp(argv[i], "--print") == 0)
                        only_print = true;
                else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
                        directory = argv[++i];
                else if (text_starts_with(argv[i], "--dir="))
                        directory = argv[i] + strlen("--dir=");
                else if (strcmp(argv[i], "--conf") == 0 || strcmp(argv[i], "-c") == 0 ||
                         text_starts_with(argv[i], "--conf="))
                        return command_usage(command_resume_help,
                                             "the first driver's settings apply: to change one, run the application's "
                                             "command again with --conf spark.firesteel.resume.id=APPLICATION, not:",
                                             argv[i]);
                else if (argv[i][0] == '-')
                        return command_usage(command_resume_help,
                                             "an unknown option, or one without its value:", argv[i]);
                else if (id)
                        return command_usage(command_resume_help, "more than one application is named:", argv[i]);
                else
                        id = argv[i];
        }
        if (!id || !directory || !*directory)
                return command_usage(command_resume_help, id ? "--dir is missing" : "an application is missing", NULL);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = resume_restart(directory, id, only_print, &error);
        if (r)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        return r ? 1 : 0;
}
