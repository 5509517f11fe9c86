/* See binary_records.h. */
#include "io/binary_records.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"

#include <inttypes.h>

#define BUFFER_SIZE ((size_t)256 << 10)
#define SAMPLE_BLOCK ((size_t)16 << 10)

static int binary_records_check_file(const struct file_status *file, uint32_t record, struct fst_error *error)
{
        if (codec_of_file(file->path) != CODEC_NONE || codec_check_file(file->path, NULL) < 0)
                return error_set(error, -ENOTSUP,
                                 "%s: FixedLengthRecordReader does not support reading compressed files", file->path);
        if (file->size % record != 0)
                return error_set(error, -EINVAL,
                                 "%s has %" PRIu64 " bytes, which is not a whole number of records of %" PRIu32
                                 " bytes",
                                 file->path, file->size, record);
        return 0;
}

int binary_records_plan(const char *paths, uint32_t record, const struct input_options *options,
                        struct input_splits *splits, struct fst_error *error)
{
        _cleanup_(file_list_deinit) struct file_list files = {0};
        int r = input_files_find(paths, options, &files, &splits->bytes, error);
        splits->files = files.len;
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                const struct file_status *file = &files.data[i];
                uint64_t size = MIN(options->max_split_size, input_block_size(file, options));
                size = MAX(size, options->min_split_size);
                size = MAX(size - size % record, (uint64_t)record);
                r = binary_records_check_file(file, record, error);
                if (r == 0 && (file->size > 0 || !options->ignore_empty))
                        r = input_splits_cut(splits, file, CODEC_NONE, size, options->places, error);
        }
        if (r < 0)
                input_splits_deinit(splits);
        return r;
}

struct binary_records {
        uint32_t record;
        char *buffer;
        size_t room; /* in whole records */
        struct open_file file;
        const char *path;
        uint64_t at, end; /* of the range being read: the split, or a block of a sample */
        uint64_t bytes;
        uint64_t split_end;

        /* sampling: remaining blocks, and the range that they come from */
        unsigned sample_left;
        uint64_t sample_step, sample_block, sample_next;
};

struct binary_records *binary_records_new(uint32_t record)
{
        struct binary_records *r = new0(struct binary_records);
        r->record = record;
        r->room = MAX(BUFFER_SIZE / record, (size_t)1) * record;
        r->buffer = mem_alloc(r->room);
        r->file = OPEN_FILE_INIT;
        return r;
}

void binary_records_close(struct binary_records *r)
{
        if (r->file.fs)
                r->file.fs->close(&r->file, NULL);
}

void binary_records_free(struct binary_records *r)
{
        if (!r)
                return;
        binary_records_close(r);
        free(r->buffer);
        free(r);
}

int binary_records_open(struct binary_records *r, const struct input_split *split, struct fst_error *error)
{
        const struct file_system *fs;
        binary_records_close(r);
        int e = file_system_of(split->path, &fs, error);
        if (e == 0)
                e = fs->open(fs, split->path, &r->file, error);
        if (e < 0)
                return e;
        r->path = split->path;
        r->at = split->start;
        r->end = r->split_end = r->file.wanted = split->start + split->length;
        r->bytes = 0;
        r->sample_left = 0;
        return 0;
}

void binary_records_sample(struct binary_records *r, size_t budget)
{
        uint64_t length = r->split_end - r->at, records = length / r->record;
        uint64_t blocks = (budget + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK, each = MAX(SAMPLE_BLOCK / r->record, (size_t)1);
        blocks = MIN(blocks, records / each);
        if (budget >= length || blocks < 2)
                return;
        r->sample_left = (unsigned)blocks - 1;
        r->sample_block = each * r->record;
        r->sample_step = records / blocks * r->record;
        r->sample_next = r->at + r->sample_step;
        r->end = r->file.wanted = r->at + r->sample_block;
}

int binary_records_next(struct binary_records *r, uint32_t max, const char **records, uint32_t *n,
                        struct fst_error *error)
{
        if (r->at == r->end && r->sample_left > 0) {
                r->sample_left--;
                r->at = r->sample_next;
                r->end = r->file.wanted = r->at + r->sample_block;
                r->sample_next += r->sample_step;
        }
        uint64_t left = (r->end - r->at) / r->record, room = r->room / r->record;
        left = MIN(left, room);
        size_t want = (size_t)MIN(left, (uint64_t)max) * r->record, got = 0;
        while (got < want) {
                ssize_t e = r->file.fs->read_at(&r->file, r->buffer + got, want - got, r->at + got, error);
                if (e < 0)
                        return (int)e;
                if (e == 0)
                        return error_set(error, -EBADMSG,
                                         "%s ends at byte %" PRIu64 ", within a record or before its split", r->path,
                                         r->at + got);
                got += (size_t)e;
        }
        r->at += want;
        r->bytes += want;
        *records = r->buffer;
        *n = (uint32_t)(want / r->record);
        return 0;
}

uint64_t binary_records_bytes(const struct binary_records *r)
{
        return r->bytes;
}
