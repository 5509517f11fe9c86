/* Answers to a WebSocket handshake, and frames of a server. */
#include "base/error.h"
#include "base/mem.h"
#include "net/http/web_socket.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_MESSAGE = 4096 };

static int web_socket_fuzz_count(void *owner, enum web_socket_opcode opcode, const char *data, size_t n)
{
        size_t *bytes = owner;
        if (n > MAX_MESSAGE || (opcode >= WEB_SOCKET_CLOSE && n > 125))
                abort();
        *bytes += n;
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct web_socket_key key = {"dGhlIHNhbXBsZSBub25jZQ=="};
        struct fst_error error = FST_ERROR_INIT;
        const char *text = (const char *)data, *end = size ? memmem(text, size, "\r\n\r\n", 4) : NULL;
        if (end) {
                web_socket_verify_answer(text, (size_t)(end + 4 - text), "v4.channel.k8s.io", &key, &error);
                size -= (size_t)(end + 4 - text);
                text = end + 4;
        }
        size_t bytes[2] = {0}, piece = size % 7 + 1;
        int r[2] = {0};
        for (int i = 0; i < 2; i++, piece = size) { /* in pieces and as a whole */
                struct web_socket_reader reader = {
                        .on_message = web_socket_fuzz_count, .owner = &bytes[i], .max_message = MAX_MESSAGE};
                for (size_t at = 0; at < size && r[i] == 0; at += piece)
                        r[i] = web_socket_reader_take(&reader, text + at, MIN(piece, size - at), &error);
                web_socket_reader_deinit(&reader);
        }
        if (r[0] != r[1] || bytes[0] != bytes[1] || bytes[0] > size)
                abort();
        error_deinit(&error);
        return 0;
}
