/* The filter accepts requests through YARN's proxy and takes their user. */
#include "web/am_ip_filter.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct am_ip_filter *filter_of(const char *hosts)
{
        struct am_ip_filter *f;
        assert_int_equal(am_ip_filter_new(hosts, "http://rm:8088/proxy/a", NULL, 0, &f, NULL), 0);
        return f;
}

static void knows_the_proxy(void **state)
{
        static const struct {
                const char *hosts, *peer;
                bool is_proxy;
        } rows[] = {
                {"10.1.2.3", "10.1.2.3:4000", true},
                {"10.1.2.3", "10.1.2.30:4000", false},
                {"10.1.2.3", "10.1.2.3", true},
                {"10.9.9.9, 10.1.2.3", "10.1.2.3:1", true},
                {"::1", "[::1]:4000", true},
                {"10.1.2.3", "[::ffff:10.1.2.3]:4000", true},
                {"10.1.2.3", "[::ffff:10.1.2.4]:4000", false},
                {"localhost", "127.0.0.1:4000", true},
                {"127.0.0.1", "socket", false},
                {"127.0.0.1", "", false},
                {"no.such.host.invalid", "127.0.0.1:4000", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct am_ip_filter *f = filter_of(rows[i].hosts);
                if (am_ip_filter_is_proxy(f, rows[i].peer, 1) != rows[i].is_proxy)
                        fail_msg("%s from %s", rows[i].peer, rows[i].hosts);
                assert_int_equal(am_ip_filter_is_proxy(f, rows[i].peer, 1000), rows[i].is_proxy); /* resolved again */
                am_ip_filter_free(f);
        }
}

static void reads_the_user(void **state)
{
        static const struct {
                const char *cookies, *user;
        } rows[] = {
                {NULL, NULL},
                {"", NULL},
                {"proxy-user=alice", "alice"},
                {"a=b; proxy-user=al%40ice; c=d", "al@ice"},
                {"my-proxy-user=alice", NULL},
                {"proxy-user=", NULL},
                {"proxy-user=%00", NULL},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_free_ char *user = am_ip_filter_user(rows[i].cookies);
                if (rows[i].user)
                        assert_string_equal(user, rows[i].user);
                else
                        assert_null(user);
        }
}

static void redirects_to_the_proxy(void **state)
{
        struct am_ip_filter *f = filter_of("rm.invalid");
        _cleanup_free_ char *page = am_ip_filter_location(f, "/jobs/job/", "id=1");
        _cleanup_free_ char *plain = am_ip_filter_location(f, "/", "");
        assert_string_equal(page, "http://rm:8088/proxy/a/jobs/job/?id=1");
        assert_string_equal(plain, "http://rm:8088/proxy/a/");
        am_ip_filter_free(f);
}

/* Nothing listens there, so the first one stays: the one that RM_HA_URLS names first. */
static void asks_the_managers_in_their_order(void **state)
{
        static const struct {
                const char *managers, *expected;
        } rows[] = {
                {NULL, "http://127.0.0.1:1/proxy/a/"},
                {"", "http://127.0.0.1:1/proxy/a/"},
                {"127.0.0.1:2,127.0.0.1:1", "http://127.0.0.1:2/proxy/a/"},
                {"127.0.0.1:2", "http://127.0.0.1:2/proxy/a/"},
                {"127.0.0.1:3", "http://127.0.0.1:1/proxy/a/"},
                {"127.0.0.1:20,127.0.0.1:2", "http://127.0.0.1:2/proxy/a/"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct am_ip_filter *f;
                assert_int_equal(am_ip_filter_new("127.0.0.1", "http://127.0.0.1:1/proxy/a,http://127.0.0.1:2/proxy/a",
                                                  rows[i].managers, 0, &f, NULL),
                                 0);
                _cleanup_free_ char *page = am_ip_filter_location(f, "/", "");
                assert_string_equal(page, rows[i].expected);
                am_ip_filter_free(f);
        }
}

static void rejects_a_filter_without_proxy(void **state)
{
        static const struct {
                const char *hosts, *bases, *missing;
        } rows[] = {{NULL, "http://rm/", "PROXY_HOSTS"},
                    {"", "http://rm/", "PROXY_HOSTS"},
                    {"rm", NULL, "PROXY_URI_BASES"}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct am_ip_filter *f = NULL;
                assert_int_equal(am_ip_filter_new(rows[i].hosts, rows[i].bases, NULL, 0, &f, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), rows[i].missing));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(knows_the_proxy),
                cmocka_unit_test(reads_the_user),
                cmocka_unit_test(redirects_to_the_proxy),
                cmocka_unit_test(asks_the_managers_in_their_order),
                cmocka_unit_test(rejects_a_filter_without_proxy),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
