/*
 * An http module for fuzz targets: it takes replies from the input, one after another, and opens no connections. A line
 * "----" separates replies:
 *
 *      HTTP/1.1 307 Temporary Redirect
 *      Location: http://datanode/x
 *
 *      the body
 *      ----
 *      HTTP/1.1 200 OK
 *      …
 *
 * A text that does not begin with "HTTP/", and the end of the input, are failed connections.
 */
#pragma once

#include "base/mem.h"
#include "net/http/http_internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
        const char *at, *end;
        size_t piece; /* size of the pieces of a body */
} canned;

static void canned_begin(const uint8_t *data, size_t size)
{
        canned.at = size ? (const char *)data : "";
        canned.end = canned.at + size;
        canned.piece = size % 7 ? size % 7 * 5 : 65536;
}

/* Returns 0 and the next reply's bytes, or -1. */
static int canned_next(const char **text, size_t *size)
{
        static const char line[] = "\n----\n";
        if (canned.at >= canned.end)
                return -1;
        const char *stop = memmem(canned.at, (size_t)(canned.end - canned.at), line, strlen(line));
        *text = canned.at;
        *size = (size_t)((stop ? stop : canned.end) - canned.at);
        canned.at = stop ? stop + strlen(line) : canned.end;
        return 0;
}

static int canned_break(char *message, size_t size)
{
        snprintf(message, size, "the connection broke");
        return -ECONNRESET;
}

/* Delivers one reply. Returns 0, or a negative error as perform does. */
static int canned_answer(struct http_receiver *receiver, char *message, size_t room)
{
        const char *text;
        size_t size;
        receiver->sent = true;
        if (canned_next(&text, &size) < 0 || size < 5 || memcmp(text, "HTTP/", 5) != 0)
                return canned_break(message, room);
        char line[4096];
        const char *end = text + size;
        bool first = true;
        while (text < end && *text != '\n') {
                const char *stop = memchr(text, '\n', (size_t)(end - text));
                size_t n = (size_t)((stop ? stop : end) - text);
                int len = snprintf(line, sizeof(line), "%.*s\r\n", (int)MIN(n, (size_t)4000), text);
                if (first)
                        receiver->status = memchr(line, ' ', (size_t)len) ? atoi(strchr(line, ' ')) % 1000 : 200;
                first = false;
                int r = receiver->header(receiver->context, line, strlen(line));
                if (r)
                        return canned_break(message, room);
                text = stop ? stop + 1 : end;
        }
        text += text < end;
        while (text < end) {
                size_t n = MIN(canned.piece, (size_t)(end - text));
                if (receiver->body(receiver->context, receiver->status, text, n))
                        return canned_break(message, room);
                text += n;
        }
        return 0;
}

static struct http_handle *canned_handle_new(void)
{
        return mem_alloc(1);
}

static void canned_handle_free(struct http_handle *handle)
{
        free(handle);
}

static int canned_perform(struct http_handle *handle, const struct http_request *request,
                          struct http_receiver *receiver, char *message, size_t size)
{
        return canned_answer(receiver, message, size);
}

static struct http_receiver *canned_upload;

static int canned_upload_begin(struct http_handle *handle, const struct http_request *request,
                               struct http_receiver *receiver, char *message, size_t size)
{
        canned_upload = receiver;
        return 0;
}

static int canned_upload_write(struct http_handle *handle, const void *data, size_t n, char *message, size_t size)
{
        return 0;
}

static int canned_upload_end(struct http_handle *handle, bool whole, char *message, size_t size)
{
        return whole ? canned_answer(canned_upload, message, size) : 0;
}

/* Requests on a loop. The next call of the timer completes all of them. */
struct http_easy {
        struct http_multi *multi;
        struct http_easy *next;
        struct http_receiver *receiver;
        void *owner;
        bool done;
        int result;
        char message[64];
};

struct http_multi {
        struct http_hooks hooks;
        void *context;
        struct http_easy *first;
};

static struct http_multi *canned_multi_new(const struct http_hooks *hooks, void *context)
{
        struct http_multi *m = new0(struct http_multi);
        m->hooks = *hooks;
        m->context = context;
        return m;
}

static void canned_multi_free(struct http_multi *m)
{
        if (m->first)
                abort(); /* freed before its requests */
        free(m);
}

static int canned_multi_begin(struct http_multi *m, const struct http_request *request, struct http_receiver *receiver,
                              unsigned how, void *owner, struct http_easy **out, char *message, size_t size)
{
        struct http_easy *easy = new0(struct http_easy), **last = &m->first;
        *easy = (struct http_easy){.multi = m, .receiver = receiver, .owner = owner};
        while (*last)
                last = &(*last)->next;
        *last = easy;
        *out = easy;
        m->hooks.timer(m->context, 0);
        return 0;
}

static void canned_multi_end(struct http_easy *easy)
{
        struct http_easy **link = &easy->multi->first;
        while (*link != easy)
                link = &(*link)->next;
        *link = easy->next;
        free(easy);
}

static void canned_multi_act(struct http_multi *m, int fd, int events)
{
        for (struct http_easy *easy = m->first; easy; easy = easy->next)
                if (!easy->done) {
                        easy->result = canned_answer(easy->receiver, easy->message, sizeof(easy->message));
                        easy->done = true;
                }
}

static bool canned_multi_next(struct http_multi *m, void **owner, int *result, char *message, size_t size)
{
        for (struct http_easy *easy = m->first; easy; easy = easy->next)
                if (easy->done) {
                        *owner = easy->owner;
                        *result = easy->result;
                        snprintf(message, size, "%s", easy->message);
                        canned_multi_end(easy);
                        return true;
                }
        return false;
}

static const struct http_ops canned_ops = {
        .abi = HTTP_ABI,
        .handle_new = canned_handle_new,
        .handle_free = canned_handle_free,
        .perform = canned_perform,
        .upload_begin = canned_upload_begin,
        .upload_write = canned_upload_write,
        .upload_end = canned_upload_end,
        .multi_new = canned_multi_new,
        .multi_free = canned_multi_free,
        .multi_begin = canned_multi_begin,
        .multi_end = canned_multi_end,
        .multi_act = canned_multi_act,
        .multi_next = canned_multi_next,
};
