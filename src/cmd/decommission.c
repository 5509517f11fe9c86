/* firesteel decommission, the program behind a container's /opt/decom.sh; see image/entry/container_init.h. */
#include "base/error.h"
#include "cmd/command.h"
#include "image/entry/container_init.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 60000 /* as in Spark's script; the kubelet kills an executor that runs longer */

const char command_decommission_help[] =
        "Usage: firesteel decommission\n"
        "\n"
        "Decommissions the executor in this container (spark.kubernetes.decommission.script), before Kubernetes stops it:\n"
        "sends SIGPWR to the container's first process, and waits up to a minute for its end. In an image this is\n"
        "/opt/decom.sh.\n";

int command_decommission(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_decommission_help, stdout) < 0 || fflush(stdout) != 0;
        int r = container_init_leave(1, SIGPWR, TIMEOUT_MS, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return r < 0;
}
