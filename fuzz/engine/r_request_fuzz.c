/*
 * Requests of R: texts end with a NUL, lists are no deeper than allowed, no content is longer than the message, and an
 * answer can be made of every value.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "sparkr/r_value.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void request_require(bool holds)
{
        if (!holds)
                abort();
}

/* Returns the bytes of its contents. */
static size_t request_walk(const struct r_value *value, int depth)
{
        size_t bytes = 0;
        request_require(depth <= 34);
        switch (value->type) {
        case R_STRING:
        case R_DATE:
        case R_OBJECT:
                request_require(strlen(value->bytes.data) == value->bytes.len);
                return value->bytes.len;
        case R_BYTES:
                return value->bytes.len;
        case R_ARRAY:
        case R_LIST:
        case R_STRUCT:
        case R_MAP:
                request_require(value->type != R_MAP || value->list.n % 2 == 0);
                for (size_t i = 0; i < value->list.n; i++)
                        bytes += request_walk(&value->list.items[i], depth + 1);
                return bytes;
        default:
                return 0;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct arena arena = ARENA_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct r_request request;
        _cleanup_(buf_deinit) struct buf message = BUF_INIT, answer = BUF_INIT;
        buf_reserve(&message, size);
        buf_append(&message, data, size); /* a NUL follows, as in the backend */
        if (r_request_read(message.data, size, &arena, &request, &error) == 0) {
                struct r_value list = {.type = R_LIST, .list = request.arguments};
                request_require(request_walk(&list, 0) <= size);
                r_answer_put(&answer, &list);
                request_require(answer.len >= 9);
        } else {
                request_require(error.message != NULL);
        }
        error_deinit(&error);
        arena_deinit(&arena);
        return 0;
}
