/* See struct_row.h. */
#include "structs/struct_row.h"

#include "base/mem.h"
#include "text/number_format.h"

#include <endian.h>
#include <errno.h>

#define SIGN_64 (1ull << 63)
#define SIGN_32 (1u << 31)
#define TEXT_END 2 /* bytes behind a text that is not the last column */

/* ------------------------------------------------------------------------------------------------------- writing */

static size_t struct_text_nuls(fst_bytes text)
{
        size_t n = 0;
        const char *at = text.data, *end = at + text.len;
        while (at < end && (at = memchr(at, 0, (size_t)(end - at)))) {
                n++;
                at++;
        }
        return n;
}

static fst_bytes struct_text_of(const struct struct_field *f, const void *row)
{
        fst_bytes text;
        memcpy(&text, (const char *)row + f->offset, sizeof(text));
        return text;
}

size_t struct_row_size(const struct struct_type *s, const void *row)
{
        size_t size = s->least;
        if (!s->has_texts)
                return size;
        for (uint32_t i = 0; i < s->n_fields; i++) {
                if (s->fields[i].kind != FST_FIELD_BYTES)
                        continue;
                fst_bytes text = struct_text_of(&s->fields[i], row);
                size += text.len;
                if (i != s->last_text && text.len)
                        size += struct_text_nuls(text);
        }
        return size;
}

static char *struct_text_write(char *to, fst_bytes text)
{
        const char *at = text.data, *end = at + text.len, *nul;
        while (at < end && (nul = memchr(at, 0, (size_t)(end - at)))) {
                to = mempcpy(to, at, (size_t)(nul + 1 - at));
                *to++ = (char)0xff;
                at = nul + 1;
        }
        if (at < end)
                to = mempcpy(to, at, (size_t)(end - at));
        *to++ = 0;
        *to++ = 0;
        return to;
}

static char *struct_put_64(char *to, uint64_t x)
{
        x = htobe64(x);
        return mempcpy(to, &x, sizeof(x));
}

static char *struct_put_f64(char *to, double x)
{
        uint64_t bits;
        x = x != x ? __builtin_nan("") : x + 0.0;
        memcpy(&bits, &x, sizeof(bits));
        return struct_put_64(to, bits & SIGN_64 ? ~bits : bits | SIGN_64);
}

static char *struct_field_write(const struct struct_field *f, const void *row, bool last, char *to)
{
        const char *from = (const char *)row + f->offset;
        uint64_t x;
        uint32_t y;
        double d;
        fst_bytes text;
        switch (f->kind) {
        case FST_FIELD_I64:
                memcpy(&x, from, sizeof(x));
                return struct_put_64(to, x ^ SIGN_64);
        case FST_FIELD_F64:
                memcpy(&d, from, sizeof(d));
                return struct_put_f64(to, d);
        case FST_FIELD_I32:
                memcpy(&y, from, sizeof(y));
                y = htobe32(y ^ SIGN_32);
                return mempcpy(to, &y, sizeof(y));
        case FST_FIELD_BOOL:
                *to = *from != 0;
                return to + 1;
        default:
                text = struct_text_of(f, row);
                if (!last)
                        return struct_text_write(to, text);
                return text.len ? mempcpy(to, text.data, text.len) : to;
        }
}

void struct_row_write(const struct struct_type *s, const void *row, char *to)
{
        for (uint32_t i = 0; i < s->n_fields; i++)
                to = struct_field_write(&s->fields[i], row, i == s->last_text, to);
}

/* ------------------------------------------------------------------------------------------------------- reading */

static uint64_t struct_get_64(const char *at)
{
        uint64_t x;
        memcpy(&x, at, sizeof(x));
        return be64toh(x);
}

static double struct_get_f64(const char *at)
{
        uint64_t bits = struct_get_64(at);
        double x;
        bits = bits & SIGN_64 ? bits ^ SIGN_64 : ~bits;
        memcpy(&x, &bits, sizeof(x));
        return x;
}

static int32_t struct_get_i32(const char *at)
{
        uint32_t x;
        memcpy(&x, at, sizeof(x));
        return (int32_t)(be32toh(x) ^ SIGN_32);
}

/* Finds the end of the text at @at, which has NUL bytes behind *@nul; NULL if it does not end. */
static const char *struct_text_find_end(const char *nul, const char *end)
{
        while (nul && end - nul >= TEXT_END && nul[1] == (char)0xff)
                nul = memchr(nul + 2, 0, (size_t)(end - nul - 2));
        return nul && end - nul >= TEXT_END && nul[1] == 0 ? nul : NULL;
}

/* Copies the text from @at to @end to *@space, which moves behind the copy. */
static fst_bytes struct_text_copy(const char *at, const char *end, char **space)
{
        fst_bytes text = {*space, 0};
        char *to = *space;
        while (at < end) {
                *to++ = *at;
                at += *at ? 1 : 2;
        }
        text.len = (size_t)(to - *space);
        *space = to;
        return text;
}

/* Reads the text at *@at, which moves behind its end. */
static int struct_text_read(const char **at, const char *end, fst_bytes *text, char **space)
{
        const char *nul = memchr(*at, 0, (size_t)(end - *at)), *start = *at;
        if (likely(nul && end - nul >= TEXT_END && nul[1] == 0)) {
                *text = (fst_bytes){start, (size_t)(nul - start)};
                *at = nul + TEXT_END;
                return 0;
        }
        nul = struct_text_find_end(nul, end);
        if (!nul)
                return -EBADMSG;
        if (!*space)
                return STRUCT_ROW_E_SPACE;
        *text = struct_text_copy(start, nul, space);
        *at = nul + TEXT_END;
        return 0;
}

int struct_row_read(const struct struct_type *s, fst_bytes encoded, void *row, char *space)
{
        const char *at = encoded.data, *end = at + encoded.len;
        size_t spare = encoded.len - s->least; /* bytes of texts that were not read yet */
        if (unlikely(encoded.len < s->least || (!s->has_texts && spare)))
                return -EBADMSG;
        for (uint32_t i = 0; i < s->n_fields; i++) {
                const struct struct_field *f = &s->fields[i];
                char *to = (char *)row + f->offset;
                int r;
                switch (f->kind) {
                case FST_FIELD_I64:
                        *(uint64_t *)to = struct_get_64(at) ^ SIGN_64;
                        at += 8;
                        break;
                case FST_FIELD_F64:
                        *(double *)to = struct_get_f64(at);
                        at += 8;
                        break;
                case FST_FIELD_I32:
                        *(int32_t *)to = struct_get_i32(at);
                        at += 4;
                        break;
                case FST_FIELD_BOOL:
                        *(bool *)to = *at++ != 0;
                        break;
                default:
                        if (i == s->last_text) {
                                *(fst_bytes *)to = (fst_bytes){at, (size_t)(end - at)};
                                return 0;
                        }
                        const char *start = at;
                        r = struct_text_read(&at, end, (fst_bytes *)to, &space);
                        if (unlikely(r))
                                return r;
                        size_t used = (size_t)(at - start) - TEXT_END;
                        if (unlikely(used > spare)) /* the columns behind it would not fit */
                                return -EBADMSG;
                        spare -= used;
                }
        }
        return at == end ? 0 : -EBADMSG;
}

/* ---------------------------------------------------------------------------------------------------------- text */

#define MAX_NUMBER_TEXT MAX(NUMBER_I64_SIZE, NUMBER_F64_SIZE)

size_t struct_row_text_size(const struct struct_type *s, fst_bytes encoded)
{
        return 3 + (size_t)s->n_fields * (MAX_NUMBER_TEXT + 1) + encoded.len;
}

static char *struct_print_text(char *p, const char *at, size_t len)
{
        return len ? mempcpy(p, at, len) : p;
}

/* Prints the column at *@at, which moves behind it. Returns NULL if the bytes end. */
static char *struct_field_print(char *p, const struct struct_field *f, bool last, const char **at, const char *end)
{
        static const uint8_t sizes[] = {
                [FST_FIELD_I64] = 8, [FST_FIELD_F64] = 8, [FST_FIELD_I32] = 4, [FST_FIELD_BOOL] = 1};
        const char *start = *at, *nul;
        if (f->kind == FST_FIELD_BYTES && last) {
                *at = end;
                return struct_print_text(p, start, (size_t)(end - start));
        }
        if (f->kind == FST_FIELD_BYTES) {
                char *copy = p;
                nul = start < end ? struct_text_find_end(memchr(start, 0, (size_t)(end - start)), end) : NULL;
                if (!nul)
                        return NULL;
                *at = nul + TEXT_END;
                return p + struct_text_copy(start, nul, &copy).len;
        }
        if (end - start < sizes[f->kind])
                return NULL;
        *at = start + sizes[f->kind];
        switch (f->kind) {
        case FST_FIELD_I64:
                return p + number_format_i64(p, (int64_t)(struct_get_64(start) ^ SIGN_64));
        case FST_FIELD_F64:
                return p + number_format_f64(p, struct_get_f64(start));
        case FST_FIELD_I32:
                return p + number_format_i64(p, struct_get_i32(start));
        default:
                return *start ? mempcpy(p, "true", 4) : mempcpy(p, "false", 5);
        }
}

char *struct_row_print(const struct struct_type *s, fst_bytes encoded, char *p)
{
        const char *at = encoded.data, *end = at + encoded.len;
        char *start = p;
        *p++ = '(';
        for (uint32_t i = 0; i < s->n_fields; i++) {
                if (i)
                        *p++ = ',';
                p = struct_field_print(p, &s->fields[i], i == s->last_text, &at, end);
                if (!p)
                        return mempcpy(start, "(?)", 3);
        }
        *p++ = ')';
        return p;
}

/* ---------------------------------------------------------------------------------------------- public functions */

static const struct struct_type *struct_type_for(fst_type type, size_t size)
{
        const struct struct_type *s = type.value ? NULL : struct_type_of_column(type.key, type.key_size);
        return s && s->size == size ? s : NULL;
}

FST_API int fst_struct_read_at(fst_bytes encoded, fst_type type, void *row, size_t size, char *space)
{
        const struct struct_type *s = struct_type_for(type, size);
        char copy[FST_STRUCT_MAX] __attribute__((aligned(16))) = {0};
        if (!s || !row)
                return -EINVAL;
        int r = struct_row_read(s, encoded, copy, space);
        if (r)
                return r == STRUCT_ROW_E_SPACE ? -EINVAL : r;
        memcpy(row, copy, size);
        return 0;
}

FST_API int64_t fst_struct_write_at(const void *row, size_t size, fst_type type, char *space, size_t room)
{
        const struct struct_type *s = struct_type_for(type, size);
        if (!s || !row)
                return -EINVAL;
        size_t need = struct_row_size(s, row);
        if (need <= room)
                struct_row_write(s, row, space);
        return (int64_t)need;
}
