/*
 * spark-submit --kill and --status for an application of YARN: cluster_manager_class.kill and .status. Spark has no such
 * request for YARN. The application may be of any kind, also of genuine Spark.
 *
 * They write to standard error, as those of other managers do. *@status is 0, or 1 if the ResourceManager does not know
 * the application. @id: "application_1700000000000_0001". Return 0, or negative with @error.
 */
#pragma once

struct fst_error;
struct strmap;

/* Kills the application, and waits until it has ended. One that has ended before stays as it is. */
int yarn_kill(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);

/* Prints the application's state, final status, diagnostics, queue, user and tracking URL. */
int yarn_status(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);
