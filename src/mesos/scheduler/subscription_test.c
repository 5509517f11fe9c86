/* Tests when a framework subscribes, with whom, and when it gives up. */
#include "mesos/scheduler/subscription.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define S 1000000000LL

/* Begins a subscription whose stream to "m:1" is being opened at 0. */
static struct subscription opening(void)
{
        struct subscription s;

        subscription_init(&s, 7);
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_WAIT);
        subscription_set_leader(&s, "m:1", 0);
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_SUBSCRIBE);
        assert_string_equal(s.target, "m:1");
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_WAIT);
        return s;
}

static struct subscription open_subscription(void)
{
        struct subscription s = opening();

        subscription_subscribed(&s, 15, 0);
        return s;
}

static void answer(struct subscription *s, int status, const char *location, const char *text, int64_t now)
{
        subscription_answered(s, &(struct subscription_answer){.status = status, .location = location, .text = text},
                              now);
}

static void missing_heartbeats_break_the_stream(void **state)
{
        struct subscription s = open_subscription();

        assert_int_equal(subscription_next(&s, 75 * S - 1), SUBSCRIPTION_WAIT);
        subscription_received(&s, 60 * S);
        assert_int_equal(subscription_next(&s, 135 * S - 1), SUBSCRIPTION_WAIT);
        assert_int_equal(subscription_next(&s, 135 * S), SUBSCRIPTION_CLOSE);
        assert_non_null(strstr(s.trouble, "heartbeats are missing"));
        assert_int_equal(subscription_next(&s, 135 * S), SUBSCRIPTION_WAIT);
        assert_true(s.deadline > 135 * S && s.deadline <= 135 * S + S / 5);
        assert_int_equal(subscription_next(&s, s.deadline), SUBSCRIPTION_SUBSCRIBE);
        subscription_deinit(&s);
}

static void rests_grow_to_ten_seconds(void **state)
{
        struct subscription s = opening();
        int64_t now = 0, most = S / 5;

        for (int i = 0; i < 20; i++) {
                if (i % 2)
                        answer(&s, 503, NULL, "", now);
                else
                        subscription_broken(&s, "connection refused", now);
                assert_int_equal(subscription_next(&s, now), SUBSCRIPTION_WAIT);
                assert_true(s.deadline - now >= most / 2 && s.deadline - now <= most);
                now = s.deadline;
                assert_int_equal(subscription_next(&s, now), SUBSCRIPTION_SUBSCRIBE);
                most = 2 * most > 10 * S ? 10 * S : 2 * most;
        }
        subscription_subscribed(&s, 15, now);
        subscription_broken(&s, "reset", now);
        assert_true(s.deadline - now <= S / 5);
        subscription_deinit(&s);
}

static void redirections_are_followed_but_not_for_ever(void **state)
{
        struct subscription s = opening();

        answer(&s, 307, "//n:2/master/api/v1/scheduler", "", 0);
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_SUBSCRIBE);
        assert_string_equal(s.target, "n:2");
        for (int i = 0; i < 4; i++) {
                answer(&s, 307, "http://m:1/api/v1/scheduler", "", 0);
                assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_SUBSCRIBE);
        }
        answer(&s, 307, "//n:2/x", "", 0);
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_WAIT);
        assert_non_null(strstr(s.trouble, "redirect to each other"));
        assert_int_equal(subscription_next(&s, s.deadline), SUBSCRIPTION_SUBSCRIBE);
        assert_string_equal(s.target, "m:1");
        answer(&s, 307, NULL, "", 0);
        assert_non_null(strstr(s.trouble, "without an address"));
        subscription_deinit(&s);
}

static void another_leader_gets_the_framework_at_once(void **state)
{
        struct subscription s = open_subscription();

        subscription_set_leader(&s, NULL, S); /* the stream may still live */
        assert_int_equal(subscription_next(&s, S), SUBSCRIPTION_WAIT);
        subscription_set_leader(&s, "m:1", S);
        assert_int_equal(subscription_next(&s, S), SUBSCRIPTION_WAIT);
        subscription_set_leader(&s, "n:2", 2 * S);
        assert_int_equal(subscription_next(&s, 2 * S), SUBSCRIPTION_CLOSE);
        assert_int_equal(subscription_next(&s, 2 * S), SUBSCRIPTION_SUBSCRIBE);
        assert_string_equal(s.target, "n:2");
        subscription_deinit(&s);
}

static void without_a_leader_nothing_is_tried(void **state)
{
        struct subscription s = open_subscription();

        subscription_broken(&s, "reset", 0);
        subscription_set_leader(&s, NULL, 0);
        assert_int_equal(subscription_next(&s, 3600 * S), SUBSCRIPTION_WAIT);
        assert_true(s.deadline == INT64_MAX);
        subscription_set_leader(&s, "m:1", 3600 * S);
        assert_int_equal(subscription_next(&s, 3600 * S), SUBSCRIPTION_SUBSCRIBE);
        subscription_deinit(&s);
}

static void a_silent_master_is_left(void **state)
{
        struct subscription s = opening();

        assert_int_equal(subscription_next(&s, 60 * S), SUBSCRIPTION_CLOSE);
        assert_int_equal(subscription_next(&s, 60 * S), SUBSCRIPTION_WAIT);
        assert_int_equal(subscription_next(&s, s.deadline), SUBSCRIPTION_SUBSCRIBE);
        subscription_deinit(&s);
}

static void refusals_name_the_remedy(void **state)
{
        static const struct {
                int status;
                const char *text, *principal, *message;
                bool has_secret;
        } cases[] = {
                {401, "", "spark",
                 "does not accept the principal \"spark\" with the given secret: set "
                 "spark.mesos.principal and spark.mesos.secret",
                 true},
                {401, "", "spark", "wants a secret of the principal \"spark\": set spark.mesos.principal and"},
                {401, "", NULL, "wants a principal and a secret"},
                {403, "Not authorized to use roles", NULL, "(Not authorized to use roles): change"},
                {404, "", NULL, "check the host and the port in spark.master"},
                {400, "Failed to parse body into a protobuf object", NULL,
                 "is not a Mesos master, but perhaps an agent (HTTP status 400: Failed to parse body into a protobuf object)"},
                {400, "<!DOCTYPE html>", NULL, "is not a Mesos master (HTTP status 400): check the host"},
                {415, "{\n  \"action\" : \"ErrorResponse\"", NULL, "is not a Mesos master (HTTP status 415): check"},
                {400, "Authenticated principal 'a' does not match", NULL,
                 "HTTP status 400: Authenticated principal 'a' does not match"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct subscription s = opening();
                subscription_answered(&s,
                                      &(struct subscription_answer){.status = cases[i].status,
                                                                    .text = cases[i].text,
                                                                    .principal = cases[i].principal,
                                                                    .has_secret = cases[i].has_secret},
                                      0);
                assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_FAIL);
                assert_non_null(strstr(s.failure, cases[i].message));
                assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_WAIT);
                subscription_deinit(&s);
        }
}

static void an_ended_framework_stays_ended(void **state)
{
        struct subscription s = open_subscription();

        subscription_fail(&s, "Framework has been removed");
        subscription_fail(&s, "second");
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_CLOSE);
        assert_int_equal(subscription_next(&s, 0), SUBSCRIPTION_FAIL);
        assert_string_equal(s.failure, "Framework has been removed");
        subscription_set_leader(&s, "n:2", S);
        subscription_broken(&s, "reset", S);
        answer(&s, 503, NULL, "", S);
        subscription_subscribed(&s, 15, S);
        assert_int_equal(subscription_next(&s, 3600 * S), SUBSCRIPTION_WAIT);
        subscription_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(missing_heartbeats_break_the_stream),
                cmocka_unit_test(rests_grow_to_ten_seconds),
                cmocka_unit_test(redirections_are_followed_but_not_for_ever),
                cmocka_unit_test(another_leader_gets_the_framework_at_once),
                cmocka_unit_test(without_a_leader_nothing_is_tried),
                cmocka_unit_test(a_silent_master_is_left),
                cmocka_unit_test(refusals_name_the_remedy),
                cmocka_unit_test(an_ended_framework_stays_ended),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
