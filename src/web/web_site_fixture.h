/*
 * For tests of pages: a loop with a site, and a client in the same thread.
 *
 *      site_fixture_begin(&f);
 *      …                                   the test makes a site on f.loop
 *      fixture_ask(&f, port, "GET /json/ HTTP/1.1\r\nHost: h\r\n");      → f.status, f.head, f.body
 *      site_fixture_end(&f);               after the site was freed
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/socket.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

struct site_fixture {
        uv_loop_t loop;
        uv_timer_t tick;
        struct buf in;
        int status;
        char *head, *body; /* of the last response */
};

static void fixture_tick(uv_timer_t *timer)
{
}

static inline void site_fixture_begin(struct site_fixture *f)
{
        memset(f, 0, sizeof(*f));
        assert_int_equal(uv_loop_init(&f->loop), 0);
        uv_timer_init(&f->loop, &f->tick);
        uv_timer_start(&f->tick, fixture_tick, 5, 5);
}

static inline void site_fixture_end(struct site_fixture *f)
{
        uv_close((uv_handle_t *)&f->tick, NULL);
        while (uv_run(&f->loop, UV_RUN_DEFAULT))
                ;
        assert_int_equal(uv_loop_close(&f->loop), 0);
        buf_deinit(&f->in);
        free(f->head);
        free(f->body);
}

/* @head: lines without the final empty one. @body may be NULL. Asserts that a response came. */
static inline void fixture_post(struct site_fixture *f, int port, const char *head, const char *body)
{
        struct fst_error error = FST_ERROR_INIT;
        char piece[16384];
        int fd = socket_connect("127.0.0.1", port, -1, NULL, &error);
        if (fd < 0)
                fail_msg("%s", error_message(&error));
        _cleanup_free_ char *request = mem_printf("%sConnection: close\r\nContent-Length: %zu\r\n\r\n%s", head,
                                                  body ? strlen(body) : 0, body ? body : "");
        assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
        buf_reset(&f->in);
        for (;;) {
                uv_run(&f->loop, UV_RUN_NOWAIT);
                ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
                if (n > 0)
                        buf_append(&f->in, piece, (size_t)n);
                else if (n == 0 || errno != EAGAIN)
                        break;
                else
                        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5);
        }
        close(fd);
        const char *end = strstr(buf_text(&f->in), "\r\n\r\n");
        assert_non_null(end);
        free(f->head);
        free(f->body);
        f->head = mem_strndup(f->in.data, (size_t)(end - f->in.data));
        f->body = mem_strdup(end + 4);
        assert_int_equal(sscanf(f->head, "HTTP/1.1 %d", &f->status), 1);
}

static inline void fixture_get(struct site_fixture *f, int port, const char *target)
{
        _cleanup_free_ char *head = mem_printf("GET %s HTTP/1.1\r\nHost: h:1\r\n", target);
        fixture_post(f, port, head, NULL);
}

static inline bool fixture_says(const struct site_fixture *f, const char *text)
{
        return strstr(f->body, text) != NULL;
}
