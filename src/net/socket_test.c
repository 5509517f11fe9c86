/* Retries of ports as in Spark, parsing and printing of IPv4 and IPv6 addresses, and stop flags. */
#include "net/socket.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static void hosts_and_ports(void **state)
{
        static const struct {
                const char *text, *host;
                int port;
        } good[] = {
                {"node7:7077", "node7", 7077},
                {"192.0.2.7:0", "192.0.2.7", 0},
                {"[::1]:65535", "::1", 65535},
                {"[2001:db8::7]:7077", "2001:db8::7", 7077},
        };
        static const char *const bad[] = {"",
                                          "node7",
                                          ":7077",
                                          "node7:",
                                          "node7:x",
                                          "node7:65536",
                                          "node7:70770000000",
                                          "::1:7077",
                                          "[::1]",
                                          "[::1",
                                          "[]:7077",
                                          "[::1]7077",
                                          "node7:-1",
                                          "node7:+1",
                                          "1.2. 3.4:1234",
                                          "node7 :1",
                                          "a/b:1",
                                          "user@node7:1",
                                          "node7?x:1",
                                          "node\t7:1"};
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                CASE_LABEL("%zu of good: text \"%s\", host \"%s\", port %d", i, good[i].text ? good[i].text : "(none)",
                           good[i].host ? good[i].host : "(none)", good[i].port);
                struct host_port hp;
                char text[300];
                assert_int_equal(host_port_parse(good[i].text, &hp, NULL), 0);
                assert_string_equal(hp.host, good[i].host);
                assert_int_equal(hp.port, good[i].port);
                assert_string_equal(host_port_text(hp.host, hp.port, text, sizeof(text)), good[i].text);
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct host_port hp = {.port = -7};
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(host_port_parse(bad[i], &hp, &error), -EINVAL);
                assert_int_equal(hp.port, -7);
                assert_non_null(strstr(error_message(&error), bad[i]));
                error_deinit(&error);
        }
        char longest[400];
        memset(longest, 'a', sizeof(longest));
        memcpy(longest + 390, ":1", 3);
        struct host_port hp;
        assert_int_equal(host_port_parse(longest, &hp, NULL), -EINVAL);
}

static void connect_and_accept(const char *host)
{
        struct listen_options o = {.service = "test", .host = host};
        struct fst_error error = FST_ERROR_INIT;
        char text[300], own[300];
        int port = 0, fd = socket_listen(&o, &port, &error);
        if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT || fd == -ENOENT) {
                error_deinit(&error);
                return; /* a machine without IPv6 */
        }
        assert_true(fd >= 0);
        assert_true(port > 0);
        assert_int_equal(socket_accept(fd), -EAGAIN);
        int client = socket_connect(host && *host ? host : "127.0.0.1", port, 1000000000, NULL, &error);
        assert_true(client >= 0);
        assert_int_equal(socket_wait(fd, POLLIN, 1000000000, NULL), 1);
        int served = socket_accept(fd);
        assert_true(served >= 0);
        assert_string_equal(socket_name(client, false, own, sizeof(own)),
                            socket_name(served, true, text, sizeof(text)));
        assert_true(socket_is_within_host(client) && socket_is_within_host(served));
        assert_false(socket_is_within_host(fd));
        close(client);
        close(served);
        close(fd);
}

static void both_families(void **state)
{
        connect_and_accept("127.0.0.1");
        connect_and_accept("::1");
        connect_and_accept("localhost");
        connect_and_accept(NULL);
}

static void taken_ports(void **state)
{
        struct listen_options o = {.service = "test", .host = "127.0.0.1"};
        struct fst_error error = FST_ERROR_INIT;
        int port = 0, next = 0, fd = socket_listen(&o, &port, &error);
        assert_true(fd >= 0);
        log_set_level(LOG_OFF);
        o.port = port;
        assert_int_equal(socket_listen(&o, &next, &error), -EADDRINUSE);
        assert_non_null(strstr(error_message(&error), "spark.port.maxRetries"));
        assert_int_equal(next, 0);
        o.any_port = true; /* a free one, although no further one may be tried */
        int third = socket_listen(&o, &next, &error);
        assert_true(third >= 0);
        assert_true(next > 0 && next != port);
        close(third);
        o.any_port = false;
        o.max_retries = 16;
        int second = socket_listen(&o, &next, &error);
        assert_true(second >= 0);
        assert_true(next != port);
        assert_true(next >= 1024);
        error_deinit(&error);
        o = (struct listen_options){.service = "test", .host = "192.0.2.77"};
        assert_true(socket_listen(&o, &next, &error) < 0);
        assert_non_null(strstr(error_message(&error), "spark.driver.bindAddress"));
        close(fd);
        close(second);
        error_deinit(&error);
}

static const char *congestion_control(int fd, char name[static 16])
{
        socklen_t length = 15;
        memset(name, 0, 16);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
        return name;
}

/* Cubic, reno and others stay. */
static void bbr_is_not_used_within_a_host(void **state)
{
        struct listen_options o = {.service = "test", .host = "127.0.0.1"};
        char name[16], before[16];
        int port = 0, fd = socket_listen(&o, &port, NULL);
        assert_true(fd >= 0);
        int client = socket_connect("127.0.0.1", port, 1000000000, NULL, NULL);
        assert_true(client >= 0);
        congestion_control(client, before);
        (void)setsockopt(client, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3); /* if the kernel has it */
        const bool bbr = strcmp(congestion_control(client, name), "bbr") == 0;
        socket_end_pacing(client);
        assert_string_equal(congestion_control(client, name), bbr ? "reno" : before);
        assert_int_equal(socket_wait(fd, POLLIN, 1000000000, NULL), 1);
        int served = socket_accept(fd);
        assert_true(served >= 0);
        assert_string_not_equal(congestion_control(served, name), "bbr");
        close(client);
        close(served);
        close(fd);
}

static void refused_and_stopped(void **state)
{
        struct listen_options o = {.service = "test", .host = "127.0.0.1"};
        struct fst_error error = FST_ERROR_INIT;
        int port = 0, fd = socket_listen(&o, &port, &error);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(socket_connect("127.0.0.1", port, 1000000000, NULL, &error), -ECONNREFUSED);
        assert_non_null(strstr(error_message(&error), "127.0.0.1:"));
        assert_int_equal(socket_connect("no-such-host.invalid", 1, 1000000000, NULL, &error) < 0, 1);
        assert_non_null(strstr(error_message(&error), "no-such-host.invalid"));
        error_deinit(&error);
        int ends[2], stopped = 1;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        assert_int_equal(socket_wait(ends[0], POLLIN, -1, &stopped), -ECANCELED);
        assert_int_equal(socket_wait(ends[0], POLLIN, 1000000, NULL), 0);
        assert_int_equal(socket_wait(ends[0], POLLOUT, -1, NULL), 1);
        close(ends[0]);
        close(ends[1]);
}

static void own_name(void **state)
{
        setenv("SPARK_LOCAL_IP", "192.0.2.9", 1);
        _cleanup_free_ char *ip = socket_local_host();
        assert_string_equal(ip, "192.0.2.9");
        setenv("SPARK_LOCAL_HOSTNAME", "node9", 1);
        _cleanup_free_ char *name = socket_local_host();
        assert_string_equal(name, "node9");
        unsetenv("SPARK_LOCAL_IP");
        unsetenv("SPARK_LOCAL_HOSTNAME");
        _cleanup_free_ char *found = socket_local_host();
        assert_true(strlen(found) > 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(hosts_and_ports),     cmocka_unit_test(both_families), cmocka_unit_test(taken_ports),
                cmocka_unit_test(refused_and_stopped), cmocka_unit_test(own_name),
                cmocka_unit_test(bbr_is_not_used_within_a_host),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
