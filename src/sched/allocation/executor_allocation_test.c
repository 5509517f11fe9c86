/* The target: initial value, growth in doubling steps, one target for each profile, and the contents of requests. */
#include "sched/allocation/executor_allocation_fixture.h"

#include <string.h>

static void the_initial_number_is_requested(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(b.requests, 1);
        assert_int_equal(b.target, 1);
        assert_int_equal(bench_killed(&b), 0);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void targets_grow_exponentially_to_the_limit(void **state)
{
        static const int deltas[] = {1, 2, 4, 2, 0}, targets[] = {2, 4, 8, 10, 10}, steps[] = {2, 4, 8, 1, 1};
        struct bench b = {0};

        bench_start(&b, 1, 10, 1);
        submit_stage(&b, 0, 1000);
        assert_int_equal(bench_step(&b), 1);
        for (size_t i = 0; i < ARRAY_SIZE(deltas); i++) {
                assert_int_equal(bench_grow(&b), deltas[i]);
                assert_int_equal(bench_target(&b), targets[i]);
                assert_int_equal(bench_step(&b), steps[i]);
                assert_int_equal(b.target, targets[i]);
        }
        add_executors(&b, 1, 4);
        add_executors(&b, 1, 2); /* reported twice */
        assert_int_equal(bench_target(&b), 10);
        assert_int_equal(bench_grow(&b), 0);
        assert_int_equal(bench_target(&b), 10);
        assert_int_equal(bench_step(&b), 1);
        bench_end(&b);
}

static void profiles_grow_each_for_itself(void **state)
{
        static const int targets[] = {2, 4, 8, 10, 10}, steps[] = {2, 4, 8, 1, 1};
        struct bench b = {0};

        bench_start(&b, 1, 10, 1);
        submit_stage(&b, 0, 1000);
        submit_stage_for(&b, 1, 1000, 1, 4);
        assert_int_equal(executor_allocation_target(b.a, 1), 1);
        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                bench_grow(&b);
                assert_int_equal(bench_target(&b), targets[i]);
                assert_int_equal(bench_step(&b), steps[i]);
                assert_int_equal(executor_allocation_target(b.a, 1), targets[i]);
                assert_int_equal(executor_allocation_step(b.a, 1), steps[i]);
        }
        for (int e = 1; e <= 4; e++) {
                add_executor(&b, e);
                executor_monitor_added(b.m, 10 + e, NULL, 1, b.now);
        }
        assert_int_equal(bench_grow(&b), 0);
        assert_int_equal(bench_target(&b), 10);
        assert_int_equal(executor_allocation_target(b.a, 1), 10);
        assert_int_equal(executor_allocation_sums(b.a).target, 20);
        assert_int_equal(executor_allocation_sums(b.a).to_add, 2);
        assert_int_equal(executor_allocation_sums(b.a).need, 1000 + 250);
        bench_end(&b);
}

static void a_new_profile_requests_its_initial_number(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 2);
        submit_stage_for(&b, 1, 4, 1, 2);
        assert_int_equal(b.requests, 2);
        assert_int_equal(executor_allocation_target(b.a, 1), 2);
        bench_end(&b);
}

static void ratio_is(double ratio, int tasks_per_executor, int expected)
{
        struct bench b = {.config = {.ratio = ratio, .tasks_per_executor = tasks_per_executor}};

        bench_start(&b, 3, 15, 3);
        submit_stage(&b, 0, 20);
        for (int i = 0; i <= 5; i++)
                bench_grow(&b);
        assert_int_equal(bench_target(&b), expected);
        bench_end(&b);
}

static void the_ratio_lessens_the_need(void **state)
{
        ratio_is(0.5, 1, 10);
        ratio_is(1.0 / 3, 1, 7);
        ratio_is(1.0 / 3, 2, 4);
        ratio_is(0.385, 1, 8);
        ratio_is(1, 1, 15);      /* 20, above the limit */
        ratio_is(1.0 / 3, 4, 3); /* 2, below the limit */
}

static void targets_grow_to_the_need_at_most(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 0, 5);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_step(&b), 4);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_step(&b), 1);
        /* a running task changes nothing */
        submit_stage(&b, 1, 3);
        add_executor(&b, 1);
        start_task(&b, 1, 0, 1);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_step(&b), 2);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_step(&b), 4);
        assert_int_equal(bench_grow(&b), 0);
        assert_int_equal(bench_target(&b), 8);
        assert_int_equal(bench_step(&b), 1);
        /* nor does a second attempt */
        submit_stage(&b, 2, 3);
        start_task(&b, 2, 0, 1);
        start_task(&b, 2, 0, 1);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_step(&b), 2);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_target(&b), 10);
        assert_int_equal(bench_step(&b), 1);
        start_task(&b, 2, 1, 1);
        assert_int_equal(bench_grow(&b), 0);
        assert_int_equal(bench_target(&b), 10);
        bench_end(&b);
}

static void executors_that_there_are_need_no_ramp(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 100000, 0);
        submit_stage(&b, 0, 1000);
        for (int i = 0; i < 4; i++)
                assert_int_equal(bench_grow(&b), 1 << i);
        assert_int_equal(bench_target(&b), 15);
        add_executors(&b, 0, 14);
        complete_stage(&b, 0);
        assert_int_equal(bench_adjust(&b), -15);
        assert_int_equal(bench_target(&b), 0);
        submit_stage(&b, 1, 1000);
        bench_grow(&b);
        assert_int_equal(bench_target(&b), 16);
        bench_end(&b);
}

static void a_reset_begins_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        submit_stage(&b, 0, 10);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_target(&b), 5);
        executor_allocation_reset(b.a);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_step(&b), 1);
        assert_int_equal(executor_monitor_total(b.m).all, 0);

        submit_stage(&b, 0, 10);
        for (int i = 0; i < 3; i++)
                bench_grow(&b);
        assert_int_equal(bench_target(&b), 5);
        add_executors(&b, 1, 5);
        for (int e = 1; e <= 5; e++)
                executor_gone(&b, e);
        executor_allocation_reset(b.a);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_step(&b), 1);

        for (int i = 0; i < 3; i++)
                bench_grow(&b);
        assert_int_equal(bench_target(&b), 5);
        add_executors(&b, 11, 18);
        assert_true(drop_executor(&b, 11));
        assert_int_equal(drop_two_executors(&b, 12, 13), 2);
        assert_int_equal(bench_killed(&b), 3);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        executor_allocation_reset(b.a);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_step(&b), 1);
        assert_int_equal(bench_killed(&b), 0);
        assert_int_equal(executor_monitor_total(b.m).all, 0);
        bench_end(&b);
}

static int tasks_at(const struct executor_request *request, const char *host)
{
        for (int i = 0; i < request->n_hosts; i++)
                if (strcmp(request->hosts[i].host, host) == 0)
                        return request->hosts[i].tasks;
        return 0;
}

static void requests_say_where_tasks_would_like_to_be(void **state)
{
        static const char *const h123[] = {"host1", "host2", "host3"}, *const h124[] = {"host1", "host2", "host4"},
                                 *const h234[] = {"host2", "host3", "host4"},
                                 *const h235[] = {"host2", "host3", "host5"},
                                 *const h345[] = {"host3", "host4", "host5"};
        const struct task_places first[5] = {{h123, 3}, {h124, 3}, {h234, 3}}, second[3] = {{h235, 3}, {h345, 3}};
        struct executor_request r;
        struct bench b = {0};

        bench_start(&b, 2, 5, 3);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.stage = 1, .n_tasks = 5, .places = first}, 0);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 3);
        assert_int_equal(r.n_hosts, 4);
        assert_int_equal(tasks_at(&r, "host1"), 2);
        assert_int_equal(tasks_at(&r, "host2"), 3);
        assert_int_equal(tasks_at(&r, "host3"), 2);
        assert_int_equal(tasks_at(&r, "host4"), 2);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.stage = 2, .n_tasks = 3, .places = second}, 0);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 5);
        assert_int_equal(r.n_hosts, 5);
        assert_int_equal(tasks_at(&r, "host1"), 2);
        assert_int_equal(tasks_at(&r, "host2"), 4);
        assert_int_equal(tasks_at(&r, "host3"), 4);
        assert_int_equal(tasks_at(&r, "host4"), 3);
        assert_int_equal(tasks_at(&r, "host5"), 2);
        complete_stage(&b, 1);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 2);
        assert_int_equal(r.n_hosts, 4);
        assert_int_equal(tasks_at(&r, "host2"), 1);
        assert_int_equal(tasks_at(&r, "host3"), 2);
        assert_int_equal(tasks_at(&r, "host4"), 1);
        assert_int_equal(tasks_at(&r, "host5"), 2);
        assert_false(executor_allocation_request(b.a, 7, &r));
        bench_end(&b);
}

static void decides_nothing_before_a_request_is_answered(void **state)
{
        struct bench b = {0};
        const struct allocation_action *action;

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 0, 4);
        b.now = executor_allocation_add_time(b.a);
        executor_allocation_tick(b.a, b.now);
        action = executor_allocation_next_action(b.a);
        assert_int_equal(action->kind, ALLOCATION_REQUEST);
        assert_int_equal(action->request.profiles[0].target, 1);
        assert_int_equal(executor_allocation_deadline(b.a), INT64_MAX);
        executor_allocation_tick(b.a, b.now + SUSTAINED);
        executor_allocation_adjust(b.a, b.now + SUSTAINED);
        assert_null(executor_allocation_next_action(b.a));

        /* Restarted meanwhile: the answer is too old, and the initial number is requested. */
        executor_allocation_reset(b.a);
        executor_allocation_requested(b.a, true, b.now);
        action = executor_allocation_next_action(b.a);
        assert_int_equal(action->kind, ALLOCATION_REQUEST);
        assert_int_equal(action->request.profiles[0].target, 0);
        executor_allocation_requested(b.a, false, b.now);
        assert_null(executor_allocation_next_action(b.a));
        tick_after(&b, BACKLOG);
        assert_int_equal(b.target, 1);
        executor_allocation_tick(b.a, b.now + SUSTAINED); /* its action is dropped at the end */
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_initial_number_is_requested),
                cmocka_unit_test(targets_grow_exponentially_to_the_limit),
                cmocka_unit_test(profiles_grow_each_for_itself),
                cmocka_unit_test(a_new_profile_requests_its_initial_number),
                cmocka_unit_test(the_ratio_lessens_the_need),
                cmocka_unit_test(targets_grow_to_the_need_at_most),
                cmocka_unit_test(executors_that_there_are_need_no_ramp),
                cmocka_unit_test(a_reset_begins_again),
                cmocka_unit_test(requests_say_where_tasks_would_like_to_be),
                cmocka_unit_test(decides_nothing_before_a_request_is_answered),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/allocation/executor_allocation", tests, NULL, NULL);
}
