/*
 * Sends a body as the caller writes it. libcurl requests bytes, and the transfer pauses while there are none. The
 * caller's writes drive it, without a thread.
 *
 * It has its own handle, so other requests do not disturb it, and its connections are kept for the next upload.
 */
#include "net/http/http_module_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct http_sending {
        struct http_handle handle; /* first member, passed to libcurl's callbacks */
        CURLM *multi;
        struct curl_slist *headers, *connect_to;
        char text[CURL_ERROR_SIZE];
        const char *data;
        size_t left;
        bool paused, last; /* the body is complete */
        bool under_way;
        bool over; /* its result: */
        CURLcode code;
        int64_t stall_ms;
};

static size_t http_upload_module_on_read(char *to, size_t size, size_t n, void *context)
{
        struct http_sending *s = context;
        size_t most = size * n, take = s->left < most ? s->left : most;
        if (take == 0 && !s->last) {
                s->paused = true;
                return CURL_READFUNC_PAUSE;
        }
        if (take > 0)
                memcpy(to, s->data, take);
        s->data += take;
        s->left -= take;
        return take;
}

static void http_upload_module_perform(struct http_sending *s)
{
        int running, left;
        if (curl_multi_perform(s->multi, &running) != CURLM_OK) {
                s->over = true;
                s->code = CURLE_OUT_OF_MEMORY;
        }
        for (CURLMsg *said; (said = curl_multi_info_read(s->multi, &left));)
                if (said->msg == CURLMSG_DONE) {
                        s->over = true;
                        s->code = said->data.result;
                }
}

/* Runs until the bytes are sent, or with @last until the reply is complete. Fails when no progress is made. */
static void http_upload_module_pump(struct http_sending *s)
{
        int64_t since = now_ms();
        size_t seen = s->left;
        if (s->paused) {
                s->paused = false;
                curl_easy_pause(s->handle.curl, CURLPAUSE_CONT);
        }
        for (;;) {
                http_upload_module_perform(s);
                if (s->over || (!s->last && s->left == 0))
                        return;
                int ready = 0;
                curl_multi_poll(s->multi, NULL, 0, 1000, &ready);
                if (s->left != seen || ready > 0)
                        since = now_ms();
                seen = s->left;
                if (s->stall_ms > 0 && now_ms() - since > s->stall_ms) {
                        s->over = true;
                        s->code = CURLE_OPERATION_TIMEDOUT;
                        snprintf(s->text, sizeof(s->text), "nothing has moved for %lld seconds",
                                 (long long)(s->stall_ms / 1000));
                }
        }
}

static int http_upload_module_result(struct http_sending *s, char *message, size_t size)
{
        if (s->code == CURLE_OK)
                return 0;
        snprintf(message, size, "%s", s->text[0] ? s->text : curl_easy_strerror(s->code));
        return http_error_code(&s->handle, s->code);
}

static void http_upload_module_finish(struct http_sending *s)
{
        if (s->under_way)
                curl_multi_remove_handle(s->multi, s->handle.curl);
        s->under_way = false;
        curl_slist_free_all(s->headers);
        curl_slist_free_all(s->connect_to);
        s->headers = s->connect_to = NULL;
}

static struct http_sending *http_upload_module_sending_new(void)
{
        struct http_sending *s = calloc(1, sizeof(*s));
        if (s && (s->handle.curl = curl_easy_init()) && (s->multi = curl_multi_init()))
                return s;
        http_sending_free(s);
        return NULL;
}

void http_sending_free(struct http_sending *s)
{
        if (!s)
                return;
        http_upload_module_finish(s);
        if (s->handle.curl)
                curl_easy_cleanup(s->handle.curl);
        if (s->multi)
                curl_multi_cleanup(s->multi);
        free(s);
}

int http_sending_begin(struct http_handle *h, const struct http_request *q, struct http_receiver *receiver,
                       char *message, size_t size)
{
        struct http_sending *s = h->sending ? h->sending : (h->sending = http_upload_module_sending_new());
        if (!s) {
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        curl_easy_reset(s->handle.curl); /* resets options, keeps connections */
        s->handle.uploads = true;
        s->text[0] = 0;
        s->left = 0;
        s->paused = s->last = s->over = false;
        s->code = CURLE_OK;
        int r = http_configure(&s->handle, q, receiver, s->text, &s->headers, &s->connect_to, message, size);
        if (r < 0) {
                http_upload_module_finish(s);
                return r;
        }
        CURL *curl = s->handle.curl;
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, http_upload_module_on_read);
        curl_easy_setopt(curl, CURLOPT_READDATA, s);
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        /* No timeout of libcurl, because the caller may write slowly. */
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 0L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 0L);
        s->stall_ms = q->stall_timeout_ms ? q->stall_timeout_ms : HTTP_STALL_TIMEOUT_MS;
        if (curl_multi_add_handle(s->multi, curl) != CURLM_OK) {
                http_upload_module_finish(s);
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        s->under_way = true;
        return 0;
}

int http_sending_write(struct http_handle *h, const void *data, size_t n, char *message, size_t size)
{
        struct http_sending *s = h->sending;
        s->data = data;
        s->left = n;
        if (n > 0 && !s->over)
                http_upload_module_pump(s);
        s->left = 0;
        return http_upload_module_result(s, message, size);
}

int http_sending_end(struct http_handle *h, bool whole, char *message, size_t size)
{
        struct http_sending *s = h->sending;
        if (whole && !s->over) {
                s->last = true;
                http_upload_module_pump(s);
        }
        int r = http_upload_module_result(s, message, size);
        if (whole && r == 0)
                http_finish(&s->handle);
        http_upload_module_finish(s);
        return r;
}
