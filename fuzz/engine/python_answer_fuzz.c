/* The answer of a Python worker: any bytes give events inside them, and as many whether they arrive at once or one by
 * one. The first byte chooses the version. */
#include "python/worker_answer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer_check(const char *data, size_t len, size_t used, const struct python_event *event)
{
        const char *bytes = event->bytes.data;
        if (used > len || (event->kind == PYTHON_EVENT_MORE && event->need <= len))
                abort();
        if (bytes && (bytes < data || bytes > data + used || event->bytes.len > (size_t)(data + used - bytes)))
                abort();
}

/* Returns the number of events. @step: bytes that arrive at a time. */
static size_t answer_read(int version, const char *data, size_t len, size_t step)
{
        struct python_answer answer;
        struct python_event event;
        size_t n = 0, at = 0, end = 0;
        python_answer_begin(&answer, version);
        for (;;) {
                size_t used = python_answer_next(&answer, data + at, end - at, &event);
                answer_check(data + at, end - at, used, &event);
                if (event.kind == PYTHON_EVENT_MORE && end == len)
                        return n;
                if (event.kind == PYTHON_EVENT_MORE) {
                        end += step < len - end ? step : len - end;
                        continue;
                }
                n++;
                if (event.kind == PYTHON_EVENT_INVALID || event.kind == PYTHON_EVENT_END)
                        return n;
                at += used;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0 || size > 4096)
                return 0;
        const char *bytes = (const char *)data + 1;
        int version = 400 + data[0] % 4;
        if (answer_read(version, bytes, size - 1, size) != answer_read(version, bytes, size - 1, 1))
                abort();
        return 0;
}
