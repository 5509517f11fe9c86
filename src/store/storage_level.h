/* What a storage level (firesteel/rdd.h) means: memory, disk, how many copies. */
#pragma once

#include <firesteel/rdd.h>

/* Whether @level, a number from somewhere else, is one. */
static inline bool storage_level_valid(int level)
{
        return level >= FST_STORAGE_NONE && level <= FST_DISK_ONLY_3;
}

static inline bool storage_level_uses_memory(enum fst_storage_level level)
{
        return level == FST_MEMORY_ONLY || level == FST_MEMORY_AND_DISK || level == FST_MEMORY_ONLY_2 ||
               level == FST_MEMORY_AND_DISK_2;
}

static inline bool storage_level_uses_disk(enum fst_storage_level level)
{
        return level != FST_STORAGE_NONE && level != FST_MEMORY_ONLY && level != FST_MEMORY_ONLY_2;
}

/* Copies in all, each on another executor: 1, 2 or 3; 0 for FST_STORAGE_NONE. */
static inline int storage_level_replicas(enum fst_storage_level level)
{
        if (level == FST_DISK_ONLY_3)
                return 3;
        return level >= FST_MEMORY_ONLY_2 ? 2 : level != FST_STORAGE_NONE;
}
