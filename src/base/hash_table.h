/*
 * A hash table of pointers to objects that hold their own keys. The table knows neither: the caller gives the hash of
 * the key, and says whether an object has it. It owns nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_table {
        struct object_slot *slots; /* open addressing, without tombstones */
        size_t n_slots, count;
};

typedef bool object_has_key(const void *object, const void *key);

void object_table_deinit(struct object_table *t);
uint64_t object_hash_text(const char *text);
uint64_t object_hash_number(uint64_t number);

/* The object, or NULL. */
void *object_table_find(const struct object_table *t, uint64_t hash, object_has_key *has, const void *key);

/* @object's key must not be there yet. */
void object_table_put(struct object_table *t, uint64_t hash, void *object);

/* Nothing happens if @object is not there. */
void object_table_remove(struct object_table *t, uint64_t hash, const void *object);
