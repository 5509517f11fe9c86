/*
 * Listeners in shared objects of the user's (spark.extraListeners, include/firesteel/listener.h), loaded and called.
 *
 * Threads: load and free on the context's thread, before the bus starts and after it has been freed.
 */
#pragma once

struct extra_listeners;
struct fst_conf;
struct fst_error;
struct listener_bus;

/*
 * Load what @conf names and add it to @bus. *@out is NULL where nothing is named. 0, or -EINVAL with the object and the
 * remedy in @error: it cannot be loaded, is not a listener, or refuses. Nothing may be freed before the bus then,
 * either: those that were loaded before are in *@out.
 */
int extra_listeners_load(const struct fst_conf *conf, struct listener_bus *bus, struct extra_listeners **out,
                         struct fst_error *error);

/* NULL is allowed. Tells those that the bus has not told that they stop. */
void extra_listeners_free(struct extra_listeners *listeners);
