/* Spark's ExecutorPodsSnapshotsStoreSuite, and late and duplicate events. */
#include "kubernetes/api/pod_fixture.h"
#include "kubernetes/executors/snapshots_store.h"

struct snapshot_listener {
        struct pods_subscription *news;
        int calls, changes, gone, news_told;
        bool full;
        size_t pods;
        char seen[256]; /* "1 pending, 1 running, " */
};

/* Takes a batch if one is due. */
static void hear(struct snapshot_listener *l, int64_t now)
{
        struct pods_batch batch;

        if (!pods_subscription_next(l->news, &batch, now))
                return;
        l->calls++;
        l->changes += (int)batch.n_changes;
        l->gone += (int)batch.n_gone;
        l->news_told += batch.news;
        l->full = batch.full;
        l->pods = batch.pods->n;
        for (size_t i = 0; i < batch.n_changes; i++) {
                size_t n = strlen(l->seen);
                snprintf(l->seen + n, sizeof(l->seen) - n, "%d %s, ", batch.changes[i]->id,
                         pod_state_kind_name(batch.changes[i]->kind));
        }
}

static struct snapshots_store *a_store(void)
{
        return snapshots_store_new(&(struct pod_rules){.check_all = true});
}

static void update(struct snapshots_store *store, json_t *pod, int64_t now)
{
        snapshots_store_update(store, pod, now);
        json_decref(pod);
}

static void gone(struct snapshots_store *store, json_t *pod, int64_t now)
{
        snapshots_store_delete(store, pod, now);
        json_decref(pod);
}

static void listed(struct snapshots_store *store, json_t *pod)
{
        snapshots_store_list_pod(store, pod, 0);
        json_decref(pod);
}

#define SAID(listener, text)                                                                                           \
        do {                                                                                                           \
                assert_string_equal((listener).seen, text);                                                            \
                (listener).seen[0] = '\0';                                                                             \
        } while (0)

static void batches_are_due_once_per_interval(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener often = {0}, seldom = {0};

        often.news = snapshots_store_subscribe(store, 1000, 0);
        seldom.news = snapshots_store_subscribe(store, 2000, 0);
        hear(&often, 0);
        hear(&seldom, 0);
        assert_int_equal(often.calls + seldom.calls, 2); /* the known pods at the beginning: none */
        assert_true(snapshots_store_deadline(store) == INT64_MAX);

        update(store, pod_in(1, 0, "Pending"), 100);
        assert_true(snapshots_store_deadline(store) == 1000);
        hear(&often, 999);
        hear(&seldom, 999);
        assert_int_equal(often.calls + seldom.calls, 2);
        hear(&often, 1000);
        hear(&seldom, 1000);
        SAID(often, "1 pending, ");
        SAID(seldom, "");
        update(store, pod_in(1, 0, "Running"), 1100);
        assert_true(snapshots_store_deadline(store) == 2000);
        hear(&often, 2000);
        hear(&seldom, 2000);
        SAID(often, "1 running, ");
        SAID(seldom, "1 pending, 1 running, ");
        assert_true(snapshots_store_deadline(store) == INT64_MAX);
        snapshots_store_free(store);
}

static void first_batch_holds_known_pods(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        update(store, pod_in(2, 0, "Running"), 0);
        update(store, pod_in(1, 0, "Pending"), 0);
        l.news = snapshots_store_subscribe(store, 1000, 5);
        hear(&l, 5);
        SAID(l, "1 pending, 2 running, ");
        assert_int_equal(l.pods, 2);
        snapshots_store_free(store);
}

static void notify_makes_batch_due_at_once(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        l.news = snapshots_store_subscribe(store, 1000, 0);
        hear(&l, 0);
        snapshots_store_notify(store);
        assert_true(snapshots_store_deadline(store) <= 1);
        hear(&l, 1);
        assert_int_equal(l.calls, 2);
        assert_int_equal(l.news_told, 1);
        hear(&l, 2);
        assert_int_equal(l.calls, 2);
        snapshots_store_free(store);
}

static void list_replaces_known_pods(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        update(store, pod_in(1, 0, "Pending"), 0);
        update(store, pod_in(2, 0, "Running"), 0);
        l.news = snapshots_store_subscribe(store, 0, 0);
        hear(&l, 0);
        l = (struct snapshot_listener){.news = l.news};
        snapshots_store_list_begin(store);
        listed(store, pod_in(7, 0, "Running")); /* from a list that failed half-way */
        snapshots_store_list_begin(store);
        listed(store, pod_in(3, 0, "Running"));
        listed(store, pod_in(1, 0, "Pending"));
        hear(&l, 1);
        assert_int_equal(l.calls, 0);
        snapshots_store_list_end(store, NULL, 77);
        hear(&l, 77);
        SAID(l, "3 running, 2 deleted, ");
        assert_int_equal(l.gone, 1);
        assert_true(l.full);
        assert_int_equal(l.pods, 2);
        assert_true(snapshots_store_pods(store)->full_at == 77);
        snapshots_store_free(store);
}

static void equal_state_causes_no_change(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        l.news = snapshots_store_subscribe(store, 0, 0);
        update(store, pod_with_version(pod_in(1, 0, "Running"), 5), 0);
        update(store, pod_with_version(pod_in(1, 0, "Running"), 6), 0);
        hear(&l, 0);
        SAID(l, "1 running, ");
        assert_int_equal(l.news_told, 3);
        assert_int_equal(pods_snapshot_get(snapshots_store_pods(store), 1)->version, 6);
        snapshots_store_free(store);
}

static void deleted_event_removes_pod_of_any_phase(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        l.news = snapshots_store_subscribe(store, 0, 0);
        update(store, pod_in(1, 0, "Running"), 0);
        gone(store, pod_in(1, 0, "Running"), 0);
        hear(&l, 0);
        SAID(l, "1 running, 1 deleted, ");
        assert_int_equal(l.gone, 1);
        assert_int_equal(l.pods, 0);

        /* The failure of a failed pod is reported first. */
        update(store, pod_in(2, 0, "Running"), 0);
        gone(store, pod_failed(2, 0), 0);
        update(store, pod_failed(6, 0), 0);
        gone(store, json_text("{'metadata': {'name': 'app-exec-6', 'uid': 'uid-6'}}"), 0);
        hear(&l, 1);
        SAID(l, "2 running, 2 failed, 2 deleted, 6 failed, 6 deleted, ");

        /* A pod that the store never knew. */
        gone(store, pod_leaving(pod_in(3, 0, "Failed")), 0);
        gone(store, json_text("{'metadata': {'name': 'app-exec-4'}}"), 0);
        hear(&l, 2);
        SAID(l, "3 deleted, ");

        /* The deleted pod was another one of that name. */
        update(store, pod_in(5, 0, "Running"), 0);
        gone(store, json_text("{'metadata': {'name': 'app-exec-5', 'uid': 'older'}}"), 0);
        hear(&l, 3);
        SAID(l, "5 running, ");
        assert_int_equal(l.pods, 1);
        snapshots_store_free(store);
}

static void ignores_older_versions(void **state)
{
        struct snapshots_store *store = a_store();
        struct snapshot_listener l = {0};

        l.news = snapshots_store_subscribe(store, 0, 0);
        update(store, pod_with_version(pod_in(1, 0, "Running"), 20), 0);
        update(store, pod_with_version(pod_in(1, 0, "Pending"), 10), 0);
        hear(&l, 0);
        SAID(l, "1 running, ");

        /* A list from before the pod's creation and another pod's deletion. */
        update(store, pod_with_version(pod_in(2, 0, "Running"), 21), 0);
        gone(store, pod_with_version(pod_in(2, 0, "Running"), 30), 0);
        hear(&l, 1);
        l.seen[0] = '\0';
        snapshots_store_list_begin(store);
        listed(store, pod_with_version(pod_in(2, 0, "Running"), 21));
        snapshots_store_list_end(store, "19", 2);
        hear(&l, 2);
        SAID(l, "");
        assert_int_equal(l.pods, 1);

        /* An event of a pod that a newer list lacks. */
        snapshots_store_list_begin(store);
        listed(store, pod_with_version(pod_in(1, 0, "Running"), 20));
        snapshots_store_list_end(store, "40", 3);
        update(store, pod_with_version(pod_in(3, 0, "Running"), 35), 3);
        gone(store, pod_with_version(pod_in(3, 0, "Running"), 36), 3);
        hear(&l, 3);
        SAID(l, "");
        update(store, pod_with_version(pod_in(4, 0, "Pending"), 41), 3);
        hear(&l, 4);
        SAID(l, "4 pending, ");
        snapshots_store_free(store);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(batches_are_due_once_per_interval),
                cmocka_unit_test(first_batch_holds_known_pods),
                cmocka_unit_test(notify_makes_batch_due_at_once),
                cmocka_unit_test(list_replaces_known_pods),
                cmocka_unit_test(equal_state_causes_no_change),
                cmocka_unit_test(deleted_event_removes_pod_of_any_phase),
                cmocka_unit_test(ignores_older_versions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
