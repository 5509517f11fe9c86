/*
 * Map outputs whose indexes were read, kept by their names until there are too many bytes of them: the one that was
 * asked for longest ago goes first. For one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct output_cache;
struct shuffle_output;

struct output_key {
        uint64_t executor; /* a number that no other executor ever has */
        int64_t task_id;
        int32_t shuffle, map_partition;
};

/* @most bytes of indexes; what is larger is not kept. Never NULL. */
struct output_cache *output_cache_new(size_t most);
void output_cache_free(struct output_cache *cache);

/* A reference, or NULL. */
struct shuffle_output *output_cache_get(struct output_cache *cache, const struct output_key *key);

/* Keep a reference of its own, unless there is one of that name. */
void output_cache_put(struct output_cache *cache, const struct output_key *key, struct shuffle_output *output,
                      size_t bytes);

/* Forget one, if it is there; or all of an executor's. */
void output_cache_forget(struct output_cache *cache, const struct output_key *key);
void output_cache_forget_executor(struct output_cache *cache, uint64_t executor);

size_t output_cache_count(const struct output_cache *cache);
size_t output_cache_bytes(const struct output_cache *cache);
