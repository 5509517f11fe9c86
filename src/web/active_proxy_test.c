/* The active one of several ResourceManagers is found: standbys, refusals, servers that are gone or silent. */
#include "web/active_proxy.h"

#include "base/mem.h"
#include "base/string_list.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define ACTIVE                                                                                                         \
        "HTTP/1.1 200 OK\r\nContent-Length: 38\r\nConnection: close\r\n\r\n{\"clusterInfo\":{\"haState\":\"ACTIVE\"}}  "
#define STANDBY                                                                                                        \
        "HTTP/1.1 200 OK\r\nContent-Length: 38\r\nConnection: close\r\n\r\n{\"clusterInfo\":{\"haState\":\"STANDBY\"}} "
#define REFUSES "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
#define DAMAGED "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n{\"a\""
#define SILENT ""

/* Answers each request with the same text; SILENT accepts no connection. */
struct fake_manager {
        int listener;
        const char *answer;
        char base[64];
        int requests; /* atomic */
        char first[64];
        pthread_t thread;
};

static void *manager_main(void *context)
{
        struct fake_manager *m = context;
        for (int fd; (fd = accept(m->listener, NULL, NULL)) >= 0; close(fd)) {
                char text[4096];
                size_t n = 0;
                ssize_t got = 0;
                while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0) {
                        n += (size_t)got;
                        text[n] = '\0';
                        if (strstr(text, "\r\n\r\n"))
                                break;
                }
                if (got <= 0)
                        continue;
                snprintf(m->first, sizeof(m->first), "%.*s", (int)strcspn(text, "\r"), text);
                __atomic_add_fetch(&m->requests, 1, __ATOMIC_RELEASE);
                send(fd, m->answer, strlen(m->answer), MSG_NOSIGNAL);
        }
        return NULL;
}

static void manager_start(struct fake_manager *m, const char *answer)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof(a);
        *m = (struct fake_manager){.answer = answer, .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        assert_int_equal(bind(m->listener, (struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(listen(m->listener, 8), 0);
        getsockname(m->listener, (struct sockaddr *)&a, &len);
        snprintf(m->base, sizeof(m->base), "http://127.0.0.1:%d/proxy/application_1_0002", ntohs(a.sin_port));
        if (*answer)
                assert_int_equal(pthread_create(&m->thread, NULL, manager_main, m), 0);
}

static void manager_stop(struct fake_manager *m)
{
        shutdown(m->listener, SHUT_RDWR);
        if (*m->answer)
                pthread_join(m->thread, NULL);
        close(m->listener);
}

/* A caller waits for a second only: on a busy machine the search may take longer, so it asks again until it has ended.
 */
static const char *base_found(struct active_proxy *p, const char *expected)
{
        const char *base = active_proxy_base(p);
        for (int i = 0; i < 120 && strcmp(base, expected) != 0; i++) {
                sleep(1);
                base = active_proxy_base(p);
        }
        return base;
}

static void finds_the_active_one(void **state)
{
        static const struct {
                const char *answers[3];
                int expected;
        } rows[] = {
                {{ACTIVE, STANDBY, STANDBY}, 0},  {{STANDBY, ACTIVE, STANDBY}, 1},  {{STANDBY, STANDBY, ACTIVE}, 2},
                {{REFUSES, STANDBY, ACTIVE}, 2},  {{STANDBY, REFUSES, REFUSES}, 1}, {{DAMAGED, STANDBY, ACTIVE}, 2},
                {{STANDBY, STANDBY, STANDBY}, 0},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct fake_manager managers[3];
                _cleanup_(string_list_deinit) struct string_list bases = {0};
                for (int k = 0; k < 3; k++) {
                        manager_start(&managers[k], rows[i].answers[k]);
                        string_list_add(&bases, managers[k].base);
                }
                struct active_proxy *p = active_proxy_new(&bases);
                assert_string_equal(base_found(p, managers[rows[i].expected].base), managers[rows[i].expected].base);
                while (!__atomic_load_n(&managers[0].requests, __ATOMIC_ACQUIRE))
                        usleep(10000);
                active_proxy_free(p);
                assert_string_equal(managers[0].first, "GET /ws/v1/cluster/info HTTP/1.1");
                for (int k = 0; k < 3; k++)
                        manager_stop(&managers[k]);
        }
}

static void passes_over_one_that_is_gone(void **state)
{
        struct fake_manager gone, active;
        _cleanup_(string_list_deinit) struct string_list bases = {0};
        manager_start(&gone, STANDBY);
        manager_stop(&gone);
        manager_start(&active, ACTIVE);
        string_list_add(&bases, gone.base);
        string_list_add(&bases, active.base);
        struct active_proxy *p = active_proxy_new(&bases);
        assert_string_equal(base_found(p, active.base), active.base);
        const int asked = __atomic_load_n(&active.requests, __ATOMIC_RELAXED);
        assert_string_equal(active_proxy_base(p), active.base);
        assert_in_range(__atomic_load_n(&active.requests, __ATOMIC_RELAXED), asked, asked + 1);
        active_proxy_free(p);
        manager_stop(&active);
}

/* The last result stays while the search waits for a silent one. */
static void does_not_wait_for_a_silent_one(void **state)
{
        struct fake_manager silent, active;
        _cleanup_(string_list_deinit) struct string_list bases = {0};
        manager_start(&silent, SILENT);
        manager_start(&active, ACTIVE);
        string_list_add(&bases, silent.base);
        string_list_add(&bases, active.base);
        struct active_proxy *p = active_proxy_new(&bases);
        const char *first = active_proxy_base(p); /* on a busy machine, the search may have ended */
        assert_true(strcmp(first, silent.base) == 0 || strcmp(first, active.base) == 0);
        assert_string_equal(base_found(p, active.base), active.base);
        active_proxy_free(p);
        manager_stop(&silent);
        manager_stop(&active);
}

static void asks_nobody_about_a_single_one(void **state)
{
        struct fake_manager m;
        _cleanup_(string_list_deinit) struct string_list bases = {0};
        manager_start(&m, STANDBY);
        string_list_add(&bases, m.base);
        struct active_proxy *p = active_proxy_new(&bases);
        assert_string_equal(active_proxy_base(p), m.base);
        active_proxy_free(p);
        active_proxy_free(NULL);
        manager_stop(&m);
        assert_int_equal(m.requests, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_the_active_one),
                cmocka_unit_test(passes_over_one_that_is_gone),
                cmocka_unit_test(does_not_wait_for_a_silent_one),
                cmocka_unit_test(asks_nobody_about_a_single_one),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
