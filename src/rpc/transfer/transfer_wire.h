/* Encodes and decodes the greeting and the frame headers of rpc/transfer/transfer.h for both ends. */
#pragma once

#include "net/byte_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRANSFER_MAGIC "FSTX"
#define TRANSFER_VERSION 1
#define TRANSFER_GREETING 8 /* bytes, without the application's id */
#define TRANSFER_APP_ID 256 /* the longest id */
#define TRANSFER_HEADER 8
#define TRANSFER_SENTENCE 4096 /* the longest FAILED frame */

enum transfer_kind { TRANSFER_FETCH = 1, TRANSFER_PUT, TRANSFER_DATA, TRANSFER_END, TRANSFER_FAILED };

static inline void transfer_header(unsigned char out[static TRANSFER_HEADER], enum transfer_kind kind, uint32_t length)
{
        put_le32(out, length);
        put_le32(out + 4, (uint32_t)kind);
}

/* Returns false for an invalid header: an unknown kind, nonzero padding, a length invalid for the kind. */
static inline bool transfer_header_parse(const unsigned char *p, enum transfer_kind *kind, uint32_t *length)
{
        uint32_t n = get_le32(p), k = get_le32(p + 4);
        if (k < TRANSFER_FETCH || k > TRANSFER_FAILED)
                return false;
        if ((k == TRANSFER_DATA && n == 0) || (k == TRANSFER_END && n != 0) ||
            (k == TRANSFER_FAILED && (n < 4 || n > TRANSFER_SENTENCE)))
                return false;
        *kind = (enum transfer_kind)k;
        *length = n;
        return true;
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
