/*
 * The REST client as a library, against a server thread of this process: a thousand submissions on one connection and
 * their cost (printed, not asserted), connections that the server closed, silence, and the stopped flag.
 */
#include "rest/rest_client.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/http/http_plain.h"
#include "net/http/http_reader.h"
#include "net/socket.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define SUBMISSIONS 1000

/* Serves one connection at a time. Closes it after @per_connection requests. 0: only listens. */
struct fake_rest_server {
        pthread_t thread;
        int listener, port, per_connection;
        int connections, requests; /* read after the thread ended */
        bool thread_runs;
};

/* Reads one request whose body has the announced length. Returns false at the end of the stream. */
static bool read_request(int fd, char *text, size_t size)
{
        size_t n = 0;
        for (;;) {
                ssize_t more = recv(fd, text + n, size - 1 - n, 0);
                if (more <= 0)
                        return false;
                n += (size_t)more;
                text[n] = '\0';
                const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
                if (end &&
                    n >= (size_t)(end + 4 - text) + (length && length < end ? strtoul(length + 16, NULL, 10) : 0))
                        return true;
        }
}

static void answer_request(int fd, const char *request)
{
        const char *body = strncmp(request, "POST /v1/submissions/create ", 28) == 0
                                   ? "{\n  \"action\" : \"CreateSubmissionResponse\",\n  \"serverSparkVersion\" : "
                                     "\"4.3.0\",\n  \"submissionId\" : \"driver-1\",\n  \"success\" : true\n}"
                                   : "{\n  \"action\" : \"SubmissionStatusResponse\",\n  \"driverState\" : "
                                     "\"RUNNING\",\n  \"serverSparkVersion\" : \"4.3.0\",\n  \"submissionId\" : "
                                     "\"driver-1\",\n  \"success\" : true\n}";
        char text[1024];
        int n = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
        assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
}

static void *serve(void *context)
{
        struct fake_rest_server *s = context;
        char request[16384];
        /* The listener does not block, so wait for a connection or the end. */
        while (socket_wait(s->listener, POLLIN, -1, NULL) == 1) {
                int fd = accept(s->listener, NULL, NULL);
                if (fd < 0 && errno == EAGAIN)
                        continue;
                if (fd < 0)
                        break;
                s->connections++;
                for (int i = 0; i < s->per_connection && read_request(fd, request, sizeof(request)); i++) {
                        s->requests++;
                        answer_request(fd, request);
                }
                close(fd);
        }
        return NULL;
}

static char *server_start(struct fake_rest_server *s, int per_connection)
{
        *s = (struct fake_rest_server){.per_connection = per_connection, .thread_runs = per_connection > 0};
        struct listen_options options = {.service = "test", .host = "127.0.0.1"};
        s->listener = socket_listen(&options, &s->port, NULL);
        assert_true(s->listener >= 0);
        if (s->thread_runs)
                assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
        return mem_printf("spark://127.0.0.1:%d", s->port);
}

static void server_stop(struct fake_rest_server *s)
{
        shutdown(s->listener, SHUT_RDWR);
        if (s->thread_runs)
                pthread_join(s->thread, NULL);
        close(s->listener);
}

static double cpu_ms(void)
{
        struct rusage used;
        getrusage(RUSAGE_THREAD, &used);
        return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

/* As large as a real request. */
static void fill(struct strmap *properties)
{
        for (int i = 0; i < 30; i++) {
                char key[64];
                snprintf(key, sizeof(key), "spark.some.property.of.some.length.%d", i);
                strmap_set(properties, key, "a value that is neither short nor long");
        }
        strmap_set(properties, "spark.driver.memory", "1g");
        strmap_set(properties, "spark.driver.cores", "1");
}

/* Submits once, as spark-submit does: create, then query the state. */
static void submit(struct rest_client *client, const struct rest_create *request)
{
        _cleanup_(rest_answer_deinit) struct rest_answer created = REST_ANSWER_INIT, status = REST_ANSWER_INIT;
        assert_int_equal(rest_client_create(client, request, &created, NULL), 0);
        assert_string_equal(created.submission_id, "driver-1");
        assert_int_equal(rest_client_status(client, created.submission_id, true, &status, NULL), 0);
        assert_string_equal(status.driver_state, "RUNNING");
}

static void test_a_thousand_submissions(void **state)
{
        (void)state;
        struct fake_rest_server server;
        struct rest_client *client;
        _cleanup_free_ char *url = server_start(&server, 2 * SUBMISSIONS);
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        struct strmap none = STRMAP_INIT;
        char *arguments[] = {"one", "two"};
        struct rest_create request = {"file:/apps/app.jar", "app.Main", arguments, 2, &properties, &none};
        fill(&properties);
        assert_int_equal(rest_client_new(url, &client, NULL), 0);
        double before = cpu_ms();
        for (int i = 0; i < SUBMISSIONS; i++)
                submit(client, &request);
        print_message("client CPU for each submission: %.3f ms\n", (cpu_ms() - before) / SUBMISSIONS);
        rest_client_free(client);
        server_stop(&server);
        assert_int_equal(server.connections, 1);
        assert_int_equal(server.requests, 2 * SUBMISSIONS);
}

static void test_reopens_closed_connection(void **state)
{
        (void)state;
        struct fake_rest_server server;
        struct rest_client *client;
        _cleanup_free_ char *url = server_start(&server, 1);
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        struct strmap none = STRMAP_INIT;
        struct rest_create request = {"file:/apps/app.jar", "app.Main", NULL, 0, &properties, &none};
        fill(&properties);
        assert_int_equal(rest_client_new(url, &client, NULL), 0);
        for (int i = 0; i < 20; i++) {
                _cleanup_(rest_answer_deinit) struct rest_answer created = REST_ANSWER_INIT;
                assert_int_equal(rest_client_create(client, &request, &created, NULL), 0);
                /* The server replies to this connection only after the client's was closed. */
                int fd = socket_connect("127.0.0.1", server.port, -1, NULL, NULL);
                char answer[1024] = "";
                assert_true(fd >= 0);
                assert_int_equal(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
                assert_int_equal(socket_wait(fd, POLLIN, -1, NULL), 1);
                assert_true(recv(fd, answer, sizeof(answer) - 1, 0) > 0);
                close(fd);
        }
        rest_client_free(client);
        server_stop(&server);
        assert_int_equal(server.connections, 40);
        assert_int_equal(server.requests, 40);
}

static void test_silent_server_and_stopped_flag(void **state)
{
        (void)state;
        struct fake_rest_server server;
        _cleanup_free_ char *url = server_start(&server, 0); /* the system accepts, but the server never replies */
        struct http_reader reader = HTTP_READER_INIT;
        struct http_plain *connection = http_plain_new("127.0.0.1", server.port);
        struct http_plain_request request = {.method = "GET", .path = "/", .max_answer = 100, .timeout_ns = 50000000};
        assert_int_equal(http_plain_ask(connection, &request, &reader, NULL), -ETIMEDOUT);
        int stopped = 1;
        request.timeout_ns = INT64_C(3600000000000);
        request.stopped = &stopped;
        assert_int_equal(http_plain_ask(connection, &request, &reader, NULL), -ECANCELED);
        http_plain_free(connection);
        http_reader_deinit(&reader);

        struct rest_client *client;
        char *final = NULL;
        struct rest_waiting waiting = {0};
        assert_int_equal(rest_client_new(url, &client, NULL), 0);
        rest_client_set_stopped(client, &stopped);
        assert_int_equal(rest_client_wait(client, "driver-1", &waiting, &final, NULL), -ECANCELED);
        assert_null(final);
        rest_client_free(client);
        server_stop(&server);
}

static void test_masters(void **state)
{
        (void)state;
        static const char *const good[] = {"spark://h",        "spark://h:6066", "spark://h1:1,h2:2",
                                           "spark://h1:1,",    "mesos://h:7077", "spark://[2001:db8::1]:6066",
                                           "spark://h:1/a/b/", "spark://[::1]"};
        static const char *const bad[] = {"spark://", "mesos://", "spark://h:port", "spark://h:70000",
                                          "spark://a:1,b:x"};
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                struct rest_client *client;
                assert_int_equal(rest_client_new(good[i], &client, NULL), 0);
                rest_client_free(client);
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct rest_client *client = NULL;
                assert_int_equal(rest_client_new(bad[i], &client, &error), -EINVAL);
                assert_null(client);
                assert_non_null(strstr(error.message, "cannot send a request to the master"));
        }
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct rest_client *client;
        assert_int_equal(rest_client_new("yarn", &client, &error), -EINVAL);
        assert_string_equal(error.message, "This REST client only supports master URLs that start with one of the "
                                           "following: spark://,mesos://");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_thousand_submissions),
                cmocka_unit_test(test_reopens_closed_connection),
                cmocka_unit_test(test_silent_server_and_stopped_flag),
                cmocka_unit_test(test_masters),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
