/* Any bytes are a pickle of plain values whose sizes add up, or an error. */
#include "base/error.h"
#include "base/mem.h"
#include "io/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Walks over the elements of @v, at most a few levels deep. */
static void check_value(const struct pickle_value *v, const uint8_t *data, size_t size, int depth)
{
        const struct pickle_value *next = v + 1, *end = v + v->size;
        if (v->kind == PICKLE_TEXT || v->kind == PICKLE_BYTES) {
                const uint8_t *at = (const uint8_t *)v->bytes.data;
                if (at < data || at > data + size || v->bytes.len > (size_t)(data + size - at))
                        abort();
        }
        if (v->kind < PICKLE_LIST && v->size != 1)
                abort();
        if (v->kind < PICKLE_LIST)
                return;
        for (int64_t i = 0; i < v->number; i++, next += next->size) {
                if (next >= end)
                        abort();
                if (depth < 20)
                        check_value(next, data, size, depth + 1);
        }
        if (next != end)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static pickle_values values;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = pickle_read((fst_bytes){(const char *)data, size}, &values, &error);
        if (r == 0 && values.data[0].size != values.len)
                abort();
        if (r == 0)
                check_value(values.data, data, size, 0);
        else if (!*error_message(&error))
                abort();
        return 0;
}
