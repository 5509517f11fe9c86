/*
 * The client's side of WebSocket (RFC 6455) without I/O: the handshake, frames to send, and a reader of messages. The
 * owner moves the bytes (net/http/http_tunnel.h).
 *
 *      r = web_socket_key_make(&key, error);
 *      web_socket_put_request(&out, "10.0.0.1:6443", "/path?query", "v4.channel.k8s.io", headers, &key);
 *      … the answer's head, up to its empty line, arrives …
 *      r = web_socket_verify_answer(head, n, "v4.channel.k8s.io", &key, error);
 *      r = web_socket_put_message(&out, WEB_SOCKET_BINARY, data, n, error);
 *      r = web_socket_reader_take(&reader, bytes, n, error);           → reader.on_message
 *
 * Extensions are not offered, and an answer that has one is refused.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

enum web_socket_opcode {
        WEB_SOCKET_CONTINUATION = 0,
        WEB_SOCKET_TEXT = 1,
        WEB_SOCKET_BINARY = 2,
        WEB_SOCKET_CLOSE = 8,
        WEB_SOCKET_PING = 9,
        WEB_SOCKET_PONG = 10,
};

struct web_socket_key {
        char text[25]; /* base64 of 16 random bytes */
};

int web_socket_key_make(struct web_socket_key *key, struct fst_error *error);

/*
 * Appends the request of a handshake. @target: path and query. @protocol: the subprotocol to ask for. @headers: more
 * lines ("Authorization: Bearer x"), the last NULL; NULL: none.
 */
void web_socket_put_request(struct buf *out, const char *host, const char *target, const char *protocol,
                            const char *const *headers, const struct web_socket_key *key);

/*
 * Verifies the head of an answer of @n bytes, which ends with its empty line: status 101, the right key and protocol,
 * no extension. -EPROTO with @error otherwise.
 */
int web_socket_verify_answer(const char *head, size_t n, const char *protocol, const struct web_socket_key *key,
                             struct fst_error *error);

/* Appends a masked frame that is a whole message. */
int web_socket_put_message(struct buf *out, enum web_socket_opcode opcode, const void *data, size_t n,
                           struct fst_error *error);

struct web_socket_reader {
        /* Receives each message, and pings, pongs and the close. A result other than 0 ends web_socket_reader_take. */
        int (*on_message)(void *owner, enum web_socket_opcode opcode, const char *data, size_t n);
        void *owner;
        size_t max_message; /* bytes */

        /* private */
        struct buf frame, message; /* the head and payload that arrived; the fragments of a message */
        enum web_socket_opcode opcode;
        bool fragmented; /* a message has begun and has not ended */
};

void web_socket_reader_deinit(struct web_socket_reader *reader);

/*
 * Consumes @n bytes. Returns 0, the result of on_message, or negative with @error: -EBADMSG for a frame that breaks the
 * protocol, -EMSGSIZE for a message longer than max_message.
 */
int web_socket_reader_take(struct web_socket_reader *reader, const char *data, size_t n, struct fst_error *error);
