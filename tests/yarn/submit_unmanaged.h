/* Submissions of `make check-yarn`: an application whose ApplicationMaster is not started by YARN. */
#pragma once

#include "yarn/protocol/resource_manager.h"

/* The parts of a submission that the checks vary. */
struct unmanaged_application {
        const char *name, *queue;
        int64_t memory_mb; /* of the ApplicationMaster, although none is started */
};

/* Creates and submits an application. Returns 0 and its id, or negative with @error. */
int unmanaged_submit(struct hadoop_rpc_client *rm, const struct unmanaged_application *application,
                     struct yarn_application_id *out, struct fst_error *error);

/* Logs in as CHECK_PRINCIPAL with the file CHECK_KEYTAB, if they are set, for as long as the process lives. Without
 * them, the ticket cache is KRB5CCNAME's. Returns 0, or negative with @error. */
int check_login(struct fst_error *error);
