/* See object_listing.h. Files with other names are left out. */
#include "shuffle/remote/object_listing.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "io/fs/file_system.h"
#include "io/fs/path.h"
#include "shuffle/remote_shuffle.h"

#include <stdio.h>
#include <stdlib.h>

static int listed_object_compare(const void *x, const void *y)
{
        const struct listed_object *a = x, *b = y;
        if (a->shuffle != b->shuffle)
                return a->shuffle < b->shuffle ? -1 : 1;
        if (a->writer != b->writer)
                return a->writer < b->writer ? -1 : 1;
        return (a->place > b->place) - (a->place < b->place);
}

/* Appends the objects of one shuffle. */
static int object_listing_add(const struct file_system *fs, const char *path, int shuffle,
                              struct object_listing *listing, struct fst_error *error)
{
        struct file_list list = {0};
        int r = fs->list(fs, path, &list, error);
        for (size_t i = 0; i < list.len && r == 0; i++) {
                struct listed_object object = {.shuffle = shuffle};
                const char *name = path_name(list.data[i].path);
                int used = 0;
                if (sscanf(name, "%10d-%7u%n", &object.writer, &object.place, &used) == 2 && !name[used] &&
                    object.writer >= 0 && object.place < REMOTE_PLACES)
                        vec_push(listing, object);
        }
        file_list_deinit(&list);
        return r;
}

int object_listing_read(const struct file_system *fs, const char *directory, struct object_listing *listing,
                        struct fst_error *error)
{
        struct file_list list = {0};
        int r = fs->list(fs, directory, &list, error);
        for (size_t i = 0; i < list.len && r == 0; i++) {
                const char *name = path_name(list.data[i].path);
                int shuffle, used = 0;
                if (list.data[i].directory && sscanf(name, "shuffle-%9d%n", &shuffle, &used) == 1 && !name[used] &&
                    shuffle >= 0)
                        r = object_listing_add(fs, list.data[i].path, shuffle, listing, error);
        }
        file_list_deinit(&list);
        if (r == 0 && listing->len)
                qsort(listing->data, listing->len, sizeof(*listing->data), listed_object_compare);
        return r;
}

bool object_listing_has(const struct object_listing *listing, int shuffle, int32_t writer, uint32_t place)
{
        struct listed_object key = {shuffle, writer, place};
        return listing->len &&
               bsearch(&key, listing->data, listing->len, sizeof(*listing->data), listed_object_compare) != NULL;
}

void object_listing_deinit(struct object_listing *listing)
{
        vec_deinit(listing);
}
