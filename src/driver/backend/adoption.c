/* Adopts the executors of an earlier driver (struct earlier_executor). */
#include "driver/backend/cluster_backend_internal.h"

void cluster_adopt(struct cluster_backend *b)
{
        const struct driver_epoch epoch = job_runner_epoch(b->runner);
        if (epoch.n_earlier > 0 && b->manager->class->adopt)
                b->manager->class->adopt(b->manager, b, epoch.earlier, epoch.n_earlier, epoch.next_executor_id);
}
