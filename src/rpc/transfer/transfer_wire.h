/* Encodes and decodes the greeting and the frame headers of rpc/transfer/transfer.h for both ends. */
#pragma once

#include "net/byte_order.h"
#include "net/crc32c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define TRANSFER_MAGIC "FSTX"
#define TRANSFER_VERSION 2 /* 1 had no checksums */
#define TRANSFER_GREETING 8 /* bytes, without the application's id */
#define TRANSFER_APP_ID 256 /* the longest id */
#define TRANSFER_HEADER 8
#define TRANSFER_CRC 4 /* behind a request or a sentence */
#define TRANSFER_SENTENCE 4096 /* the longest FAILED frame */

enum transfer_kind { TRANSFER_FETCH = 1, TRANSFER_PUT, TRANSFER_DATA, TRANSFER_END, TRANSFER_FAILED };

static inline void transfer_header(unsigned char out[static TRANSFER_HEADER], enum transfer_kind kind, uint32_t length)
{
        put_le32(out, length);
        out[4] = (unsigned char)kind;
        put_le32(out + 4, (uint32_t)kind | crc32c(out, 5) << 8);
}

/* Returns false for an invalid header: a wrong check, an unknown kind, a length invalid for the kind. */
static inline bool transfer_header_parse(const unsigned char *p, enum transfer_kind *kind, uint32_t *length)
{
        uint32_t n = get_le32(p), k = p[4];
        if (get_le32(p + 4) >> 8 != (crc32c(p, 5) & 0xffffff) || k < TRANSFER_FETCH || k > TRANSFER_FAILED)
                return false;
        if ((k <= TRANSFER_PUT && n < TRANSFER_CRC) || (k == TRANSFER_DATA && n == 0) || (k == TRANSFER_END && n != 0) ||
            (k == TRANSFER_FAILED && (n < 4 + TRANSFER_CRC || n > TRANSFER_SENTENCE)))
                return false;
        *kind = (enum transfer_kind)k;
        *length = n;
        return true;
}

/* Writes the checksum of @len bytes. */
static inline void transfer_crc(unsigned char out[static TRANSFER_CRC], const void *bytes, size_t len)
{
        put_le32(out, crc32c(bytes, len));
}

/* Returns the number of bytes before the checksum at the end of @len bytes, of which there are enough; -1: it is wrong. */
static inline ssize_t transfer_crc_check(const unsigned char *bytes, size_t len)
{
        return get_le32(bytes + len - TRANSFER_CRC) == crc32c(bytes, len - TRANSFER_CRC) ? (ssize_t)(len - TRANSFER_CRC) : -1;
}

/* Writes the greeting of an application and returns its length. @out has TRANSFER_GREETING + TRANSFER_APP_ID bytes.
 */
static inline size_t transfer_greeting(unsigned char *out, const char *app_id)
{
        size_t n = app_id ? strnlen(app_id, TRANSFER_APP_ID) : 0;
        memcpy(out, TRANSFER_MAGIC, 4);
        put_le32(out + 4, TRANSFER_VERSION | (uint32_t)n << 16);
        if (n)
                memcpy(out + TRANSFER_GREETING, app_id, n);
        return TRANSFER_GREETING + n;
}
