/* See storage_level.h. */
#include "store/storage_level.h"

const struct storage_level storage_levels[] = {
        [FST_STORAGE_NONE] = {0},
        [FST_STORAGE_MEMORY_ONLY] = {.memory = true, .deserialized = true, .replicas = 1},
        [FST_STORAGE_MEMORY_ONLY_2] = {.memory = true, .deserialized = true, .replicas = 2},
        [FST_STORAGE_MEMORY_ONLY_SER] = {.memory = true, .replicas = 1},
        [FST_STORAGE_MEMORY_ONLY_SER_2] = {.memory = true, .replicas = 2},
        [FST_STORAGE_MEMORY_AND_DISK] = {.disk = true, .memory = true, .deserialized = true, .replicas = 1},
        [FST_STORAGE_MEMORY_AND_DISK_2] = {.disk = true, .memory = true, .deserialized = true, .replicas = 2},
        [FST_STORAGE_MEMORY_AND_DISK_SER] = {.disk = true, .memory = true, .replicas = 1},
        [FST_STORAGE_MEMORY_AND_DISK_SER_2] = {.disk = true, .memory = true, .replicas = 2},
        [FST_STORAGE_DISK_ONLY] = {.disk = true, .replicas = 1},
        [FST_STORAGE_DISK_ONLY_2] = {.disk = true, .replicas = 2},
        [FST_STORAGE_DISK_ONLY_3] = {.disk = true, .replicas = 3},
        [FST_STORAGE_OFF_HEAP] = {.disk = true, .memory = true, .off_heap = true, .replicas = 1},
};

enum fst_storage_level storage_level_with_disk(enum fst_storage_level level)
{
        switch (level) {
        case FST_STORAGE_NONE:
        case FST_STORAGE_MEMORY_ONLY:
                return FST_STORAGE_MEMORY_AND_DISK;
        case FST_STORAGE_MEMORY_ONLY_2:
                return FST_STORAGE_MEMORY_AND_DISK_2;
        case FST_STORAGE_MEMORY_ONLY_SER:
                return FST_STORAGE_MEMORY_AND_DISK_SER;
        case FST_STORAGE_MEMORY_ONLY_SER_2:
                return FST_STORAGE_MEMORY_AND_DISK_SER_2;
        default:
                return level;
        }
}

struct storage_level storage_level_of_block(enum fst_storage_level level, int64_t memory_bytes, int64_t disk_bytes)
{
        struct storage_level l = storage_levels[level];
        l.memory &= memory_bytes > 0 || disk_bytes == 0;
        l.disk = l.disk && !l.memory;
        l.deserialized &= l.memory;
        return l;
}
