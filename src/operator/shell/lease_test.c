/* Leader election: one operator, failing servers, wrong clocks, and random worlds in which two never lead at once. */
#include "operator/shell/lease.h"

#include "base/mem.h"
#include "text/json.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define S(n) ((n)*NS_PER_SECOND)

/* A server that stores one Lease. */
static json_t *stored;
static int stored_version;

static json_t *store(json_t *object)
{
        const char *version = json_text_at(object, "metadata.resourceVersion");
        bool current = stored ? version && atoi(version) == stored_version : version == NULL;
        char text[16];
        if (!current) {
                json_decref(object);
                return NULL;
        }
        json_decref(stored);
        stored = object;
        snprintf(text, sizeof(text), "%d", ++stored_version);
        json_object_set_new(json_object_get(stored, "metadata"), "resourceVersion", json_string(text));
        json_object_set_new(json_object_get(stored, "metadata"), "uid", json_string("u"));
        return stored;
}

static void forget_stored(void)
{
        json_decref(stored);
        stored = NULL;
        stored_version = 0;
}

/* Runs all steps that are due. Returns whether it lost the lease. */
static bool turn(struct lease *l, int64_t now, int64_t wall)
{
        bool lost = false;
        for (enum lease_step step; (step = lease_next(l, now)) != LEASE_IDLE;) {
                if (step == LEASE_LOST)
                        lost = true;
                else if (step == LEASE_READ)
                        lease_read(l, stored, false, now);
                else
                        lease_written(l, store(lease_object(l, wall)), now);
        }
        return lost;
}

static void one_operator_leads_and_renews(void **state)
{
        struct lease a;
        lease_init(&a, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "a"});
        turn(&a, 0, 1774000000123);
        assert_true(a.leading);
        assert_string_equal(json_text_at(stored, "spec.holderIdentity"), "a");
        assert_string_equal(json_text_at(stored, "spec.acquireTime"), "2026-03-20T09:46:40.123000Z");
        assert_int_equal(json_int_at(stored, "spec.leaseDurationSeconds"), 15);
        assert_int_equal(lease_deadline(&a), S(2));
        turn(&a, S(2), 1774000002000);
        assert_string_equal(json_text_at(stored, "spec.renewTime"), "2026-03-20T09:46:42.000000Z");
        assert_string_equal(json_text_at(stored, "spec.acquireTime"), "2026-03-20T09:46:40.123000Z");
        assert_int_equal(json_int_at(stored, "spec.leaseTransitions"), 0);
        lease_deinit(&a);
        forget_stored();
}

static void other_operator_takes_over_after_duration(void **state)
{
        struct lease a, b;
        lease_init(&a, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "a"});
        lease_init(&b, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "b"});
        turn(&a, 0, 0);
        for (int64_t now = S(1); now < S(16); now += S(1)) {
                turn(&b, now, 5000000000000); /* a clock that is wrong by a century */
                assert_false(b.leading);
        }
        turn(&b, S(16), 0);
        assert_true(b.leading);
        assert_int_equal(json_int_at(stored, "spec.leaseTransitions"), 1);
        assert_true(turn(&a, S(16), 0)); /* `a` was silent: it knows that its time is over */
        assert_false(a.leading);
        lease_deinit(&a);
        lease_deinit(&b);
        forget_stored();
}

static void released_lease_is_taken_at_once(void **state)
{
        struct lease a, b;
        lease_init(&a, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "a"});
        lease_init(&b, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "b"});
        turn(&a, 0, 0);
        lease_release(&a, S(1));
        turn(&a, S(1), 0);
        assert_false(a.leading);
        assert_int_equal(lease_deadline(&a), INT64_MAX);
        turn(&b, S(1), 0);
        assert_true(b.leading);
        lease_deinit(&a);
        lease_deinit(&b);
        forget_stored();
}

static void a_renewal_on_its_way_is_answered_before_the_release(void **state)
{
        struct lease a;
        lease_init(&a, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "a"});
        turn(&a, 0, 0);
        assert_int_equal(lease_next(&a, S(2)), LEASE_WRITE);
        lease_release(&a, S(2));
        assert_int_equal(lease_next(&a, S(2)), LEASE_IDLE);
        json_object_set_new(json_object_get(stored, "metadata"), "resourceVersion", json_string("renewed"));
        lease_written(&a, stored, S(3));
        assert_int_equal(lease_next(&a, S(3)), LEASE_WRITE);
        json_t *object = lease_object(&a, 0);
        assert_string_equal(json_text_at(object, "spec.holderIdentity"), "");
        assert_string_equal(json_text_at(object, "metadata.resourceVersion"), "renewed");
        json_decref(object);
        lease_written(&a, NULL, S(3));
        assert_false(a.leading);
        assert_int_equal(lease_next(&a, S(3)), LEASE_IDLE);
        lease_deinit(&a);
        forget_stored();
}

static void unreachable_server_ends_leadership(void **state)
{
        struct lease a;
        lease_init(&a, &(struct lease_options){.namespace = "o", .name = "lock", .identity = "a"});
        turn(&a, 0, 0);
        bool lost = false;
        for (int64_t now = S(1); now <= S(10); now += S(1)) {
                enum lease_step step;
                assert_true(a.leading);
                while (!lost && (step = lease_next(&a, now)) != LEASE_IDLE) {
                        lost = step == LEASE_LOST;
                        if (step == LEASE_READ)
                                lease_read(&a, NULL, true, now);
                        if (step == LEASE_WRITE)
                                lease_written(&a, NULL, now);
                }
        }
        assert_true(lost);
        assert_false(a.leading);
        turn(&a, S(12), 0); /* the server is back, and nobody else took the lease */
        assert_true(a.leading);
        lease_deinit(&a);
        forget_stored();
}

/* Three operators with failing calls, lost answers and wrong wall clocks: never two leaders at one time. */
static void random_worlds_have_one_leader(void **state)
{
        enum { N = 3 };
        static const char *const names[N] = {"a", "b", "c"};
        for (unsigned seed = 1; seed <= 300; seed++) {
                CASE_LABEL("seed %u", seed);
                struct lease l[N];
                unsigned random = seed;
                int led = 0;
                for (int i = 0; i < N; i++)
                        lease_init(&l[i], &(struct lease_options){.namespace = "o", .name = "k", .identity = names[i]});
                for (int64_t now = 0; now < S(300); now += (int64_t)(rand_r(&random) % 900) * NS_PER_MS) {
                        int i = (int)(rand_r(&random) % N), leaders = 0;
                        int64_t wall = (int64_t)(rand_r(&random) % 1000000) * 1000;
                        bool broken = now / S(40) % 2 == 1 && i == (int)(now / S(40) % N);
                        enum lease_step step = lease_next(&l[i], now);
                        bool fails = broken || rand_r(&random) % 10 == 0;
                        if (step == LEASE_READ) {
                                lease_read(&l[i], fails ? NULL : stored, fails, now);
                        } else if (step == LEASE_WRITE) {
                                json_t *object = lease_object(&l[i], wall);
                                json_t *answer = NULL;
                                if (!fails || rand_r(&random) % 2)
                                        answer = store(object);
                                else
                                        json_decref(object);
                                lease_written(&l[i], fails ? NULL : answer, now);
                        }
                        for (int k = 0; k < N; k++) {
                                if (l[k].leading && now >= l[k].renewed + l[k].options.renew_deadline)
                                        lease_next(&l[k], now); /* its timer */
                                leaders += l[k].leading;
                        }
                        assert_true(leaders <= 1);
                        led += leaders;
                }
                assert_true(led > 100);
                for (int i = 0; i < N; i++)
                        lease_deinit(&l[i]);
                forget_stored();
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_operator_leads_and_renews),
                cmocka_unit_test(other_operator_takes_over_after_duration),
                cmocka_unit_test(released_lease_is_taken_at_once),
                cmocka_unit_test(a_renewal_on_its_way_is_answered_before_the_release),
                cmocka_unit_test(unreachable_server_ends_leadership),
                cmocka_unit_test(random_worlds_have_one_leader),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
