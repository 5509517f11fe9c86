/*
 * Spark's ExecutorPodsAllocatorSuite, case by case: the batch size is set, as there (5), and pods are created as soon
 * as they are asked for. Then what is ours: creations side by side, answers that are lost, pods that come after all.
 */
#include "base/error.h"
#include "base/vec.h"
#include "deploy/kubernetes/pod_fixture.h"
#include "deploy/kubernetes/pods_allocator.h"

#include <string.h>

struct asked {
        int32_t id, profile;
        bool recovery;
};

static struct world {
        struct pods_allocator *a;
        struct snapshots_store *store;
        int64_t now;
        VEC(struct asked) created; /* all that was asked for */
        size_t answered;           /* of them */
        bool keep_asking;          /* creations are not answered by themselves */
        bool asks_claims;
        char reused[256], deleted[512]; /* "3,4p 7 " */
        int deletions, failures, claim_lists;
        char log[4096];
} w;

static void w_create(void *owner, int32_t id, int32_t profile, bool recovery)
{
        vec_push(&w.created, (struct asked){id, profile, recovery});
        if (w.asks_claims) {
                const char *name = pods_allocator_take_claim(w.a, id, "gp2", 200);
                if (name)
                        snprintf(w.reused + strlen(w.reused), sizeof(w.reused) - strlen(w.reused), "%d:%s ", id, name);
        }
}

static void w_delete(void *owner, const int32_t *ids, int n, bool pending)
{
        w.deletions++;
        for (int i = 0; i < n; i++)
                snprintf(w.deleted + strlen(w.deleted), sizeof(w.deleted) - strlen(w.deleted), "%s%d", i ? "," : "",
                         ids[i]);
        strcat(w.deleted, pending ? "p " : " ");
}

static void w_list_claims(void *owner)
{
        w.claim_lists++;
}

static void w_failed(void *owner, int32_t id, int64_t now)
{
        w.failures++;
}

static void w_log(void *owner, enum log_level level, const char *component, const char *line)
{
        assert_string_equal(component, "ExecutorPodsAllocator");
        snprintf(w.log + strlen(w.log), sizeof(w.log) - strlen(w.log), "%s\n", line);
}

static const struct pods_allocator_ops ops = {.create_pod = w_create,
                                              .delete_pods = w_delete,
                                              .list_claims = w_list_claims,
                                              .creation_failed = w_failed,
                                              .log = w_log};

static void w_snapshot(void *owner, const struct pods_batch *batch, int64_t now)
{
        pods_allocator_snapshot(w.a, batch, now);
}

enum { IDLE = 10000, SIZE = 5 };

static struct pods_allocator_config suite_config(void)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.batch_size = SIZE;
        c.batch_size_set = true;
        c.idle_timeout = IDLE;
        return c;
}

static void begin(struct pods_allocator_config c)
{
        struct fst_error error = FST_ERROR_INIT;

        w = (struct world){.now = 1000000, .store = snapshots_store_new(&(struct pod_rules){.check_all = true})};
        assert_int_equal(pods_allocator_config_check(&c, &error), 0);
        w.a = pods_allocator_new(&c, &ops, NULL);
        snapshots_store_subscribe(w.store, 0, w_snapshot, NULL, w.now);
        snapshots_store_tick(w.store, w.now);
        pods_allocator_start(w.a, w.now);
}

static void end(void)
{
        pods_allocator_free(w.a);
        snapshots_store_free(w.store);
        vec_deinit(&w.created);
}

/* The server creates what was asked for. */
static void answer(void)
{
        while (!w.keep_asking && w.answered < w.created.len)
                pods_allocator_created(w.a, w.created.data[w.answered++].id, w.now);
}

static void target(int profile, int n)
{
        pods_allocator_set_target(w.a, profile, n, w.now);
        answer();
}

static void pod(json_t *json)
{
        snapshots_store_update(w.store, json, w.now);
        json_decref(json);
}

static void pods_gone(json_t *json)
{
        snapshots_store_delete(w.store, json, w.now);
        json_decref(json);
}

/* An allocation cycle passes. */
static void notify(void)
{
        w.now += 1000;
        snapshots_store_notify(w.store);
        snapshots_store_tick(w.store, w.now);
        pods_allocator_tick(w.a, w.now);
        answer();
}

static void known(const char *ids)
{
        for (int id = 1; id <= pods_allocator_last_id(w.a); id++) {
                char text[16];
                snprintf(text, sizeof(text), " %d ", id);
                pods_allocator_known(w.a, id, strstr(ids, text) != NULL, w.now);
        }
}

#define OUTSTANDING(n) assert_int_equal(pods_allocator_outstanding(w.a), n)
#define CREATED(n) assert_int_equal(w.created.len, n)
#define DELETED(text)                                                                                                  \
        do {                                                                                                           \
                assert_string_equal(w.deleted, text);                                                                  \
                w.deleted[0] = '\0';                                                                                   \
        } while (0)

static void created_of(int id, int profile)
{
        assert_true(id <= (int)w.created.len);
        assert_int_equal(w.created.data[id - 1].id, id);
        assert_int_equal(w.created.data[id - 1].profile, profile);
}

static void refused(struct pods_allocator_config c, const char *words)
{
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(pods_allocator_config_check(&c, &error), -EINVAL);
        if (!strstr(error_message(&error), words))
                fail_msg("%s", error_message(&error));
        error_deinit(&error);
}

/* --------------------------------------------------------------------------------------------- Spark's suite */

static void spark_49447_small_batch_delays_are_refused(void **state)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.batch_delay = 1;
        refused(c, "Allocation batch delay must be greater than 0.1s.");
        c = PODS_ALLOCATOR_DEFAULT;
        c.batch_size = 0;
        refused(c, "Allocation batch size should be a positive integer");
        c = PODS_ALLOCATOR_DEFAULT;
        c.max_pending = 5;
        c.max_pending_per_profile = 6;
        refused(c, "Maximum pending pods per resource profile ID (6) must be less than or equal to maximum pending "
                   "pods (5).");
}

static void spark_36052_split_slots(void **state)
{
        static const struct {
                int n, slots, out[3];
        } cases[] = {{1, 0, {0}},       {1, 1, {1}},       {1, 2, {2}},       {3, 0, {0, 0, 0}},
                     {3, 1, {1, 0, 0}}, {3, 2, {1, 1, 0}}, {3, 3, {1, 1, 1}}, {3, 4, {2, 1, 1}}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int out[3] = {0};
                pods_split_slots(cases[i].n, cases[i].slots, out);
                assert_memory_equal(out, cases[i].out, sizeof(out));
        }
}

static void spark_36052_pending_limit_with_several_profiles(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.max_pending = 3;
        begin(c);
        target(0, 2);
        target(1, 3);
        notify();
        OUTSTANDING(3);
        created_of(1, 0);
        created_of(2, 0);
        created_of(3, 1);
        CREATED(3);

        /* What is pending or newly created leaves no room. */
        pod(pod_in(2, 0, "Pending"));
        pod(pod_in(3, 1, "Pending"));
        notify();
        OUTSTANDING(3);
        CREATED(3);
        DELETED("");

        /* One less of the first makes room. */
        w.now += IDLE * 2;
        target(0, 1);
        notify();
        OUTSTANDING(3);
        assert_int_equal(w.deletions, 1);
        created_of(4, 1);

        /* So does one that runs. */
        pod(pod_in(3, 1, "Running"));
        pod(pod_in(4, 1, "Pending"));
        notify();
        OUTSTANDING(3);
        created_of(5, 1);
        assert_int_equal(w.deletions, 1);
        end();
}

static void pending_limit_of_a_profile(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.max_pending = 6;
        c.max_pending_per_profile = 2;
        begin(c);
        target(0, 4);
        pod(pod_in(1, 0, "Pending"));
        pod(pod_in(2, 0, "Pending"));
        target(1, 4);
        notify();
        notify();
        CREATED(4);
        created_of(2, 0);
        created_of(3, 1);
        created_of(4, 1);
        pod(pod_in(1, 0, "Running"));
        pod(pod_in(3, 1, "Running"));
        pod(pod_in(4, 1, "Running"));
        notify();
        CREATED(7);
        created_of(5, 0);
        created_of(6, 1);
        created_of(7, 1);
        end();
}

static void executors_are_requested_in_batches(void **state)
{
        begin(suite_config());
        target(0, SIZE + 1);
        OUTSTANDING(5);
        CREATED(5);
        notify();
        CREATED(5); /* the first batch has not come */
        end();
}

static void another_batch_when_all_of_the_first_run(void **state)
{
        begin(suite_config());
        target(0, SIZE + 1);
        OUTSTANDING(5);
        for (int id = 1; id < SIZE; id++)
                pod(pod_in(id, 0, "Running"));
        assert_int_equal(pods_allocator_last_id(w.a), 5);
        notify();
        OUTSTANDING(1);
        CREATED(SIZE);
        pod(pod_in(SIZE, 0, "Running"));
        notify();
        OUTSTANDING(1);
        CREATED(SIZE + 1);
        pod(pod_in(SIZE, 0, "Running"));
        notify();
        OUTSTANDING(1);
        CREATED(SIZE + 1);
        end();
}

static void what_fails_at_once_is_requested_with_the_next_batch(void **state)
{
        begin(suite_config());
        target(0, SIZE);
        for (int id = 1; id < SIZE; id++)
                pod(pod_in(id, 0, "Running"));
        pod(pod_failed(SIZE, 0));
        notify();
        OUTSTANDING(1);
        created_of(SIZE + 1, 0);
        end();
}

static void what_the_server_does_not_report_is_requested_again(void **state)
{
        struct pods_allocator_config c = suite_config();

        begin(c);
        target(0, 1);
        OUTSTANDING(1);
        created_of(1, 0);
        w.now += c.creation_timeout + 1;
        notify();
        OUTSTANDING(1);
        DELETED("1 ");
        created_of(2, 0);
        assert_non_null(strstr(w.log, "Executors with ids 1 were not detected in the Kubernetes cluster after 600000 "
                                      "ms despite the fact that a previous allocation attempt tried to create them. "
                                      "The executors may have been deleted but the application missed the deletion "
                                      "event."));
        end();

        c.delete_executors = false;
        begin(c);
        target(0, 1);
        w.now += c.creation_timeout + 1;
        notify();
        DELETED("");
        created_of(2, 0);
        end();
}

static void spark_28487_scale_up_and_down(void **state)
{
        begin(suite_config());
        target(0, 1);
        OUTSTANDING(1);
        pod(pod_in(1, 0, "Running"));
        notify();
        OUTSTANDING(0);
        CREATED(1);
        DELETED("");

        target(0, 4);
        notify();
        OUTSTANDING(3);
        CREATED(4);

        pod(pod_in(2, 0, "Running"));
        pod(pod_in(3, 0, "Pending"));
        notify();
        OUTSTANDING(2);
        CREATED(4);
        DELETED("");

        /* Down to one: what does not run is deleted, seen or not. */
        w.now += IDLE * 2;
        target(0, 1);
        notify();
        OUTSTANDING(0);
        CREATED(4);
        DELETED("3,4p ");
        assert_true(pods_allocator_refuses(w.a, 3));
        assert_true(pods_allocator_refuses(w.a, 4));
        assert_false(pods_allocator_refuses(w.a, 1));
        assert_false(pods_allocator_refuses(w.a, 5));

        pod(pod_leaving(pod_in(3, 0, "Pending")));
        pod(pod_leaving(pod_in(4, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(3, 0, "Failed")));
        pods_gone(pod_leaving(pod_in(4, 0, "Failed")));
        notify();
        OUTSTANDING(0);
        CREATED(4);
        assert_true(pods_allocator_refuses(w.a, 3)); /* for good: here an id that is over stays refused */
        end();
}

static void spark_34334_what_is_too_new_does_not_protect_what_is_old(void **state)
{
        begin(suite_config());
        target(0, 1);
        pod(pod_in(1, 0, "Pending"));
        notify();
        w.now += IDLE - 3000;
        target(0, 2);
        notify();
        created_of(2, 0);
        target(0, 1);
        notify();
        DELETED("");
        w.now += IDLE - 2000;
        notify();
        DELETED("1p ");
        end();
}

static void spark_33099_the_idle_timeout_protects(void **state)
{
        begin(suite_config());
        target(0, 5);
        OUTSTANDING(5);
        CREATED(5);
        pod(pod_in(1, 0, "Pending"));
        pod(pod_in(2, 0, "Pending"));
        target(0, 0);
        notify();
        OUTSTANDING(5);
        DELETED("");
        assert_true(pods_allocator_deadline(w.a) > w.now);

        /* SPARK-34361: those that the scheduler knows are not deleted, pending or not. */
        w.now += IDLE * 2;
        known(" 1 3 4 ");
        notify();
        OUTSTANDING(0);
        DELETED("2,5p ");
        end();
}

static void spark_34361_known_pods_of_several_profiles_when_scaling_down(void **state)
{
        begin(suite_config());
        target(0, 3);
        target(1, 4);
        notify();
        OUTSTANDING(7);
        for (int id = 1; id <= 3; id++)
                created_of(id, 0);
        for (int id = 4; id <= 7; id++)
                created_of(id, 1);

        known(" 1 4 ");
        notify();
        OUTSTANDING(5);
        CREATED(7);

        known(" 1 2 4 5 ");
        pod(pod_in(2, 0, "Pending"));
        pod(pod_in(3, 0, "Pending"));
        pod(pod_in(5, 1, "Pending"));
        pod(pod_in(6, 1, "Pending"));
        notify();
        OUTSTANDING(3);
        CREATED(7);

        w.now += IDLE * 2;
        target(0, 1);
        target(1, 1);
        notify();
        OUTSTANDING(0);
        CREATED(7);
        assert_int_equal(w.deletions, 2);
        DELETED("3p 6,7p ");
        assert_true(pods_allocator_refuses(w.a, 3));
        assert_true(pods_allocator_refuses(w.a, 6));
        assert_true(pods_allocator_refuses(w.a, 7));

        /* Two known ones of each are there still. */
        target(0, 2);
        target(1, 2);
        notify();
        OUTSTANDING(0);
        CREATED(7);

        target(0, 3);
        target(1, 3);
        notify();
        OUTSTANDING(2);
        CREATED(9);
        created_of(8, 0);
        created_of(9, 1);
        end();
}

static void spark_33288_several_profiles(void **state)
{
        begin(suite_config());
        target(0, 1);
        target(1, 2);
        notify();
        OUTSTANDING(3);
        created_of(1, 0);
        created_of(2, 1);
        created_of(3, 1);

        pod(pod_in(1, 0, "Running"));
        pod(pod_in(2, 1, "Running"));
        pod(pod_in(3, 1, "Running"));
        notify();
        OUTSTANDING(0);
        CREATED(3);
        DELETED("");

        target(0, 4);
        target(1, 3);
        notify();
        OUTSTANDING(4);
        for (int id = 4; id <= 6; id++)
                created_of(id, 0);
        created_of(7, 1);

        pod(pod_in(4, 0, "Running"));
        pod(pod_in(5, 0, "Pending"));
        pod(pod_in(7, 1, "Pending"));
        notify();
        OUTSTANDING(3);
        CREATED(7);
        DELETED("");

        w.now += IDLE * 2;
        target(0, 1);
        target(1, 1);
        notify();
        OUTSTANDING(0);
        CREATED(7);
        DELETED("5,6p 7p ");
        pods_gone(pod_leaving(pod_in(5, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(6, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(7, 1, "Pending")));
        notify();
        OUTSTANDING(0);
        end();
}

static void spark_33262_pending_pods_do_not_stall(void **state)
{
        begin(suite_config());
        target(0, 6);
        OUTSTANDING(5);
        CREATED(5);
        pod(pod_in(1, 0, "Pending"));
        for (int id = 2; id <= 5; id++)
                pod(pod_in(id, 0, "Running"));
        notify();
        OUTSTANDING(2);
        created_of(6, 0);
        end();
}

static struct pods_allocator_config claims_config(void)
{
        struct pods_allocator_config c = suite_config();

        c.reuse_claims = true;
        c.wall_offset = INT64_C(1700000000000);
        return c;
}

static struct pod_claim a_claim(const char *name, const char *class, int64_t size, int64_t age)
{
        struct pod_claim c = {name, class, size, w.now + INT64_C(1700000000000) - age};
        return c;
}

static void spark_35416_claims_are_reused(void **state)
{
        begin(claims_config());
        w.asks_claims = true;
        target(0, 1);
        CREATED(0);
        assert_int_equal(w.claim_lists, 1);
        struct pod_claim none[] = {a_claim("other-class", "gp3", 200, 700000), a_claim("small", "gp2", 100, 700000),
                                   a_claim("no-class", NULL, 200, 700000)};
        pods_allocator_claims(w.a, none, 3, w.now);
        answer();
        CREATED(1);
        assert_string_equal(w.reused, "");
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        pod(pod_in(1, 0, "Running"));
        notify();
        OUTSTANDING(0);

        target(0, 2);
        notify();
        assert_int_equal(w.claim_lists, 2);
        struct pod_claim one[] = {a_claim("pvc-0", "gp2", 200, 600001)};
        pods_allocator_claims(w.a, one, 1, w.now);
        answer();
        CREATED(2);
        assert_string_equal(w.reused, "2:pvc-0 ");
        assert_int_equal(pods_allocator_claims_made(w.a), 1);

        /* It is taken, although no pod shows it yet; then, because a pod does. */
        notify();
        pod(pod_in(2, 0, "Pending"));
        target(0, 3);
        notify();
        pods_allocator_claims(w.a, one, 1, w.now);
        answer();
        assert_string_equal(w.reused, "2:pvc-0 3:pvc-0 "); /* the pod that was seen does not mount it */
        json_t *mounts = pod_in(3, 0, "Running");
        json_object_set_new(json_object_get(mounts, "spec"), "volumes",
                            json_text("[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'pvc-0'}}]"));
        pod(mounts);
        target(0, 4);
        notify();
        pods_allocator_claims(w.a, one, 1, w.now);
        answer();
        assert_string_equal(w.reused, "2:pvc-0 3:pvc-0 ");
        CREATED(4);
        end();
}

static void spark_39688_claims_that_cannot_be_listed(void **state)
{
        begin(claims_config());
        w.asks_claims = true;
        target(0, 1);
        pods_allocator_claims(w.a, NULL, -1, w.now);
        answer();
        CREATED(1);
        assert_non_null(strstr(w.log, "Cannot list PVC resources. Please check account permissions."));
        end();
}

static void spark_41388_recent_claims_are_not_reused(void **state)
{
        begin(claims_config());
        w.asks_claims = true;
        target(0, 2);
        struct pod_claim two[] = {a_claim("pvc-1", "gp2", 200, 600001), a_claim("pvc-2", "gp2", 200, 0)};
        pods_allocator_claims(w.a, two, 2, w.now);
        answer();
        assert_string_equal(w.reused, "1:pvc-1 ");
        CREATED(2);
        end();
}

static void spark_41410_executors_wait_for_claims(void **state)
{
        struct pods_allocator_config c = claims_config();

        c.wait_for_claims = true;
        c.max_claims = 1;
        begin(c);
        w.asks_claims = true;
        target(0, 1);
        pods_allocator_claims(w.a, NULL, 0, w.now);
        answer();
        OUTSTANDING(1);
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        pod(pod_in(1, 0, "Running"));
        notify();
        OUTSTANDING(0);

        target(0, 2);
        notify();
        pods_allocator_claims(w.a, NULL, 0, w.now);
        answer();
        OUTSTANDING(0);
        CREATED(1);
        int lists = w.claim_lists;
        notify();
        assert_int_equal(w.claim_lists, lists); /* not before something happened */
        pod(pod_failed(1, 0));
        notify();
        assert_int_equal(w.claim_lists, lists + 1);
        struct pod_claim one[] = {a_claim("pvc-0", "gp2", 200, 600001)};
        pods_allocator_claims(w.a, one, 1, w.now);
        answer();
        assert_string_equal(w.reused, "2:pvc-0 ");
        CREATED(2);
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        end();
}

static void spark_41410_a_claim_that_fails_does_not_count(void **state)
{
        struct pods_allocator_config c = claims_config();

        c.wait_for_claims = true;
        c.max_claims = 1;
        begin(c);
        w.asks_claims = w.keep_asking = true;
        target(0, 1);
        pods_allocator_claims(w.a, NULL, 0, w.now);
        CREATED(1);
        pods_allocator_create_failed(w.a, 1, CREATE_CLAIM_FAILED, 0, "PVC fails to create", w.now);
        assert_int_equal(pods_allocator_claims_made(w.a), 0);
        assert_int_equal(w.failures, 1);
        DELETED("1 "); /* the pod was created */
        OUTSTANDING(0);
        assert_true(pods_allocator_refuses(w.a, 1));
        end();
}

static void the_driver_must_be_ready_first(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.wait_for_driver = true;
        begin(c);
        target(0, 1);
        CREATED(0);
        assert_true(pods_allocator_deadline(w.a) == w.now + 1000);
        pods_allocator_driver_ready(w.a, w.now);
        CREATED(1);
        end();

        begin(c);
        target(0, 1);
        notify();
        CREATED(1);
        assert_non_null(strstr(w.log, "The driver's pod is not ready after 1000 ms"));
        end();
}

static void spark_allocation_maximum(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.maximum = 4;
        begin(c);
        target(0, 5);
        CREATED(3);
        for (int i = 1; i <= 3; i++)
                pod(pod_in(i, 0, "Running"));
        notify();
        notify();
        CREATED(3);
        char *first = strstr(w.log, "Exceed the pod creation limit: 4");
        assert_non_null(first);
        assert_null(strstr(first + 1, "Exceed the pod creation limit"));
        end();
}

static void failed_creations_count_as_failed_executors(void **state)
{
        begin(suite_config());
        w.keep_asking = true;
        target(0, 2);
        CREATED(2);
        pods_allocator_create_failed(w.a, 1, CREATE_REFUSED, 0, "pods \"x\" is forbidden", w.now);
        pods_allocator_created(w.a, 2, w.now);
        assert_int_equal(w.failures, 1);
        assert_non_null(strstr(w.log, "Failed to create the pod of executor 1: pods \"x\" is forbidden"));
        OUTSTANDING(1);
        pod(pod_in(2, 0, "Running"));
        notify();
        notify();
        created_of(3, 0);
        end();
}

static void recovery_mode_begins_with_the_first_that_runs_out_of_memory(void **state)
{
        for (int setting = -1; setting <= 1; setting++) {
                struct pods_allocator_config c = suite_config();
                c.recovery = setting;
                begin(c);
                target(0, 1);
                assert_int_equal(w.created.data[0].recovery, setting == 1);
                pods_allocator_recover(w.a);
                pod(pod_in(1, 0, "Running"));
                target(0, 2);
                notify();
                assert_int_equal(w.created.data[1].recovery, setting != 0);
                end();
        }
}

/* ---------------------------------------------------------------------------------------------------- ours */

/* Moments that were set for what is over by now pass; then there is none. */
static void comes_to_rest(void)
{
        for (int i = 0; i < 3 && pods_allocator_deadline(w.a) != INT64_MAX; i++) {
                assert_true(pods_allocator_deadline(w.a) > w.now);
                w.now = pods_allocator_deadline(w.a);
                pods_allocator_tick(w.a, w.now);
        }
        assert_true(pods_allocator_deadline(w.a) == INT64_MAX);
}

static struct pods_allocator_config our_config(void)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.idle_timeout = IDLE;
        return c;
}

static void without_a_batch_size_creations_run_side_by_side(void **state)
{
        begin(our_config());
        w.keep_asking = true;
        target(0, 1000);
        CREATED(20);
        for (int id = 1; id <= 20; id++)
                pods_allocator_created(w.a, id, w.now);
        CREATED(60); /* 40 at a time by now, nothing was seen in a snapshot, and no time went by */
        for (int id = 21; id <= (int)w.created.len; id++)
                pods_allocator_created(w.a, id, w.now);
        CREATED(1000);
        assert_int_equal(pods_allocator_counts(w.a, 0).created, 1000);
        assert_true(pods_allocator_deadline(w.a) == w.now + 600001);
        for (int id = 1; id <= 1000; id++)
                pod(pod_in(id, 0, "Running"));
        notify();
        CREATED(1000);
        assert_int_equal(pods_allocator_counts(w.a, -1).running, 1000);
        char *said = strstr(w.log, "Going to request 1000 executors");
        assert_non_null(said);
        assert_null(strstr(said + 1, "Going to request"));
        comes_to_rest();
        end();
}

static void the_server_slows_creations_down(void **state)
{
        begin(our_config());
        w.keep_asking = true;
        target(0, 100);
        for (int id = 1; id <= 20; id++)
                pods_allocator_create_failed(w.a, id, CREATE_SLOW_DOWN, 5000, "too many requests", w.now);
        CREATED(20);
        OUTSTANDING(0);
        assert_true(pods_allocator_deadline(w.a) == w.now + 5000);
        w.now += 4999;
        pods_allocator_tick(w.a, w.now);
        CREATED(20);
        w.now += 1;
        pods_allocator_tick(w.a, w.now);
        CREATED(30);
        created_of(30, 0); /* under new ids */
        assert_int_equal(w.failures, 0);
        end();
}

static void a_full_quota_is_said_once_and_is_no_failure(void **state)
{
        begin(our_config());
        w.keep_asking = true;
        target(0, 3);
        for (int round = 0, id = 1; round < 6; round++) {
                for (; id <= (int)w.created.len; id++)
                        pods_allocator_create_failed(w.a, id, CREATE_QUOTA, 0, "exceeded quota: q, used: pods=10",
                                                     w.now);
                assert_true(pods_allocator_deadline(w.a) > w.now);
                w.now = pods_allocator_deadline(w.a);
                pods_allocator_tick(w.a, w.now);
        }
        CREATED(3 + 6);
        char *said = strstr(w.log, "exceeded quota: q, used: pods=10");
        assert_non_null(said);
        assert_null(strstr(said + 1, "exceeded quota"));
        assert_int_equal(w.failures, 0);
        pods_allocator_created(w.a, 9, w.now);
        assert_non_null(strstr(w.log, "creates executor pods again"));
        CREATED(11);
        end();
}

static void a_creation_without_answer_is_looked_for(void **state)
{
        struct pods_allocator_config c = our_config();

        begin(c);
        w.keep_asking = true;
        target(0, 2);
        pods_allocator_create_failed(w.a, 1, CREATE_UNKNOWN, 0, "the connection broke", w.now);
        pods_allocator_create_failed(w.a, 2, CREATE_UNKNOWN, 0, "the connection broke", w.now);
        OUTSTANDING(2);
        pod(pod_in(2, 0, "Running"));
        notify();
        OUTSTANDING(1);
        CREATED(2);

        /* All there is was told, but too early to be sure; then late enough. */
        snapshots_store_synced(w.store, w.now);
        notify();
        CREATED(2);
        w.now += c.missing_delta;
        snapshots_store_synced(w.store, w.now);
        notify();
        CREATED(3);
        DELETED("1 ");
        assert_true(pods_allocator_refuses(w.a, 1));

        /* It comes after all: it is not wanted any more, and does not count. */
        pods_allocator_created(w.a, 3, w.now);
        pod(pod_in(3, 0, "Running"));
        pod(pod_in(1, 0, "Running"));
        notify();
        DELETED("1 ");
        assert_int_equal(pods_allocator_counts(w.a, 0).running, 2);
        assert_true(pods_allocator_refuses(w.a, 1));

        /* The deletion was lost. */
        w.now += 10000;
        notify();
        DELETED("1 ");
        pod(pod_leaving(pod_in(1, 0, "Running")));
        notify();
        w.now += 20000;
        notify();
        DELETED("");
        pods_gone(pod_in(1, 0, "Running"));
        notify();
        comes_to_rest();
        CREATED(3);
        end();
}

static void only_those_that_are_missing_for_long_are_given_up(void **state)
{
        struct pods_allocator_config c = our_config();

        begin(c);
        target(0, 1);
        w.now += c.missing_delta;
        target(0, 2);
        w.now += 1;
        snapshots_store_synced(w.store, w.now);
        notify();
        DELETED("1 ");
        w.now += c.missing_delta * 2; /* nothing was told meanwhile that 2 might be in */
        notify();
        DELETED("");
        CREATED(3);
        end();
}

static void an_excess_pod_that_runs_by_the_time_is_deleted_again(void **state)
{
        begin(our_config());
        target(0, 1);
        pod(pod_in(1, 0, "Pending"));
        target(0, 0);
        w.now += IDLE;
        notify();
        DELETED("1p ");
        pod(pod_in(1, 0, "Running")); /* so the server found nothing pending */
        notify();
        DELETED("");
        assert_true(pods_allocator_refuses(w.a, 1));
        w.now += 10000;
        notify();
        DELETED("1 ");
        end();
}

static void a_pod_seen_before_the_answer_counts_once(void **state)
{
        begin(our_config());
        w.keep_asking = true;
        target(0, 2);
        pod(pod_in(1, 0, "Running"));
        pod(pod_in(2, 0, "Pending"));
        notify();
        assert_int_equal(pods_allocator_counts(w.a, 0).asked, 0);
        pods_gone(pod_in(2, 0, "Pending"));
        notify();
        CREATED(3);
        pods_allocator_created(w.a, 1, w.now);
        pods_allocator_created(w.a, 2, w.now);
        CREATED(3);
        struct pods_allocator_counts n = pods_allocator_counts(w.a, 0);
        assert_int_equal(n.running, 1);
        assert_int_equal(n.asked, 1);
        assert_int_equal(n.created + n.pending, 0);
        end();
}

static void pods_that_are_not_ours_keep_their_ids(void **state)
{
        begin(our_config());
        pod(pod_in(7, 0, "Running"));
        notify();
        assert_false(pods_allocator_refuses(w.a, 7));
        target(0, 2);
        CREATED(1);
        assert_int_equal(w.created.data[0].id, 8);
        end();
}

static void stopped_it_does_nothing(void **state)
{
        begin(our_config());
        pods_allocator_stop(w.a);
        target(0, 5);
        notify();
        CREATED(0);
        assert_true(pods_allocator_deadline(w.a) == INT64_MAX);
        end();
}

static void records_do_not_pile_up(void **state)
{
        begin(our_config());
        target(0, 1);
        for (int id = 1; id <= 2000; id++) {
                pod(pod_in(id, 0, "Running"));
                notify();
                pods_gone(pod_in(id, 0, "Running"));
                notify();
                w.log[0] = '\0';
        }
        CREATED(2001);
        assert_true(pods_allocator_size(w.a) < 200);
        end();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(spark_49447_small_batch_delays_are_refused),
                cmocka_unit_test(spark_36052_split_slots),
                cmocka_unit_test(spark_36052_pending_limit_with_several_profiles),
                cmocka_unit_test(pending_limit_of_a_profile),
                cmocka_unit_test(executors_are_requested_in_batches),
                cmocka_unit_test(another_batch_when_all_of_the_first_run),
                cmocka_unit_test(what_fails_at_once_is_requested_with_the_next_batch),
                cmocka_unit_test(what_the_server_does_not_report_is_requested_again),
                cmocka_unit_test(spark_28487_scale_up_and_down),
                cmocka_unit_test(spark_34334_what_is_too_new_does_not_protect_what_is_old),
                cmocka_unit_test(spark_33099_the_idle_timeout_protects),
                cmocka_unit_test(spark_34361_known_pods_of_several_profiles_when_scaling_down),
                cmocka_unit_test(spark_33288_several_profiles),
                cmocka_unit_test(spark_33262_pending_pods_do_not_stall),
                cmocka_unit_test(spark_35416_claims_are_reused),
                cmocka_unit_test(spark_39688_claims_that_cannot_be_listed),
                cmocka_unit_test(spark_41388_recent_claims_are_not_reused),
                cmocka_unit_test(spark_41410_executors_wait_for_claims),
                cmocka_unit_test(spark_41410_a_claim_that_fails_does_not_count),
                cmocka_unit_test(the_driver_must_be_ready_first),
                cmocka_unit_test(spark_allocation_maximum),
                cmocka_unit_test(failed_creations_count_as_failed_executors),
                cmocka_unit_test(recovery_mode_begins_with_the_first_that_runs_out_of_memory),
                cmocka_unit_test(without_a_batch_size_creations_run_side_by_side),
                cmocka_unit_test(the_server_slows_creations_down),
                cmocka_unit_test(a_full_quota_is_said_once_and_is_no_failure),
                cmocka_unit_test(a_creation_without_answer_is_looked_for),
                cmocka_unit_test(only_those_that_are_missing_for_long_are_given_up),
                cmocka_unit_test(an_excess_pod_that_runs_by_the_time_is_deleted_again),
                cmocka_unit_test(a_pod_seen_before_the_answer_counts_once),
                cmocka_unit_test(pods_that_are_not_ours_keep_their_ids),
                cmocka_unit_test(stopped_it_does_nothing),
                cmocka_unit_test(records_do_not_pile_up),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
