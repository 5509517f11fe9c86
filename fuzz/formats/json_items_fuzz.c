/* Any bytes are a list or an error, with the same result in one piece and in two. */
#include "base/error.h"
#include "base/mem.h"
#include "text/json_array_stream.h"

static int append_item(void *owner, json_t *item)
{
        return json_array_append(owner, item);
}

static int read_it(const char *data, size_t size, size_t piece, json_t *items, json_t **rest)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct json_items reader = {.item = append_item, .owner = items};
        int r = json_items_feed(&reader, data, piece, &error);
        if (r == 0)
                r = json_items_feed(&reader, data + piece, size - piece, &error);
        if (r == 0)
                r = json_items_end(&reader, rest, &error);
        json_items_deinit(&reader);
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        json_t *a = json_array(), *b = json_array(), *rest_a = NULL, *rest_b = NULL;
        const char *text = size ? (const char *)data : "";
        int r = read_it(text, size, size, a, &rest_a), q = read_it(text, size, size / 2, b, &rest_b);
        if (r != q || !json_equal(a, b) || (r == 0 && !json_equal(rest_a, rest_b)))
                abort();
        json_decref(a);
        json_decref(b);
        json_decref(rest_a);
        json_decref(rest_b);
        return 0;
}
