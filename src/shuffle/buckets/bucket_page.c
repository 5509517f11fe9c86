/* See bucket_page.h. */
#include "shuffle/buckets/bucket_page.h"

#include "base/mem.h"

#include <assert.h>

#define LINE 64u
#define MAX_SEGMENTS 512u

/* An entry of the directory. */
struct segment {
        unsigned line : 12; /* where it begins: a line of the page's block */
        unsigned last : 6;  /* its rows, less one */
        unsigned bucket : MAX_BUCKET_BITS;
        unsigned wide : 1; /* its keys have eight bytes */
};

static_assert(sizeof(struct segment) == 4, "the directory has four bytes for each");
static_assert(PAGE_BLOCK / LINE <= 1u << 12, "lines have twelve bits");

#define DIRECTORY_AT LINE
#define FIRST_SEGMENT_AT (DIRECTORY_AT + MAX_SEGMENTS * sizeof(struct segment))

static_assert(sizeof(struct page) <= DIRECTORY_AT, "the directory begins behind the struct");
/* A segment of 64 rows has 768 or 1,024 bytes, and as records 1,024. */
static_assert((PAGE_BLOCK - FIRST_SEGMENT_AT) / 768 * 1024 <= BUCKET_PAGE_RECORD_PAGES * (PAGE_CAPACITY - 1024),
              "the records of a page fit");

static struct segment *page_directory(const struct page *page)
{
        return (struct segment *)((uintptr_t)page + DIRECTORY_AT);
}

static uint32_t segment_rows(struct segment s)
{
        return s.last + 1u;
}

static uint32_t segment_key_bytes(struct segment s)
{
        return s.wide ? 8 : 4;
}

static const unsigned char *segment_keys(const struct page *page, struct segment s)
{
        return (const unsigned char *)page + (size_t)s.line * LINE;
}

static const unsigned char *segment_values(const struct page *page, struct segment s)
{
        return segment_keys(page, s) + (size_t)segment_rows(s) * segment_key_bytes(s);
}

static bool is_number(uint8_t kind)
{
        return kind == FST_KIND_I64 || kind == FST_KIND_F64;
}

bool bucket_page_takes(fst_type type)
{
        return is_number(type.key) && is_number(type.value);
}

void bucket_page_init(struct page *page)
{
        assert(page->block == PAGE_BLOCK && page->rows == 0);
        page->used = FIRST_SEGMENT_AT - sizeof(*page);
}

static bool keys_are_wide(const uint64_t *keys, uint32_t n)
{
        uint64_t all = 0;
        for (uint32_t i = 0; i < n; i++)
                all |= keys[i];
        return all >> 32;
}

bool bucket_page_add(struct page *page, uint32_t bucket, const uint64_t *keys, const uint64_t *values, uint32_t n)
{
        const size_t at = sizeof(*page) + page->used;
        struct segment s = {.line = (unsigned)(at / LINE) & 0xfff,
                            .last = (n - 1) & (SEGMENT_ROWS - 1),
                            .bucket = bucket & ((1u << MAX_BUCKET_BITS) - 1),
                            .wide = keys_are_wide(keys, n)};
        const size_t size = (size_t)n * (segment_key_bytes(s) + 8), padded = (size + LINE - 1) & ~(size_t)(LINE - 1);
        if (page->segments == MAX_SEGMENTS || at + padded > page->block)
                return false;
        unsigned char *to = (unsigned char *)page + at;
        if (s.wide) {
                memcpy(to, keys, (size_t)n * 8);
        } else {
                uint32_t narrow[SEGMENT_ROWS];
                for (uint32_t i = 0; i < n; i++)
                        narrow[i] = (uint32_t)keys[i];
                memcpy(to, narrow, (size_t)n * 4);
        }
        memcpy(to + (size_t)n * segment_key_bytes(s), values, (size_t)n * 8);
        page_directory(page)[page->segments++] = s;
        page->used += (uint32_t)padded;
        page->rows += n;
        return true;
}

static void segment_read_keys(const struct page *page, struct segment s, uint64_t *keys)
{
        const unsigned char *from = segment_keys(page, s);
        const uint32_t n = segment_rows(s);
        if (s.wide) {
                memcpy(keys, from, (size_t)n * 8);
                return;
        }
        const uint32_t *narrow = (const uint32_t *)(const void *)from; /* aligned: a block begins at 16 bytes */
        for (uint32_t i = 0; i < n; i++)
                keys[i] = narrow[i];
}

static void segment_prefetch(const struct page *page, struct segment s)
{
        const unsigned char *from = segment_keys(page, s);
        const size_t size = (size_t)segment_rows(s) * (segment_key_bytes(s) + 8);
        for (size_t at = 0; at < size; at += LINE)
                __builtin_prefetch(from + at);
}

/* Segments by which lines are prefetched: those of a bucket are far apart. */
#define READ_AHEAD 3

uint32_t bucket_page_read(const struct page *page, uint32_t bucket, uint32_t *segment, uint64_t *keys, uint64_t *values,
                          uint32_t room)
{
        const struct segment *directory = page_directory(page);
        uint16_t found[MAX_SEGMENTS];
        uint32_t n = 0, rows = 0;
        for (uint32_t i = *segment; i < page->segments; i++) {
                found[n] = (uint16_t)i;
                n += directory[i].bucket == bucket;
        }
        for (uint32_t i = 0; i < MIN(n, (uint32_t)READ_AHEAD); i++)
                segment_prefetch(page, directory[found[i]]);
        for (uint32_t i = 0; i < n; i++) {
                const struct segment s = directory[found[i]];
                if (rows + segment_rows(s) > room) {
                        *segment = found[i];
                        return rows;
                }
                if (i + READ_AHEAD < n)
                        segment_prefetch(page, directory[found[i + READ_AHEAD]]);
                segment_read_keys(page, s, keys + rows);
                memcpy(values + rows, segment_values(page, s), (size_t)segment_rows(s) * 8);
                rows += segment_rows(s);
        }
        *segment = page->segments;
        return rows;
}

bool bucket_page_to_records(const struct page *from, uint32_t *segment, struct page *to)
{
        uint64_t keys[SEGMENT_ROWS], values[SEGMENT_ROWS];
        to->used = to->rows = 0;
        for (; *segment < from->segments; ++*segment) {
                const struct segment s = page_directory(from)[*segment];
                const uint32_t n = segment_rows(s);
                if (to->used + n * 16 > to->capacity)
                        break;
                segment_read_keys(from, s, keys);
                memcpy(values, segment_values(from, s), (size_t)n * 8);
                for (uint32_t i = 0; i < n; i++) {
                        memcpy(to->data + to->used + (size_t)i * 16, &keys[i], 8);
                        memcpy(to->data + to->used + (size_t)i * 16 + 8, &values[i], 8);
                }
                to->used += n * 16;
                to->rows += n;
        }
        return to->rows > 0;
}
