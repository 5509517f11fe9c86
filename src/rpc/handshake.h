/*
 * HELLO: what peers say of themselves first (rpc/handshake.proto), and whether they fit.
 */
#pragma once

#include "rpc/frame.h"

#include <stdbool.h>
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

/* This program's versions and name, a new instance number, no application or address. */
void hello_init(struct hello *h);

/* Append the body of a HELLO frame. At most MAX_FRAME_HELLO bytes. */
void hello_encode(const struct hello *h, struct buf *out);

/*
 * Read one. 0, or -EPROTO with @error set: no HELLO, a text that is too long or not printable, an address that is none.
 * Hostile bytes are what it is for.
 */
int hello_decode(const uint8_t *body, size_t len, struct hello *out, struct fst_error *error);

/*
 * Whether two may talk: 0; -EPROTO with a sentence about the versions, the applications, or a process that reached
 * itself.
 */
int hello_check(const struct hello *own, const struct hello *other, struct fst_error *error);
