/*
 * The site of a running application (Spark: SparkUI): pages and /api/v1 at spark.ui.port, over the application's status
 * (driver/events/app_status.h).
 *
 * The port opens before the application registers with its cluster manager, which gets the address. A thread of its own
 * serves requests once the application has started. Without requests it costs a socket and a sleeping thread.
 */
#pragma once

struct driver_ui;
struct fst_context;
struct fst_error;

/*
 * Opens the port. *@out is NULL if spark.ui.enabled is false. Returns 0, or negative with @error: an explicit port and
 * its successors are taken, a filter is unknown, a certificate is invalid.
 */
int driver_ui_open(struct fst_context *sc, struct driver_ui **out, struct fst_error *error);

/* Serves. The context has its id, its status and its job runner by now. @ui NULL does nothing. */
void driver_ui_start(struct driver_ui *ui);

/* The address of the pages, "http://host:4040", or NULL without them. */
const char *driver_ui_address(const struct driver_ui *ui);

/* The port of the pages, or 0 without them. */
int driver_ui_port(const struct driver_ui *ui);

/* Ends the thread after requests in progress, and closes the port. Before the job runner is freed. NULL is allowed. */
void driver_ui_free(struct driver_ui *ui);
