/* The parts put together; what they do is in their own tests, and executor_pods_world_test.c. */
#include "kubernetes/executors/executor_pods.h"

#include "base/error.h"
#include "kubernetes/api/pod_fixture.h"

#include <string.h>

static struct {
        struct executor_pods *p;
        int64_t now;
        int created, recovering, removed, stops, deletions;
} w;

static void w_create(void *owner, int32_t id, int32_t profile, bool recovery)
{
        w.created++;
        w.recovering += recovery;
}

static void w_delete_pods(void *owner, const int32_t *ids, int n, bool pending)
{
        w.deletions += n;
}

static void w_delete_pod(void *owner, const struct pod_state *pod, bool log_first)
{
        w.deletions++;
}

static void w_label(void *owner, const struct pod_state *pod)
{
}

static void w_list_claims(void *owner)
{
}

static void w_remove(void *owner, int32_t id, const struct exit_reason *reason)
{
        w.removed++;
}

static void w_stop(void *owner, int exit_code, const char *message)
{
        assert_int_equal(exit_code, LIFECYCLE_EXIT_FAILURES);
        w.stops++;
}

static void w_log(void *owner, enum log_level level, const char *component, const char *line)
{
}

static const struct executor_pods_ops ops = {.create_pod = w_create,
                                             .delete_pods = w_delete_pods,
                                             .delete_pod = w_delete_pod,
                                             .label_inactive = w_label,
                                             .list_claims = w_list_claims,
                                             .remove_executor = w_remove,
                                             .stop_application = w_stop,
                                             .log = w_log};

static void begin(struct executor_pods_config config)
{
        memset(&w, 0, sizeof(w));
        w.now = 1000;
        w.p = executor_pods_new(&config, &ops, NULL);
        executor_pods_start(w.p, w.now);
}

static void tell(json_t *pod)
{
        executor_pods_pod(w.p, pod, w.now);
        json_decref(pod);
}

static void pass(int64_t ms)
{
        w.now += ms;
        executor_pods_tick(w.p, w.now);
}

static void created(int first, int last)
{
        for (int id = first; id <= last; id++)
                executor_pods_created(w.p, id, w.now);
}

static void a_configuration_is_checked(void **state)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(executor_pods_config_check(&config, &error), 0);
        config.event_interval = 0;
        assert_int_equal(executor_pods_config_check(&config, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "eventProcessingInterval"));
        error_deinit(&error);
}

static void pods_are_acted_upon_in_ticks(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        executor_pods_set_target(w.p, 0, 2, w.now);
        assert_int_equal(w.created, 2);
        assert_int_equal(executor_pods_in_flight(w.p), 2);
        created(1, 2);
        executor_pods_tick(w.p, w.now);
        tell(pod_in(1, 0, "Running"));
        tell(pod_in(2, 0, "Running"));
        executor_pods_registered(w.p, 1, w.now);
        assert_int_equal(executor_pods_counts(w.p, 0).running, 0);
        assert_true(executor_pods_deadline(w.p) <= w.now + 100);
        pass(100);
        assert_int_equal(executor_pods_counts(w.p, 0).running, 2);
        assert_string_equal(executor_pods_get(w.p, 1)->name, "app-exec-1");

        /* One ends: its executor is removed, its pod deleted, another one asked for. */
        tell(pod_failed(1, 0));
        pass(1000);
        assert_int_equal(w.removed, 1);
        assert_int_equal(w.deletions, 1);
        assert_int_equal(w.created, 3);
        assert_int_equal(executor_pods_failures(w.p, w.now), 1);
        executor_pods_unregistered(w.p, 1, w.now);
        assert_false(executor_pods_is_excluded(w.p, 2));
        executor_pods_free(w.p);
}

static void running_out_of_memory_begins_recovery(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        executor_pods_set_target(w.p, 0, 2, w.now);
        created(1, 2);
        executor_pods_tick(w.p, w.now);
        tell(pod_with_containers(pod_in(1, 0, "Failed"),
                                 "[{'name': 'spark-kubernetes-executor', 'state': {'terminated': {'exitCode': 137,"
                                 " 'reason': 'OOMKilled'}}}]"));
        pass(1000);
        assert_int_equal(w.created, 3);
        assert_int_equal(w.recovering, 1);
        created(3, 3);
        tell(pod_failed(2, 0));
        pass(1000);
        assert_int_equal(w.created, 4);
        assert_int_equal(w.recovering, 2);
        executor_pods_free(w.p);
}

static void too_many_failures_end_it(void **state)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;

        config.lifecycle.max_failures = 3;
        begin(config);
        executor_pods_set_target(w.p, 0, 10, w.now);
        for (int id = 1; id <= 10; id++)
                executor_pods_create_failed(w.p, id, CREATE_REFUSED, 0, "admission webhook denied the request", w.now);
        assert_int_equal(w.stops, 1);
        int n = w.created;
        pass(60000);
        assert_int_equal(w.created, n);
        executor_pods_free(w.p);
}

static void stopped_it_does_nothing(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        executor_pods_set_target(w.p, 0, 2, w.now);
        executor_pods_stop(w.p);
        created(1, 1);
        executor_pods_create_failed(w.p, 2, CREATE_UNKNOWN, 0, NULL, w.now);
        tell(pod_failed(1, 0));
        pass(600000);
        assert_int_equal(w.created, 2);
        assert_int_equal(w.removed + w.deletions, 0);
        assert_int_equal(executor_pods_in_flight(w.p), 0);
        assert_true(executor_pods_deadline(w.p) == INT64_MAX);
        executor_pods_free(w.p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_configuration_is_checked),
                cmocka_unit_test(pods_are_acted_upon_in_ticks),
                cmocka_unit_test(running_out_of_memory_begins_recovery),
                cmocka_unit_test(too_many_failures_end_it),
                cmocka_unit_test(stopped_it_does_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
