/* See mesos_cluster_manager.h. */
#include "mesos/backend/mesos_cluster_manager.h"

#include "mesos/backend/coarse_manager.h"
#include "mesos/backend/fine_manager.h"
#include "mesos/backend/mesos_application.h"

int mesos_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct mesos_application application;
        int r = mesos_application_init(&application, sc, error);

        if (r < 0)
                return r;
        if (application.coarse)
                r = coarse_manager_new(sc, &application, out, error);
        else
                r = fine_manager_new(sc, &application, out, error);
        mesos_application_deinit(&application);
        return r;
}
