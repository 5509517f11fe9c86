/*
 * Reads and writes entries. A reader uses a length only after it has verified the header, and id and data only after it
 * has verified both. After a failure it continues at the next offset that passes both checks. The marks only speed up
 * the search.
 */
#include "standalone/recovery/journal.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

#define HEADER 32
#define VERSION 1

static const unsigned char mark[4] = {0xF5, 'f', 's', 'j'};

enum what { WHAT_STORE = 1, WHAT_REMOVE = 2 };

/* Part of the format, independent of the enums' values. */
static const unsigned char kind_numbers[] = {
        [MASTER_RECORD_APP] = 1, [MASTER_RECORD_DRIVER] = 2, [MASTER_RECORD_WORKER] = 3, [MASTER_RECORD_FRAMEWORK] = 4};
static const unsigned char codec_numbers[] = {[CODEC_NONE] = 0, [CODEC_LZ4] = 1, [CODEC_ZSTD] = 2};

struct header {
        unsigned char version, what, kind, codec;
        uint32_t id_size, data_size, unpacked;
        uint32_t seed;
        uint64_t sum;
};

const char *journal_kind_name(enum master_record kind)
{
        static const char *const names[] = {[MASTER_RECORD_APP] = "app",
                                            [MASTER_RECORD_DRIVER] = "driver",
                                            [MASTER_RECORD_WORKER] = "worker",
                                            [MASTER_RECORD_FRAMEWORK] = "framework"};
        return names[kind];
}

/* ------------------------------------------------------------------------------------------------------ writing */

/* Appends header and id. The caller appends the data, then calls `finish`. */
static size_t journal_begin(struct buf *out, enum what what, enum master_record kind, const char *id, size_t id_size)
{
        unsigned char header[HEADER] = {0};
        size_t at = out->len;
        memcpy(header, mark, sizeof(mark));
        header[4] = VERSION;
        header[5] = (unsigned char)what;
        header[6] = kind_numbers[kind];
        put_le32(header + 8, (uint32_t)id_size);
        buf_append(out, header, HEADER);
        buf_append(out, id, id_size);
        return at;
}

static void journal_finish(struct buf *out, size_t at, enum codec_kind codec, size_t unpacked)
{
        unsigned char *header = (unsigned char *)out->data + at;
        size_t body = out->len - at - HEADER;
        header[7] = codec_numbers[codec];
        put_le32(header + 12, (uint32_t)(body - get_le32(header + 8)));
        put_le32(header + 16, (uint32_t)unpacked);
        uint32_t seed = (uint32_t)XXH3_64bits(header, 20);
        put_le32(header + 20, seed);
        uint64_t sum = htole64(XXH3_64bits_withSeed(header + HEADER, body, seed));
        memcpy(header + 24, &sum, sizeof(sum));
}

int journal_put_store(struct buf *out, struct codec *codec, enum master_record kind, const char *id, const void *data,
                      size_t size)
{
        size_t id_size = strlen(id), written = 0, room;
        if (id_size == 0 || id_size > MAX_JOURNAL_ID || size > MAX_JOURNAL_DATA)
                return -E2BIG;
        size_t at = journal_begin(out, WHAT_STORE, kind, id, id_size);
        if (codec && codec->kind != CODEC_NONE && (room = codec_bound(codec->kind, size)) > 0) {
                buf_reserve(out, room);
                if (codec_compress(codec, data, size, out->data + out->len, room, &written, NULL) == 0 &&
                    written < size) {
                        out->len += written;
                        out->data[out->len] = '\0';
                        journal_finish(out, at, codec->kind, size);
                        return 0;
                }
        }
        buf_append(out, data, size);
        journal_finish(out, at, CODEC_NONE, size);
        return 0;
}

void journal_put_remove(struct buf *out, enum master_record kind, const char *id)
{
        size_t id_size = strlen(id);
        if (id_size == 0 || id_size > MAX_JOURNAL_ID) /* cannot have been stored */
                return;
        journal_finish(out, journal_begin(out, WHAT_REMOVE, kind, id, id_size), CODEC_NONE, 0);
}

/* ------------------------------------------------------------------------------------------------------ reading */

/* Parses the header at @at. Returns false if it is invalid. */
static bool parse_header(const unsigned char *at, size_t left, struct header *h)
{
        if (left < HEADER || memcmp(at, mark, sizeof(mark)) != 0)
                return false;
        uint64_t sum;
        memcpy(&sum, at + 24, sizeof(sum));
        *h = (struct header){
                .version = at[4],
                .what = at[5],
                .kind = at[6],
                .codec = at[7],
                .id_size = get_le32(at + 8),
                .data_size = get_le32(at + 12),
                .unpacked = get_le32(at + 16),
                .seed = get_le32(at + 20),
                .sum = le64toh(sum),
        };
        return h->seed == (uint32_t)XXH3_64bits(at, 20) && h->id_size <= MAX_JOURNAL_ID &&
               h->data_size <= MAX_JOURNAL_DATA;
}

static size_t journal_entry_size(const struct header *h)
{
        return HEADER + (size_t)h->id_size + h->data_size;
}

static bool body_is_whole(const unsigned char *at, const struct header *h)
{
        return XXH3_64bits_withSeed(at + HEADER, (size_t)h->id_size + h->data_size, h->seed) == h->sum;
}

/* Returns the offset of the next complete entry from @from, or @size. */
static size_t next_entry(const unsigned char *bytes, size_t size, size_t from)
{
        struct header h;
        while (from < size) {
                const unsigned char *found = memmem(bytes + from, size - from, mark, sizeof(mark));
                if (!found)
                        return size;
                from = (size_t)(found - bytes);
                if (parse_header(found, size - from, &h) && journal_entry_size(&h) <= size - from &&
                    body_is_whole(found, &h))
                        return from;
                from++;
        }
        return size;
}

static bool find_number(const unsigned char *numbers, size_t n, unsigned char number, int *out)
{
        for (size_t i = 0; i < n; i++)
                if (numbers[i] == number) {
                        *out = (int)i;
                        return true;
                }
        return false;
}

/* The codecs of a reader, created on first use. */
struct unpackers {
        struct codec lz4, zstd;
};

#define UNPACKERS_INIT ((struct unpackers){.lz4 = {.kind = CODEC_LZ4}, .zstd = {.kind = CODEC_ZSTD}})

static void unpackers_deinit(struct unpackers *u)
{
        codec_deinit(&u->lz4);
        codec_deinit(&u->zstd);
}

/* Reports an entry whose checksums are right. Returns 0, or -EBADMSG and the reason. */
static int journal_parse_entry(const unsigned char *at, const struct header *h, struct unpackers *unpackers,
                               const struct journal_reader *reader, struct fst_error *error)
{
        int kind, codec_kind;
        if (h->version != VERSION)
                return error_set(error, -EBADMSG, "it is of version %d, which this program does not know", h->version);
        if ((h->what != WHAT_STORE && h->what != WHAT_REMOVE) ||
            !find_number(kind_numbers, ARRAY_SIZE(kind_numbers), h->kind, &kind) ||
            !find_number(codec_numbers, ARRAY_SIZE(codec_numbers), h->codec, &codec_kind) || h->id_size == 0 ||
            memchr(at + HEADER, '\0', h->id_size))
                return error_set(error, -EBADMSG, "unknown journal record");
        _cleanup_free_ char *id = mem_strndup((const char *)at + HEADER, h->id_size);
        const unsigned char *data = at + HEADER + h->id_size;
        if (h->what == WHAT_REMOVE) {
                reader->entry(reader->context, (enum master_record)kind, id, NULL, 0);
                return 0;
        }
        if (codec_kind == CODEC_NONE) {
                reader->entry(reader->context, (enum master_record)kind, id, data, h->data_size);
                return 0;
        }
        if (h->unpacked > MAX_JOURNAL_DATA)
                return error_set(error, -EBADMSG, "it exceeds the size limit of records");
        _cleanup_free_ void *unpacked = malloc(h->unpacked ? h->unpacked : 1);
        if (!unpacked)
                return error_set(error, -EBADMSG, "no memory for its %u bytes", h->unpacked);
        int r = codec_decompress(codec_kind == CODEC_LZ4 ? &unpackers->lz4 : &unpackers->zstd, data, h->data_size,
                                 unpacked, h->unpacked, error);
        if (r < 0)
                return r;
        reader->entry(reader->context, (enum master_record)kind, id, unpacked, h->unpacked);
        return 0;
}

/* Returns the record of an entry as " (app app-2026…)", or "" if it is not printable. */
static char *journal_whose(const unsigned char *at, const struct header *h)
{
        int kind;
        if (!find_number(kind_numbers, ARRAY_SIZE(kind_numbers), h->kind, &kind) || h->id_size == 0 || h->id_size > 200)
                return mem_strdup("");
        for (size_t i = 0; i < h->id_size; i++)
                if (at[HEADER + i] < ' ' || at[HEADER + i] > '~')
                        return mem_strdup("");
        return mem_printf(" (%s %.*s)", journal_kind_name((enum master_record)kind), (int)h->id_size, at + HEADER);
}

static void journal_report_skipped(const struct journal_reader *reader, const char *name, size_t from, size_t to,
                                   const char *of, const char *what, bool cut_off)
{
        _cleanup_free_ char *message = mem_printf("%s: skipped bytes %zu to %zu%s: %s", name, from, to, of, what);
        reader->damaged(reader->context, message, cut_off);
}

/* Reads the entry at @from, whose header is valid and whose bytes are all in the file. */
static bool read_entry(const unsigned char *bytes, size_t from, const struct header *h, const char *name,
                       struct unpackers *unpackers, const struct journal_reader *reader)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        bool whole = body_is_whole(bytes + from, h);
        if (whole && journal_parse_entry(bytes + from, h, unpackers, reader, &error) == 0)
                return true;
        _cleanup_free_ char *of = journal_whose(bytes + from, h);
        journal_report_skipped(reader, name, from, from + journal_entry_size(h), of,
                               whole ? error_message(&error) : "the record is damaged (its checksum is wrong)", false);
        return false;
}

int64_t journal_read(const void *data, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error)
{
        static const char beginning[] = JOURNAL_BEGINNING;
        const unsigned char *bytes = data;
        size_t at = sizeof(beginning) - 1, end = at;
        _cleanup_(unpackers_deinit) struct unpackers unpackers = UNPACKERS_INIT;
        struct header h;
        if (size == 0)
                return 0;
        if (memcmp(bytes, beginning, MIN(size, at)) != 0) {
                at = next_entry(bytes, size, 0);
                if (at == size)
                        return error_set(error, -EBADMSG, "%s is not a journal of a Firesteel master", name);
                end = 0;
                journal_report_skipped(reader, name, 0, at, "", "the file has no journal header", false);
        } else if (size < at)
                return 0;
        while (at < size) {
                if (parse_header(bytes + at, size - at, &h) && journal_entry_size(&h) <= size - at) {
                        if (read_entry(bytes, at, &h, name, &unpackers, reader))
                                end = at + journal_entry_size(&h);
                        at += journal_entry_size(&h);
                        continue;
                }
                size_t next = next_entry(bytes, size, at + 1);
                if (next == size)
                        journal_report_skipped(reader, name, at, size, ", the last ones,",
                                               "they are an incomplete record, as an interrupted write leaves it",
                                               true);
                else
                        journal_report_skipped(reader, name, at, next, "",
                                               "they are damaged and hold no readable record", false);
                at = next;
        }
        return (int64_t)end;
}

int journal_read_one(const void *bytes, size_t size, const char *name, const struct journal_reader *reader,
                     struct fst_error *error)
{
        _cleanup_(unpackers_deinit) struct unpackers unpackers = UNPACKERS_INIT;
        struct header h;
        if (!parse_header(bytes, size, &h))
                return error_set(error, -EBADMSG, "%s is not a record of a Firesteel master", name);
        if (journal_entry_size(&h) != size || h.what != WHAT_STORE || !body_is_whole(bytes, &h))
                return error_set(error, -EBADMSG, "%s is a damaged record of a Firesteel master", name);
        int r = journal_parse_entry(bytes, &h, &unpackers, reader, error);
        return r < 0 ? error_wrap(error, r, "%s is an unreadable record", name) : 0;
}
