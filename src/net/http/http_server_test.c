/*
 * Requests over real sockets: handlers, delayed replies, clients that disconnect, are slow, send too much or are too
 * many, TLS. Each test runs its own loop on this thread, and libcurl blocks on another thread.
 */
#include "net/http/http_server.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/http/http.h"
#include "net/key_store_fixture.h"
#include "net/socket.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The answer of "/stream": pieces of letters. */
enum { PIECE = 64 << 10 };
struct letters {
        struct http_stream stream;
        int left;       /* pieces */
        bool later;     /* the test produces them */
        bool is_broken; /* the last one */
};

static struct {
        uv_loop_t loop;
        uv_timer_t tick; /* conditions are checked at least every 5 ms */
        struct http_server *server;
        struct http_call *held; /* stored by the handler of "/later" */
        int handled;
        bool closed;
        struct letters *letters; /* the last stream, until it ends */
        int produced, ended;     /* pieces; streams */
} t;

static void letters_produce(struct letters *l)
{
        _cleanup_(buf_deinit) struct buf piece = BUF_INIT;
        buf_reserve(&piece, PIECE);
        memset(piece.data, 'a' + t.produced % 26, PIECE);
        piece.len = PIECE;
        t.produced++;
        l->left--;
        http_stream_put(&l->stream, &piece,
                        l->left > 0    ? HTTP_PIECE_MORE
                        : l->is_broken ? HTTP_PIECE_BROKEN
                                       : HTTP_PIECE_LAST);
}

static void on_next(struct http_stream *stream)
{
        struct letters *l = container_of(stream, struct letters, stream);
        if (!l->later)
                letters_produce(l);
}

static void on_stream_end(struct http_stream *stream)
{
        free(container_of(stream, struct letters, stream));
        t.letters = NULL;
        t.ended++;
}

static void serve_stream(struct http_call *call)
{
        struct buf first = BUF_INIT;
        struct letters *l = new0(struct letters);
        l->stream = (struct http_stream){.next = on_next, .end = on_stream_end};
        l->left = atoi(call->query);
        l->later = strstr(call->query, "later");
        l->is_broken = strstr(call->query, "broken");
        t.letters = l;
        buf_puts(&first, "first ");
        http_call_answer_stream(call, 200, "text/plain", &first, &l->stream);
}

static void serve(void *owner, struct http_call *call)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        const char *mine = http_call_header(call, "x-mine");
        t.handled++;
        if (strcmp(call->path, "/later") == 0) {
                t.held = call;
                return;
        }
        if (strcmp(call->path, "/stream") == 0)
                return serve_stream(call);
        if (strcmp(call->path, "/large") == 0) {
                buf_reserve(&text, 8u << 20);
                memset(text.data, 'x', 8u << 20);
                text.len = 8u << 20;
                return http_call_answer(call, 200, "text/plain", &text);
        }
        http_call_set_header(call, "X-Answer", "yes");
        http_call_set_header(call, "X-Split", "no\r\nX-Evil: 1");
        buf_printf(&text, "%s %s|%s|%s|%.*s", call->method, call->path, call->query, mine ? mine : "-",
                   (int)call->body_len, call->body);
        http_call_answer(call, 200, "text/plain", &text);
}

static void on_tick(uv_timer_t *timer)
{
}

/* Returns 0, or below 0 if the server cannot start. */
static int begin_try(struct http_server_options o, struct fst_error *error)
{
        memset(&t, 0, sizeof(t));
        assert_int_equal(uv_loop_init(&t.loop), 0);
        uv_timer_init(&t.loop, &t.tick);
        uv_timer_start(&t.tick, on_tick, 5, 5);
        o.loop = &t.loop;
        o.service = "TestUI";
        o.host = "127.0.0.1";
        o.handle = serve;
        return http_server_new(&o, &t.server, error);
}

static void begin_with(struct http_server_options o)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (begin_try(o, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static int begin(void **state)
{
        begin_with((struct http_server_options){0});
        return 0;
}

static int end(void **state)
{
        http_server_free(t.server);
        uv_close((uv_handle_t *)&t.tick, NULL);
        while (uv_run(&t.loop, UV_RUN_DEFAULT))
                ;
        assert_int_equal(uv_loop_close(&t.loop), 0);
        return 0;
}

static int client(void)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int fd = socket_connect("127.0.0.1", http_server_port(t.server), -1, NULL, &error);
        if (fd < 0)
                fail_msg("%s", error_message(&error));
        return fd;
}

static void say(int fd, const char *text)
{
        for (size_t n = strlen(text); n > 0;) {
                ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
                if (sent < 0 && errno == EAGAIN)
                        uv_run(&t.loop, UV_RUN_NOWAIT);
                else if (sent < 0)
                        return; /* closed: the reply shows why */
                else {
                        text += sent;
                        n -= (size_t)sent;
                }
        }
}

/* Runs the loop until @fd is closed or the received text has @until @times times. Returns the text. */
static const char *hear(int fd, const char *until, int times)
{
        static struct buf in;
        char piece[65536];
        buf_reset(&in);
        for (;;) {
                uv_run(&t.loop, UV_RUN_NOWAIT);
                ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
                if (n == 0 || (n < 0 && errno != EAGAIN))
                        return buf_text(&in);
                if (n < 0) {
                        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5);
                        continue;
                }
                buf_append(&in, piece, (size_t)n);
                int found = 0;
                for (const char *at = until ? buf_text(&in) : NULL; at && (at = strstr(at, until)); at += strlen(until))
                        found++;
                if (until && found >= times)
                        return buf_text(&in);
        }
}

static const char *ask(const char *request, const char *until)
{
        int fd = client();
        say(fd, request);
        const char *answer = hear(fd, until, 1);
        close(fd);
        return answer;
}

/* --------------------------------------------------------------------------------------------------- requests */

static void handlers_see_what_was_asked(void **state)
{
        const char *a = ask("GET /a%20b/?x=1&y=%41?z HTTP/1.1\r\nHost: h\r\nX-Mine: v\r\n\r\n", "v|");
        assert_non_null(strstr(a, "HTTP/1.1 200 OK\r\n"));
        assert_non_null(strstr(a, "GET /a%20b/|x=1&y=%41?z|v|"));
        assert_non_null(strstr(a, "X-Answer: yes\r\n"));
        assert_non_null(strstr(a, "Content-Type: text/plain\r\n"));
        assert_null(strstr(a, "X-Split"));
        assert_null(strstr(a, "X-Evil"));
        a = ask("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "|hello");
        assert_non_null(strstr(a, "POST /p||-|hello"));
        a = ask("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                "|abcde");
        assert_non_null(strstr(a, "POST /c||-|abcde"));
}

static void rejects_ambiguous_body_length(void **state)
{
        static const struct {
                const char *label, *headers;
        } cases[] = {
                {"two lengths", "Content-Length: 4\r\nContent-Length: 44\r\n"},
                {"the same length twice", "Content-Length: 4\r\nContent-Length: 4\r\n"},
                {"length, then encoding", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"},
                {"encoding, then length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"},
                {"encoding with a blank", "Transfer-Encoding : chunked\r\nContent-Length: 4\r\n"},
                {"encoding with a blank alone", "Transfer-Encoding : chunked\r\n"},
                {"length with a blank", "Content-Length : 4\r\n"},
                {"two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"},
                {"encoding that is not chunked", "Transfer-Encoding: identity\r\n"},
                {"list of encodings", "Transfer-Encoding: gzip, chunked\r\n"},
                {"list of lengths", "Content-Length: 4, 4\r\n"},
                {"signed length", "Content-Length: +4\r\n"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: label \"%s\", headers \"%s\"", i, cases[i].label ? cases[i].label : "(none)",
                           cases[i].headers ? cases[i].headers : "(none)");
                _cleanup_free_ char *request = mem_printf(
                        "POST /p HTTP/1.1\r\nHost: h\r\n%s\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n",
                        cases[i].headers);
                const char *a = ask(request, NULL); /* until the server closes the connection */
                if (strncmp(a, "HTTP/1.1 400 ", 13) != 0)
                        fail_msg("%s: the answer is '%s'", cases[i].label, a);
                if (strstr(a, "HTTP/1.1 200") || strstr(a, "/smuggled"))
                        fail_msg("%s: the second request was answered: '%s'", cases[i].label, a);
        }
}

static void one_answer_after_another(void **state)
{
        int fd = client();
        say(fd,
            "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
        const char *a = hear(fd, "||-|", 3);
        assert_true(strstr(a, "GET /1") < strstr(a, "GET /2"));
        assert_true(strstr(a, "GET /2") < strstr(a, "GET /3"));
        say(fd, "HEAD /4 HTTP/1.1\r\nHost: h\r\n\r\n");
        a = hear(fd, "\r\n\r\n", 1);
        assert_non_null(strstr(a, "Content-Length: 10\r\n")); /* of "GET /4||-|" */
        assert_null(strstr(a, "GET /4"));
        close(fd);
}

static void an_answer_may_come_later(void **state)
{
        int fd = client();
        say(fd, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
        while (!t.held)
                uv_run(&t.loop, UV_RUN_ONCE);
        const char *a = ask("GET /meanwhile HTTP/1.1\r\nHost: h\r\n\r\n", "|-|");
        assert_non_null(strstr(a, "GET /meanwhile"));
        assert_string_equal(t.held->path, "/later");
        http_call_answer_text(t.held, 202, "text/plain", "at last");
        a = hear(fd, "at last", 1);
        assert_non_null(strstr(a, "HTTP/1.1 202 Accepted"));
        say(fd, "GET /again HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_non_null(strstr(hear(fd, "|-|", 1), "GET /again"));
        close(fd);
}

static void a_client_may_go_before_its_answer(void **state)
{
        int fd = client();
        say(fd, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
        while (!t.held)
                uv_run(&t.loop, UV_RUN_ONCE);
        close(fd);
        http_call_answer_text(t.held, 200, "text/plain", "nobody hears");
        while (http_server_connections(t.server) > 0)
                uv_run(&t.loop, UV_RUN_ONCE);
        assert_int_equal(t.handled, 1);
}

static void the_server_may_go_before_its_answer(void **state)
{
        int fd = client();
        say(fd, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
        while (!t.held)
                uv_run(&t.loop, UV_RUN_ONCE);
        http_server_free(t.server);
        t.server = NULL;
        http_call_answer_text(t.held, 200, "text/plain", "nobody hears");
        assert_string_equal(hear(fd, NULL, 0), "");
        close(fd);
}

/* A client that the previous server has not accepted yet is served by the next one. */
static void a_server_takes_the_place_of_another(void **state)
{
        const int port = http_server_port(t.server);
        struct http_server *next;
        int fd = client();
        say(fd, "GET /waits HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        const struct http_server_options o = {
                .loop = &t.loop, .service = "NextUI", .previous = t.server, .handle = serve};
        assert_int_equal(http_server_new(&o, &next, NULL), 0);
        http_server_free(t.server);
        t.server = next;
        assert_int_equal(http_server_port(next), port);
        assert_non_null(strstr(hear(fd, NULL, 0), "GET /waits|"));
        close(fd);
        assert_non_null(strstr(ask("GET /new HTTP/1.1\r\nHost: h\r\n\r\n", "/new|"), "HTTP/1.1 200 OK\r\n"));
}

static void a_large_answer_arrives_whole(void **state)
{
        int fd = client();
        say(fd, "GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        const char *a = hear(fd, NULL, 0);
        const char *body = strstr(a, "\r\n\r\n");
        assert_non_null(body);
        assert_int_equal(strlen(body + 4), 8u << 20);
        close(fd);
}

static void streams_pieces_in_order(void **state)
{
        int fd = client();
        say(fd, "GET /stream?200 HTTP/1.0\r\n\r\n");
        const char *a = hear(fd, NULL, 0), *body = strstr(a, "\r\n\r\nfirst ");
        assert_non_null(strstr(a, "200 OK"));
        assert_non_null(body);
        body += 10;
        assert_int_equal(strlen(body), 200 * PIECE);
        for (int i = 0; i < 200; i++)
                assert_true(body[i * PIECE] == 'a' + i % 26 && body[(i + 1) * PIECE - 1] == 'a' + i % 26);
        close(fd);
        while (!t.ended)
                uv_run(&t.loop, UV_RUN_ONCE);
}

static void continues_connection_after_stream(void **state)
{
        int fd = client();
        say(fd, "GET /stream?3 HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
        const char *a = hear(fd, "GET /next|", 1);
        assert_non_null(strstr(a, "Transfer-Encoding: chunked"));
        assert_non_null(strstr(a, "\r\n0\r\n\r\nHTTP/1.1 200 OK"));
        assert_int_equal(t.ended, 1);
        say(fd, "HEAD /stream?3 HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_null(strstr(hear(fd, "\r\n\r\n", 1), "first"));
        while (t.ended < 2)
                uv_run(&t.loop, UV_RUN_ONCE);
        assert_int_equal(t.produced, 3); /* none for HEAD */
        close(fd);
}

static void produces_nothing_for_client_that_does_not_read(void **state)
{
        int fd = client();
        say(fd, "GET /stream?100000 HTTP/1.1\r\nHost: h\r\n\r\n");
        for (int before = -1; before != t.produced || !t.produced;) { /* until the socket takes no more */
                before = t.produced;
                for (int i = 0; i < 20; i++)
                        uv_run(&t.loop, UV_RUN_ONCE);
        }
        assert_in_range(t.produced, 1, 1000);
        assert_non_null(strstr(ask("GET /meanwhile HTTP/1.1\r\nHost: h\r\n\r\n", "|-|"), "GET /meanwhile"));
        close(fd);
        while (!t.ended)
                uv_run(&t.loop, UV_RUN_ONCE);
}

static void pieces_may_come_later(void **state)
{
        int fd = client();
        say(fd, "GET /stream?3later HTTP/1.0\r\n\r\n");
        for (int i = 0; i < 3; i++) {
                while (!t.letters || !t.letters->stream.exchange || (i == 0 && !t.handled))
                        uv_run(&t.loop, UV_RUN_ONCE);
                hear(fd, i ? "z" : "first ", i ? 0 : 1);
                uv_run(&t.loop, UV_RUN_NOWAIT);
                letters_produce(t.letters);
        }
        const char *a = hear(fd, NULL, 0);
        assert_non_null(strchr(a, 'c'));
        close(fd);
        while (!t.ended)
                uv_run(&t.loop, UV_RUN_ONCE);
}

static void broken_stream_closes_connection(void **state)
{
        int fd = client();
        say(fd, "GET /stream?2broken HTTP/1.1\r\nHost: h\r\n\r\n");
        const char *a = hear(fd, NULL, 0);
        assert_non_null(strstr(a, "first"));
        assert_null(strstr(a, "\r\n0\r\n\r\n")); /* the client sees that the end is missing */
        close(fd);
        while (!t.ended)
                uv_run(&t.loop, UV_RUN_ONCE);
}

static void client_may_go_while_a_piece_is_produced(void **state)
{
        int fd = client();
        say(fd, "GET /stream?3later HTTP/1.1\r\nHost: h\r\n\r\n");
        hear(fd, "first ", 1);
        for (int i = 0; i < 5; i++)
                uv_run(&t.loop, UV_RUN_ONCE);
        close(fd);
        assert_int_equal(t.ended, 0); /* the stream lives while it owes a piece */
        letters_produce(t.letters);
        while (!t.ended) {
                uv_run(&t.loop, UV_RUN_ONCE);
                if (t.letters && t.produced == 1 && t.letters->stream.exchange &&
                    http_server_connections(t.server) == 0)
                        break;
        }
        if (t.letters) /* it was asked for one more before the end was seen */
                letters_produce(t.letters);
        while (!t.ended)
                uv_run(&t.loop, UV_RUN_ONCE);
}

static void server_may_go_while_a_piece_is_produced(void **state)
{
        int fd = client();
        say(fd, "GET /stream?3later HTTP/1.1\r\nHost: h\r\n\r\n");
        hear(fd, "first ", 1);
        for (int i = 0; i < 5; i++)
                uv_run(&t.loop, UV_RUN_ONCE);
        http_server_free(t.server);
        t.server = NULL;
        assert_int_equal(t.ended, 0);
        letters_produce(t.letters);
        assert_int_equal(t.ended, 1);
        close(fd);
}

/* ------------------------------------------------------------------------------------------- hostile clients */

static void who_dawdles_is_cut_off(void **state)
{
        end(state);
        begin_with((struct http_server_options){.request_ms = 1});
        int silent = client(), slow = client(), body = client(), idle = client();
        say(slow, "GET / HT");
        say(body, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
        say(idle, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
        assert_string_equal(hear(silent, NULL, 0), "");
        assert_null(strstr(hear(slow, NULL, 0), "200"));
        assert_null(strstr(hear(body, NULL, 0), "200"));
        assert_non_null(strstr(hear(idle, NULL, 0), "GET /x")); /* answered, and closed when it was idle */
        while (http_server_connections(t.server) > 0)
                uv_run(&t.loop, UV_RUN_ONCE);
        close(silent);
        close(slow);
        close(body);
        close(idle);
}

static void too_much_is_refused(void **state)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        end(state);
        begin_with((struct http_server_options){.max_body = 1000});
        const char *a = ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", "large");
        assert_non_null(strstr(a, "HTTP/1.1 413 "));
        a = ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n", NULL);
        assert_null(strstr(a, " 200 "));
        buf_puts(&text, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 11; i++)
                buf_printf(&text, "64\r\n%0100d\r\n", i);
        a = ask(buf_text(&text), NULL);
        assert_null(strstr(a, " 200 "));
        buf_reset(&text);
        buf_puts(&text, "GET / HTTP/1.1\r\nHost: h\r\n");
        for (int i = 0; i < 100; i++)
                buf_printf(&text, "X-%d: %01000d\r\n", i, i);
        buf_puts(&text, "\r\n");
        a = ask(buf_text(&text), NULL);
        assert_non_null(strstr(a, "HTTP/1.1 431 "));
        buf_reset(&text);
        buf_printf(&text, "GET /%0100000d HTTP/1.1\r\nHost: h\r\n\r\n", 0);
        a = ask(buf_text(&text), NULL);
        assert_non_null(strstr(a, "HTTP/1.1 414 "));
        assert_int_equal(t.handled, 0);
        a = ask("\x16\x03\x01\x02\x01\x01\r\n\r\n", NULL); /* a client that begins TLS */
        assert_null(strstr(a, " 200 "));
        assert_int_equal(t.handled, 0);
}

static void bodies_are_limited_together(void **state)
{
        end(state);
        begin_with((struct http_server_options){.max_body = 1000, .max_all_bodies = 1500});
        char text[1200];
        int held = client();
        snprintf(text, sizeof(text), "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n%01000d", 1);
        say(held, text);
        while (!t.held)
                uv_run(&t.loop, UV_RUN_ONCE);
        assert_non_null(strstr(ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 501\r\n\r\n", "large"), " 413 "));
        http_call_answer_text(t.held, 200, NULL, "done");
        assert_non_null(strstr(hear(held, "done", 1), " 200 "));
        close(held);
        while (http_server_connections(t.server) > 0)
                uv_run(&t.loop, UV_RUN_ONCE);
        snprintf(text, sizeof(text), "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n%01000d", 1);
        assert_non_null(strstr(ask(text, "0001"), " 200 "));
}

static void connections_make_room(void **state)
{
        end(state);
        begin_with((struct http_server_options){.max_connections = 4});
        int idle[8];
        for (int i = 0; i < 8; i++)
                idle[i] = client();
        /* Four stay, four found no room. After the minimum age the oldest make room for new requests. */
        while (http_server_connections(t.server) < 4)
                uv_run(&t.loop, UV_RUN_ONCE);
        assert_int_equal(http_server_connections(t.server), 4);
        while (!strstr(ask("GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "|-|"), "GET /x"))
                assert_true(http_server_connections(t.server) <= 5);
        for (int i = 0; i < 8; i++)
                close(idle[i]);
}

/* -------------------------------------------------------------------------------------------------------- TLS */

struct request {
        char url[64], *ca, *cert, *key;
        struct http_answer answer;
        int result;
        bool done;
};

static void *perform(void *argument)
{
        struct request *q = argument;
        struct http_client *http;
        if (http_client_new(&http, NULL) == 0) {
                q->result =
                        http_perform(http,
                                     &(struct http_request){
                                             .url = q->url, .ca_file = q->ca, .cert_file = q->cert, .key_file = q->key},
                                     &q->answer, NULL);
                http_client_free(http);
        }
        __atomic_store_n(&q->done, true, __ATOMIC_SEQ_CST);
        return NULL;
}

static void request_over_tls(struct request *q)
{
        pthread_t thread;
        snprintf(q->url, sizeof(q->url), "https://localhost:%d/tls", http_server_port(t.server));
        pthread_create(&thread, NULL, perform, q);
        while (!__atomic_load_n(&q->done, __ATOMIC_SEQ_CST))
                uv_run(&t.loop, UV_RUN_ONCE);
        pthread_join(thread, NULL);
}

static char *file_text(const char *folder, const char *name, size_t *size)
{
        char path[300];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        FILE *f = fopen(path, "r");
        if (!f || fstat(fileno(f), &st) < 0)
                fail_msg("%s: %s", path, strerror(errno));
        char *text = mem_zero((size_t)st.st_size + 1);
        assert_int_equal(fread(text, 1, (size_t)st.st_size, f), st.st_size);
        fclose(f);
        if (size)
                *size = (size_t)st.st_size;
        return text;
}

static void https_with_and_without_client_certificates(void **state)
{
        char folder[TEMP_DIR_SIZE], command[1200], ca[100], cert[100], key[100];
        temp_dir_new(folder);
        snprintf(command, sizeof(command),
                 "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out "
                 "cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null && openssl "
                 "pkcs12 -export -inkey key.pem -in cert.pem -out store.p12 -passout pass:secret",
                 folder);
        if (system(command) != 0) {
                snprintf(command, sizeof(command), "rm -rf %s", folder);
                assert_int_equal(system(command), 0);
                skip(); /* no openssl program */
        }
        _cleanup_free_ char *key_pem = file_text(folder, "key.pem", NULL);
        _cleanup_free_ char *cert_pem = file_text(folder, "cert.pem", NULL);
        size_t size;
        _cleanup_free_ char *store = file_text(folder, "store.p12", &size);
        snprintf(ca, sizeof(ca), "%s/cert.pem", folder);
        snprintf(cert, sizeof(cert), "%s/cert.pem", folder);
        snprintf(key, sizeof(key), "%s/key.pem", folder);

        const struct http_server_tls variants[] = {
                {.key = key_pem, .chain = cert_pem},
                {.store = store, .store_size = size, .store_password = "secret"},
                {.key = key_pem, .chain = cert_pem, .trust = cert_pem, .need_client = true},
                {.store = store, .store_size = size, .store_password = "secret", .store_key_password = "secret"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
                end(state);
                begin_with((struct http_server_options){.tls = &variants[i]});
                struct request with = {.ca = ca, .cert = cert, .key = key}, without = {.ca = ca};
                request_over_tls(&with);
                assert_int_equal(with.result, 0);
                assert_int_equal(with.answer.status, 200);
                assert_non_null(strstr(buf_text(&with.answer.body), "GET /tls"));
                request_over_tls(&without);
                assert_int_equal(without.result == 0, !variants[i].need_client);
                assert_int_equal(t.handled, variants[i].need_client ? 1 : 2);
                http_answer_deinit(&with.answer);
                http_answer_deinit(&without.answer);
                /* plain HTTP gets no reply there */
                assert_null(strstr(ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n", NULL), " 200 "));
        }
        snprintf(command, sizeof(command), "rm -rf %s", folder);
        assert_int_equal(system(command), 0);
}

/* Returns whether a server with the store of key_store_fixture.h replies over TLS. */
static bool store_serves(const char *key_password)
{
        _cleanup_(buf_deinit) struct buf store = BUF_INIT;
        char folder[TEMP_DIR_SIZE], ca[100];
        assert_true(base64_decode(two_passwords_store, strlen(two_passwords_store), &store));
        struct http_server_tls tls = {.store = store.data,
                                      .store_size = store.len,
                                      .store_password = TWO_PASSWORDS_STORE,
                                      .store_key_password = key_password};
        end(NULL);
        if (begin_try((struct http_server_options){.tls = &tls}, NULL) < 0)
                return false; /* the key cannot be read */
        temp_dir_new(folder);
        snprintf(ca, sizeof(ca), "%s/ca.pem", folder);
        FILE *f = fopen(ca, "we");
        assert_non_null(f);
        fputs(two_passwords_certificate, f);
        fclose(f);
        struct request request = {.ca = ca};
        request_over_tls(&request);
        bool served = request.result == 0 && request.answer.status == 200;
        http_answer_deinit(&request.answer);
        unlink(ca);
        rmdir(folder);
        return served;
}

static void test_key_of_a_store_has_its_own_password(void **state)
{
        assert_true(store_serves(TWO_PASSWORDS_KEY));
        assert_false(store_serves("other"));
        assert_false(store_serves(TWO_PASSWORDS_STORE));
        assert_false(store_serves(NULL));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(handlers_see_what_was_asked),
                CASE(rejects_ambiguous_body_length),
                CASE(one_answer_after_another),
                CASE(an_answer_may_come_later),
                CASE(a_client_may_go_before_its_answer),
                CASE(the_server_may_go_before_its_answer),
                CASE(a_server_takes_the_place_of_another),
                CASE(a_large_answer_arrives_whole),
                CASE(streams_pieces_in_order),
                CASE(continues_connection_after_stream),
                CASE(produces_nothing_for_client_that_does_not_read),
                CASE(pieces_may_come_later),
                CASE(broken_stream_closes_connection),
                CASE(client_may_go_while_a_piece_is_produced),
                CASE(server_may_go_while_a_piece_is_produced),
                CASE(who_dawdles_is_cut_off),
                CASE(too_much_is_refused),
                CASE(bodies_are_limited_together),
                CASE(connections_make_room),
                CASE(https_with_and_without_client_certificates),
                CASE(test_key_of_a_store_has_its_own_password),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
