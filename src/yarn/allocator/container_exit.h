/* Why a container ended, in Spark's words, and whether the application is to blame. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* YARN's exit statuses that are not of the process. */
#define YARN_EXIT_INVALID (-1000)
#define YARN_EXIT_ABORTED (-100)
#define YARN_EXIT_DISKS_FAILED (-101)
#define YARN_EXIT_PREEMPTED (-102)
#define YARN_EXIT_VMEM_EXCEEDED (-103)
#define YARN_EXIT_PMEM_EXCEEDED (-104)
#define YARN_EXIT_KILLED_BY_APPMASTER (-105)
#define YARN_EXIT_KILLED_BY_RESOURCEMANAGER (-106)
#define YARN_EXIT_KILLED_AFTER_APP_COMPLETION (-107)

struct container_exit {
        bool caused_by_app; /* counts as a failure of the tasks that ran there */
        bool failed_node;   /* counts as a failure of the node and of the application's executors */
        char *reason;       /* owned by the caller */
};

/* @container is its id as text; @host NULL: not known; @diagnostics may be NULL. */
struct container_exit container_exit_explain(const char *container, const char *host, int status,
                                             const char *diagnostics);
