/*
 * The answer of an R worker, in three forms: each item takes at least a byte and no more than there is, and a part asks
 * for more than there is.
 */
#include "base/mem.h"
#include "r/r_stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stream_require(bool holds)
{
        if (!holds)
                abort();
}

static void stream_read_all(enum r_answer answer, const char *data, size_t size)
{
        volatile char last;
        for (size_t at = 0; at <= size;) {
                struct r_item item;
                if (r_stream_read_item(answer, data + at, size - at, &item) != 0)
                        return;
                stream_require(item.size > 0);
                if (item.kind == R_ITEM_PART) {
                        stream_require(item.size > size - at);
                        return;
                }
                stream_require(item.size <= size - at);
                if (item.kind == R_ITEM_ROW && item.row.len)
                        last = item.row.data[item.row.len - 1];
                at += item.size;
        }
        (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        for (enum r_answer answer = R_ANSWER_BYTES; answer <= R_ANSWER_SHUFFLED; answer++)
                stream_read_all(answer, (const char *)data, size);
        return 0;
}
