/*
 * Any bytes are a row of a struct or are refused, and reads stay within them. A row that was read is written as the
 * same bytes, unless a number in it has another form (-0.0, a NaN, a bool above 1), and a second reading gives the same
 * row.
 */
#include "base/mem.h"
#include "structs/struct_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct mixed {
        fst_bytes first;
        int64_t number;
        double real;
        fst_bytes middle;
        int32_t small;
        bool flag;
        fst_bytes last;
};
FST_FIELDS(mixed, first, number, real, middle, small, flag, last);

struct fixed {
        int64_t number;
        double real;
        int32_t small;
        bool flag;
};
FST_FIELDS(fixed, number, small, flag, real);

struct text {
        fst_bytes only;
        int64_t number;
};
FST_FIELDS(text, only, number);

static void there_and_back(fst_type type, fst_bytes encoded, bool same)
{
        const struct struct_type *s = struct_type_of(type.key_size);
        _cleanup_free_ char *row = mem_zero(s->size), *again = mem_zero(s->size), *space = mem_alloc(encoded.len + 1),
                            *text = mem_alloc(struct_row_text_size(s, encoded));
        struct_row_print(s, encoded, text);
        if (struct_row_read(s, encoded, row, space) != 0)
                return;
        size_t len = struct_row_size(s, row);
        _cleanup_free_ char *written = mem_alloc(len + 1), *more = mem_alloc(len + 1), *texts = mem_alloc(len + 1);
        struct_row_write(s, row, written);
        if (same && (len != encoded.len || memcmp(written, encoded.data, len) != 0))
                abort();
        if (struct_row_read(s, (fst_bytes){written, len}, again, texts) != 0 || struct_row_size(s, again) != len)
                abort();
        struct_row_write(s, again, more);
        if (memcmp(more, written, len) != 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        _cleanup_free_ char *exact = mem_alloc(size - 1 ? size - 1 : 1);
        memcpy(exact, data + 1, size - 1);
        fst_bytes encoded = {exact, size - 1};
        switch (data[0] % 3) {
        case 0:
                there_and_back(FST_STRUCT(mixed), encoded, false);
                break;
        case 1:
                there_and_back(FST_STRUCT(fixed), encoded, false);
                break;
        default:
                there_and_back(FST_STRUCT(text), encoded, true);
        }
        return 0;
}
