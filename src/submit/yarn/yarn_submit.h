/* spark-submit to YARN in cluster mode. */
#pragma once

struct fst_error;
struct submission;

/* cluster_manager_class.submit: submits @s, and follows the application unless it is not to be waited for. */
int yarn_submit(const struct submission *s, int *status, struct fst_error *error);
