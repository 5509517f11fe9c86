/* The executor manager for master "yarn" (driver/backend/executor_manager.h). */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;

#include <stdbool.h>

/*
 * How the application of this process went in cluster mode, where the process is the ApplicationMaster and unregisters
 * later (cluster_driver.h). One application in a process.
 */
struct yarn_manager_outcome {
        bool started;  /* it has registered; atomic */
        int exit_code; /* 0, or why it cannot go on: 11, 12; atomic, set after `failure` */
        char *failure; /* a sentence, or NULL; never freed */
};
const struct yarn_manager_outcome *yarn_manager_outcome(void);

/* The end of the application is being reported: from now on, a ResourceManager that ends it does not end the process.
 */
void yarn_manager_ignore_failures(void);

/* As cluster_manager_class.executor_manager_new. */
int yarn_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
