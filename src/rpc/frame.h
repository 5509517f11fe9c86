/*
 * Frames: the format of messages on a connection. All numbers are little-endian.
 *
 *      offset  size
 *       0      4    magic, "FSRP"
 *       4      1    version of the sender's frames
 *       5      1    kind
 *       6      2    type of the message; the endpoint's own numbers
 *       8      8    id: SEND and ASK: 1, 2, 3, … for each connection and direction, so that a lost or
 *                   repeated frame is detected; REPLY, FAIL: the id of the ask; others: 0
 *      16      4    endpoint: the hash of its name (SEND, ASK); others: 0
 *      20      4    length of the body
 *      24      8    length of the attachment
 *      32      4    CRC-32C of body and attachment   (not in HELLO and REFUSED)
 *      36      4    CRC-32C of the bytes 0 to 35     (not in HELLO and REFUSED)
 *                   the body, then the attachment
 *
 *      kind            body
 *      1 HELLO         rpc/handshake.proto; first and only once in each direction
 *      2 REFUSED       a sentence: why the sender ends the connection
 *      3 SEND          the message
 *      4 ASK           the message; REPLY or FAIL answers it
 *      5 REPLY         the message
 *      6 FAIL          a sentence; type: FST_RPC_E_…
 *      7 PING          nothing; PONG answers it
 *      8 PONG          nothing
 *
 * Magic, kind, lengths, HELLO and REFUSED are the same in every version, so that peers of different versions can report the
 * mismatch. HELLO has a checksum of its own (rpc/handshake.proto). A frame with a wrong checksum ends the connection.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define FRAME_VERSION 2 /* 1 had no checksums */
#define FRAME_HEADER_SIZE 40
#define FRAME_HELLO_HEADER_SIZE 32 /* of HELLO and REFUSED */
#define MAX_FRAME_HELLO 4096 /* bytes of a HELLO's or REFUSED's body */

enum frame_kind {
        FRAME_HELLO = 1,
        FRAME_REFUSED,
        FRAME_SEND,
        FRAME_ASK,
        FRAME_REPLY,
        FRAME_FAIL,
        FRAME_PING,
        FRAME_PONG,
};

struct frame_header {
        uint8_t version;
        uint8_t kind;
        uint16_t type;
        uint32_t endpoint;
        uint64_t id;
        uint32_t body_len;
        uint64_t attachment_len;
        uint32_t checksum; /* frame_checksum of body and attachment */
};

/* Returns the size of the header of a frame of @kind. */
static inline size_t frame_header_size(uint8_t kind)
{
        return kind == FRAME_HELLO || kind == FRAME_REFUSED ? FRAME_HELLO_HEADER_SIZE : FRAME_HEADER_SIZE;
}

/* Returns the checksum of a frame's body and attachment. Either may be empty. */
uint32_t frame_checksum(const void *body, size_t len, const void *attachment, size_t attachment_len);

/* Writes the frame_header_size bytes of a header of this version; ignores @h->version. */
void frame_header_put(uint8_t *out, const struct frame_header *h);

/* Reads a header of @len bytes. @max_bytes limits body and attachment together. Returns its size; 0 if it is longer than @len;
 * -EPROTO (not this protocol, or invalid fields), -EBADMSG (a wrong checksum) or -EMSGSIZE (too large) with @error. A different
 * version is not an error for HELLO and REFUSED, whose reader compares it.
 */
int frame_header_get(const uint8_t *in, size_t len, size_t max_bytes, struct frame_header *h, struct fst_error *error);

/* The number of an endpoint's name: 32-bit FNV-1a. */
uint32_t frame_endpoint(const char *name);
