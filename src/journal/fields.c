/* See fields.h. */
#include "journal/fields.h"

#include "base/mem.h"

void fields_put_bytes(struct buf *out, const void *data, size_t size)
{
        fields_put_number(out, size);
        if (size)
                buf_append(out, data, size);
}

void fields_put_text(struct buf *out, const char *text)
{
        fields_put_bytes(out, text, text ? strlen(text) : 0);
}

static uint64_t fields_fail(struct field_reader *f)
{
        f->bad = true;
        f->at = f->end;
        return 0;
}

uint64_t fields_take_number(struct field_reader *f)
{
        uint64_t x = 0;
        for (unsigned shift = 0; f->at < f->end && shift < 64; shift += 7) {
                unsigned char byte = *f->at++;
                if (shift == 63 && byte > 1)
                        return fields_fail(f);
                x |= (uint64_t)(byte & 0x7F) << shift;
                if (!(byte & 0x80))
                        return x;
        }
        return fields_fail(f);
}

uint64_t fields_take_limited(struct field_reader *f, uint64_t most)
{
        uint64_t x = fields_take_number(f);
        return x <= most ? x : fields_fail(f);
}

fst_bytes fields_take_bytes(struct field_reader *f)
{
        uint64_t size = fields_take_number(f);
        if (size > (size_t)(f->end - f->at)) {
                fields_fail(f);
                return (fst_bytes){"", 0};
        }
        fst_bytes bytes = {(const char *)f->at, (size_t)size};
        f->at += size;
        return bytes;
}

char *fields_take_text(struct field_reader *f)
{
        fst_bytes bytes = fields_take_bytes(f);
        if (bytes.len && memchr(bytes.data, '\0', bytes.len)) {
                fields_fail(f);
                bytes.len = 0;
        }
        return mem_strndup(bytes.data, bytes.len);
}

bool fields_are_complete(const struct field_reader *f)
{
        return !f->bad && f->at == f->end;
}
