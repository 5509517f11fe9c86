/*
 * Reads one partition of a shuffle from objects: one range of each object, in chunks that threads of the store's pool
 * read ahead. Implements open, next and close of struct remote_shuffle_class.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

struct object_store;

struct remote_input *object_input_new(struct object_store *store, const struct remote_read *read);
int object_input_next(struct remote_input *input, int map, struct page **page, struct fst_error *error);
void object_input_free(struct remote_input *input);
