/*
 * The objects that exist in an application's directory (shuffle/remote/object_store.h): a driver that resumes the
 * application uses only map outputs that it finds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_system;
struct fst_error;

struct listed_object {
        int32_t shuffle, writer;
        uint32_t place;
};

struct object_listing {
        struct listed_object *data; /* by shuffle, writer and place */
        size_t len, cap;
};

/* Lists @directory. Blocks. Returns 0, or negative with @error; -ENOENT if there is no such directory. */
int object_listing_read(const struct file_system *fs, const char *directory, struct object_listing *listing,
                        struct fst_error *error);

bool object_listing_has(const struct object_listing *listing, int shuffle, int32_t writer, uint32_t place);

void object_listing_deinit(struct object_listing *listing);
