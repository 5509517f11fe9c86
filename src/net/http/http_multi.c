/*
 * Runs many requests at once with libcurl's multi interface. The core's loop watches its sockets and timer. Finished
 * handles are reused, because creating one costs more than a request.
 *
 * libcurl resends a request by itself if a kept connection is dead. Here that is a failure (-ECONNRESET), because only
 * the caller knows whether the request may arrive twice.
 */
#include "net/http/http_module_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SPARE 64

struct http_easy {
        struct http_handle handle; /* first member, passed to libcurl's callbacks */
        struct http_multi *multi;
        struct curl_slist *headers, *connect_to;
        char text[CURL_ERROR_SIZE];
        void *owner;
        int sent; /* number of times that sending has started */
        struct http_easy *next;
};

struct http_multi {
        CURLM *curl;
        struct http_hooks hooks;
        void *context;
        struct http_easy *spare;
        int n_spare;
};

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *slot)
{
        struct http_multi *m = context;
        int events = what == CURL_POLL_INOUT ? HTTP_READ | HTTP_WRITE
                     : what == CURL_POLL_IN  ? HTTP_READ
                     : what == CURL_POLL_OUT ? HTTP_WRITE
                                             : 0;
        void *now = m->hooks.watch(m->context, (int)fd, events, slot);
        if (now != slot)
                curl_multi_assign(m->curl, fd, now);
        return 0;
}

static int http_multi_on_timer(CURLM *curl, long ms, void *context)
{
        struct http_multi *m = context;
        m->hooks.timer(m->context, ms);
        return 0;
}

static int on_sending(void *context, char *to, char *from, int to_port, int from_port)
{
        struct http_easy *e = context;
        e->handle.receiver->sent = true;
        return e->sent++ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void easy_free(struct http_easy *e)
{
        curl_easy_cleanup(e->handle.curl);
        curl_slist_free_all(e->headers);
        curl_slist_free_all(e->connect_to);
        free(e);
}

static void easy_recycle(struct http_multi *m, struct http_easy *e)
{
        curl_slist_free_all(e->headers);
        curl_slist_free_all(e->connect_to);
        e->headers = e->connect_to = NULL;
        if (m->n_spare == MAX_SPARE) {
                easy_free(e);
                return;
        }
        e->next = m->spare;
        m->spare = e;
        m->n_spare++;
}

static struct http_easy *easy_reuse(struct http_multi *m)
{
        struct http_easy *e = m->spare;
        if (e) {
                m->spare = e->next;
                m->n_spare--;
                curl_easy_reset(e->handle.curl);
                return e;
        }
        e = calloc(1, sizeof(*e));
        if (e && !(e->handle.curl = curl_easy_init())) {
                free(e);
                return NULL;
        }
        if (e)
                e->multi = m;
        return e;
}

struct http_multi *http_multi_new(const struct http_hooks *hooks, void *context)
{
        struct http_multi *m = calloc(1, sizeof(*m));
        if (!m || !(m->curl = curl_multi_init())) {
                free(m);
                return NULL;
        }
        m->hooks = *hooks;
        m->context = context;
        curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
        curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
        curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, http_multi_on_timer);
        curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
        curl_multi_setopt(m->curl, CURLMOPT_MAX_CONCURRENT_STREAMS,
                          1000L); /* the server limits the number of streams */
        return m;
}

void http_multi_free(struct http_multi *m)
{
        while (m->spare) {
                struct http_easy *e = m->spare;
                m->spare = e->next;
                easy_free(e);
        }
        curl_multi_cleanup(m->curl);
        free(m);
}

int http_multi_begin(struct http_multi *m, const struct http_request *q, struct http_receiver *receiver, unsigned how,
                     void *owner, struct http_easy **out, char *message, size_t size)
{
        struct http_easy *e = easy_reuse(m);
        if (!e) {
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        e->owner = owner;
        e->sent = 0;
        e->text[0] = 0;
        int r = http_configure(&e->handle, q, receiver, e->text, &e->headers, &e->connect_to, message, size);
        if (r < 0) {
                easy_recycle(m, e);
                return r;
        }
        CURL *curl = e->handle.curl;
        const bool http1 = how & HTTP_ONLY_1;
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)(http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
        /* Waits for a connection that is being opened instead of opening another. Only TLS shows when it is open. */
        curl_easy_setopt(curl, CURLOPT_PIPEWAIT, !http1 && strncasecmp(q->url, "https:", 6) == 0 ? 1L : 0L);
        curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_sending);
        curl_easy_setopt(curl, CURLOPT_PREREQDATA, e);
        curl_easy_setopt(curl, CURLOPT_PRIVATE, e);
        /* Detects a dead peer after about two minutes, also for a silent stream. */
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 30L);
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 10L);
        if (curl_multi_add_handle(m->curl, curl) != CURLM_OK) {
                easy_recycle(m, e);
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        *out = e;
        return 0;
}

void http_multi_end(struct http_easy *e)
{
        curl_multi_remove_handle(e->multi->curl, e->handle.curl);
        easy_recycle(e->multi, e);
}

void http_multi_act(struct http_multi *m, int fd, int events)
{
        int running, mask = (events & HTTP_READ ? CURL_CSELECT_IN : 0) | (events & HTTP_WRITE ? CURL_CSELECT_OUT : 0) |
                            (events & HTTP_FAILED ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(m->curl, fd < 0 ? CURL_SOCKET_TIMEOUT : fd, mask, &running);
}

bool http_multi_next(struct http_multi *m, void **owner, int *result, char *message, size_t size)
{
        CURLMsg *said;
        int left;
        do {
                said = curl_multi_info_read(m->curl, &left);
                if (!said)
                        return false;
        } while (said->msg != CURLMSG_DONE);
        struct http_easy *e;
        CURLcode code = said->data.result;
        curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, (char **)&e);
        long connections = 0;
        curl_easy_getinfo(e->handle.curl, CURLINFO_NUM_CONNECTS, &connections);
        struct http_receiver *receiver = e->handle.receiver;
        receiver->connections = (int)connections;
        *owner = e->owner;
        if (code == CURLE_OK) {
                http_finish(&e->handle);
                *result = 0;
        } else if (e->sent > 1) {
                snprintf(message, size, "the connection broke");
                *result = -ECONNRESET;
        } else {
                snprintf(message, size, "%s", e->text[0] ? e->text : curl_easy_strerror(code));
                *result = http_error_code(&e->handle, code);
        }
        curl_multi_remove_handle(m->curl, e->handle.curl);
        easy_recycle(m, e);
        return true;
}
