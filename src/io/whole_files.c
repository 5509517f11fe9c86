/* See whole_files.h. */
#include "io/whole_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"

#include <inttypes.h>

#define PIECE ((size_t)1 << 20)

int whole_files_options_read(const struct fst_conf *conf, struct whole_files_options *options, struct fst_error *error)
{
        int r = input_options_read(conf, &options->input, error);
        return r < 0 ? r : split_packing_read(conf, &options->packing, error);
}

/* The target size of a partition; 0: all files form one. */
static uint64_t whole_files_partition_size(const struct whole_files_options *o, uint64_t bytes, size_t files)
{
        uint64_t wanted = (uint64_t)MAX(o->min_partitions, 1);
        if (o->unpack)
                return (bytes + wanted - 1) / wanted;
        struct split_packing packing = o->packing;
        packing.cores = MAX(packing.cores, wanted);
        return split_packing_size(&packing, bytes, files);
}

static int whole_files_too_large(const char *path, struct fst_error *error)
{
        return error_set(error, -EFBIG, "%s is larger than %" PRIu64 " bytes, the limit of a file as one row", path,
                         MAX_WHOLE_FILE);
}

static int whole_files_add_file(const struct file_status *file, const struct whole_files_options *o,
                                struct input_splits *splits, struct fst_error *error)
{
        if (file->size > MAX_WHOLE_FILE)
                return whole_files_too_large(file->path, error);
        int r = o->unpack ? codec_check_file(file->path, error) : 0;
        return r < 0 ? r
                     : input_splits_cut(splits, file, o->unpack ? codec_of_file(file->path) : CODEC_NONE,
                                        MAX(file->size, (uint64_t)1), o->input.places, error);
}

/* Non-empty files come first: Hadoop assigns empty files to no host and puts them last, with the remaining files. */
static int whole_files_plan_splits(const struct file_list *files, const struct whole_files_options *o,
                                   struct input_splits *splits, uint32_t *firsts, size_t *partitions,
                                   struct fst_error *error)
{
        uint64_t size = whole_files_partition_size(o, splits->bytes, files->len), filled = 0;
        size_t n = 0;
        int r = 0;
        firsts[0] = 0;
        for (int empty = 0; empty < 2; empty++) {
                for (size_t i = 0; r == 0 && i < files->len; i++) {
                        if ((files->data[i].size == 0) != (empty == 1))
                                continue;
                        r = whole_files_add_file(&files->data[i], o, splits, error);
                        filled += files->data[i].size;
                        if (size == 0 || filled < size || empty)
                                continue;
                        firsts[++n] = (uint32_t)splits->len;
                        filled = 0;
                }
        }
        if (firsts[n] < splits->len)
                firsts[++n] = (uint32_t)splits->len;
        *partitions = n;
        return r;
}

int whole_files_plan(const char *paths, const struct whole_files_options *options, struct input_splits *splits,
                     uint32_t **firsts, size_t *partitions, struct fst_error *error)
{
        _cleanup_(file_list_deinit) struct file_list files = {0};
        int r = input_files_find(paths, &options->input, &files, &splits->bytes, error);
        if (r < 0)
                return r;
        uint32_t *found = new_array(uint32_t, files.len + 1);
        splits->files = files.len;
        r = whole_files_plan_splits(&files, options, splits, found, partitions, error);
        if (r < 0) {
                free(found);
                input_splits_deinit(splits);
                return r;
        }
        *firsts = found;
        return 0;
}

static int whole_files_make_room(struct buf *content, size_t more, const char *path, struct fst_error *error)
{
        return buf_try_reserve(content, more) ? 0
                                              : error_set(error, -ENOMEM, "%s: no memory for its %zu bytes as one row",
                                                          path, content->len + more);
}

static int whole_file_read_plain(struct open_file *file, const struct input_split *split, struct buf *content,
                                 struct fst_error *error)
{
        size_t from = content->len;
        int r = whole_files_make_room(content, (size_t)split->length, split->path, error);
        while (r == 0 && content->len - from < split->length) {
                size_t got = content->len - from;
                ssize_t n =
                        file->fs->read_at(file, content->data + content->len, (size_t)split->length - got, got, error);
                if (n == 0)
                        r = error_set(error, -EBADMSG, "%s has become shorter than %" PRIu64 " bytes", split->path,
                                      split->length);
                else if (n < 0)
                        r = (int)n;
                else
                        content->len += (size_t)n;
        }
        return r;
}

static int whole_file_read_packed(struct open_file *file, const struct input_split *split, struct decoder *decoder,
                                  struct buf *content, struct fst_error *error)
{
        size_t got = 1, from = content->len;
        int r = decoder_start(decoder, split->codec, file, error);
        while (r == 0 && got > 0) {
                r = whole_files_make_room(content, PIECE, split->path, error);
                if (r == 0)
                        r = decoder_read(decoder, content->data + content->len, PIECE, &got, error);
                if (r == 0)
                        content->len += got;
                if (r == 0 && content->len - from > MAX_WHOLE_FILE)
                        r = whole_files_too_large(split->path, error);
        }
        return r;
}

int whole_file_read(const struct input_split *split, struct decoder *decoder, struct buf *content, uint64_t *bytes,
                    struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        const struct file_system *fs;
        if (split->length > MAX_WHOLE_FILE)
                return whole_files_too_large(split->path, error);
        int r = file_system_of(split->path, &fs, error);
        if (r == 0)
                r = fs->open(fs, split->path, &file, error);
        if (r < 0)
                return r;
        file.wanted = split->length;
        if (split->codec == CODEC_NONE)
                r = whole_file_read_plain(&file, split, content, error);
        else
                r = whole_file_read_packed(&file, split, decoder, content, error);
        if (content->data)
                content->data[content->len] = 0;
        *bytes += split->codec == CODEC_NONE ? (uint64_t)split->length : decoder_bytes(decoder);
        fs->close(&file, NULL);
        return r;
}
