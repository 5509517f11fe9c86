/*
 * Pages from other processes: the first byte chooses a type, the next four are the row count of a page with a valid
 * checksum over arbitrary records. Then the whole input is read as a frame. Everything that passes validation must be
 * readable.
 */
#include "base/error.h"
#include "store/page_frame.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const fst_type types[] = {
        {.key = FST_KIND_I64, .key_size = 8},
        {.key = FST_KIND_BYTES},
        {.key = FST_KIND_FIXED, .key_size = 3},
        {.key = FST_KIND_BYTES, .value = FST_KIND_I64, .value_size = 8},
        {.key = FST_KIND_I64, .value = FST_KIND_BYTES, .key_size = 8},
        {.key = FST_KIND_BYTES, .value = FST_KIND_BYTES},
        {.key = FST_KIND_FIXED, .value = FST_KIND_BYTES, .key_size = 5},
        {.key = FST_KIND_FIXED, .value = FST_KIND_F64, .key_size = 7, .value_size = 8},
};

static uint64_t hash_value(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        if (kind == FST_KIND_NONE)
                return 0;
        return kind == FST_KIND_BYTES ? XXH3_64bits(column.bytes[row].data, column.bytes[row].len)
                                      : XXH3_64bits(column.fixed + (size_t)row * size, size);
}

static void read_all(const struct page *page)
{
        struct page_cursor cursor;
        __attribute__((unused)) volatile uint64_t sum = 0; /* volatile, so that every byte is read */
        uint32_t rows = 0;
        page_cursor_init(&cursor, page->type);
        page_cursor_start(&cursor, page);
        for (fst_batch b; page_cursor_next(&cursor, &b); rows += b.rows)
                for (uint32_t i = 0; i < b.rows; i++)
                        sum += hash_value(b.type.key, b.type.key_size, b.key, i) ^
                               hash_value(b.type.value, b.type.value_size, b.value, i);
        if (rows != page->rows)
                abort();
        page_cursor_deinit(&cursor);
}

static void fuzz_records(const uint8_t *data, size_t size, fst_type type)
{
        if (size < 4 || size > 100000)
                return;
        struct page *page =
                malloc(sizeof(struct page) + size - 4); /* exact size, so that a sanitizer detects an over-read */
        *page = (struct page){.used = (uint32_t)size - 4, .capacity = (uint32_t)size - 4, .type = type};
        memcpy(&page->rows, data, 4);
        memcpy(page->data, data + 4, size - 4);
        if (page_validate(page, XXH3_64bits(page->data, page->used), NULL) == 0)
                read_all(page);
        free(page);
}

static void fuzz_frame(const uint8_t *data, size_t size, fst_type type)
{
        struct page_frame f;
        struct page *page = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (size >= PAGE_FRAME_HEADER && page_frame_parse(data, type, &f, &error) == 0 &&
            f.payload <= size - PAGE_FRAME_HEADER) {
                struct codec codec;
                codec_init(&codec, f.codec, 1);
                if (page_frame_decode(&f, type, data + PAGE_FRAME_HEADER, &codec, NULL, &page, &error) == 0)
                        read_all(page);
                codec_deinit(&codec);
        }
        page_free(NULL, page);
        error_deinit(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        fst_type type = types[data[0] % (sizeof(types) / sizeof(types[0]))];
        fuzz_records(data + 1, size - 1, type);
        fuzz_frame(data + 1, size - 1, type);
        return 0;
}
