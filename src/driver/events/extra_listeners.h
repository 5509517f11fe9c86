/*
 * Loads and calls listeners in the user's shared objects (spark.extraListeners, include/firesteel/listener.h).
 *
 * Threads: load and free run on the context's thread, before the bus starts and after it was freed.
 */
#pragma once

struct extra_listeners;
struct fst_conf;
struct fst_error;
struct listener_bus;

/*
 * Load the listeners that @conf names and add them to @bus. *@out is NULL if it names none. Returns 0, or -EINVAL with
 * the object and the remedy in @error, if one cannot be loaded, is not a listener, or returns an error. Even then *@out
 * has those that were loaded, and must not be freed before the bus.
 */
int extra_listeners_load(const struct fst_conf *conf, struct listener_bus *bus, struct extra_listeners **out,
                         struct fst_error *error);

/* Calls on_stop of those that have not had it. NULL is allowed. */
void extra_listeners_free(struct extra_listeners *listeners);
