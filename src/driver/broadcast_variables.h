/*
 * The driver's side of broadcast variables (firesteel/shared.h): their ids, and the values that the driver itself has
 * read. exec_env.broadcasts has the values, and the driver's transfer server serves them.
 *
 * A cluster backend calls broadcast_variables_set_removed with a function that sends Remove to the executors that have
 * pieces (driver/backend/block_master.h).
 */
#pragma once

#include <firesteel/shared.h>

struct broadcast_variables;
struct broadcasts;
struct fst_error;

/* Never NULL. */
struct broadcast_variables *broadcast_variables_new(void);

/* @broadcasts may be NULL if there are no values. NULL is allowed. */
void broadcast_variables_free(struct broadcast_variables *v, struct broadcasts *broadcasts);

/*
 * Store a copy of @size bytes as a variable of the engine's own, whose content is in no signature of jobs by itself
 * (driver/resume/signature.h). fst_broadcast_destroy removes it. Returns 0 with *@id, or negative with @error.
 */
int broadcast_variable_put(fst_context *sc, const void *data, size_t size, int64_t *id, struct fst_error *error);

/*
 * Set the function that makes executors drop a variable's pieces, before the application has variables. @destroyed: the
 * driver has dropped them too. It runs on the application's thread, without locks held.
 */
void broadcast_variables_set_removed(struct broadcast_variables *v,
                                     void (*removed)(void *owner, int64_t id, bool destroyed), void *owner);
