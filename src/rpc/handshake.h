/* HELLO, the first message of each peer (rpc/handshake.proto), and the check that two peers are compatible. */
#pragma once

#include "rpc/frame.h"

#include <stdint.h>

struct buf;
struct fst_error;

#define HELLO_INSTANCE_SIZE 16

struct hello {
        uint32_t version_low, version_high;
        char software[64];
        uint8_t instance[HELLO_INSTANCE_SIZE];
        char app_id[256];
        char address[300]; /* "host:port"; "" if it does not listen */
        uint64_t max_message_bytes;
};

/* Fills in this program's versions and name and a new instance number, without application or address. */
void hello_init(struct hello *h);

/* Appends the body of a HELLO frame: at most MAX_FRAME_HELLO bytes. */
void hello_encode(const struct hello *h, struct buf *out);

/* Reads an untrusted HELLO. Returns 0, or -EPROTO with @error: malformed, a string that is too long or not printable,
 * an invalid address.
 */
int hello_decode(const uint8_t *body, size_t len, struct hello *out, struct fst_error *error);

/* Checks two peers. Returns 0, or -EPROTO with @error about the versions, the applications, or a process that reached
 * itself.
 */
int hello_check(const struct hello *own, const struct hello *other, struct fst_error *error);
