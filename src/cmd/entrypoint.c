/* firesteel entrypoint, the program behind a container's /opt/entrypoint.sh; see image/entry/entrypoint.h. */
#include "base/error.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "image/entry/container_init.h"
#include "image/entry/entrypoint.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define CANNOT_RUN 126
#define NOT_FOUND 127

const char command_entrypoint_help[] =
        "Usage: firesteel entrypoint driver|executor|init|COMMAND [ARGUMENTS]\n"
        "\n"
        "The first process of a container: runs the pod's driver or executor with the settings in the environment\n"
        "(SPARK_DRIVER_BIND_ADDRESS, SPARK_DRIVER_URL, SPARK_EXECUTOR_ID, SPARK_EXECUTOR_CORES, SPARK_APPLICATION_ID,\n"
        "SPARK_EXECUTOR_POD_IP, ...), Spark 2.3's init container, or any other command. In an image this is\n"
        "/opt/entrypoint.sh.\n";

/*
 * Adds a passwd entry, because programs look up the name of their user. OpenShift runs each project under a number that
 * has none.
 */
static void entrypoint_command_add_user(void)
{
        uid_t user = geteuid();
        if (getpwuid(user))
                return;
        const char *name = getenv("SPARK_USER_NAME");
        FILE *users = fopen("/etc/passwd", "ae");
        if (users)
                fprintf(users, "%u:x:%u:%u:%s:/opt/spark/work-dir:/bin/false\n", user, user, getegid(),
                        name && *name && !strpbrk(name, ":\n") ? name : "anonymous uid");
        if (!users || fclose(users) != 0)
                fputs("Container ENTRYPOINT failed to add passwd entry for anonymous UID\n", stderr);
}

static int entrypoint_command_run(int argc, char **argv, int *status, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list command = {0};
        int r = entrypoint_command(argc, argv, environ, &command, error);
        if (r < 0)
                return r;
        bool foreign = entrypoint_role_of(argv[0]) == ENTRYPOINT_COMMAND;
        if (foreign)
                puts("Non-spark-on-k8s command provided, proceeding in pass-through mode...");
        fflush(stdout);
        /* Runs this program again under the name of the first word, whatever PATH the pod has. */
        return container_init_run(foreign ? command.data[0] : "/proc/self/exe", string_list_argv(&command), status,
                                  error);
}

int command_entrypoint(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        int status = 1, r;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_entrypoint_help, stdout) < 0 || fflush(stdout) != 0;
        entrypoint_command_add_user();
        if (argc > 1 && entrypoint_role_of(argv[1]) == ENTRYPOINT_INIT) {
                const char *path = argc > 2 ? argv[2] : "/etc/spark-init/spark-init.properties";
                r = entrypoint_download(path, &error);
                status = r < 0;
        } else if ((r = entrypoint_command_run(argc - 1, argv + 1, &status, &error)) < 0) {
                status = r == -ENOENT ? NOT_FOUND : r == -EACCES ? CANNOT_RUN : 1;
        }
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return status;
}
