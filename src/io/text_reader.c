/*
 * Reads the lines of a split without copying. See text_reader.h for the lines that a split owns.
 *
 * The buffer holds `filled` bytes of the file from `base` on. `start` is the start of the next line, and terminators
 * are known up to `scan`. `limit` is the last position in the file at which a line of this split may begin. This gives
 * three regions:
 *
 *      scan < limit    every terminator ends a line of this split: the block scanner takes whole 64-byte blocks,
 *                      text_reader_scan_lines the rest
 *      scan >= limit   one more line may belong to it, if it begins at or before the limit: text_reader_finish_last
 *      then            done
 *
 * A "\r" ends its line at once. `after_cr` records that a "\n" directly after it belongs to it, also across a refill. A
 * refill moves the unfinished line to the front of the buffer, and enlarges the buffer only if that line fills it.
 * Refills happen only while no line of the current batch points into the buffer.
 *
 * Invariants: start <= scan <= filled <= capacity; TEXT_READER_SLACK bytes follow the capacity.
 *
 * Matches Hadoop's LineRecordReader and LineReader with the default delimiters.
 */
#include "io/text_reader.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "io/text_scan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE ((size_t)256 << 10) /* fits into the second-level cache, where scanning finds it */
#define BUFFER_MIN 64
#define LINE_MAX_BYTES ((size_t)INT_MAX)
#define TAIL_READ ((size_t)16 << 10) /* after the split's end only the rest of one line is needed */
#define SAMPLE_BLOCK ((size_t)16 << 10)

struct text_reader {
        char *buffer;
        size_t capacity; /* excluding the slack */
        size_t usual;    /* initial capacity */
        struct open_file file;
        const struct input_split *split;
        const char *path;
        struct decoder *decoder;
        bool packed; /* the bytes come from the decoder */

        uint64_t base;  /* position in the file of buffer[0] */
        uint64_t limit; /* the last position at which a line may begin */
        size_t filled, scan, start;
        bool after_cr, at_end, done;
        bool at_file_start; /* the first line, which may have a byte order mark, is not yet returned */
        bool skip_first;    /* the current line belongs to the previous split */
        uint64_t bytes;

        /* sampling: remaining blocks */
        unsigned sample_left;
        uint64_t sample_next, sample_step, sample_block, split_end;
};

struct text_reader *text_reader_new(size_t buffer_size)
{
        struct text_reader *r = new0(struct text_reader);
        r->capacity = buffer_size ? MAX(buffer_size, (size_t)BUFFER_MIN) : BUFFER_SIZE;
        r->usual = r->capacity;
        r->buffer = mem_zero(r->capacity + TEXT_READER_SLACK);
        r->file = OPEN_FILE_INIT;
        r->done = true;
        return r;
}

void text_reader_free(struct text_reader *r)
{
        if (!r)
                return;
        int saved = errno;
        text_reader_close(r);
        decoder_free(r->decoder);
        free(r->buffer);
        free(r);
        errno = saved;
}

void text_reader_close(struct text_reader *r)
{
        if (r->file.fs)
                r->file.fs->close(&r->file, NULL);
        r->done = true;
}

/* Starts with the lines that begin in (from, limit], or at 0. */
static void text_reader_begin(struct text_reader *r, uint64_t from, uint64_t limit)
{
        r->base = from;
        r->limit = limit;
        r->filled = r->scan = r->start = 0;
        r->after_cr = r->at_end = r->done = false;
        r->at_file_start = from == 0;
        r->skip_first = from > 0;
}

int text_reader_open(struct text_reader *r, const struct input_split *split, struct fst_error *error)
{
        const struct file_system *fs;

        text_reader_close(r);
        if (r->capacity > r->usual * 16) { /* do not keep the memory of one huge line */
                r->capacity = r->usual;
                r->buffer = mem_grow(r->buffer, r->capacity + TEXT_READER_SLACK);
        }
        int e = file_system_of(split->path, &fs, error);
        if (e == 0)
                e = fs->open(fs, split->path, &r->file, error);
        if (e < 0)
                return e;
        r->file.wanted = split->start + split->length;
        r->packed = split->codec != CODEC_NONE;
        if (r->packed) {
                if (!r->decoder)
                        r->decoder = decoder_new();
                e = decoder_start(r->decoder, split->codec, &r->file, error);
                if (e < 0) {
                        text_reader_close(r);
                        return e;
                }
        }
        r->path = split->path;
        r->bytes = 0;
        r->sample_left = 0;
        r->split_end = split->start + split->length;
        text_reader_begin(r, r->packed ? 0 : split->start, r->packed ? UINT64_MAX : r->split_end);
        return 0;
}

uint64_t text_reader_bytes(const struct text_reader *r)
{
        return r->packed ? decoder_bytes(r->decoder) : r->bytes;
}

static int text_reader_grow(struct text_reader *r, struct fst_error *error)
{
        if (r->capacity >= LINE_MAX_BYTES + 1)
                return error_set(error, -EMSGSIZE,
                                 "%s: the line at byte %llu is longer than 2147483647 bytes, the limit of a "
                                 "line",
                                 r->path, (unsigned long long)(r->base + r->start));
        size_t capacity = MIN(r->capacity * 2, LINE_MAX_BYTES + 1);
        char *buffer = mem_try_grow(r->buffer, capacity + TEXT_READER_SLACK);
        if (!buffer)
                return error_set(error, -ENOMEM,
                                 "%s: no memory for the line at byte %llu, which is longer than %zu bytes: raise "
                                 "spark.executor.memoryOverhead (with a local master the limit of the control group), "
                                 "or run fewer tasks at a time",
                                 r->path, (unsigned long long)(r->base + r->start), r->capacity);
        memset(buffer + capacity, 0, TEXT_READER_SLACK);
        r->buffer = buffer;
        r->capacity = capacity;
        return 0;
}

/* Reads more after the unfinished line. Sets at_end at the end of the file. No line of a batch may be in use. */
static int text_reader_refill(struct text_reader *r, struct fst_error *error)
{
        /* A line to be skipped need not be kept. */
        if (r->skip_first)
                r->start = r->scan;
        if (r->start > 0) {
                memmove(r->buffer, r->buffer + r->start, r->filled - r->start);
                r->base += r->start;
                r->filled -= r->start;
                r->scan -= r->start;
                r->start = 0;
        }
        if (r->filled == r->capacity) {
                int e = text_reader_grow(r, error);
                if (e < 0)
                        return e;
        }
        size_t room = r->capacity - r->filled, got;
        if (r->packed) {
                int e = decoder_read(r->decoder, r->buffer + r->filled, room, &got, error);
                if (e < 0)
                        return e;
        } else {
                uint64_t at = r->base + r->filled;
                size_t tail = MAX(TAIL_READ, r->filled);
                size_t want = at < r->limit ? (size_t)MIN(r->limit - at, (uint64_t)room) : MIN(room, tail);
                ssize_t n = r->file.fs->read_at(&r->file, r->buffer + r->filled, want, at, error);
                if (n < 0)
                        return (int)n;
                got = (size_t)n;
                r->bytes += got;
        }
        r->filled += got;
        r->at_end = got == 0;
        return 0;
}

/* Takes the line [start, end), whose terminator ends at @next, from the front. False if it must be skipped. */
static bool text_reader_take_line(struct text_reader *r, size_t end, size_t next, fst_bytes *line)
{
        *line = (fst_bytes){r->buffer + r->start, end - r->start};
        bool bare = next == end; /* ended by the end of the file */
        r->start = next;
        if (r->skip_first) {
                r->skip_first = false;
                return false;
        }
        if (r->at_file_start) {
                r->at_file_start = false;
                if (line->len >= 3 && memcmp(line->data, "\xef\xbb\xbf", 3) == 0) {
                        line->data += 3;
                        line->len -= 3;
                        return line->len > 0 || !bare;
                }
        }
        return true;
}

/*
 * Scans line by line from scan to @end (at most filled), where the block scanner cannot work. Stops after @max lines.
 */
static uint32_t text_reader_scan_lines(struct text_reader *r, size_t end, fst_bytes *lines, uint32_t max)
{
        uint32_t n = 0;
        while (r->scan < end && n < max) {
                if (r->after_cr) {
                        r->after_cr = false;
                        if (r->buffer[r->scan] == '\n')
                                r->start = ++r->scan;
                        continue;
                }
                size_t at = r->scan + text_scan_terminator(r->buffer + r->scan, end - r->scan);
                r->scan = at;
                if (at == end)
                        break;
                r->after_cr = r->buffer[at] == '\r';
                r->scan = at + 1;
                n += text_reader_take_line(r, at, at + 1, &lines[n]);
        }
        return n;
}

/* The end of the region in which every terminator ends a line of this split. */
static size_t text_reader_free_end(const struct text_reader *r)
{
        uint64_t left = r->limit > r->base ? r->limit - r->base : 0;
        return left < r->filled ? (size_t)left : r->filled;
}

/* True if the current line begins too late to belong to this split. */
static bool text_reader_past_limit(const struct text_reader *r)
{
        return r->base + r->start > r->limit && !r->skip_first;
}

/* At or after the limit: the current line is the last one, if it began in time. Returns 1 with the line, or 0 if more
 * bytes are needed or the split is done. */
static uint32_t text_reader_finish_last(struct text_reader *r, fst_bytes *line)
{
        if (r->after_cr && r->scan < r->filled) {
                if (r->buffer[r->scan] == '\n')
                        r->start = ++r->scan;
                r->after_cr = false;
        }
        /* "\r" is the last byte read: only the next byte tells where the next line begins. */
        if (r->after_cr && !r->at_end)
                return 0;
        if (text_reader_past_limit(r)) {
                r->done = true;
                return 0;
        }
        size_t end = r->scan + text_scan_terminator(r->buffer + r->scan, r->filled - r->scan);
        if (end == r->filled) {
                r->scan = end;
                if (!r->at_end)
                        return 0;
                r->done = true;
                return end > r->start && text_reader_take_line(r, end, end, line);
        }
        /* The start of the next line decides whether this line is the last, so the check runs again. */
        r->after_cr = r->buffer[end] == '\r';
        r->scan = end + 1;
        return text_reader_take_line(r, end, end + 1, line);
}

/* Scans the lines in the buffer. */
static uint32_t text_reader_scan(struct text_reader *r, fst_bytes *lines, uint32_t max)
{
        uint32_t n = 0;
        size_t end = text_reader_free_end(r);

        while (r->scan < end && n < max) {
                if (r->after_cr || r->skip_first || r->at_file_start) {
                        n += text_reader_scan_lines(r, end, lines + n, 1);
                } else if (end - r->scan < TEXT_SCAN_BLOCK || max < TEXT_SCAN_BLOCK) {
                        n += text_reader_scan_lines(r, end, lines + n, max - n);
                } else if (max - n < TEXT_SCAN_BLOCK) {
                        return n;
                } else {
                        struct text_scan s = {.at = r->scan, .start = r->start};
                        n += text_scan_blocks(r->buffer, end, &s, lines + n, max - n);
                        r->scan = s.at;
                        r->start = s.start;
                        r->after_cr = s.start == s.at && r->buffer[s.at - 1] == '\r';
                }
        }
        while (r->scan >= end && r->base + r->scan >= r->limit && n < max && !r->done) {
                size_t before = r->scan;
                uint32_t more = text_reader_finish_last(r, lines + n);
                n += more;
                if (!more && r->scan == before)
                        break;
        }
        return n;
}

/* Moves to the next block of a sample. False if there is none. */
static bool text_reader_next_sample(struct text_reader *r)
{
        if (r->sample_left == 0)
                return false;
        r->sample_left--;
        uint64_t at = r->sample_next;
        r->sample_next += r->sample_step;
        text_reader_begin(r, at, at + r->sample_block);
        r->file.wanted = r->limit;
        return true;
}

int text_reader_next(struct text_reader *r, fst_bytes *lines, uint32_t max, uint32_t *n, const char **stable,
                     size_t *stable_size, struct fst_error *error)
{
        uint32_t got = 0;

        while (got == 0) {
                if (r->done && !text_reader_next_sample(r))
                        break;
                got = text_reader_scan(r, lines, max);
                if (got > 0 || r->done)
                        continue;
                if (r->at_end) {
                        /* The file ended before the split: the last line has no terminator. */
                        r->done = true;
                        got = r->filled > r->start && !text_reader_past_limit(r) &&
                              text_reader_take_line(r, r->filled, r->filled, lines);
                        continue;
                }
                int e = text_reader_refill(r, error);
                if (e < 0)
                        return e;
        }
        *n = got;
        if (stable)
                *stable = r->buffer;
        if (stable_size)
                *stable_size = r->filled;
        return 0;
}

void text_reader_sample(struct text_reader *r, size_t budget)
{
        uint64_t first = r->base, length = r->split_end - first;
        if (r->packed) {
                r->limit = budget;
                return;
        }
        if (budget >= length)
                return;
        unsigned blocks = (unsigned)MIN((budget + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK, (size_t)1 << 20);
        blocks = MAX(blocks, 1u);
        r->sample_left = blocks - 1;
        r->sample_step = length / blocks;
        uint64_t block = MIN(SAMPLE_BLOCK, budget);
        r->sample_block = MIN(block, r->sample_step);
        r->sample_next = first + r->sample_step;
        r->limit = r->file.wanted = first + r->sample_block;
}
