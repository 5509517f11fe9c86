/* See row_text.h. */
#include "io/row_text.h"

#include "structs/struct_row.h"
#include "text/number_format.h"

size_t value_text_size(uint8_t kind, uint32_t size, const fst_column *column, uint32_t row)
{
        const struct struct_type *s;
        switch (kind) {
        case FST_KIND_I64:
                return NUMBER_I64_SIZE;
        case FST_KIND_F64:
                return NUMBER_F64_SIZE;
        case FST_KIND_BYTES:
                s = struct_type_of_column(kind, size);
                return s ? struct_row_text_size(s, column->bytes[row]) : column->bytes[row].len;
        case FST_KIND_FIXED:
                return (size_t)size * 2;
        default:
                return 0;
        }
}

char *value_text_print(char *p, uint8_t kind, uint32_t size, const fst_column *column, uint32_t row)
{
        const struct struct_type *s;
        switch (kind) {
        case FST_KIND_I64:
                return p + number_format_i64(p, column->i64[row]);
        case FST_KIND_F64:
                return p + number_format_f64(p, column->f64[row]);
        case FST_KIND_BYTES:
                s = struct_type_of_column(kind, size);
                if (s)
                        return struct_row_print(s, column->bytes[row], p);
                if (column->bytes[row].len > 0)
                        memcpy(p, column->bytes[row].data, column->bytes[row].len);
                return p + column->bytes[row].len;
        case FST_KIND_FIXED:
                for (uint32_t i = 0; i < size; i++) {
                        unsigned char c = (unsigned char)column->fixed[(size_t)row * size + i];
                        *p++ = "0123456789abcdef"[c >> 4];
                        *p++ = "0123456789abcdef"[c & 15];
                }
                return p;
        default:
                return p;
        }
}

size_t row_text_size(const fst_batch *batch, uint32_t row)
{
        fst_type t = batch->type;
        size_t key = value_text_size(t.key, t.key_size, &batch->key, row);
        return t.value ? key + value_text_size(t.value, t.value_size, &batch->value, row) + 3 : key;
}

char *row_text_print(char *p, const fst_batch *batch, uint32_t row)
{
        fst_type t = batch->type;
        if (!t.value)
                return value_text_print(p, t.key, t.key_size, &batch->key, row);
        *p++ = '(';
        p = value_text_print(p, t.key, t.key_size, &batch->key, row);
        *p++ = ',';
        p = value_text_print(p, t.value, t.value_size, &batch->value, row);
        *p++ = ')';
        return p;
}
