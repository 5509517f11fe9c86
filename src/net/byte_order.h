/* Little-endian integers in bytes, at any alignment. */
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
