/*
 * What a storage level (firesteel/rdd.h) means. In Spark's terms each is: disk, memory, off heap, deserialized, and how
 * many copies. Our rows in memory are pages whatever the level, but whoever chooses a serialized one chooses fewer
 * bytes over quick reading: its pages are kept compressed where spark.rdd.compress says so.
 */
#pragma once

#include <firesteel/rdd.h>

#include <stdint.h>

struct storage_level {
        bool disk, memory, off_heap, deserialized;
        uint8_t replicas; /* in all, each on another executor */
};

/* By level; FST_STORAGE_NONE has no copy. */
extern const struct storage_level storage_levels[FST_STORAGE_OFF_HEAP + 1];

/* Whether @level, a number from somewhere else, is one. */
static inline bool storage_level_valid(int level)
{
        return level >= FST_STORAGE_NONE && level <= FST_STORAGE_OFF_HEAP;
}

static inline bool storage_level_uses_memory(enum fst_storage_level level)
{
        return storage_levels[level].memory;
}

static inline bool storage_level_uses_disk(enum fst_storage_level level)
{
        return storage_levels[level].disk;
}

/* Copies in all, each on another executor: 1, 2 or 3; 0 for FST_STORAGE_NONE. */
static inline int storage_level_replicas(enum fst_storage_level level)
{
        return storage_levels[level].replicas;
}

/* The level that keeps on disk what does not fit into memory, as @level keeps it: @level itself, if it does. */
enum fst_storage_level storage_level_with_disk(enum fst_storage_level level);

/*
 * What Spark calls the level of a block that is kept at @level and has @memory_bytes and @disk_bytes now: memory or
 * disk, whichever it is in. An empty block has neither, and counts as being in memory where it may be there.
 */
struct storage_level storage_level_of_block(enum fst_storage_level level, int64_t memory_bytes, int64_t disk_bytes);
