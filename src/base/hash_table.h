/*
 * A hash table of pointers to objects that hold their own keys. The caller computes the hash of a key and passes the
 * function that compares an object with it. The table owns nothing.
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

/* Mixes all bits of @number (the last step of splitmix64). */
static inline uint64_t object_hash_number(uint64_t number)
{
        number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
        number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
        return number ^ (number >> 31);
}

/* Returns the object or NULL. */
void *object_table_find(const struct object_table *t, uint64_t hash, object_has_key *has, const void *key);

/* Adds @object. Its key must not be in the table. */
void object_table_put(struct object_table *t, uint64_t hash, void *object);

/* Removes @object as it was put with @hash: it may be in the table under several keys. Does nothing if it is not. */
void object_table_remove(struct object_table *t, uint64_t hash, const void *object);
