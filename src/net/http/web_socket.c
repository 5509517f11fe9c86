/* See web_socket.h. A server's frame: 2 bytes, 0, 2 or 8 bytes of length, the payload, which is not masked. */
#include "net/http/web_socket.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/crypto.h"

#include <stdio.h>
#include <strings.h>

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH_16 = 126, LENGTH_64 = 127 };
enum { MAX_CONTROL = 125, KEY_BYTES = 16, MASK_BYTES = 4, MAX_HEAD = 10, MAX_SHOWN = 100 };

/* -------------------------------------------------------------------------------------------------------- handshake */

int web_socket_key_make(struct web_socket_key *key, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t bytes[KEY_BYTES];
        int r = crypto_load(&crypto, error);
        if (r < 0)
                return r;
        if ((r = crypto->random(bytes, sizeof(bytes))) < 0)
                return error_set(error, r, "no random numbers");
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        base64_put(&text, bytes, sizeof(bytes));
        snprintf(key->text, sizeof(key->text), "%s", buf_text(&text));
        return 0;
}

void web_socket_put_request(struct buf *out, const char *host, const char *target, const char *protocol,
                            const char *const *headers, const struct web_socket_key *key)
{
        buf_printf(out,
                   "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: %s\r\n",
                   target, host, key->text, protocol);
        for (size_t i = 0; headers && headers[i]; i++)
                buf_printf(out, "%s\r\n", headers[i]);
        buf_puts(out, "\r\n");
}

/* The text by which the server shows that it understood @key. */
static int web_socket_accept(const struct web_socket_key *key, struct buf *out, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t digest[DIGEST_MAX];
        size_t n = 0;
        int r = crypto_load(&crypto, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *text = mem_printf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key->text);
        if ((r = crypto->digest("sha1", text, strlen(text), digest, &n)) < 0)
                return error_set(error, r, "SHA-1 is missing");
        base64_put(out, digest, n);
        return 0;
}

/* Copies the value of the header @name, without blanks around it. False: there is none. */
static bool web_socket_header(const char *head, size_t n, const char *name, struct buf *out)
{
        const size_t length = strlen(name);
        const char *end = head + n;
        buf_reset(out);
        for (const char *line = head, *next; line < end; line = next) {
                next = memchr(line, '\n', (size_t)(end - line));
                const char *stop = next ? next : end;
                next = next ? next + 1 : end;
                if ((size_t)(stop - line) <= length || line[length] != ':' || strncasecmp(line, name, length) != 0)
                        continue;
                const char *at = line + length + 1;
                while (at < stop && (*at == ' ' || *at == '\t'))
                        at++;
                while (stop > at && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
                        stop--;
                buf_append(out, at, (size_t)(stop - at));
                return true;
        }
        return false;
}

static size_t web_socket_first_line(const char *head, size_t n)
{
        const char *end = memchr(head, '\r', n);
        return end ? (size_t)(end - head) : MIN(n, (size_t)MAX_SHOWN);
}

int web_socket_verify_answer(const char *head, size_t n, const char *protocol, const struct web_socket_key *key,
                             struct fst_error *error)
{
        static const char status[] = "HTTP/1.1 101";
        _cleanup_(buf_deinit) struct buf value = BUF_INIT, accept = BUF_INIT;
        if (n < sizeof(status) || memcmp(head, status, sizeof(status) - 1) != 0)
                return error_set(error, -EPROTO, "the server does not upgrade the connection: %.*s",
                                 (int)web_socket_first_line(head, n), head);
        int r = web_socket_accept(key, &accept, error);
        if (r < 0)
                return r;
        if (!web_socket_header(head, n, "Sec-WebSocket-Accept", &value) ||
            strcmp(buf_text(&value), buf_text(&accept)) != 0)
                return error_set(error, -EPROTO, "the server's answer to the WebSocket handshake has a wrong key");
        if (!web_socket_header(head, n, "Sec-WebSocket-Protocol", &value) || strcmp(buf_text(&value), protocol) != 0)
                return error_set(error, -EPROTO, "the server does not speak %s", protocol);
        if (web_socket_header(head, n, "Sec-WebSocket-Extensions", &value))
                return error_set(error, -EPROTO, "the server uses the WebSocket extension %s, which was not offered",
                                 buf_text(&value));
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

int web_socket_put_message(struct buf *out, enum web_socket_opcode opcode, const void *data, size_t n,
                           struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t head[MAX_HEAD + MASK_BYTES], *mask;
        size_t used = 2;
        int r = crypto_load(&crypto, error);
        if (r < 0)
                return r;
        head[0] = (uint8_t)(FIN | opcode);
        size_t more = n < LENGTH_16 ? 0 : n <= UINT16_MAX ? 2 : 8;
        head[1] = (uint8_t)(MASKED | (more == 0 ? n : more == 2 ? LENGTH_16 : LENGTH_64));
        for (size_t i = more; i-- > 0;)
                head[used++] = (uint8_t)((uint64_t)n >> (8 * i));
        mask = head + used;
        if ((r = crypto->random(mask, MASK_BYTES)) < 0)
                return error_set(error, r, "no random numbers");
        buf_append(out, head, used + MASK_BYTES);
        buf_reserve(out, n);
        for (size_t i = 0; i < n; i++)
                buf_putc(out, (char)(((const uint8_t *)data)[i] ^ mask[i % MASK_BYTES]));
        return 0;
}

void web_socket_reader_deinit(struct web_socket_reader *reader)
{
        buf_deinit(&reader->frame);
        buf_deinit(&reader->message);
}

/* Returns the size of the head of the frame, 0 if more bytes are needed, and the length of its payload. */
static size_t web_socket_frame_head(const uint8_t *frame, size_t n, uint64_t *length)
{
        if (n < 2)
                return 0;
        size_t code = frame[1] & ~MASKED, more = code == LENGTH_16 ? 2 : code == LENGTH_64 ? 8 : 0;
        if (n < 2 + more)
                return 0;
        *length = more ? 0 : code;
        for (size_t i = 0; i < more; i++)
                *length = *length << 8 | frame[2 + i];
        return 2 + more;
}

static int web_socket_reader_frame(struct web_socket_reader *reader, uint8_t first, const char *data, size_t n,
                                   struct fst_error *error)
{
        enum web_socket_opcode opcode = first & OPCODE;
        if (opcode >= WEB_SOCKET_CLOSE)
                return reader->on_message(reader->owner, opcode, data, n);
        if ((opcode == WEB_SOCKET_CONTINUATION) != reader->fragmented)
                return error_set(error, -EBADMSG,
                                 reader->fragmented ? "a message began inside another one"
                                                    : "a part of a message that never began");
        if (opcode != WEB_SOCKET_CONTINUATION)
                reader->opcode = opcode;
        if (!reader->fragmented && first & FIN)
                return reader->on_message(reader->owner, opcode, data, n);
        if (reader->message.len + n > reader->max_message)
                return error_set(error, -EMSGSIZE, "a message is longer than %zu bytes", reader->max_message);
        buf_append(&reader->message, data, n);
        reader->fragmented = !(first & FIN);
        if (reader->fragmented)
                return 0;
        int r = reader->on_message(reader->owner, reader->opcode, buf_text(&reader->message), reader->message.len);
        buf_reset(&reader->message);
        return r;
}

static int web_socket_frame_check(const uint8_t *frame, uint64_t length, struct fst_error *error)
{
        uint8_t opcode = frame[0] & OPCODE;
        if (frame[0] & RESERVED)
                return error_set(error, -EBADMSG, "a frame uses an extension");
        if (frame[1] & MASKED)
                return error_set(error, -EBADMSG, "a frame of a server is masked");
        if (opcode > WEB_SOCKET_PONG || (opcode > WEB_SOCKET_BINARY && opcode < WEB_SOCKET_CLOSE))
                return error_set(error, -EBADMSG, "a frame of the unknown kind %d", opcode);
        if (opcode >= WEB_SOCKET_CLOSE && (length > MAX_CONTROL || !(frame[0] & FIN)))
                return error_set(error, -EBADMSG, "a control frame is too long or fragmented");
        return 0;
}

int web_socket_reader_take(struct web_socket_reader *reader, const char *data, size_t n, struct fst_error *error)
{
        buf_append(&reader->frame, data, n);
        size_t at = 0;
        int r = 0;
        while (r == 0) {
                const uint8_t *frame = (const uint8_t *)buf_text(&reader->frame) + at;
                size_t left = reader->frame.len - at;
                uint64_t length = 0;
                size_t head = web_socket_frame_head(frame, left, &length);
                if (head == 0)
                        break;
                r = web_socket_frame_check(frame, length, error);
                if (r == 0 && length > reader->max_message)
                        r = error_set(error, -EMSGSIZE, "a message is longer than %zu bytes", reader->max_message);
                if (r < 0 || left - head < length)
                        break;
                r = web_socket_reader_frame(reader, frame[0], (const char *)frame + head, (size_t)length, error);
                at += head + (size_t)length;
        }
        if (at > 0) {
                memmove(reader->frame.data, reader->frame.data + at, reader->frame.len - at);
                buf_truncate(&reader->frame, reader->frame.len - at);
        }
        return r;
}
