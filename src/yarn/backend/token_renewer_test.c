/* The renewer of delegation tokens against a simulated namenode: tokens come again and again before they expire, also
 * after a failure. `make check-yarn-kerberos` runs it with real tickets and tokens. */
#include "yarn/backend/token_renewer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "hadoop/credentials.h"
#include "net/http/http_fixture.h"
#include "yarn/conf/yarn_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define INTERVAL_MS 400
#define LIMIT_MS 60000

static struct http_fixture server;
static struct fst_conf conf;
static struct yarn_conf yarn;
static atomic_int refusals; /* requests that still fail */
static atomic_int fetched;  /* tokens given */

static const char *no_variable(const char *name)
{
        return NULL;
}

static void put_time(struct buf *out, int64_t ms)
{
        buf_putc(out, (char)0x8a); /* six bytes follow */
        for (int shift = 40; shift >= 0; shift -= 8)
                buf_putc(out, (char)(ms >> shift));
}

static void serve(struct fixture_exchange *x)
{
        struct hadoop_token token = {.kind = "", .service = ""};
        if (refusals > 0) {
                refusals--;
                return fixture_answer(x, 403, "",
                                      "{\"RemoteException\": {\"exception\": \"IOException\", \"message\": "
                                      "\"not now\"}}");
        }
        if (strstr(x->target, "RENEWDELEGATIONTOKEN")) {
                _cleanup_free_ char *text = mem_printf("{\"long\": %lld}", (long long)time_of_day_ms() + INTERVAL_MS);
                return fixture_answer(x, 200, "", text);
        }
        fetched++;
        buf_append(&token.identifier, "\0\5alice\2rm\0", 11);
        put_time(&token.identifier, time_of_day_ms());
        put_time(&token.identifier, time_of_day_ms() + 1000000);
        buf_append(&token.identifier, "\1\2", 2);
        _cleanup_free_ char *text = hadoop_token_to_text(&token);
        _cleanup_free_ char *body = mem_printf("{\"Token\": {\"urlString\": \"%s\"}}", text);
        fixture_answer(x, 200, "", body);
        buf_deinit(&token.identifier);
}

static void on_tokens(void *owner, const void *stream, size_t len)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        assert_int_equal(hadoop_credentials_read(&c, stream, len, NULL), 0);
        assert_int_equal(c.tokens.len, 1);
        ++*(int *)owner;
}

static void on_tick(uv_timer_t *timer)
{
}

/* Runs the renewer until it has delivered tokens @wanted times. */
static void deliver(int wanted)
{
        struct token_renewer *renewer;
        struct fst_error error = FST_ERROR_INIT;
        uv_loop_t loop;
        uv_timer_t tick;
        int delivered = 0;
        const int64_t end = now_ms() + LIMIT_MS;
        uv_loop_init(&loop);
        uv_timer_init(&loop, &tick);
        uv_timer_start(&tick, on_tick, 50, 50);
        if (token_renewer_new(&loop, &conf, &yarn, on_tokens, &delivered, &renewer, &error) < 0)
                fail_msg("%s", error_message(&error));
        while (delivered < wanted && now_ms() < end)
                uv_run(&loop, UV_RUN_ONCE);
        assert_true(delivered >= wanted);
        token_renewer_close(renewer);
        token_renewer_close(NULL);
        uv_close((uv_handle_t *)&tick, NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
}

static void delivers_tokens_before_they_expire(void **state)
{
        const int64_t start = now_ms();
        deliver(4);
        assert_true(now_ms() - start >= 3 * INTERVAL_MS / 2); /* three times three quarters of the interval, or more */
}

static void tries_again_after_a_failure(void **state)
{
        refusals = 2;
        fetched = 0;
        deliver(1);
        assert_int_equal(refusals, 0);
}

static void refuses_settings_that_cannot_work(void **state)
{
        struct token_renewer *renewer;
        struct fst_error error = FST_ERROR_INIT;
        uv_loop_t loop;
        bool wanted;
        uv_loop_init(&loop);
        conf_set(&conf, "spark.kerberos.principal", "alice@R");
        assert_int_equal(token_renewer_new(&loop, &conf, &yarn, on_tokens, NULL, &renewer, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "Both principal and keytab must be defined, or neither."));
        conf_set(&conf, "spark.kerberos.renewal.credentials", "both");
        assert_int_equal(token_renewer_wanted(&conf, &yarn, &wanted, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "keytab or ccache"));
        conf_set(&conf, "spark.kerberos.renewal.credentials", "keytab");
        assert_int_equal(token_renewer_wanted(&conf, &yarn, &wanted, &error), 0);
        assert_true(wanted);
        hadoop_conf_set(&yarn.hadoop, "hadoop.security.authentication", "simple");
        assert_int_equal(token_renewer_wanted(&conf, &yarn, &wanted, &error), 0);
        assert_false(wanted);
        error_deinit(&error);
        uv_loop_close(&loop);
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        _cleanup_free_ char *root = mem_printf("webhdfs://127.0.0.1:%d", server.port);
        conf_init(&conf);
        conf_set(&conf, "spark.kerberos.renewal.credentials", "ccache");
        conf_set(&conf, "spark.security.credentials.retryWait", "1s");
        hadoop_conf_init(&yarn.hadoop, no_variable);
        hadoop_conf_set(&yarn.hadoop, "hadoop.security.authentication", "kerberos");
        hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.principal", "rm/h@R");
        hadoop_conf_set(&yarn.hadoop, "fs.defaultFS", root);
        return 0;
}

static int stop(void **state)
{
        http_fixture_stop(&server);
        hadoop_conf_deinit(&yarn.hadoop);
        conf_deinit(&conf);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(delivers_tokens_before_they_expire),
                cmocka_unit_test(tries_again_after_a_failure),
                cmocka_unit_test(refuses_settings_that_cannot_work),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
