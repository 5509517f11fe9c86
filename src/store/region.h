/*
 * A byte sequence that is kept long and read at random: the value of a broadcast variable, a large result that waits
 * for the driver. It is storage memory. If that is short, it is a mapped file, whose pages the kernel reclaims; but
 * encrypted files (disk_dirs_encrypt) cannot be mapped, so the bytes then stay in memory beyond the memory manager's
 * pool. Each region has one user at a time, which defines the threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_dirs;
struct fst_error;
struct memory_manager;

struct region {
        unsigned char *data; /* aligned to a memory page; NULL: none */
        size_t size;         /* as requested; may be 0 */
        bool in_memory;      /* accounted in the memory manager */
};

/*
 * Makes a region of @size bytes with undefined content. Returns 0; -ENOMEM, -ENOSPC or another negative with @error if
 * there is neither memory nor disk space.
 */
int region_new(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs, uint64_t size,
               struct fst_error *error);

/*
 * Moves a region without readers from memory to a file. Returns true if that freed its memory. Otherwise it stays (with
 * @error, unless files are encrypted).
 */
bool region_move_out(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs,
                     struct fst_error *error);

/* A region without data is allowed. */
void region_deinit(struct region *region, struct memory_manager *memory);
