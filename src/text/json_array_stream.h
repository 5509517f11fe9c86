/*
 * A JSON document whose member "items" is a long array, read as it comes: each item is a tree of its own, which is
 * freed before the next one is made, so that a list of thousands of pods needs the memory of one.
 *
 *      struct json_items reader = {.item = take, .owner = owner};
 *      r = json_items_feed(&reader, data, n, error);           // as often as there is something
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
        int (*item)(void *owner, json_t *item); /* borrowed; not 0 ends the reading with that */
        void *owner;
        size_t count; /* items that were handed over */

        /* Private. */
        struct buf rest, text, word; /* outside the array; the item that has begun; the string that came last */
        size_t depth;
        bool string, escaped, in_items, key;
};

void json_items_deinit(struct json_items *r);

/* 0, what `item` said, or negative with @error: -EPROTO no such document, -EFBIG beyond a limit. */
int json_items_feed(struct json_items *r, const char *data, size_t n, struct fst_error *error);

/* The document is over. *@rest is the caller's. */
int json_items_end(struct json_items *r, json_t **rest, struct fst_error *error);
