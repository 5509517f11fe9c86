/*
 * See sequence_file.h. The reader has a window of the file in memory: the bytes from `at` to `have` of `buffer` are those
 * of the file from `position` on.
 */
#include "io/sequence_file.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"

#include <endian.h>
#include <inttypes.h>
#include <sys/random.h>

#define SYNC_SIZE 16
#define WINDOW ((size_t)256 << 10)
#define FLUSH ((size_t)1 << 20)

#define KEY_CLASS "org.apache.hadoop.io.NullWritable"
#define VALUE_CLASS "org.apache.hadoop.io.BytesWritable"

static const char version_6[] = {'S', 'E', 'Q', 6};

/* ------------------------------------------------------------------------------------------------------ writing */

struct sequence_writer {
        struct open_file file;
        char *path;
        struct buf out;
        uint64_t written, last_mark;
        char sync[SYNC_SIZE];
};

struct sequence_writer *sequence_writer_new(void)
{
        struct sequence_writer *w = new0(struct sequence_writer);
        w->file = OPEN_FILE_INIT;
        return w;
}

void sequence_writer_abandon(struct sequence_writer *w)
{
        if (w->file.fs)
                w->file.fs->discard(&w->file);
        buf_reset(&w->out);
}

void sequence_writer_free(struct sequence_writer *w)
{
        if (!w)
                return;
        sequence_writer_abandon(w);
        buf_deinit(&w->out);
        free(w->path);
        free(w);
}

static void sequence_put_int(struct buf *out, uint32_t value)
{
        value = htobe32(value);
        buf_append(out, &value, sizeof(value));
}

/* A text of less than 128 bytes, as Hadoop's Text.writeString. */
static void sequence_put_text(struct buf *out, const char *text)
{
        buf_putc(out, (char)strlen(text));
        buf_puts(out, text);
}

int sequence_writer_open(struct sequence_writer *w, const char *path, struct fst_error *error)
{
        const struct file_system *fs;
        sequence_writer_abandon(w);
        if (getrandom(w->sync, sizeof(w->sync), 0) != (ssize_t)sizeof(w->sync))
                return error_set(error, -EIO, "%s: the system gives no random bytes for its marks", path);
        int r = file_system_of(path, &fs, error);
        if (r < 0)
                return r;
        char *copy = mem_strdup(path);
        r = fs->create(fs, copy, &w->file, error);
        if (r < 0) {
                free(copy);
                return r;
        }
        free(w->path);
        w->path = copy;
        w->written = 0;
        buf_append(&w->out, version_6, sizeof(version_6));
        sequence_put_text(&w->out, KEY_CLASS);
        sequence_put_text(&w->out, VALUE_CLASS);
        buf_append(&w->out, "\0\0", 2); /* neither records nor blocks are compressed */
        sequence_put_int(&w->out, 0);   /* no metadata */
        buf_append(&w->out, w->sync, sizeof(w->sync));
        w->last_mark = w->out.len;
        return 0;
}

static int sequence_writer_flush(struct sequence_writer *w, struct fst_error *error)
{
        size_t n = w->out.len;
        w->written += n;
        int r = n > 0 ? w->file.fs->write(&w->file, w->out.data, n, error) : 0;
        buf_reset(&w->out);
        return r;
}

int sequence_writer_append(struct sequence_writer *w, fst_bytes value, struct fst_error *error)
{
        if (value.len > INT32_MAX - 4)
                return error_set(error, -E2BIG,
                                 "%s: a record of %zu bytes is too large for a SequenceFile, whose records have less "
                                 "than 2 GiB",
                                 w->path, value.len);
        if (w->written + w->out.len >= w->last_mark + SEQUENCE_SYNC_INTERVAL) {
                sequence_put_int(&w->out, UINT32_MAX);
                buf_append(&w->out, w->sync, sizeof(w->sync));
                w->last_mark = w->written + w->out.len;
        }
        sequence_put_int(&w->out, (uint32_t)value.len + 4);
        sequence_put_int(&w->out, 0);
        sequence_put_int(&w->out, (uint32_t)value.len);
        if (value.len < FLUSH) {
                buf_append(&w->out, value.data, value.len);
                return w->out.len >= FLUSH ? sequence_writer_flush(w, error) : 0;
        }
        int r = sequence_writer_flush(w, error);
        if (r < 0)
                return r;
        w->written += value.len;
        return w->file.fs->write(&w->file, value.data, value.len, error);
}

int sequence_writer_close(struct sequence_writer *w, struct fst_error *error)
{
        if (!w->file.fs)
                return 0;
        int r = sequence_writer_flush(w, error);
        if (r == 0)
                r = w->file.fs->close(&w->file, error);
        sequence_writer_abandon(w);
        return r;
}

uint64_t sequence_writer_bytes(const struct sequence_writer *w)
{
        return w->written + w->out.len;
}

/* ------------------------------------------------------------------------------------------------------ reading */

struct sequence_reader {
        struct open_file file;
        char *buffer;
        size_t room, at, have;
        uint64_t position, end, bytes;
        char sync[SYNC_SIZE];
        bool ended;
};

struct sequence_reader *sequence_reader_new(void)
{
        struct sequence_reader *r = new0(struct sequence_reader);
        r->file = OPEN_FILE_INIT;
        return r;
}

void sequence_reader_close(struct sequence_reader *r)
{
        if (r->file.fs)
                r->file.fs->close(&r->file, NULL);
        r->at = r->have = 0;
        if (r->room > 4 * WINDOW) {
                free(steal(r->buffer));
                r->room = 0;
        }
}

void sequence_reader_free(struct sequence_reader *r)
{
        if (!r)
                return;
        sequence_reader_close(r);
        free(r->buffer);
        free(r);
}

static int sequence_damaged(const struct sequence_reader *r, const char *what, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s is damaged at byte %" PRIu64 ": %s", r->file.path, r->position, what);
}

/*
 * Makes the next @size bytes available at buffer + at. Returns 0, or -EBADMSG with @error if the file ends before, and
 * the other errors of the read.
 */
static int sequence_fill(struct sequence_reader *r, size_t size, struct fst_error *error)
{
        if (likely(r->have - r->at >= size))
                return 0;
        if (size > r->file.size - r->position)
                return sequence_damaged(r, "it is truncated", error);
        if (r->at > 0)
                memmove(r->buffer, r->buffer + r->at, r->have - r->at);
        r->have -= r->at;
        r->at = 0;
        size_t room = MAX(size, WINDOW);
        if (room > r->room) {
                char *grown = mem_try_grow(r->buffer, room);
                if (!grown)
                        return error_set(error, -ENOMEM, "%s: no memory for a record of %zu bytes", r->file.path, size);
                r->buffer = grown;
                r->room = room;
        }
        while (r->have < size) {
                ssize_t n = r->file.fs->read_at(&r->file, r->buffer + r->have, r->room - r->have,
                                                r->position + r->have, error);
                if (n < 0)
                        return (int)n;
                if (n == 0)
                        return sequence_damaged(r, "it is truncated", error);
                r->have += (size_t)n;
        }
        return 0;
}

static void sequence_skip(struct sequence_reader *r, size_t n)
{
        r->at += n;
        r->position += n;
}

/* Moves to an offset. */
static void sequence_seek(struct sequence_reader *r, uint64_t offset)
{
        if (offset >= r->position && offset - r->position <= r->have - r->at) {
                sequence_skip(r, (size_t)(offset - r->position));
                return;
        }
        r->position = offset;
        r->at = r->have = 0;
}

static int sequence_take_int(struct sequence_reader *r, int32_t *value, struct fst_error *error)
{
        uint32_t number;
        int e = sequence_fill(r, sizeof(number), error);
        if (e)
                return e;
        memcpy(&number, r->buffer + r->at, sizeof(number));
        sequence_skip(r, sizeof(number));
        *value = (int32_t)be32toh(number);
        return 0;
}

/* Reads a text of Hadoop's Text.writeString: the length as a variable-length number. */
static int sequence_take_text(struct sequence_reader *r, char text[static 256], struct fst_error *error)
{
        int e = sequence_fill(r, 1, error);
        if (e)
                return e;
        int first = (signed char)r->buffer[r->at];
        size_t len = (size_t)(first < 0 ? 0 : first);
        sequence_skip(r, 1);
        if (first < -114 || (first < 0 && first > -113))
                return sequence_damaged(r, "the header has a text of invalid length", error);
        for (int i = 0; first < 0 && i < -112 - first; i++) { /* -113: one byte, -114: two bytes */
                if ((e = sequence_fill(r, 1, error)))
                        return e;
                len = len << 8 | (unsigned char)r->buffer[r->at];
                sequence_skip(r, 1);
        }
        if (len > 65536)
                return sequence_damaged(r, "the header has a text of invalid length", error);
        if ((e = sequence_fill(r, len, error)))
                return e;
        memcpy(text, r->buffer + r->at, MIN(len, (size_t)255));
        text[MIN(len, (size_t)255)] = 0;
        sequence_skip(r, len);
        return 0;
}

static int sequence_check_header(struct sequence_reader *r, const char *key, const char *value,
                                 const unsigned char compressed[2], const char *codec, struct fst_error *error)
{
        const char *path = r->file.path;
        if (compressed[0] || compressed[1])
                return error_set(error, -ENOTSUP,
                                 "%s is a SequenceFile with %s compression (%s), which firesteel does not read: write it "
                                 "with mapreduce.output.fileoutputformat.compress=false",
                                 path, compressed[1] ? "block" : "record", codec);
        if (strcmp(key, KEY_CLASS) != 0 || strcmp(value, VALUE_CLASS) != 0)
                return error_set(error, -ENOTSUP,
                                 "%s is a SequenceFile of %s and %s: only files of saveAsObjectFile and saveAsPickleFile, "
                                 "which have " KEY_CLASS " and " VALUE_CLASS ", can be read",
                                 path, key, value);
        return 0;
}

static int sequence_read_header(struct sequence_reader *r, struct fst_error *error)
{
        char key[256], value[256], codec[256] = "";
        unsigned char compressed[2];
        int32_t entries;
        const char *path = r->file.path;
        if (r->file.size < sizeof(version_6) || sequence_fill(r, sizeof(version_6), error) ||
            memcmp(r->buffer + r->at, version_6, 3) != 0)
                return error_set(error, -EBADMSG, "%s is not a SequenceFile", path);
        if (r->buffer[r->at + 3] != version_6[3])
                return error_set(error, -ENOTSUP, "%s is a SequenceFile of version %d, not 6", path,
                                 r->buffer[r->at + 3]);
        sequence_skip(r, sizeof(version_6));
        int e = sequence_take_text(r, key, error);
        if (e == 0)
                e = sequence_take_text(r, value, error);
        if (e == 0)
                e = sequence_fill(r, 2, error);
        if (e)
                return e;
        memcpy(compressed, r->buffer + r->at, 2);
        sequence_skip(r, 2);
        if (compressed[0] && (e = sequence_take_text(r, codec, error)))
                return e;
        if ((e = sequence_check_header(r, key, value, compressed, codec, error)) ||
            (e = sequence_take_int(r, &entries, error)))
                return e;
        if (entries < 0 || entries > 1024)
                return sequence_damaged(r, "the header has an invalid number of metadata", error);
        for (int32_t i = 0; i < 2 * entries; i++)
                if ((e = sequence_take_text(r, key, error)))
                        return e;
        if ((e = sequence_fill(r, SYNC_SIZE, error)))
                return e;
        memcpy(r->sync, r->buffer + r->at, SYNC_SIZE);
        sequence_skip(r, SYNC_SIZE);
        return 0;
}

/* Moves to the first mark at or after @start, or to the end of the file. */
static int sequence_find_mark(struct sequence_reader *r, uint64_t start, struct fst_error *error)
{
        uint64_t size = r->file.size;
        sequence_seek(r, MIN(MAX(start, r->position) + 4, size));
        for (;;) {
                size_t left = (size_t)MIN((uint64_t)WINDOW, size - r->position);
                if (left < SYNC_SIZE) {
                        sequence_seek(r, size);
                        return 0;
                }
                int e = sequence_fill(r, left, error);
                if (e)
                        return e;
                const char *found = memmem(r->buffer + r->at, left, r->sync, SYNC_SIZE);
                if (found) {
                        sequence_seek(r, r->position + (uint64_t)(found - (r->buffer + r->at)) - 4);
                        return 0;
                }
                sequence_skip(r, left - SYNC_SIZE + 1);
        }
}

int sequence_reader_open(struct sequence_reader *r, const struct input_split *split, struct fst_error *error)
{
        const struct file_system *fs;
        sequence_reader_close(r);
        r->position = r->bytes = 0;
        r->ended = false;
        r->end = split->start + split->length;
        int e = file_system_of(split->path, &fs, error);
        if (e == 0)
                e = fs->open(fs, split->path, &r->file, error);
        if (e < 0)
                return e;
        e = sequence_read_header(r, error);
        if (e == 0 && split->start > 0)
                e = sequence_find_mark(r, split->start, error);
        if (e < 0)
                sequence_reader_close(r);
        else
                r->file.wanted = r->end;
        return e;
}

/* Reads a record whose length was read. */
static int sequence_take_record(struct sequence_reader *r, int32_t length, fst_bytes *value, struct fst_error *error)
{
        int32_t key, bytes;
        int e = sequence_take_int(r, &key, error);
        if (e)
                return e;
        if (length < 4 || key != 0)
                return sequence_damaged(r, "a record has an invalid length", error);
        if ((e = sequence_fill(r, (size_t)length, error)) || (e = sequence_take_int(r, &bytes, error)))
                return e;
        if (bytes != length - 4)
                return sequence_damaged(r, "a value has another length than its record", error);
        *value = (fst_bytes){r->buffer + r->at, (size_t)bytes};
        sequence_skip(r, (size_t)bytes);
        return 1;
}

int sequence_reader_next(struct sequence_reader *r, fst_bytes *value, struct fst_error *error)
{
        uint64_t start = r->position;
        while (!r->ended && r->position < r->file.size) {
                int32_t length;
                uint64_t from = r->position;
                int e = sequence_take_int(r, &length, error);
                if (e == 0 && length != -1)
                        e = sequence_take_record(r, length, value, error);
                if (e) {
                        r->bytes += r->position - start;
                        return e;
                }
                r->ended = from >= r->end;
                e = r->ended ? 0 : sequence_fill(r, SYNC_SIZE, error);
                if (e)
                        return e;
                if (!r->ended && memcmp(r->buffer + r->at, r->sync, SYNC_SIZE) != 0)
                        return sequence_damaged(r, "a mark does not match", error);
                if (!r->ended)
                        sequence_skip(r, SYNC_SIZE);
        }
        r->ended = true;
        return 0;
}

uint64_t sequence_reader_bytes(const struct sequence_reader *r)
{
        return r->bytes;
}
