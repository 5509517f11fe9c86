/* The cases of Spark's BarrierTaskContextSuite and BarrierCoordinatorSuite, and the wait for executors. */
#include "sched/barrier_coordinator.h"
#include "sched/tasks/registered_resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct answers {
        int replies, failures;
        char text[256]; /* messages of the last reply, or the last failure */
};

/* Takes all actions out. */
static void run(struct barrier_coordinator *c, struct answers *a)
{
        for (const struct barrier_action *action; (action = barrier_coordinator_next_action(c));) {
                a->text[0] = 0;
                if (action->failure) {
                        a->failures += action->n;
                        snprintf(a->text, sizeof(a->text), "%s", action->failure);
                        continue;
                }
                a->replies += action->n;
                for (int i = 0; i < action->n; i++) {
                        const struct barrier_message *m = &action->messages[i];

                        strncat(a->text, m->data ? m->data : "-", m->data ? m->len : 1);
                }
        }
}

static struct barrier_request request(int index, int epoch, const char *message)
{
        return (struct barrier_request){.stage = 3,
                                        .stage_attempt = 0,
                                        .n_tasks = 3,
                                        .index = index,
                                        .task_id = 10 + index,
                                        .epoch = epoch,
                                        .method = BARRIER_ALL_GATHER,
                                        .message = {message, strlen(message)}};
}

static void ask(struct barrier_coordinator *c, struct answers *a, int index, int epoch, const char *message,
                int64_t now)
{
        struct barrier_request r = request(index, epoch, message);

        barrier_coordinator_request(c, &r, now);
        run(c, a);
}

static void all_get_all_messages_again_and_again(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(1000);

        for (int epoch = 0; epoch < 3; epoch++) {
                ask(c, &a, 2, epoch, "c", 0);
                ask(c, &a, 0, epoch, "", 0);
                assert_int_equal(a.replies, 3 * epoch);
                ask(c, &a, 1, epoch, "b", 0);
                assert_int_equal(a.replies, 3 * epoch + 3);
                assert_string_equal(a.text, "-bc");
        }
        assert_int_equal(barrier_coordinator_deadline(c), INT64_MAX);
        barrier_coordinator_free(c);
}

static void who_waits_too_long_fails(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(INT64_C(2000000000));

        ask(c, &a, 0, 0, "a", 100);
        ask(c, &a, 1, 0, "b", 500);
        assert_int_equal(barrier_coordinator_deadline(c), INT64_C(2000000100));
        barrier_coordinator_tick(c, INT64_C(2000000099));
        run(c, &a);
        assert_int_equal(a.failures, 0);
        barrier_coordinator_tick(c, INT64_C(2000000100));
        run(c, &a);
        assert_int_equal(a.failures, 2);
        assert_string_equal(a.text, "The coordinator didn't get all barrier sync requests for barrier epoch 0 from "
                                    "Stage 3 (Attempt 0) within 2 second(s).");
        barrier_coordinator_free(c);
}

static void late_and_odd_requests_fail_alone(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(1000);
        struct barrier_request odd = request(1, 0, "x");

        ask(c, &a, 0, 0, "a", 0);
        ask(c, &a, 0, 0, "a", 0);
        assert_int_equal(a.failures, 1);
        ask(c, &a, 1, 7, "b", 0);
        assert_string_equal(a.text, "The request to sync of Stage 3 (Attempt 0) with barrier epoch 7 has already "
                                    "finished. Maybe task 11 is not properly killed.");
        odd.n_tasks = 4;
        barrier_coordinator_request(c, &odd, 0);
        run(c, &a);
        assert_string_equal(a.text, "Number of tasks of Stage 3 (Attempt 0) is 4 from Task 11, previously it was 3.");
        odd.n_tasks = 0;
        barrier_coordinator_request(c, &odd, 0);
        run(c, &a);
        assert_int_equal(a.failures, 4);
        ask(c, &a, 1, 0, "b", 0);
        ask(c, &a, 2, 0, "c", 0);
        assert_int_equal(a.replies, 3);
        barrier_coordinator_free(c);
}

static void two_kinds_of_meeting_fail_all(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(1000);
        struct barrier_request other = request(1, 0, "");

        ask(c, &a, 0, 0, "a", 0);
        other.method = BARRIER_BARRIER;
        barrier_coordinator_request(c, &other, 0);
        run(c, &a);
        assert_int_equal(a.failures, 2);
        assert_non_null(strstr(a.text, "Different barrier sync types found"));
        barrier_coordinator_free(c);
}

static void the_end_of_the_stage_fails_who_waits(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(1000);

        ask(c, &a, 0, 0, "a", 0);
        barrier_coordinator_stage_end(c, 3, 1);
        run(c, &a);
        assert_int_equal(a.failures, 0);
        barrier_coordinator_stage_end(c, 3, -1);
        run(c, &a);
        assert_int_equal(a.failures, 1);
        ask(c, &a, 0, 0, "a", 0); /* a new meeting */
        assert_int_equal(a.failures, 1);
        barrier_coordinator_free(c);
}

static void drops_replies_that_nobody_took(void **state)
{
        struct answers a = {0};
        struct barrier_coordinator *c = barrier_coordinator_new(1000);
        struct barrier_request odd = request(1, 0, "x");

        for (int i = 0; i < 3; i++) {
                struct barrier_request r = request(i, 0, "abc");

                barrier_coordinator_request(c, &r, 0);
        }
        barrier_coordinator_stage_end(c, 3, 0); /* no task waits: no reply */
        run(c, &a);
        assert_int_equal(a.replies, 3);
        assert_int_equal(a.failures, 0);
        odd.n_tasks = -1;
        barrier_coordinator_request(c, &odd, 0);
        barrier_coordinator_free(c);
}

static void offers_wait_for_enough_executors(void **state)
{
        struct registered_resources r;

        registered_resources_init(&r, 0.8, 30, 100);
        assert_false(registered_resources_ready(&r, 7, 10, 129));
        assert_int_equal(registered_resources_deadline(&r), 130);
        assert_true(registered_resources_ready(&r, 8, 10, 129));
        assert_true(registered_resources_ready(&r, 0, 10, 129)); /* the meeting stays */
        registered_resources_init(&r, 0.8, 30, 100);
        assert_true(registered_resources_ready(&r, 0, 10, 130));
        registered_resources_init(&r, 0, 30, 100);
        assert_true(registered_resources_ready(&r, 0, 10, 100));
        assert_int_equal(registered_resources_deadline(&r), INT64_MAX);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(all_get_all_messages_again_and_again),
                cmocka_unit_test(who_waits_too_long_fails),
                cmocka_unit_test(late_and_odd_requests_fail_alone),
                cmocka_unit_test(two_kinds_of_meeting_fail_all),
                cmocka_unit_test(the_end_of_the_stage_fails_who_waits),
                cmocka_unit_test(drops_replies_that_nobody_took),
                cmocka_unit_test(offers_wait_for_enough_executors),
        };

        return cmocka_run_group_tests_name("sched/barrier_coordinator", tests, NULL, NULL);
}
