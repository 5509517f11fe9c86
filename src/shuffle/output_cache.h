/*
 * A cache of map outputs with their indexes. When it holds too many bytes, the least recently used output goes first.
 * Not thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct output_cache;
struct shuffle_output;

struct output_key {
        uint64_t executor; /* unique for each executor, never reused */
        int64_t task_id;
        int32_t shuffle, map_partition;
};

/* Creates a cache of at most @most bytes of indexes. A larger index is not kept. Never NULL. */
struct output_cache *output_cache_new(size_t most);
void output_cache_free(struct output_cache *cache);

/* Returns a new reference, or NULL. */
struct shuffle_output *output_cache_get(struct output_cache *cache, const struct output_key *key);

/* Adds a reference of its own, unless the key exists. */
void output_cache_put(struct output_cache *cache, const struct output_key *key, struct shuffle_output *output,
                      size_t bytes);

/* Remove one output if it is there, or all outputs of an executor. */
void output_cache_forget(struct output_cache *cache, const struct output_key *key);
void output_cache_forget_executor(struct output_cache *cache, uint64_t executor);

size_t output_cache_count(const struct output_cache *cache);
size_t output_cache_bytes(const struct output_cache *cache);
