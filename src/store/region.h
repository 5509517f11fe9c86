/*
 * A run of bytes that is kept for long and read at random: the value of a broadcast variable, a large result that waits
 * to be fetched. It is storage memory; where that is short it is a mapped file, whose pages the kernel takes back by
 * itself, unless files are encrypted (disk_dirs_encrypt): what is mapped cannot be, so it stays in memory, beyond what
 * the memory manager has to give. Each region has one user at a time; see there for threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_dirs;
struct fst_error;
struct memory_manager;

struct region {
        unsigned char *data; /* aligned to a page of memory; NULL: there is none */
        size_t size;         /* as asked for: may be 0 */
        bool in_memory;      /* accounted */
};

/*
 * @size bytes to be written and read, with undefined content. 0; -ENOMEM, -ENOSPC and other negatives with @error when
 * there is neither memory nor disk.
 */
int region_new(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs, uint64_t size,
               struct fst_error *error);

/* From memory to a file: nobody reads it meanwhile. True if that freed its memory; otherwise it stays (with
 * @error, unless files are encrypted). */
bool region_move_out(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs,
                     struct fst_error *error);

/* Region without data is allowed. */
void region_deinit(struct region *region, struct memory_manager *memory);
