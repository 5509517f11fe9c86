/* Spark's ExecutorPodsLifecycleManagerSuite case by case, then our own cases. */
#include "kubernetes/executors/lifecycle_manager.h"

#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_fixture.h"

#include <string.h>

static struct {
        struct pod_actions actions;
        struct lifecycle_manager *m;
        struct snapshots_store *store;
        struct pods_subscription *news;
        int64_t now;
        char removed[256]; /* "1:1 2:-1! ": id, exit code, ! if not the application's fault */
        char deleted[256]; /* "app-exec-1+log app-exec-2 " */
        char labelled[256], message[2048], log[8192];
        int stops, exit_code;
} w;

#define PUT(text, ...) snprintf((text) + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)

static void do_action(const struct pod_action *action)
{
        switch (action->kind) {
        case POD_ACTION_REMOVE_EXECUTOR:
                PUT(w.removed, "%d:%d%s ", action->remove.id, action->remove.reason.code,
                    action->remove.reason.caused_by_app ? "" : "!");
                snprintf(w.message, sizeof(w.message), "%s", action->remove.reason.message);
                break;
        case POD_ACTION_DELETE:
                PUT(w.deleted, "%s%s ", action->delete.pod->name, action->delete.log_first ? "+log" : "");
                break;
        case POD_ACTION_LABEL_INACTIVE:
                PUT(w.labelled, "%s ", action->pod->name);
                break;
        case POD_ACTION_STOP_APPLICATION:
                w.stops++;
                w.exit_code = action->stop.exit_code;
                break;
        case POD_ACTION_LOG:
                PUT(w.log, "%s\n", action->log.line);
                break;
        case POD_ACTION_CREATE:
        case POD_ACTION_DELETE_MANY:
        case POD_ACTION_LIST_CLAIMS:
                fail_msg("the allocator's");
        }
}

static void run(void)
{
        for (const struct pod_action *action; (action = pod_actions_next(&w.actions));)
                do_action(action);
}

/* Passes the changes to the manager. */
static void look(void)
{
        struct pods_batch batch;

        if (pods_subscription_next(w.news, &batch, w.now))
                lifecycle_manager_snapshot(w.m, &batch, w.now);
        run();
}

static void begin(struct lifecycle_config c)
{
        memset(&w, 0, sizeof(w));
        w.now = 100 * NS_PER_SECOND;
        w.store = snapshots_store_new(&c.rules);
        w.m = lifecycle_manager_new(&c, &w.actions);
        w.news = snapshots_store_subscribe(w.store, 0, w.now);
        look();
}

static void end(void)
{
        lifecycle_manager_free(w.m);
        pod_actions_deinit(&w.actions);
        snapshots_store_free(w.store);
}

static void pod(json_t *json)
{
        snapshots_store_update(w.store, json, w.now);
        json_decref(json);
}

static void gone(json_t *json)
{
        snapshots_store_delete(w.store, json, w.now);
        json_decref(json);
}

static void notify(void)
{
        w.now += NS_PER_MS;
        snapshots_store_notify(w.store);
        look();
        lifecycle_manager_tick(w.m, snapshots_store_pods(w.store), w.now);
        run();
}

static void pass(int64_t time)
{
        w.now += time;
        lifecycle_manager_tick(w.m, snapshots_store_pods(w.store), w.now);
        run();
}

#define SAID(what, text)                                                                                               \
        do {                                                                                                           \
                assert_string_equal(w.what, text);                                                                     \
                w.what[0] = '\0';                                                                                      \
        } while (0)

/* ------------------------------------------------------------------------------------------------ Spark's suite */

static void error_states_remove_the_executor_everywhere(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        lifecycle_manager_registered(w.m, 1, w.now);
        pod(pod_failed(1, 0));
        notify();
        SAID(removed, "1:1 ");
        assert_non_null(strstr(w.message, "The executor with id 1 exited with exit code 1(generic, look at logs"));
        SAID(deleted, "app-exec-1+log ");
        assert_int_equal(lifecycle_manager_failures(w.m, w.now), 1);
        assert_non_null(strstr(w.log, "1 new failed executors."));
        end();
}

static void removes_executor_once(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        lifecycle_manager_registered(w.m, 1, w.now);
        pod(pod_failed(1, 0));
        notify();
        pod(pod_failed(1, 0));
        notify();
        json_t *changed = pod_failed(1, 0);
        json_object_set_new(json_object_get(changed, "status"), "reason", json_string("Error"));
        pod(changed);
        notify();
        SAID(removed, "1:1 ");
        SAID(deleted, "app-exec-1+log ");
        assert_int_equal(lifecycle_manager_failures(w.m, w.now), 1);
        end();
}

static void deleted_pods_remove_the_executor(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        lifecycle_manager_registered(w.m, 1, w.now);
        pod(pod_leaving(pod_in(1, 0, "Failed")));
        notify();
        SAID(removed, "1:-1! ");
        assert_string_equal(w.message, "The executor with id 1 was deleted by a user or the framework.");
        SAID(deleted, "");
        assert_int_equal(lifecycle_manager_failures(w.m, w.now), 0);
        end();
}

static void executors_without_pods_are_removed(void **state)
{
        struct lifecycle_config c = LIFECYCLE_DEFAULT;

        c.wall_offset = 1000 * NS_PER_SECOND;
        begin(c);
        lifecycle_manager_registered(w.m, 1, w.now);
        lifecycle_manager_registered(w.m, 2, w.now);
        pod(pod_in(2, 0, "Running"));
        w.now += 30 * NS_PER_SECOND;
        snapshots_store_synced(w.store, w.now);
        notify();
        SAID(removed, ""); /* too new for the list */
        w.now += NS_PER_MS;
        notify();
        SAID(removed, ""); /* no list since then */
        snapshots_store_synced(w.store, w.now);
        notify();
        SAID(removed, "1:-1! ");
        assert_string_equal(
                w.message,
                "The executor with ID 1 (registered at 1100000 ms) was not found in the cluster at the polling time "
                "(1130003 ms) which is after the accepted detect delta time (30000 ms) configured by `spark.kubernetes."
                "executor.missingPodDetectDelta`. The executor may have been deleted but the driver missed the "
                "deletion event. Marking this executor as failed.");
        snapshots_store_synced(w.store, w.now);
        notify();
        SAID(removed, "");
        end();
}

static void keeps_pods_without_deletion(void **state)
{
        struct lifecycle_config c = LIFECYCLE_DEFAULT;

        c.delete_executors = false;
        begin(c);
        lifecycle_manager_registered(w.m, 1, w.now);
        pod(pod_failed(1, 0));
        notify();
        SAID(removed, "1:1 ");
        SAID(deleted, "");
        SAID(labelled, "app-exec-1 ");
        notify();
        SAID(labelled, "");
        json_t *labelled = pod_failed(1, 0);
        json_object_set_new(json_object_get(json_object_get(labelled, "metadata"), "labels"), KUBE_LABEL_INACTIVE,
                            json_string("true"));
        pod(labelled);
        notify();
        pass(20 * NS_PER_SECOND);
        SAID(labelled, "");
        SAID(removed, "");
        end();
}

static void ignores_inactive_pods(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        json_t *labelled = pod_failed(1, 0);
        json_object_set_new(json_object_get(json_object_get(labelled, "metadata"), "labels"), KUBE_LABEL_INACTIVE,
                            json_string("true"));
        pod(labelled);
        notify();
        SAID(removed, "");
        SAID(deleted, "");
        end();
}

static void too_many_failures_stop_the_application(void **state)
{
        struct lifecycle_config c = LIFECYCLE_DEFAULT;

        c.max_failures = 3;
        begin(c);
        for (int id = 1; id <= 3; id++)
                pod(pod_failed(id, 0));
        notify();
        assert_int_equal(w.stops, 0);
        lifecycle_manager_creation_failed(w.m, w.now);
        run();
        assert_int_equal(w.stops, 1);
        assert_int_equal(w.exit_code, 11);
        assert_non_null(strstr(w.log, "Max number of executor failures (3) reached"));
        lifecycle_manager_creation_failed(w.m, w.now);
        run();
        assert_int_equal(w.stops, 1);
        end();
}

static void spark_41210_failures_expire(void **state)
{
        struct lifecycle_config c = LIFECYCLE_DEFAULT;

        c.failure_validity = NS_PER_SECOND;
        begin(c);
        for (int id = 1; id <= 12; id++) {
                pod(pod_failed(id, 0));
                notify();
                w.now += NS_PER_SECOND - NS_PER_MS;
        }
        assert_int_equal(w.stops, 0);
        assert_int_equal(lifecycle_manager_failures(w.m, w.now), 1);
        assert_int_equal(lifecycle_manager_failures(w.m, w.now + 10 * NS_PER_MS), 0);
        end();
}

static void spark_49804_exit_code_of_spark_container(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        pod(pod_with_containers(pod_in(1, 0, "Failed"),
                                "[{'name': 'sidecar', 'state': {'terminated': {'exitCode': 2}}},"
                                " {'name': 'spark-kubernetes-executor', 'state': {'terminated': {'exitCode': 1}}}]"));
        notify();
        SAID(removed, "1:1 ");
        end();
}

static void default_failure_limit_is_twice_the_executors(void **state)
{
        assert_int_equal(lifecycle_max_failures(0), 3);
        assert_int_equal(lifecycle_max_failures(1), 3);
        assert_int_equal(lifecycle_max_failures(100), 200);
        assert_int_equal(lifecycle_max_failures(INT32_MAX), INT32_MAX);
}

/* -------------------------------------------------------------------------------------------------- our own cases */

static void repeats_deletions_until_pod_is_gone(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        pod(pod_failed(1, 0));
        pod(pod_in(2, 0, "Succeeded"));
        notify();
        SAID(deleted, "app-exec-1+log app-exec-2 ");
        assert_true(lifecycle_manager_deadline(w.m) == w.now + 10 * NS_PER_SECOND);
        pass(10 * NS_PER_SECOND - 1);
        SAID(deleted, "");
        gone(pod_in(2, 0, "Succeeded"));
        notify();
        SAID(deleted, "app-exec-1 ");
        pod(pod_leaving(pod_failed(1, 0)));
        notify();
        pass(20 * NS_PER_SECOND);
        SAID(deleted, "");
        gone(pod_failed(1, 0));
        notify();
        while (lifecycle_manager_deadline(w.m) != INT64_MAX)
                pass(lifecycle_manager_deadline(w.m) - w.now);
        assert_int_equal(lifecycle_manager_size(w.m), 0); /* no record stays forever */
        SAID(removed, "1:1 2:-1 ");
        end();
}

static void logs_executor_that_exits_unrequested(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        lifecycle_manager_registered(w.m, 1, w.now);
        pod(pod_with_containers(pod_in(1, 0, "Succeeded"), "[{'name': 'spark-kubernetes-executor', 'state':"
                                                           " {'terminated': {'exitCode': 0}}}]"));
        notify();
        SAID(removed, "1:0 ");
        assert_non_null(strstr(w.log, "Snapshot reported succeeded executor with id 1, even though"));
        assert_non_null(strstr(w.message, "it exited by itself"));
        pod(pod_failed(2, 0));
        notify();
        assert_non_null(strstr(w.log, "An executor failed before it registered."));
        end();
}

static void requested_exit_is_not_logged_as_unrequested(void **state)
{
        for (int decommissioned = 0; decommissioned < 2; decommissioned++) {
                const int32_t id = 1;
                begin(LIFECYCLE_DEFAULT);
                lifecycle_manager_registered(w.m, id, w.now);
                if (decommissioned)
                        lifecycle_manager_decommissioned(w.m, id);
                else
                        lifecycle_manager_killed(w.m, &id, 1, w.now);
                pod(pod_with_containers(pod_in(id, 0, "Succeeded"), "[{'name': 'spark-kubernetes-executor', 'state':"
                                                                    " {'terminated': {'exitCode': 0}}}]"));
                notify();
                SAID(removed, "1:0 ");
                assert_null(strstr(w.log, "not requested"));
                assert_non_null(strstr(w.log, "unless Spark specifically informed the executor to exit."));
                assert_non_null(strstr(w.message, "the driver requested its exit"));
                end();
        }
}

static void killed_executors_get_grace_period(void **state)
{
        const int32_t ids[] = {1, 2, 3, 4};

        begin(LIFECYCLE_DEFAULT);
        for (int id = 1; id <= 3; id++)
                pod(pod_in(id, 0, "Running"));
        notify();
        lifecycle_manager_killed(w.m, ids, 4, w.now);
        run();
        assert_true(lifecycle_manager_deadline(w.m) == w.now + 5 * NS_PER_SECOND);
        pod(pod_in(1, 0, "Succeeded"));
        notify();
        SAID(deleted, "app-exec-1 ");
        gone(pod_in(1, 0, "Succeeded"));
        pod(pod_leaving(pod_in(2, 0, "Running")));
        notify();
        pass(5 * NS_PER_SECOND);
        SAID(deleted, "app-exec-3 ");
        assert_non_null(strstr(w.log, "Forcefully deleting 1 pods (out of 4) that are still running"));
        pod(pod_in(4, 0, "Pending")); /* which was killed before its pod was seen */
        notify();
        pass(10 * NS_PER_SECOND);
        SAID(deleted, "app-exec-3 app-exec-4 ");
        for (int id = 1; id <= 4; id++)
                gone(pod_in(id, 0, "Running"));
        notify();
        while (lifecycle_manager_deadline(w.m) != INT64_MAX)
                pass(lifecycle_manager_deadline(w.m) - w.now);
        SAID(deleted, "");
        assert_int_equal(lifecycle_manager_size(w.m), 0);
        end();
}

static json_t *waiting_pod(int id, const char *reason, const char *message)
{
        json_t *p = pod_in(id, 0, "Pending");

        json_object_set_new(json_object_get(p, "status"), "conditions",
                            json_text("[{'type': 'PodScheduled', 'status': 'False', 'reason': '%s', 'message': '%s'}]",
                                      reason, message));
        return p;
}

static int times(const char *text)
{
        int n = 0;

        for (const char *at = w.log; (at = strstr(at, text)); at++)
                n++;
        return n;
}

static void logs_waiting_reason_once_for_all_pods(void **state)
{
        begin(LIFECYCLE_DEFAULT);
        for (int id = 1; id <= 100; id++)
                pod(waiting_pod(id, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."));
        pod(waiting_pod(101, "SchedulingGated", "gates"));
        notify();
        assert_int_equal(times("100 executors wait (1 and others): Unschedulable: 0/3 nodes are available: 3 Insuff"),
                         1);
        assert_int_equal(times("Executor 101 waits: SchedulingGated"), 1);
        pod(waiting_pod(102, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."));
        notify();
        assert_int_equal(times("wait"), 2);

        /* A new reason is logged. The first is logged again only after a long absence. */
        for (int id = 1; id <= 102; id++)
                pod(waiting_pod(id, "Unschedulable", "0/3 nodes are available: 3 Insufficient memory."));
        notify();
        assert_int_equal(times("Insufficient memory"), 1);
        for (int id = 1; id <= 102; id++)
                pod(waiting_pod(id, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."));
        notify();
        assert_int_equal(times("Insufficient cpu"), 1);
        for (int id = 1; id <= 102; id++)
                pod(pod_in(id, 0, "Running"));
        notify();
        w.now += 300 * NS_PER_SECOND + 1;
        notify();
        pod(waiting_pod(103, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."));
        notify();
        assert_int_equal(times("Insufficient cpu"), 2);
        end();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(error_states_remove_the_executor_everywhere),
                cmocka_unit_test(removes_executor_once),
                cmocka_unit_test(deleted_pods_remove_the_executor),
                cmocka_unit_test(executors_without_pods_are_removed),
                cmocka_unit_test(keeps_pods_without_deletion),
                cmocka_unit_test(ignores_inactive_pods),
                cmocka_unit_test(too_many_failures_stop_the_application),
                cmocka_unit_test(spark_41210_failures_expire),
                cmocka_unit_test(spark_49804_exit_code_of_spark_container),
                cmocka_unit_test(default_failure_limit_is_twice_the_executors),
                cmocka_unit_test(repeats_deletions_until_pod_is_gone),
                cmocka_unit_test(logs_executor_that_exits_unrequested),
                cmocka_unit_test(requested_exit_is_not_logged_as_unrequested),
                cmocka_unit_test(killed_executors_get_grace_period),
                cmocka_unit_test(logs_waiting_reason_once_for_all_pods),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
