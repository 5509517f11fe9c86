/*
 * The meaning of storage levels (firesteel/rdd.h), in Spark's terms: disk, memory, off heap, deserialized, and
 * replicas. Rows in memory are pages at every level, but a serialized level prefers less memory to fast reading: its
 * pages are compressed if spark.rdd.compress is set.
 */
#pragma once

#include <firesteel/rdd.h>

#include <stdint.h>

struct storage_level {
        bool disk, memory, off_heap, deserialized;
        uint8_t replicas; /* in all, each on another executor */
};

/* Indexed by level; FST_STORAGE_NONE has no copies. */
extern const struct storage_level storage_levels[FST_STORAGE_OFF_HEAP + 1];

/* True if the external number @level is a storage level. */
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

/* Returns the number of copies, each on another executor: 1, 2 or 3; 0 for FST_STORAGE_NONE. */
static inline int storage_level_replicas(enum fst_storage_level level)
{
        return storage_levels[level].replicas;
}

/*
 * Returns @level if it uses disk, otherwise the level that keeps blocks in memory as @level does and moves the rest to
 * disk.
 */
enum fst_storage_level storage_level_with_disk(enum fst_storage_level level);

/*
 * Returns the level that Spark reports for a block at @level with @memory_bytes and @disk_bytes: memory or disk, where
 * it is. An empty block has neither, and counts as in memory if its level allows that.
 */
struct storage_level storage_level_of_block(enum fst_storage_level level, int64_t memory_bytes, int64_t disk_bytes);
