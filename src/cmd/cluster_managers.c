/*
 * The table of cluster managers, one row each; see driver/backend/cluster_manager.h. A master URL is matched against
 * the rows in this order, so a longer prefix must precede a shorter one that begins it.
 */
#include "driver/backend/cluster_manager.h"

#include <stddef.h>

#define CLUSTER_MANAGERS(ROW)                                                                                          \
        ROW(yarn_manager_class)          /* submit/yarn */                                                             \
        ROW(standalone_manager_class)    /* submit/standalone */                                                       \
        ROW(mesos_manager_class)         /* submit/mesos */                                                            \
        ROW(kubernetes_manager_class)    /* submit/kubernetes */                                                       \
        ROW(local_cluster_manager_class) /* submit/local */                                                            \
        ROW(local_manager_class)         /* submit/local */

#define DECLARE(name) extern const struct cluster_manager_class name;
CLUSTER_MANAGERS(DECLARE)

#define POINT(name) &(name),
const struct cluster_manager_class *const cluster_managers[] = {CLUSTER_MANAGERS(POINT) NULL};
