#include "mesos/executor/executor_session.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct executor_session begin(int64_t recovery_ms)
{
        struct executor_session s;
        executor_session_init(&s, recovery_ms, 2000, 7);
        executor_session_subscribed(&s);
        return s;
}

static void acknowledge(struct executor_session *s, const struct session_update *u)
{
        uint8_t uuid[EXECUTOR_UUID_LEN];
        memcpy(uuid, u->uuid, sizeof(uuid));
        char id[32];
        strcpy(id, u->task->id);
        executor_session_acknowledged(s, id, uuid, sizeof(uuid));
}

static void an_update_waits_for_the_acknowledgement_of_the_one_before(void **state)
{
        struct executor_session s = begin(0);

        assert_true(executor_session_launched(&s, "1", (const uint8_t *)"x", 1, 1));
        assert_true(executor_session_launched(&s, "2", (const uint8_t *)"y", 1, 1));
        assert_false(executor_session_launched(&s, "1", (const uint8_t *)"x", 1, 1));
        executor_session_ended(&s, "1", MESOS_TASK_FINISHED, NULL, 2);
        executor_session_ended(&s, "1", MESOS_TASK_FAILED, NULL, 3); /* it has ended already */
        executor_session_ended(&s, "9", MESOS_TASK_FAILED, NULL, 3); /* nobody knows it */
        struct session_update *first = executor_session_next(&s), *second = executor_session_next(&s);
        assert_string_equal(first->task->id, "1");
        assert_int_equal(first->state, MESOS_TASK_RUNNING);
        assert_int_equal(first->uuid[6] >> 4, 4);
        assert_int_equal(first->uuid[8] >> 6, 2);
        assert_string_equal(second->task->id, "2");
        assert_null(executor_session_next(&s));
        executor_session_acknowledged(&s, "1", second->uuid, EXECUTOR_UUID_LEN); /* of another task */
        executor_session_acknowledged(&s, "1", first->uuid, 3);
        assert_null(executor_session_next(&s));
        acknowledge(&s, first);
        struct session_update *end = executor_session_next(&s);
        assert_string_equal(end->task->id, "1");
        assert_int_equal(end->state, MESOS_TASK_FINISHED);
        acknowledge(&s, end);
        acknowledge(&s, second);
        assert_true(executor_session_is_settled(&s));
        assert_string_equal(s.tasks.first->id, "2");
        assert_null(s.tasks.first->next);
        executor_session_deinit(&s);
}

static void updates_are_sent_again_after_a_subscription(void **state)
{
        struct executor_session s = begin(1000);

        executor_session_launched(&s, "1", (const uint8_t *)"x", 1, 1);
        struct session_update *u = executor_session_next(&s);
        assert_null(executor_session_next(&s));
        executor_session_unsent(&s, u->uuid);
        assert_ptr_equal(executor_session_next(&s), u);
        assert_true(executor_session_broken(&s, 100));
        assert_true(s.retry_at > 100 && s.retry_at <= 200);
        executor_session_ended(&s, "1", MESOS_TASK_FINISHED, NULL, 2);
        assert_null(executor_session_next(&s));
        executor_session_subscribed(&s);
        assert_ptr_equal(executor_session_next(&s), u);
        assert_null(executor_session_next(&s));
        acknowledge(&s, u);
        assert_int_equal(executor_session_next(&s)->state, MESOS_TASK_FINISHED);
        executor_session_deinit(&s);
}

static void gives_up_when_the_agent_stays_away(void **state)
{
        struct executor_session s = begin(1000);
        int64_t now = 5000;

        for (int i = 0; i < 100 && executor_session_broken(&s, now); i++) {
                assert_true(s.retry_at >= now && s.retry_at <= now + 2000);
                now = s.retry_at;
        }
        assert_true(executor_session_gave_up(&s, now));
        assert_true(now >= 6000 && now <= 8000);
        assert_int_equal(executor_session_deadline(&s), 6000);
        executor_session_subscribed(&s);
        assert_int_equal(executor_session_deadline(&s), INT64_MAX);
        assert_false(executor_session_gave_up(&s, now + 100000));
        executor_session_deinit(&s);
        s = begin(0);
        assert_false(executor_session_broken(&s, 1));
        executor_session_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_update_waits_for_the_acknowledgement_of_the_one_before),
                cmocka_unit_test(updates_are_sent_again_after_a_subscription),
                cmocka_unit_test(gives_up_when_the_agent_stays_away),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
