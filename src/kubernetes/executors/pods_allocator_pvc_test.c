/* Reuse of claims: those cases of Spark's ExecutorPodsAllocatorSuite. */
#include "kubernetes/executors/pods_allocator_fixture.h"

static struct pods_allocator_config claims_config(void)
{
        struct pods_allocator_config c = suite_config();

        static char class[] = "gp2";
        static const struct claim_need claim = {class, 200};

        c.reuse_claims = true;
        c.claims = &claim;
        c.n_claims = 1;
        c.wall_offset = INT64_C(1700000000) * NS_PER_SECOND;
        return c;
}

static struct pod_claim a_claim(const char *name, const char *class, int64_t size, int64_t age_ms)
{
        struct pod_claim c = {name, class, size, w.now / NS_PER_MS + INT64_C(1700000000000) - age_ms};
        return c;
}

static void spark_35416_claims_are_reused(void **state)
{
        world_begin(claims_config());
        allocator_target(0, 1);
        CREATED(0);
        assert_int_equal(w.claim_lists, 1);
        struct pod_claim none[] = {a_claim("other-class", "gp3", 200, 700000), a_claim("small", "gp2", 100, 700000),
                                   a_claim("no-class", NULL, 200, 700000)};
        pods_allocator_claims(w.a, none, 3, w.now);
        server_answer();
        CREATED(1);
        assert_string_equal(w.reused, "");
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        server_update_pod(pod_in(1, 0, "Running"));
        world_advance();
        OUTSTANDING(0);

        allocator_target(0, 2);
        world_advance();
        assert_int_equal(w.claim_lists, 2);
        struct pod_claim one[] = {a_claim("pvc-0", "gp2", 200, 600001)};
        pods_allocator_claims(w.a, one, 1, w.now);
        server_answer();
        CREATED(2);
        assert_string_equal(w.reused, "2:pvc-0 ");
        assert_int_equal(pods_allocator_claims_made(w.a), 1);

        /* The claim is in use, first by a creation without a pod, then by the pod. */
        world_advance();
        server_update_pod(pod_in(2, 0, "Pending"));
        allocator_target(0, 3);
        world_advance();
        pods_allocator_claims(w.a, one, 1, w.now);
        server_answer();
        assert_string_equal(w.reused, "2:pvc-0 3:pvc-0 "); /* the pod in the snapshot does not mount it */
        json_t *mounts = pod_in(3, 0, "Running");
        json_object_set_new(json_object_get(mounts, "spec"), "volumes",
                            json_text("[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'pvc-0'}}]"));
        server_update_pod(mounts);
        allocator_target(0, 4);
        world_advance();
        pods_allocator_claims(w.a, one, 1, w.now);
        server_answer();
        assert_string_equal(w.reused, "2:pvc-0 3:pvc-0 ");
        CREATED(4);
        world_end();
}

static void spark_39688_creates_claims_if_list_fails(void **state)
{
        world_begin(claims_config());
        allocator_target(0, 1);
        pods_allocator_claims(w.a, NULL, -1, w.now);
        server_answer();
        CREATED(1);
        assert_non_null(strstr(w.log, "Cannot list PVC resources. Please check account permissions."));
        world_end();
}

static void spark_41388_recent_claims_are_not_reused(void **state)
{
        world_begin(claims_config());
        allocator_target(0, 2);
        struct pod_claim two[] = {a_claim("pvc-1", "gp2", 200, 600001), a_claim("pvc-2", "gp2", 200, 0)};
        pods_allocator_claims(w.a, two, 2, w.now);
        server_answer();
        assert_string_equal(w.reused, "1:pvc-1 ");
        CREATED(2);
        world_end();
}

static void spark_41410_executors_wait_for_claims(void **state)
{
        struct pods_allocator_config c = claims_config();

        c.wait_for_claims = true;
        c.max_claims = 1;
        world_begin(c);
        allocator_target(0, 1);
        pods_allocator_claims(w.a, NULL, 0, w.now);
        server_answer();
        OUTSTANDING(1);
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        server_update_pod(pod_in(1, 0, "Running"));
        world_advance();
        OUTSTANDING(0);

        allocator_target(0, 2);
        world_advance();
        pods_allocator_claims(w.a, NULL, 0, w.now);
        server_answer();
        OUTSTANDING(0);
        CREATED(1);
        int lists = w.claim_lists;
        world_advance();
        assert_int_equal(w.claim_lists, lists); /* only after an event */
        server_update_pod(pod_failed(1, 0));
        world_advance();
        assert_int_equal(w.claim_lists, lists + 1);
        struct pod_claim one[] = {a_claim("pvc-0", "gp2", 200, 600001)};
        pods_allocator_claims(w.a, one, 1, w.now);
        server_answer();
        assert_string_equal(w.reused, "2:pvc-0 ");
        CREATED(2);
        assert_int_equal(pods_allocator_claims_made(w.a), 1);
        world_end();
}

static void spark_41410_failed_claim_does_not_count(void **state)
{
        struct pods_allocator_config c = claims_config();

        c.wait_for_claims = true;
        c.max_claims = 1;
        world_begin(c);
        w.no_responses = true;
        allocator_target(0, 1);
        pods_allocator_claims(w.a, NULL, 0, w.now);
        world_run();
        CREATED(1);
        create_failed(1, CREATE_CLAIM_FAILED, 0, "PVC fails to create");
        assert_int_equal(pods_allocator_claims_made(w.a), 0);
        FAILURES(1);
        DELETED("1 "); /* the pod was created */
        OUTSTANDING(0);
        assert_true(pods_allocator_is_excluded(w.a, 1));
        world_end();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(spark_35416_claims_are_reused),
                cmocka_unit_test(spark_39688_creates_claims_if_list_fails),
                cmocka_unit_test(spark_41388_recent_claims_are_not_reused),
                cmocka_unit_test(spark_41410_executors_wait_for_claims),
                cmocka_unit_test(spark_41410_failed_claim_does_not_count),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
