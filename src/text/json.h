/*
 * Reads members of jansson trees by path.
 *
 *      const char *name = json_text_at(pod, "metadata.name");
 *      const json_t *status = json_find_named(json_at(pod, "status.containerStatuses"), "main");
 *
 * A path names members and separates them by dots. Members whose names contain a dot are unreachable by a path: use
 * json_object_get. An absent member and one of another type read alike, and so does a NULL tree. Results are borrowed
 * from the tree.
 */
#pragma once

#include <jansson.h>

/* Returns the value at @path, or NULL if a member of @path is absent or not in an object. */
json_t *json_at(const json_t *tree, const char *path);

/* Returns the string at @path, or NULL if there is none. */
const char *json_text_at(const json_t *tree, const char *path);

/* The same with "" for NULL. */
const char *json_text_or_empty(const json_t *tree, const char *path);

/* Returns the integer at @path, or 0 if there is none. */
json_int_t json_int_at(const json_t *tree, const char *path);

/* Returns the first object of @list whose member @key is the string @value, or NULL. @value may be NULL. */
json_t *json_find(const json_t *list, const char *key, const char *value);

static inline json_t *json_find_named(const json_t *list, const char *name)
{
        return json_find(list, "name", name);
}
