/*
 * Reads the address of a later driver in the place of the application's journal (journal/place.h), on a thread of the
 * loop's pool, since the place may be on a server. Everything else is on the loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

struct driver_search;

/* @epoch of the driver that has the application and listens at @url, if it is above that asked for; 0: none is. */
typedef void (*driver_search_fn)(void *owner, int epoch, const char *url);

/* Copies the texts: a directory as spark.firesteel.resume.dir, and the journal's name in it. Never NULL. */
struct driver_search *driver_search_new(uv_loop_t *loop, const char *directory, const char *name,
                                        driver_search_fn looked, void *owner);

/* Looks for a driver with an epoch above @after. One look at a time. */
void driver_search_look(struct driver_search *s, int after);

/* True if each look is a request to a server. */
bool driver_search_is_remote(const struct driver_search *s);

/* No look is reported any more. */
void driver_search_stop(struct driver_search *s);

/* Call it after the loop has ended. NULL is allowed. */
void driver_search_free(struct driver_search *s);
