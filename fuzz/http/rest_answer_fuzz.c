/*
 * Replies of a REST server: HTTP in pieces whose size the first byte chooses, then the message. Reading ends within its
 * limits, and the message can be written and read again.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "rest/rest_messages.h"
#include "net/http/http_reader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_message(const struct http_reader *http)
{
        struct rest_answer answer = REST_ANSWER_INIT, again = REST_ANSWER_INIT;
        if (rest_answer_parse(&answer, buf_text(&http->body), http->body.len, NULL) < 0)
                return;
        char *json = rest_answer_json(&answer);
        if (rest_answer_parse(&again, json, strlen(json), NULL) < 0 || again.kind != answer.kind ||
            again.success != answer.success)
                abort();
        free(json);
        rest_answer_deinit(&answer);
        rest_answer_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct http_reader http = HTTP_READER_INIT;
        size_t piece = size ? data[0] + 1u : 1, at = size ? 1 : 0;
        http_reader_begin(&http, LARGEST);
        while (at < size && !http.done) {
                ssize_t n = http_reader_take(&http, (const char *)data + at, MIN(piece, size - at), NULL);
                if (n < 0)
                        break;
                at += (size_t)n;
        }
        if (http.body.len > LARGEST)
                abort();
        if (at == size && http_reader_end(&http, NULL) == 0)
                read_message(&http);
        http_reader_deinit(&http);
        return 0;
}
