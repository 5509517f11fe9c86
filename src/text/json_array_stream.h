/*
 * Reads a JSON document whose member "items" is a long array, piece by piece. Each item is a tree of its own that is
 * freed before the next one is built, so that a list of thousands of pods needs the memory of one.
 *
 *      struct json_items reader = {.item = take, .owner = owner};
 *      r = json_items_feed(&reader, data, n, error);           // for every piece that arrives
 *      r = json_items_end(&reader, &rest, error);              // the document with an empty array
 *      json_items_deinit(&reader);
 */
#pragma once

#include "base/buf.h"

#include <jansson.h>

struct fst_error;

#define JSON_ITEMS_MAX_ITEM (16u << 20)
#define JSON_ITEMS_MAX_REST (4u << 20)

struct json_items {
        int (*item)(void *owner, json_t *item); /* @item is borrowed for the call; a result other than 0 stops the
                                                   reader, which returns it */
        void *owner;
        size_t count; /* items passed to `item` */

        /* Private. */
        struct buf rest, text, word; /* the text outside the array, the current item, the last string */
        size_t depth;
        bool string, escaped, in_items, key;
};

void json_items_deinit(struct json_items *r);

/*
 * Returns 0, the result of `item`, or a negative code with @error: -EPROTO for an invalid document, -EFBIG beyond a
 * limit.
 */
int json_items_feed(struct json_items *r, const char *data, size_t n, struct fst_error *error);

/* Ends the document. The caller owns *@rest. */
int json_items_end(struct json_items *r, json_t **rest, struct fst_error *error);
