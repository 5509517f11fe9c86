/*
 * The application's broadcast variables (firesteel/shared.h), on the driver: their ids, and what the driver itself
 * looks at. The values are in exec_env.broadcasts, from where the driver's transfer server serves them.
 *
 * How the cluster backend is to call it: broadcast_variables_set_removed, with a function that sends Remove to
 * executors that have pieces (driver/backend/block_master.h says who).
 */
#pragma once

#include <firesteel/shared.h>

struct broadcast_variables;
struct broadcasts;

/* Never NULL. */
struct broadcast_variables *broadcast_variables_new(void);

/* @broadcasts may be NULL: then there are no values. NULL is allowed. */
void broadcast_variables_free(struct broadcast_variables *v, struct broadcasts *broadcasts);

/*
 * Who tells executors to forget a variable's pieces; @destroyed: the driver has forgotten them as well. Called from the
 * application's thread, without locks. Set before the application has variables.
 */
void broadcast_variables_set_removed(struct broadcast_variables *v,
                                     void (*removed)(void *owner, int64_t id, bool destroyed), void *owner);
