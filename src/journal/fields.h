/*
 * The fields of a journal's record: numbers of variable length, texts and bytes, one after another.
 *
 * A number is a varint (net/byte_order.h). A text or a byte string follows its length. A reader takes untrusted bytes:
 * after the first field that does not fit, `bad` is set and every further field is 0 or empty, so that a caller checks
 * once at the end.
 */
#pragma once

#include "base/buf.h"
#include "net/byte_order.h"

#include <firesteel/types.h>

#include <stdbool.h>
#include <stdint.h>

static inline void fields_put_number(struct buf *out, uint64_t x)
{
        buf_put_varint(out, x);
}

void fields_put_bytes(struct buf *out, const void *data, size_t size);
void fields_put_text(struct buf *out, const char *text); /* NULL as "" */

struct field_reader {
        const unsigned char *at, *end;
        bool bad;
};

static inline struct field_reader fields_of(const void *data, size_t size)
{
        return (struct field_reader){.at = data, .end = (const unsigned char *)data + size};
}

uint64_t fields_take_number(struct field_reader *f);

/* A number of at most @most; `bad` is set for a larger one. */
uint64_t fields_take_limited(struct field_reader *f, uint64_t most);

/* A view into the record. */
fst_bytes fields_take_bytes(struct field_reader *f);

/* A copy that the caller owns. A NUL within the text makes the record bad. */
char *fields_take_text(struct field_reader *f);

/* True if all fields fit and none is left. */
bool fields_are_complete(const struct field_reader *f);
