/* See input_splits.h. Invariant: the splits of a file cover it in order, without gaps or overlaps. */
#include "io/input_splits.h"

#include "base/error.h"
#include "io/fs/file_systems.h"

#include <string.h>
#include <xxhash.h>

#define SPLIT_SLOP 1.1 /* the last split of a file may be this much longer than the others */

/* The hosts of the block that holds most of the split: a split is rarely longer than a block. */
static const char *input_splits_hosts_of(struct input_splits *splits, const struct block_list *blocks, uint64_t start,
                                         uint64_t length)
{
        const struct block_place *best = NULL;
        uint64_t most = 0;
        for (size_t i = 0; i < blocks->len; i++) {
                const struct block_place *b = &blocks->data[i];
                uint64_t from = MAX(b->offset, start), to = MIN(b->offset + b->length, start + length);
                if (to > from && to - from > most) {
                        most = to - from;
                        best = b;
                }
        }
        if (!best || !*best->hosts)
                return NULL;
        char *hosts = arena_copy(&splits->arena, best->hosts, strlen(best->hosts));
        for (char *end = hosts; (end = strchr(end, '\n')); end++)
                *end = '\0';
        splits->near_hosts = true;
        return hosts;
}

static void input_splits_add_split(struct input_splits *splits, const char *path, uint64_t start, uint64_t length,
                                   enum codec_kind codec, const struct block_list *blocks)
{
        vec_push(splits, (struct input_split){.path = path,
                                              .start = start,
                                              .length = length,
                                              .codec = codec,
                                              .hosts = input_splits_hosts_of(splits, blocks, start, length)});
}

static int input_splits_find_blocks(const char *path, struct block_list *blocks, struct fst_error *error)
{
        const struct file_system *fs;
        int r = file_system_of(path, &fs, error);
        return r < 0 || !fs->hosts ? r : fs->hosts(fs, path, blocks, error);
}

int input_splits_cut(struct input_splits *splits, const struct file_status *file, enum codec_kind codec, uint64_t size,
                     bool places, struct fst_error *error)
{
        _cleanup_(block_list_deinit) struct block_list blocks = {0};
        int r = places && file->size > 0 ? input_splits_find_blocks(file->path, &blocks, error) : 0;
        if (r < 0)
                return r;
        const char *path = arena_copy(&splits->arena, file->path, strlen(file->path));
        splits->stamp =
                XXH3_64bits_withSeed(path, strlen(path), splits->stamp + file->size + (uint64_t)file->modified_ms);
        if (codec != CODEC_NONE || file->size == 0) {
                input_splits_add_split(splits, path, 0, file->size, codec, &blocks);
                return 0;
        }
        uint64_t left = file->size;
        while ((double)left / (double)size > SPLIT_SLOP) {
                input_splits_add_split(splits, path, file->size - left, size, CODEC_NONE, &blocks);
                left -= size;
        }
        input_splits_add_split(splits, path, file->size - left, left, CODEC_NONE, &blocks);
        return 0;
}

void input_splits_deinit(struct input_splits *splits)
{
        vec_deinit(splits);
        arena_deinit(&splits->arena);
        *splits = INPUT_SPLITS_INIT;
}
