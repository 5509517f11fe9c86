/*
 * See aggregated_logs.h. The layers of a TFile, from the file up:
 *
 *      file      blocks, the index of meta blocks, its offset (8 bytes), a version (4), a magic number (16)
 *      block     a range of the file, plain or compressed; the meta block "BCFile.index" lists the others
 *      record    a key with its length, and a value in chunks: a negative length means that more chunks follow
 *      value     names and lengths of logs as texts (Java's writeUTF), each followed by the log's bytes
 *
 * An IndexedFormat is a mark, logs (each plain or compressed by itself), an index, its length (4 bytes), and the same
 * mark, which is the SHA-256 of the application's id (32 bytes), or a UUID as text (36) before Hadoop 3.1. The index is
 * a serialized Java object, IndexedLogsMeta, which lists rounds of aggregation, in each round the containers, and for
 * each container its logs with their places in the file.
 */
#include "yarn/application/aggregated_logs.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "hadoop/java_objects.h"
#include "io/codec/codec.h"
#include "io/fs/file_system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 28 /* offset, version, magic number */
#define TFILE_MAJOR 1
#define MAX_META_INDEX (1u << 20)
#define MAX_TEXT 65536
#define MAX_BLOCKS (1u << 20)
#define PIECE 65536
#define INDEX_BLOCK "data:BCFile.index"
#define INDEX_LENGTH 4
#define MAX_MARK 36

static const unsigned char tfile_magic[16] = {0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5, 0xd7, 0xb6,
                                              0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1, 0x50};

struct block_region {
        uint64_t offset, size; /* in the file */
};

/* A range of a file as a file of its own, for the decoder. */
struct file_range {
        struct file_system fs;
        struct open_file *base;
        struct open_file file;
        uint64_t offset, size;
};

struct aggregated_reader {
        struct open_file *file;
        const struct aggregated_logs_ops *ops;
        void *owner;
        struct file_range range;
        enum codec_kind codec;   /* of the block that is read */
        struct decoder *decoder; /* NULL before the first compressed block */
        uint64_t at;             /* in a plain block */
        char piece[PIECE];       /* read and not yet used: */
        size_t start, end;
        int64_t chunk; /* bytes left of the value's chunk */
        bool last;     /* … which is the last one */
        char name[MAX_TEXT], container[MAX_TEXT];
        size_t n_indexed; /* containers and logs of an index so far: it may name the same ones again and again */
};

static int reader_damaged(const struct aggregated_reader *r, const char *what, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s is not a valid file of aggregated logs: %s", r->file->path, what);
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

static ssize_t file_range_read_at(struct open_file *file, void *data, size_t size, uint64_t offset,
                                  struct fst_error *error)
{
        struct file_range *range = file->state;
        if (offset >= range->size)
                return 0;
        if (size > range->size - offset)
                size = range->size - offset;
        return range->base->fs->read_at(range->base, data, size, range->offset + offset, error);
}

static int reader_start_block(struct aggregated_reader *r, const struct block_region *region, enum codec_kind codec,
                              struct fst_error *error)
{
        if (region->offset > r->file->size || region->size > r->file->size - region->offset)
                return reader_damaged(r, "a block is not inside the file", error);
        struct file_range *range = &r->range;
        range->base = r->file;
        range->offset = region->offset;
        range->size = region->size;
        range->fs = (struct file_system){.scheme = r->file->fs->scheme, .read_at = file_range_read_at};
        range->file = (struct open_file){
                .fs = &range->fs, .path = r->file->path, .size = region->size, .fd = -1, .state = range};
        r->codec = codec;
        r->at = 0;
        r->start = r->end = 0;
        if (codec == CODEC_NONE)
                return 0;
        if (!r->decoder)
                r->decoder = decoder_new();
        return decoder_start(r->decoder, codec, &range->file, error);
}

/* Fills the empty piece. Returns 0 with an empty piece at the block's end. */
static int reader_fill(struct aggregated_reader *r, struct fst_error *error)
{
        size_t got = 0;
        if (r->codec == CODEC_NONE) {
                const ssize_t n = file_range_read_at(&r->range.file, r->piece, PIECE, r->at, error);
                if (n < 0)
                        return (int)n;
                got = (size_t)n;
                r->at += got;
        } else {
                const int code = decoder_read(r->decoder, r->piece, PIECE, &got, error);
                if (code < 0)
                        return code;
        }
        r->start = 0;
        r->end = got;
        return 0;
}

/* Returns 1, 0 at the block's end, or negative. */
static int reader_has_more(struct aggregated_reader *r, struct fst_error *error)
{
        const int code = r->start == r->end ? reader_fill(r, error) : 0;
        return code < 0 ? code : r->start < r->end;
}

/* Sets *@data to some of the next @most bytes, and returns their number; never 0. */
static ssize_t reader_take(struct aggregated_reader *r, size_t most, const char **data, struct fst_error *error)
{
        const int more = reader_has_more(r, error);
        if (more < 0)
                return more;
        if (more == 0)
                return reader_damaged(r, "a block ends too early", error);
        const size_t n = MIN(most, r->end - r->start);
        *data = r->piece + r->start;
        r->start += n;
        return (ssize_t)n;
}

static int reader_copy(struct aggregated_reader *r, void *to, size_t n, struct fst_error *error)
{
        for (size_t done = 0; done < n;) {
                const char *data = NULL;
                const ssize_t got = reader_take(r, n - done, &data, error);
                if (got < 0)
                        return (int)got;
                memcpy((char *)to + done, data, (size_t)got);
                done += (size_t)got;
        }
        return 0;
}

/* Hadoop's VLong of a TFile: the first byte has the length and the upper bits, big-endian. */
static int reader_copy_number(struct aggregated_reader *r, int64_t *out, struct fst_error *error)
{
        signed char first;
        unsigned char more[8];
        size_t n = 0;
        int64_t value;
        int code = reader_copy(r, &first, 1, error);
        if (code < 0)
                return code;
        if (first >= -32) {
                *out = first;
                return 0;
        }
        if (first >= -72) {
                n = 1;
                value = first + 52;
        } else if (first >= -104) {
                n = 2;
                value = first + 88;
        } else if (first >= -120) {
                n = 3;
                value = first + 112;
        } else {
                n = (size_t)(first + 129);
                value = 0;
        }
        if (n > 8 || (first < -120 && n < 4))
                return reader_damaged(r, "a number is damaged", error);
        code = reader_copy(r, more, n, error);
        if (code < 0)
                return code;
        uint64_t bits = first < -120 && (more[0] & 0x80) ? ~(uint64_t)0 : (uint64_t)value;
        for (size_t i = 0; i < n; i++)
                bits = bits << 8 | more[i];
        *out = (int64_t)bits;
        return 0;
}

/* A text with its length. @out has @room bytes, one of them for the NUL. */
static int reader_copy_text(struct aggregated_reader *r, char *out, size_t room, struct fst_error *error)
{
        int64_t n;
        const int code = reader_copy_number(r, &n, error);
        if (code < 0)
                return code;
        if (n < 0 || (uint64_t)n >= room)
                return reader_damaged(r, "a name is too long", error);
        out[n] = '\0';
        return reader_copy(r, out, (size_t)n, error);
}

static int reader_copy_region(struct aggregated_reader *r, struct block_region *out, struct fst_error *error)
{
        int64_t offset, size, raw;
        int code = reader_copy_number(r, &offset, error);
        code = code < 0 ? code : reader_copy_number(r, &size, error);
        code = code < 0 ? code : reader_copy_number(r, &raw, error);
        if (code < 0)
                return code;
        if (offset < 0 || size < 0 || raw < 0)
                return reader_damaged(r, "a block has a negative size", error);
        *out = (struct block_region){.offset = (uint64_t)offset, .size = (uint64_t)size};
        return 0;
}

static int reader_parse_codec(const struct aggregated_reader *r, const char *name, enum codec_kind *out,
                              struct fst_error *error)
{
        if (strcmp(name, "none") != 0 && strcmp(name, "gz") != 0)
                return error_set(error, -ENOTSUP,
                                 "%s is compressed with \"%s\", which Firesteel does not read (it reads none and gz: "
                                 "yarn.nodemanager.log-aggregation.compression-type)",
                                 r->file->path, name);
        *out = strcmp(name, "gz") == 0 ? CODEC_DEFLATE : CODEC_NONE;
        return 0;
}

static int reader_copy_codec(struct aggregated_reader *r, enum codec_kind *out, struct fst_error *error)
{
        char name[64];
        const int code = reader_copy_text(r, name, sizeof(name), error);
        return code < 0 ? code : reader_parse_codec(r, name, out, error);
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* Goes on to a chunk with bytes. Returns 1, 0 at the value's end, or negative. */
static int value_has_more(struct aggregated_reader *r, struct fst_error *error)
{
        while (r->chunk == 0 && !r->last) {
                int64_t n;
                const int code = reader_copy_number(r, &n, error);
                if (code < 0)
                        return code;
                if (n == INT64_MIN)
                        return reader_damaged(r, "a chunk has an invalid size", error);
                r->last = n >= 0;
                r->chunk = n < 0 ? -n : n;
        }
        return r->chunk > 0;
}

static void value_begin(struct aggregated_reader *r)
{
        r->chunk = 0;
        r->last = false;
}

static ssize_t value_take(struct aggregated_reader *r, uint64_t most, const char **data, struct fst_error *error)
{
        const int more = value_has_more(r, error);
        if (more < 0)
                return more;
        if (more == 0)
                return reader_damaged(r, "a record ends too early", error);
        const ssize_t n = reader_take(r, (size_t)MIN(MIN(most, (uint64_t)r->chunk), (uint64_t)PIECE), data, error);
        if (n > 0)
                r->chunk -= n;
        return n;
}

static int value_copy(struct aggregated_reader *r, void *to, size_t n, struct fst_error *error)
{
        for (size_t done = 0; done < n;) {
                const char *data = NULL;
                const ssize_t got = value_take(r, n - done, &data, error);
                if (got < 0)
                        return (int)got;
                memcpy((char *)to + done, data, (size_t)got);
                done += (size_t)got;
        }
        return 0;
}

static int value_skip(struct aggregated_reader *r, struct fst_error *error)
{
        int more;
        while ((more = value_has_more(r, error)) > 0) {
                const char *data = NULL;
                const ssize_t n = value_take(r, UINT64_MAX, &data, error);
                if (n < 0)
                        return (int)n;
        }
        return more;
}

/* Names go to terminals. */
static void text_make_printable(char *text, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
                        text[i] = '?';
        text[n] = '\0';
}

/* A text of Java's writeUTF. @out has MAX_TEXT bytes. */
static int value_copy_utf(struct aggregated_reader *r, char *out, struct fst_error *error)
{
        unsigned char size[2];
        int code = value_copy(r, size, sizeof(size), error);
        const size_t n = code < 0 ? 0 : (size_t)size[0] << 8 | size[1];
        code = code < 0 ? code : value_copy(r, out, n, error);
        text_make_printable(out, n);
        return code;
}

static int value_pass_log(struct aggregated_reader *r, uint64_t length, struct fst_error *error)
{
        const struct aggregated_log log = {.container = r->container, .name = r->name, .length = length};
        const bool wanted = r->ops->begin(r->owner, &log);
        while (length > 0) {
                const char *data = NULL;
                const ssize_t n = value_take(r, length, &data, error);
                if (n < 0)
                        return (int)n;
                const int code = wanted ? r->ops->data(r->owner, data, (size_t)n) : 0;
                if (code)
                        return code;
                length -= (uint64_t)n;
        }
        return wanted ? r->ops->end(r->owner) : 0;
}

/* The logs of one container. */
static int value_read_logs(struct aggregated_reader *r, struct fst_error *error)
{
        char number[MAX_TEXT];
        int code;
        while ((code = value_has_more(r, error)) > 0) {
                if ((code = value_copy_utf(r, r->name, error)) < 0 || (code = value_copy_utf(r, number, error)) < 0)
                        return code;
                const size_t digits = strspn(number, "0123456789");
                if (digits == 0 || digits > 18 || number[digits])
                        return reader_damaged(r, "the length of a log is not a number", error);
                if ((code = value_pass_log(r, strtoull(number, NULL, 10), error)))
                        return code;
        }
        return code;
}

/* ------------------------------------------------------------------------------------------------------------ file */

/* One record. Records of other keys hold the version, the owner and access control lists. */
static int reader_read_record(struct aggregated_reader *r, struct fst_error *error)
{
        int64_t n;
        unsigned char size[2];
        int code = reader_copy_number(r, &n, error);
        if (code < 0)
                return code;
        if (n < 2 || n - 2 >= MAX_TEXT)
                return reader_damaged(r, "a key has an invalid length", error);
        code = reader_copy(r, size, sizeof(size), error);
        code = code < 0 ? code : reader_copy(r, r->container, (size_t)n - 2, error);
        if (code < 0)
                return code;
        text_make_printable(r->container, (size_t)n - 2);
        value_begin(r);
        return text_starts_with(r->container, "container_") ? value_read_logs(r, error) : value_skip(r, error);
}

static int reader_read_block(struct aggregated_reader *r, const struct block_region *region, enum codec_kind codec,
                             struct fst_error *error)
{
        int code = reader_start_block(r, region, codec, error);
        while (code == 0 && (code = reader_has_more(r, error)) > 0)
                code = reader_read_record(r, error);
        return code;
}

/* Finds the index of the blocks by the index of the meta blocks at @offset. */
static int reader_find_index(struct aggregated_reader *r, uint64_t offset, struct block_region *out,
                             enum codec_kind *codec, struct fst_error *error)
{
        int64_t n;
        if (offset > r->file->size - TAIL || r->file->size - TAIL - offset > MAX_META_INDEX)
                return reader_damaged(r, "the index is not inside the file", error);
        const struct block_region whole = {.offset = offset, .size = r->file->size - TAIL - offset};
        int code = reader_start_block(r, &whole, CODEC_NONE, error);
        code = code < 0 ? code : reader_copy_number(r, &n, error);
        for (int64_t i = 0; code == 0 && i < n; i++) {
                code = reader_copy_text(r, r->name, sizeof(r->name), error);
                code = code < 0 ? code : reader_copy_codec(r, codec, error);
                code = code < 0 ? code : reader_copy_region(r, out, error);
                if (code == 0 && strcmp(r->name, INDEX_BLOCK) == 0)
                        return 0;
        }
        return code < 0 ? code : reader_damaged(r, "it has no index of blocks", error);
}

static int reader_read_tfile(struct aggregated_reader *r, const unsigned char tail[TAIL], struct fst_error *error)
{
        VEC(struct block_region) blocks = {0};
        struct block_region region = {0};
        enum codec_kind codec = CODEC_NONE;
        uint64_t offset = 0;
        int64_t n = 0;
        for (size_t i = 0; i < 8; i++)
                offset = offset << 8 | tail[i];
        if ((tail[8] << 8 | tail[9]) != TFILE_MAJOR)
                return reader_damaged(r, "its version is unknown", error);
        int code = reader_find_index(r, offset, &region, &codec, error);
        code = code < 0 ? code : reader_start_block(r, &region, codec, error);
        code = code < 0 ? code : reader_copy_codec(r, &codec, error);
        code = code < 0 ? code : reader_copy_number(r, &n, error);
        if (code == 0 && (n < 0 || n > (int64_t)MAX_BLOCKS))
                code = reader_damaged(r, "the number of blocks is invalid", error);
        for (int64_t i = 0; code == 0 && i < n; i++) {
                code = reader_copy_region(r, &region, error);
                if (code == 0)
                        vec_push(&blocks, region);
        }
        for (size_t i = 0; code == 0 && i < blocks.len; i++)
                code = reader_read_block(r, &blocks.data[i], codec, error);
        vec_deinit(&blocks);
        return code;
}

/* -------------------------------------------------------------------------------------------------- IndexedFormat */

static int indexed_count(struct aggregated_reader *r, struct fst_error *error)
{
        return ++r->n_indexed > MAX_BLOCKS ? reader_damaged(r, "its index names too many logs", error) : 0;
}

/* Passes one log. A file that grew while it was aggregated is cut at its length. */
static int indexed_read_log(struct aggregated_reader *r, const struct java_object *log, enum codec_kind codec,
                            struct fst_error *error)
{
        const char *container = java_object_text(log, "containerId"), *name = java_object_text(log, "fileName");
        const int64_t length = java_object_number(log, "fileSize"),
                      size = java_object_number(log, "fileCompressedSize");
        const int64_t offset = java_object_number(log, "startIndex");
        const int counted = indexed_count(r, error);
        if (counted < 0)
                return counted;
        if (!container || !name || length < 0 || size < 0 || offset < 0 || !text_starts_with(container, "container_") ||
            strlen(container) >= MAX_TEXT || strlen(name) >= MAX_TEXT)
                return reader_damaged(r, "its index describes a log without a name or a place", error);
        memcpy(r->container, container, strlen(container) + 1);
        memcpy(r->name, name, strlen(name) + 1);
        text_make_printable(r->container, strlen(container));
        text_make_printable(r->name, strlen(name));
        const struct aggregated_log described = {
                .container = r->container, .name = r->name, .length = (uint64_t)length};
        if (!r->ops->begin(r->owner, &described))
                return 0;
        const struct block_region region = {.offset = (uint64_t)offset, .size = (uint64_t)size};
        int code = length ? reader_start_block(r, &region, codec, error) : 0;
        for (uint64_t left = (uint64_t)length; code == 0 && left > 0;) {
                const char *data = NULL;
                const ssize_t n = reader_take(r, (size_t)MIN(left, (uint64_t)PIECE), &data, error);
                if (n < 0)
                        return (int)n;
                code = r->ops->data(r->owner, data, (size_t)n);
                left -= (uint64_t)n;
        }
        return code ? code : r->ops->end(r->owner);
}

/* A round of aggregation: a map from containers to lists of logs, whose items are keys and values in turn. */
static int indexed_read_round(struct aggregated_reader *r, const struct java_object *containers, enum codec_kind codec,
                              struct fst_error *error)
{
        int code = 0;
        for (size_t i = 1; containers && i < containers->n_items && code == 0; i += 2) {
                const struct java_value *logs = &containers->items[i];
                if (logs->kind != JAVA_OBJECT)
                        return reader_damaged(r, "its index has a container without logs", error);
                code = indexed_count(r, error);
                for (size_t k = 0; k < logs->object->n_items && code == 0; k++)
                        code = indexed_read_log(
                                r, logs->object->items[k].kind == JAVA_OBJECT ? logs->object->items[k].object : NULL,
                                codec, error);
        }
        return code;
}

static int indexed_read_index(struct aggregated_reader *r, const struct java_object *index, struct fst_error *error)
{
        const struct java_object *rounds = java_object_at(index, "logMetas");
        const char *compression = java_object_text(index, "compressName");
        enum codec_kind codec = CODEC_NONE;
        if (!rounds || !compression)
                return reader_damaged(r, "its index has no list of logs", error);
        int code = reader_parse_codec(r, compression, &codec, error);
        for (size_t i = 0; i < rounds->n_items && code == 0; i++)
                if (rounds->items[i].kind == JAVA_OBJECT)
                        code = indexed_read_round(r, java_object_at(rounds->items[i].object, "logMetas"), codec, error);
        return code;
}

/* Copies @n bytes at @offset of the file. */
static int reader_copy_at(struct aggregated_reader *r, uint64_t offset, void *to, size_t n, struct fst_error *error)
{
        const struct block_region region = {.offset = offset, .size = n};
        const int code = reader_start_block(r, &region, CODEC_NONE, error);
        return code < 0 ? code : reader_copy(r, to, n, error);
}

/* Reads the index that ends at @end, where its length stands. */
static int reader_read_indexed(struct aggregated_reader *r, uint64_t end, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        const struct java_object *index = NULL;
        unsigned char length[INDEX_LENGTH];
        size_t size = 0;
        int code = reader_copy_at(r, end, length, sizeof(length), error);
        if (code < 0)
                return code;
        for (size_t i = 0; i < sizeof(length); i++)
                size = size << 8 | length[i];
        if (size > end || size > JAVA_OBJECTS_MAX_SIZE)
                return reader_damaged(r, "the index is not inside the file", error);
        _cleanup_free_ char *stream = mem_alloc(size + 1);
        code = reader_copy_at(r, end - size, stream, size, error);
        code = code < 0 ? code : java_object_read(&arena, stream, size, &index, error);
        return code < 0 ? error_wrap(error, code, "%s", r->file->path) : indexed_read_index(r, index, error);
}

/* ------------------------------------------------------------------------------------------------------- any format */

/* Returns the length of the mark at both ends of a file of IndexedFormat, 0 if it has none, or negative. */
static int reader_find_mark(struct aggregated_reader *r, struct fst_error *error)
{
        static const int lengths[] = {32, MAX_MARK};
        const uint64_t size = r->file->size;
        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                const size_t n = (size_t)lengths[i];
                char head[MAX_MARK], tail[MAX_MARK];
                if (size < 2 * n + INDEX_LENGTH)
                        continue;
                int code = reader_copy_at(r, 0, head, n, error);
                code = code < 0 ? code : reader_copy_at(r, size - n, tail, n, error);
                if (code < 0 || memcmp(head, tail, n) == 0)
                        return code < 0 ? code : lengths[i];
        }
        return 0;
}

static int reader_read_file(struct aggregated_reader *r, struct fst_error *error)
{
        unsigned char tail[TAIL];
        const uint64_t size = r->file->size;
        int code = size < TAIL ? reader_damaged(r, "it is too short", error)
                               : reader_copy_at(r, size - TAIL, tail, TAIL, error);
        if (code < 0)
                return code;
        if (memcmp(tail + 12, tfile_magic, sizeof(tfile_magic)) == 0)
                return reader_read_tfile(r, tail, error);
        code = reader_find_mark(r, error);
        if (code < 0)
                return code;
        return code ? reader_read_indexed(r, size - (uint64_t)code - INDEX_LENGTH, error)
                    : reader_damaged(r, "it is neither a TFile nor an IndexedFormat", error);
}

int aggregated_logs_read(struct open_file *file, const struct aggregated_logs_ops *ops, void *owner,
                         struct fst_error *error)
{
        struct aggregated_reader *r = new0(struct aggregated_reader);
        *r = (struct aggregated_reader){.file = file, .ops = ops, .owner = owner};
        const int code = reader_read_file(r, error);
        decoder_free(r->decoder);
        free(r);
        return code;
}
