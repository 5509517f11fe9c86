/* Transfer server and client over loopback: streams, uploads, limits, timeouts, and misbehaving peers. */
#include "rpc/transfer/transfer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/security.h"
#include "net/socket.h"
#include "rpc/transfer/transfer_wire.h"
#include "unit/cases.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS ((int64_t)1000000)

/* The service: a request "N" returns N bytes, byte i being i % 251, and "fail N" fails after them. */
struct numbers {
        struct transfer_stream stream;
        size_t at, end;
        bool fails;
        unsigned char bytes[251 * 64];
};

static int opened, closed; /* atomic: numbers of requests, and of ended streams and sinks */

static int numbers_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct numbers *s = container_of(stream, struct numbers, stream);
        int n = 0;
        while (s->at < s->end && n < max) {
                size_t from = s->at % 251, size = MIN(sizeof(s->bytes) - from, s->end - s->at);
                iov[n++] = (struct iovec){s->bytes + from, size};
                s->at += size;
        }
        return n == 0 && s->fails ? error_set(error, -EIO, "the disk is on fire") : n;
}

static void numbers_close(struct transfer_stream *stream)
{
        __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
        free(container_of(stream, struct numbers, stream));
}

static const struct transfer_stream_class numbers_class = {.next = numbers_next, .close = numbers_close};

static int open_numbers(void *owner, const unsigned char *request, size_t len, struct transfer_stream **stream,
                        struct fst_error *error)
{
        char text[32] = "";
        unsigned long end;
        __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
        memcpy(text, request, MIN(len, sizeof(text) - 1));
        bool fails = strncmp(text, "fail ", 5) == 0;
        if (sscanf(text + (fails ? 5 : 0), "%lu", &end) != 1)
                return error_set(error, -ENOENT, "there is no \"%s\"\x01 here", text);
        struct numbers *s = new0(struct numbers);
        s->stream.class = &numbers_class;
        s->end = end;
        s->fails = fails;
        for (size_t i = 0; i < sizeof(s->bytes); i++)
                s->bytes[i] = (unsigned char)(i % 251);
        *stream = &s->stream;
        return 0;
}

/* An upload "N" accepts at most N bytes. */
struct bag {
        struct transfer_sink sink;
        size_t most, got;
        unsigned sum;
};

static size_t bag_taken; /* atomic: of the last one that ended */

static int bag_write(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error)
{
        struct bag *b = container_of(sink, struct bag, sink);
        b->got += n;
        return b->got > b->most ? error_set(error, -ENOSPC, "the bag is full") : 0;
}

static int bag_end(struct transfer_sink *sink, struct fst_error *error)
{
        struct bag *b = container_of(sink, struct bag, sink);
        __atomic_store_n(&bag_taken, b->got, __ATOMIC_RELAXED);
        return b->got == 13 ? error_set(error, -EINVAL, "an unlucky number") : 0;
}

static void bag_close(struct transfer_sink *sink)
{
        __atomic_add_fetch(&closed, 1, __ATOMIC_RELAXED);
        free(container_of(sink, struct bag, sink));
}

static const struct transfer_sink_class bag_class = {.write = bag_write, .end = bag_end, .close = bag_close};

static int open_bag(void *owner, const unsigned char *request, size_t len, struct transfer_sink **sink,
                    struct fst_error *error)
{
        struct bag *b = new0(struct bag);
        b->sink.class = &bag_class;
        b->most = (size_t)strtoul((const char *)request, NULL, 10);
        *sink = &b->sink;
        return 0;
}

static const struct transfer_handler handler = {.open = open_numbers, .put = open_bag};

static struct transfer_server *serve(struct transfer_server_options options)
{
        struct transfer_server *server = NULL;
        options.host = options.host ? options.host : "127.0.0.1";
        assert_int_equal(transfer_server_new(&options, &handler, NULL, &server, NULL), 0);
        return server;
}

static const struct transfer_client_options quick = {
        .connections_per_peer = 2, .retry_wait_ns = 10 * MS, .timeout_ns = 5000 * MS};

static int64_t read_numbers(struct transfer_input *in, size_t piece, struct fst_error *error)
{
        _cleanup_free_ unsigned char *buf = mem_alloc(piece);
        size_t at = 0;
        for (;;) {
                ssize_t n = transfer_read(in, buf, piece, error);
                if (n <= 0)
                        return n < 0 ? n : (int64_t)at;
                for (ssize_t i = 0; i < n; i++, at++)
                        if (buf[i] != at % 251)
                                fail_msg("byte %zu is %u", at, buf[i]);
        }
}

static int64_t fetch(struct transfer_client *client, int port, const char *request, size_t piece,
                     struct fst_error *error)
{
        struct transfer_input *in = NULL;
        int r = transfer_open(client, "127.0.0.1", port, request, strlen(request), NULL, &in, error);
        if (r)
                return r;
        int64_t n = read_numbers(in, piece, error);
        transfer_close(in);
        return n;
}

/* -------------------------------------------------------------------------------------- successful transfers */

static void test_streams(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){.app_id = "app-1"});
        struct transfer_client_options options = quick;
        options.app_id = "app-1";
        struct transfer_client *client = transfer_client_new(&options);
        static const size_t sizes[] = {0, 1, 7, 8, 250, 2040, 2048, 2049, 100000, 5000000};
        static const size_t pieces[] = {1, 8, 100, 2047, 2048, 70000, 1 << 20};
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                for (size_t j = sizes[i] > 100000 ? 2 : 0; j < ARRAY_SIZE(pieces); j++) {
                        char request[32];
                        snprintf(request, sizeof(request), "%zu", sizes[i]);
                        assert_int_equal(fetch(client, transfer_server_port(server), request, pieces[j], NULL),
                                         sizes[i]);
                }
        /* Requests in sequence over one connection. */
        assert_int_equal(transfer_server_counters(server).connections, 1);
        transfer_client_free(client);
        transfer_server_free(server);
}

static void test_failures_are_told(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){.threads = 1});
        struct transfer_client *client = transfer_client_new(&quick);
        int port = transfer_server_port(server);
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(fetch(client, port, "nothing", 100, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "there is no \"nothing\"? here"));
        assert_int_equal(fetch(client, port, "fail 100000", 1000, &error), -EIO);
        assert_non_null(strstr(error_message(&error), "the disk is on fire"));
        struct transfer_input *in = NULL;
        assert_int_equal(transfer_open(client, "127.0.0.1", port, "fail 10", 7, NULL, &in, &error), 0);
        char buf[20];
        assert_int_equal(transfer_read_all(in, buf, 20, &error), -EIO);
        assert_true(transfer_input_refused(in));
        assert_int_equal(transfer_read(in, buf, 20, &error), -EIO);
        transfer_close(in);
        assert_int_equal(transfer_open(client, "127.0.0.1", port, "10", 2, NULL, &in, &error), 0);
        assert_int_equal(transfer_read_all(in, buf, 20, &error), -EPROTO);
        transfer_close(in);
        assert_int_equal(fetch(client, port, "5", 100, &error), 5);
        /* Only the stream that was read beyond its end was closed. */
        assert_true(transfer_server_counters(server).connections <= 2);
        error_deinit(&error);
        transfer_client_free(client);
        transfer_server_free(server);
}

static void test_uploads(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){0});
        struct transfer_client *client = transfer_client_new(&quick);
        struct fst_error error = FST_ERROR_INIT;
        int port = transfer_server_port(server);
        size_t size = 5 << 20;
        _cleanup_free_ char *data = mem_zero(size);
        struct iovec pieces[] = {{data, 10}, {data, 0}, {data, size}, {data, 1}};
        assert_int_equal(transfer_put(client, "127.0.0.1", port, "9999999", 8, pieces, 4, NULL, &error), 0);
        assert_int_equal(__atomic_load_n(&bag_taken, __ATOMIC_RELAXED), size + 11);
        assert_int_equal(transfer_put(client, "127.0.0.1", port, "1", 2, pieces, 0, NULL, &error), 0);
        struct iovec unlucky = {data, 13};
        assert_int_equal(transfer_put(client, "127.0.0.1", port, "99", 3, &unlucky, 1, NULL, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "an unlucky number"));
        for (int i = 0; i < 5; i++) {
                assert_int_equal(transfer_put(client, "127.0.0.1", port, "100000", 7, pieces, 4, NULL, &error),
                                 -ENOSPC);
                assert_non_null(strstr(error_message(&error), "the bag is full"));
        }
        assert_int_equal(transfer_put(client, "127.0.0.1", port, "20", 3, pieces, 1, NULL, &error), 0);
        error_deinit(&error);
        transfer_client_free(client);
        transfer_server_free(server);
}

static void *fetch_many(void *arg)
{
        struct transfer_client *client = ((void **)arg)[0];
        int port = *(int *)((void **)arg)[1];
        for (int i = 0; i < 30; i++)
                if (fetch(client, port, i % 3 ? "100" : "900000", 65536, NULL) < 0)
                        return client;
        return NULL;
}

static void test_many_threads(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){.threads = 2});
        struct transfer_client *client = transfer_client_new(&quick);
        int port = transfer_server_port(server);
        void *arg[] = {client, &port}, *failed;
        pthread_t threads[8];
        for (int i = 0; i < 8; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, fetch_many, arg), 0);
        for (int i = 0; i < 8; i++) {
                pthread_join(threads[i], &failed);
                assert_null(failed);
        }
        transfer_client_free(client);
        transfer_server_free(server);
}

/* ----------------------------------------------------------------------------------------------------- failures */

/* A client that does not read: other clients are served, and its stream ends after the timeout. */
static void test_slow_reader(void **state)
{
        struct transfer_server *server =
                serve((struct transfer_server_options){.threads = 1, .idle_ns = 300 * MS, .handshake_ns = 300 * MS});
        struct transfer_client *client = transfer_client_new(&quick);
        int port = transfer_server_port(server), before = __atomic_load_n(&closed, __ATOMIC_RELAXED);
        struct transfer_input *in = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(transfer_open(client, "127.0.0.1", port, "1000000000", 10, NULL, &in, NULL), 0);
        char one;
        assert_int_equal(transfer_read_all(in, &one, 1, NULL), 0);
        for (int i = 0; i < 20; i++)
                assert_int_equal(fetch(client, port, "100000", 65536, NULL), 100000);
        int64_t begin = now_ns();
        while (__atomic_load_n(&closed, __ATOMIC_RELAXED) < before + 21 && now_ns() - begin < 60000 * MS)
                poll(NULL, 0, 5);
        assert_int_equal(__atomic_load_n(&closed, __ATOMIC_RELAXED), before + 21);
        _cleanup_free_ char *buf = mem_alloc(1 << 20);
        ssize_t n;
        while ((n = transfer_read(in, buf, 1 << 20, &error)) > 0)
                ;
        assert_true(n == -ECONNRESET || n == -EPIPE);
        transfer_close(in);
        error_deinit(&error);
        transfer_client_free(client);
        transfer_server_free(server);
}

static void *raise_flag(void *arg)
{
        poll(NULL, 0, 50);
        __atomic_store_n((int *)arg, 1, __ATOMIC_RELAXED);
        return NULL;
}

/* A silent server: the stop flag and the timeout both end the wait. */
static void test_silence(void **state)
{
        int port = 0, stop = 0;
        struct listen_options listening = {.service = "silence", .host = "127.0.0.1"};
        int fd = socket_listen(&listening, &port, NULL);
        assert_true(fd >= 0);
        struct transfer_client_options options = quick;
        options.timeout_ns = 100 * MS;
        struct transfer_client *client = transfer_client_new(&options);
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(fetch(client, port, "1", 10, &error), -ETIMEDOUT);
        assert_non_null(strstr(error_message(&error), "spark.shuffle.io.connectionTimeout"));
        transfer_client_free(client);

        client = transfer_client_new(&quick);
        int64_t waited = 0;
        struct transfer_call call = {.stopped = &stop, .wait_ns = &waited};
        struct transfer_input *in = NULL;
        pthread_t thread;
        char buf[4];
        assert_int_equal(pthread_create(&thread, NULL, raise_flag, &stop), 0);
        assert_int_equal(transfer_open(client, "127.0.0.1", port, "1", 1, &call, &in, &error), 0);
        assert_int_equal(transfer_read(in, buf, 4, &error), -ECANCELED);
        pthread_join(thread, NULL);
        assert_true(waited > 10 * MS);
        transfer_close(in);
        error_deinit(&error);
        transfer_client_free(client);
        close(fd);
}

static void test_connecting_again(void **state)
{
        int port = 0;
        struct listen_options listening = {.service = "nobody", .host = "127.0.0.1"};
        int fd = socket_listen(&listening, &port, NULL);
        close(fd);
        struct transfer_client_options options = quick;
        options.max_retries = 3;
        options.retry_wait_ns = 40 * MS;
        struct transfer_client *client = transfer_client_new(&options);
        struct fst_error error = FST_ERROR_INIT;
        int64_t begin = now_ns();
        assert_int_equal(fetch(client, port, "1", 10, &error), -ECONNREFUSED);
        assert_true(now_ns() - begin >= 120 * MS);
        error_deinit(&error);
        transfer_client_free(client);
}

/* A pooled connection that the server closed is not a failure. */
static void test_stale_connection(void **state)
{
        struct transfer_server *server =
                serve((struct transfer_server_options){.idle_ns = 50 * MS, .handshake_ns = 50 * MS});
        struct transfer_client *client = transfer_client_new(&quick);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(fetch(client, transfer_server_port(server), "1000", 64, NULL), 1000);
                int64_t begin = now_ns();
                while (transfer_server_counters(server).open && now_ns() - begin < 60000 * MS)
                        poll(NULL, 0, 5);
        }
        assert_int_equal(transfer_server_counters(server).connections, 3);
        transfer_client_free(client);
        transfer_server_free(server);
}

/* Sends @n bytes to the server, and waits until it ends the connection. Returns the number of received bytes. */
static size_t attack(int port, const void *bytes, size_t n, bool patient)
{
        char buf[4096];
        size_t total = 0;
        int fd = socket_connect("127.0.0.1", port, 1000 * MS, NULL, NULL);
        assert_true(fd >= 0);
        (void)!send(fd, bytes, n, MSG_NOSIGNAL);
        if (!patient)
                shutdown(fd, SHUT_WR);
        for (;;) {
                assert_true(socket_wait(fd, POLLIN, 60000 * MS, NULL) == 1);
                ssize_t got = recv(fd, buf, sizeof(buf), 0);
                if (got <= 0)
                        break;
                total += (size_t)got;
        }
        close(fd);
        return total;
}

static void test_hostile(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){
                .threads = 1, .app_id = "app", .max_request = 1000, .handshake_ns = 200 * MS, .idle_ns = 400 * MS});
        int port = transfer_server_port(server);
        unsigned char good[TRANSFER_GREETING + TRANSFER_APP_ID + 64];
        size_t n = transfer_greeting(good, "app");
        unsigned char bytes[sizeof(good)];

        assert_int_equal(attack(port, "GET / HTTP/1.1\r\n\r\n", 18, true), 0);
        memcpy(bytes, good, n);
        bytes[4] = 9; /* a future version */
        assert_int_equal(attack(port, bytes, n, true), 0);
        size_t other = transfer_greeting(bytes, "bpp");
        assert_int_equal(attack(port, bytes, other, true), 0);
        other = transfer_greeting(bytes, "ap");
        assert_int_equal(attack(port, bytes, other, true), 0);
        /* A request that is too large, of an unknown kind, with an invalid header, or truncated; an unexpected frame.
         */
        static const struct {
                uint32_t length, kind;
        } bad[] = {{1005, TRANSFER_FETCH}, {UINT32_MAX, TRANSFER_FETCH}, {4, 99},   {3, TRANSFER_FETCH},
                   {1, TRANSFER_DATA},     {0, TRANSFER_END},            {10, TRANSFER_FAILED}, {0, 0}};
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                CASE_LABEL("%zu of bad: length %u, kind %u", i, bad[i].length, bad[i].kind);
                memcpy(bytes, good, n);
                transfer_header(bytes + n, bad[i].kind, bad[i].length);
                assert_int_equal(attack(port, bytes, n + 8, true), 0);
        }
        /* A good request of "1000", and each of its bits flipped: the server closes the connection. */
        transfer_header(bytes + n, TRANSFER_FETCH, 8);
        memcpy(bytes + n + 8, "1000", 4);
        transfer_crc(bytes + n + 12, "1000", 4);
        assert_true(attack(port, bytes, n + 16, false) >= 1000);
        for (size_t bit = n * 8; bit < (n + 16) * 8; bit++) {
                bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
                if (attack(port, bytes, n + 16, true) != 0)
                        fail_msg("bit %zu of the request", bit - n * 8);
                bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        for (size_t cut = 0; cut < n + 8; cut++) {
                memcpy(bytes, good, n);
                transfer_header(bytes + n, TRANSFER_FETCH, 5);
                assert_int_equal(attack(port, bytes, cut, false), 0);
        }
        /* Slow-loris: part of a greeting, or part of a request. */
        int64_t begin = now_ns();
        assert_int_equal(attack(port, good, 5, true), 0);
        assert_int_equal(attack(port, bytes, n + 3, true), 0);
        assert_int_equal(attack(port, bytes, n + 8, true), 0);
        assert_true(now_ns() - begin >= 500 * MS);
        /* An upload with other frames. */
        transfer_header(bytes + n, TRANSFER_PUT, TRANSFER_CRC);
        transfer_crc(bytes + n + 8, NULL, 0);
        transfer_header(bytes + n + 12, TRANSFER_FETCH, TRANSFER_CRC);
        assert_int_equal(attack(port, bytes, n + 20, true), 0);

        struct transfer_client_options options = quick;
        options.app_id = "app";
        struct transfer_client *client = transfer_client_new(&options);
        assert_int_equal(fetch(client, port, "1000", 100, NULL), 1000);
        transfer_client_free(client);
        assert_true(transfer_server_counters(server).refused >= 15);
        transfer_server_free(server);
}

static void test_too_many(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){.max_connections = 3});
        struct transfer_client *client = transfer_client_new(&quick);
        int port = transfer_server_port(server);
        struct transfer_input *in[3];
        char one;
        for (int i = 0; i < 3; i++) {
                assert_int_equal(transfer_open(client, "127.0.0.1", port, "1000000000", 10, NULL, &in[i], NULL), 0);
                assert_int_equal(transfer_read_all(in[i], &one, 1, NULL), 0);
        }
        assert_true(fetch(client, port, "10", 100, NULL) < 0);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(transfer_read_all(in[i], &one, 1, NULL), 0);
                transfer_close(in[i]);
        }
        int64_t begin = now_ns();
        while (transfer_server_counters(server).open && now_ns() - begin < 60000 * MS)
                poll(NULL, 0, 5);
        assert_int_equal(fetch(client, port, "10", 100, NULL), 10);
        transfer_client_free(client);
        transfer_server_free(server);
}

/* Unfinished streams when the server stops. */
static void test_server_goes(void **state)
{
        struct transfer_server *server = serve((struct transfer_server_options){0});
        struct transfer_client *client = transfer_client_new(&quick);
        struct transfer_input *in = NULL;
        struct fst_error error = FST_ERROR_INIT;
        int port = transfer_server_port(server);
        char one;
        assert_int_equal(transfer_open(client, "127.0.0.1", port, "1000000000", 10, NULL, &in, NULL), 0);
        assert_int_equal(transfer_read_all(in, &one, 1, NULL), 0);
        transfer_server_free(server);
        _cleanup_free_ char *buf = mem_alloc(1 << 20);
        ssize_t n;
        while ((n = transfer_read(in, buf, 1 << 20, &error)) > 0)
                ;
        assert_true(n < 0);
        assert_false(transfer_input_refused(in));
        transfer_close(in);
        error_deinit(&error);
        transfer_client_free(client);
}

static void test_port_is_taken(void **state)
{
        struct transfer_server *first = serve((struct transfer_server_options){0});
        struct transfer_server *second = NULL;
        struct fst_error error = FST_ERROR_INIT;
        struct transfer_server_options options = {.host = "127.0.0.1", .port = transfer_server_port(first)};
        assert_true(transfer_server_new(&options, &handler, NULL, &second, &error) < 0);
        assert_non_null(error.message);
        options.port_retries = 16;
        assert_int_equal(transfer_server_new(&options, &handler, NULL, &second, &error), 0);
        assert_true(transfer_server_port(second) != transfer_server_port(first));
        error_deinit(&error);
        transfer_server_free(first);
        transfer_server_free(second);
}

/* In a child: reads a port from @pipe, and opens two connections to it. Returns 0 if the server closes both. */
static int await_closed_connections(int pipe)
{
        int port, fds[2];
        if (read(pipe, &port, sizeof(port)) != sizeof(port))
                return 1;
        for (int i = 0; i < 2; i++)
                if ((fds[i] = socket_connect("127.0.0.1", port, 60000 * MS, NULL, NULL)) < 0)
                        return 2;
        for (int i = 0; i < 2; i++) {
                char c;
                struct pollfd p = {.fd = fds[i], .events = POLLIN};
                if (poll(&p, 1, 60000) != 1 || read(fds[i], &c, 1) > 0)
                        return 3;
        }
        return 0;
}

/*
 * The first thread hands the second connection to the second thread, which must be ready. The client is another
 * process, so only the start of the threads orders them and their creator: ThreadSanitizer reports one that is too early.
 */
static void test_client_of_another_process(void **state)
{
        int ends[2], status = -1;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
                _exit(await_closed_connections(ends[0]));
        struct transfer_server *server = serve((struct transfer_server_options){.threads = 2, .handshake_ns = 50 * MS});
        int port = transfer_server_port(server);
        assert_int_equal(write(ends[1], &port, sizeof(port)), sizeof(port));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        transfer_server_free(server);
        close(ends[0]);
        close(ends[1]);
}

static struct security *secret_of(const char *secret)
{
        struct security *security = NULL;
        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.authenticate", "true");
        fst_conf_set(conf, "spark.authenticate.secret", secret);
        assert_int_equal(security_new(conf, "app", SECURITY_EXECUTOR, &security, NULL), 0);
        fst_conf_free(conf);
        return security;
}

/* With a secret: only clients that know it are served. */
static void test_secret(void **state)
{
        struct security *right = secret_of("0123456789abcdef0123456789abcdef");
        struct security *wrong = secret_of("0123456789abcdef0123456789abcdee");
        struct transfer_server *server = serve((struct transfer_server_options){.security = right});
        struct transfer_client_options options = quick;
        struct fst_error error = FST_ERROR_INIT;
        int port = transfer_server_port(server);
        size_t size = 3 << 20;
        _cleanup_free_ char *data = mem_zero(size);
        struct iovec piece = {data, size};
        options.security = right;
        struct transfer_client *client = transfer_client_new(&options);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(fetch(client, port, "5000000", 70000, NULL), 5000000);
                assert_int_equal(fetch(client, port, "5000", 7, NULL), 5000);
                assert_int_equal(fetch(client, port, "fail 5000", 7, NULL), -EIO);
                assert_int_equal(transfer_put(client, "127.0.0.1", port, "9999999", 8, &piece, 1, NULL, NULL), 0);
                assert_int_equal(transfer_put(client, "127.0.0.1", port, "9", 2, &piece, 1, NULL, NULL), -ENOSPC);
        }
        transfer_client_free(client);
        int before = __atomic_load_n(&opened, __ATOMIC_RELAXED);
        for (int i = 0; i < 2; i++) {
                options.security = i ? NULL : wrong;
                client = transfer_client_new(&options);
                assert_true(fetch(client, port, "5", 7, &error) < 0);
                transfer_client_free(client);
        }
        assert_int_equal(__atomic_load_n(&opened, __ATOMIC_RELAXED), before);
        transfer_server_free(server);
        server = serve((struct transfer_server_options){.handshake_ns = 100 * MS});
        options.security = right;
        client = transfer_client_new(&options);
        assert_true(fetch(client, transfer_server_port(server), "5", 7, &error) < 0);
        transfer_client_free(client);
        transfer_server_free(server);
        error_deinit(&error);
        security_free(right);
        security_free(wrong);
}

int main(void)
{
        log_set_level(LOG_OFF);
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_secret),
                cmocka_unit_test(test_streams),
                cmocka_unit_test(test_failures_are_told),
                cmocka_unit_test(test_uploads),
                cmocka_unit_test(test_many_threads),
                cmocka_unit_test(test_slow_reader),
                cmocka_unit_test(test_silence),
                cmocka_unit_test(test_connecting_again),
                cmocka_unit_test(test_stale_connection),
                cmocka_unit_test(test_hostile),
                cmocka_unit_test(test_too_many),
                cmocka_unit_test(test_server_goes),
                cmocka_unit_test(test_port_is_taken),
                cmocka_unit_test(test_client_of_another_process),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
