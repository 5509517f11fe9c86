/* Little-endian and big-endian integers in bytes, at any alignment, and integers of variable length. */
#pragma once

#include "base/buf.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_le32(unsigned char *at, uint32_t x)
{
        x = htole32(x);
        memcpy(at, &x, sizeof(x));
}

static inline void put_le64(unsigned char *at, uint64_t x)
{
        x = htole64(x);
        memcpy(at, &x, sizeof(x));
}

static inline uint32_t get_le32(const unsigned char *at)
{
        uint32_t x;
        memcpy(&x, at, sizeof(x));
        return le32toh(x);
}

static inline uint64_t get_le64(const unsigned char *at)
{
        uint64_t x;
        memcpy(&x, at, sizeof(x));
        return le64toh(x);
}

static inline void buf_put_le32(struct buf *out, uint32_t x)
{
        x = htole32(x);
        buf_append(out, &x, sizeof(x));
}

static inline void buf_put_le64(struct buf *out, uint64_t x)
{
        x = htole64(x);
        buf_append(out, &x, sizeof(x));
}

static inline uint32_t get_be32(const unsigned char *at)
{
        uint32_t x;
        memcpy(&x, at, sizeof(x));
        return be32toh(x);
}

static inline uint64_t get_be64(const unsigned char *at)
{
        uint64_t x;
        memcpy(&x, at, sizeof(x));
        return be64toh(x);
}

static inline void buf_put_be32(struct buf *out, uint32_t x)
{
        x = htobe32(x);
        buf_append(out, &x, sizeof(x));
}

static inline void buf_put_be64(struct buf *out, uint64_t x)
{
        x = htobe64(x);
        buf_append(out, &x, sizeof(x));
}

#define MAX_VARINT 10 /* bytes */

/*
 * Writes a varint as in Protocol Buffers: 7 bits a byte, lowest first; all bytes but the last have the highest bit. @at
 * has room for MAX_VARINT bytes. Returns the byte after it.
 */
static inline unsigned char *put_varint(unsigned char *at, uint64_t x)
{
        for (; x >= 0x80; x >>= 7)
                *at++ = (unsigned char)(x | 0x80);
        *at++ = (unsigned char)x;
        return at;
}

static inline void buf_put_varint(struct buf *out, uint64_t x)
{
        unsigned char bytes[MAX_VARINT];
        buf_append(out, bytes, (size_t)(put_varint(bytes, x) - bytes));
}
