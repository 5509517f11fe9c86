/*
 * Streams a JSON document with a long array. The reader tracks brackets and strings only, and jansson parses the text
 * between them. Depth 1 is the document, 2 the array, 3 and more an item.
 */
#include "text/json_array_stream.h"

#include "base/error.h"

#include <string.h>

void json_items_deinit(struct json_items *r)
{
        buf_deinit(&r->rest);
        buf_deinit(&r->text);
        buf_deinit(&r->word);
}

static int json_array_stream_keep(struct buf *b, const char *data, size_t n, size_t most, struct fst_error *error)
{
        if (n > most - b->len)
                return error_set(error, -EFBIG, "one part of the list is larger than %zu bytes", most);
        buf_append(b, data, n);
        return 0;
}

static int json_array_stream_hand_over(struct json_items *r, struct fst_error *error)
{
        json_error_t why;
        json_t *item = json_loadb(r->text.data, r->text.len, 0, &why);
        if (!item)
                return error_set(error, -EPROTO, "item %zu of the list is not valid JSON: %s", r->count + 1, why.text);
        buf_reset(&r->text);
        r->count++;
        int result = r->item(r->owner, item);
        json_decref(item);
        return result;
}

/* The strings of depth 1: one before a colon is a key. */
static void json_array_stream_remember(struct json_items *r, char c)
{
        if (r->depth == 1 && r->word.len < 16)
                buf_putc(&r->word, c);
}

static int json_array_stream_bracket(struct json_items *r, char c, struct fst_error *error)
{
        bool opens = c == '{' || c == '[';
        if (opens) {
                if (r->depth == 1 && c == '[' && r->key && strcmp(buf_text(&r->word), "items") == 0) {
                        r->in_items = true;
                        buf_putc(&r->rest, '[');
                }
                r->depth++;
                return 0;
        }
        if (r->depth == 0)
                return error_set(error, -EPROTO, "the list has an unmatched closing bracket");
        r->depth--;
        if (r->in_items && r->depth == 1)
                r->in_items = false; /* this bracket belongs to the rest of the document */
        return 0;
}

int json_items_feed(struct json_items *r, const char *data, size_t n, struct fst_error *error)
{
        size_t start = 0; /* start of the bytes that are not stored yet */
        int result;
        for (size_t i = 0; i < n; i++) {
                char c = data[i];
                if (r->string) {
                        if (r->escaped)
                                r->escaped = false;
                        else if (c == '\\')
                                r->escaped = true;
                        else if (c == '"')
                                r->string = false;
                        if (r->string)
                                json_array_stream_remember(r, c);
                        continue;
                }
                if (c == '"') {
                        r->string = true;
                        if (r->depth == 1)
                                buf_reset(&r->word);
                        if (r->depth == 1)
                                r->key = false;
                } else if (c == ':' && r->depth == 1) {
                        r->key = true;
                } else if (c == ',' && r->depth == 1) {
                        r->key = false;
                }
                bool in_array = r->in_items && r->depth == 2;
                if (in_array && c != '{' && c != ']') {
                        if (!strchr(" \t\r\n,", c))
                                return error_set(error, -EPROTO, "the list has an item that is not an object");
                        start = i + 1;
                        continue;
                }
                if (c != '{' && c != '[' && c != '}' && c != ']')
                        continue;
                bool was = r->in_items;
                if (!was && r->depth == 1 &&
                    c == '[') { /* perhaps the bracket of the items, if their key precedes it */
                        if ((result = json_array_stream_keep(&r->rest, data + start, i - start, JSON_ITEMS_MAX_REST,
                                                             error)) != 0)
                                return result;
                        start = i;
                }
                if ((result = json_array_stream_bracket(r, c, error)) != 0)
                        return result;
                if (!was && r->in_items) {
                        start = i + 1;
                } else if (was && !r->in_items) {
                        start = i;
                } else if (was && r->depth == 2) {
                        if ((result = json_array_stream_keep(&r->text, data + start, i + 1 - start, JSON_ITEMS_MAX_ITEM,
                                                             error)) != 0 ||
                            (result = json_array_stream_hand_over(r, error)) != 0)
                                return result;
                        start = i + 1;
                }
        }
        bool item = r->in_items && r->depth > 2;
        if (r->in_items && !item)
                return 0;
        return json_array_stream_keep(item ? &r->text : &r->rest, data + start, n - start,
                                      item ? JSON_ITEMS_MAX_ITEM : JSON_ITEMS_MAX_REST, error);
}

int json_items_end(struct json_items *r, json_t **rest, struct fst_error *error)
{
        json_error_t why;
        json_t *document = json_loadb(buf_text(&r->rest), r->rest.len, 0, &why);
        if (!document)
                return error_set(error, -EPROTO, "the list is not valid JSON: %s", why.text);
        *rest = document;
        return 0;
}
