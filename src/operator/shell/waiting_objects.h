/*
 * The texts of SparkApplications that wait for their first submission, so that the submission need not read them from
 * the API server again. The texts are compact JSON, and their size is limited: an object that does not fit is not kept.
 * Objects that were observed first are submitted first, so the ones that are kept are those needed next.
 *
 *      waiting_objects_keep(w, object);                                        a new application was observed
 *      json_t *object = waiting_objects_take(w, "jobs", "pi", uid, version);   its submission begins
 *      waiting_objects_drop(w, "jobs", "pi");                                  it waits no longer
 *
 * One thread.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct waiting_objects;

/* @most_bytes: of all texts together. */
struct waiting_objects *waiting_objects_new(size_t most_bytes);
void waiting_objects_free(struct waiting_objects *w); /* NULL is allowed */

/* Keeps a copy of @object without metadata.managedFields and status, in place of an earlier one of its name. */
void waiting_objects_keep(struct waiting_objects *w, const json_t *object);

/*
 * Removes the object of this name, and returns it if it has this uid and resourceVersion. The caller owns it. Returns
 * NULL if none was kept, or another one.
 */
json_t *waiting_objects_take(struct waiting_objects *w, const char *namespace, const char *name, const char *uid,
                             uint64_t version);

void waiting_objects_drop(struct waiting_objects *w, const char *namespace, const char *name);

/* For tests. */
size_t waiting_objects_bytes(const struct waiting_objects *w);
