/* Records, their pods, and pauses. */
#include "operator/object_records.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct pi_record {
        struct object_record object;
        char *text;
};

static int n_freed;

static void pi_record_deinit(struct object_record *r)
{
        free(((struct pi_record *)r)->text);
        n_freed++;
}

static struct object_records pi_records(size_t max_executors)
{
        n_freed = 0;
        return (struct object_records){
                .record_size = sizeof(struct pi_record), .deinit = pi_record_deinit, .max_executors = max_executors};
}

static struct seen_driver driver(const char *name, const char *uid)
{
        return (struct seen_driver){.name = name, .uid = uid, .version = 1};
}

static void keeps_records_with_object_or_pod(void **state)
{
        struct object_records t = pi_records(0);
        bool is_driver;
        struct object_record *r = object_records_get(&t, "jobs", "pi");
        ((struct pi_record *)r)->text = mem_strdup("text");
        assert_string_equal(r->key, "jobs/pi");
        assert_string_equal(r->namespace, "jobs");
        assert_string_equal(r->name, "pi");
        assert_ptr_equal(object_records_get(&t, "jobs", "pi"), r);
        assert_null(object_records_find_object(&t, "jobs", "pi", NULL));
        object_record_begin(r, "u-1");
        assert_ptr_equal(object_records_find_object(&t, "jobs", "pi", "u-1"), r);
        assert_null(object_records_find_object(&t, "jobs", "pi", "u-2"));
        assert_null(object_records_find_object(&t, "job", "s/pi", NULL));
        object_records_set_driver(&t, r, &(struct seen_driver){.name = "pi-driver", .uid = "d-1", .version = 3});
        object_record_begin(r, NULL);
        object_records_drop_if_empty(&t, r);
        assert_int_equal(n_freed, 0); /* its driver's pod exists */
        assert_false(object_records_remove_pod(&t, r, "pi-driver", "d-2", &is_driver));
        assert_true(object_records_remove_pod(&t, r, "pi-driver", "d-1", &is_driver));
        assert_true(is_driver);
        assert_false(object_records_remove_pod(&t, r, "pi-driver", "d-1", &is_driver));
        object_records_drop_if_empty(&t, r);
        assert_int_equal(n_freed, 1);
        assert_null(object_records_find(&t, "jobs", "pi"));
        object_records_deinit(&t);
}

static void finds_pods_by_name(void **state)
{
        struct object_records t = pi_records(0);
        bool is_driver;
        struct object_record *a = object_records_get(&t, "jobs", "a"), *b = object_records_get(&t, "other", "a");
        const struct seen_driver first = driver("same", "d-1"), second = driver("same", "d-2"),
                                 new = driver("new", "d-3");
        object_records_set_driver(&t, a, &first);
        object_records_set_driver(&t, b, &second);
        assert_true(object_records_set_executor(&t, a, "exec-1", 7, 1, 0));
        assert_ptr_equal(object_records_find_pod(&t, "jobs", "same", NULL, &is_driver), a);
        assert_true(is_driver);
        assert_ptr_equal(object_records_find_pod(&t, "other", "same", "d-2", &is_driver), b);
        assert_null(object_records_find_pod(&t, "jobs", "same", "d-2", &is_driver));
        assert_false(is_driver);
        assert_ptr_equal(object_records_find_pod(&t, "jobs", "exec-1", "any", &is_driver), a);
        assert_false(is_driver);
        assert_null(object_records_find_pod(&t, "other", "exec-1", NULL, &is_driver));
        object_records_set_driver(&t, a, &new); /* the name before is forgotten */
        assert_null(object_records_find_pod(&t, "jobs", "same", NULL, &is_driver));
        assert_ptr_equal(object_records_find_pod(&t, "jobs", "new", NULL, &is_driver), a);
        object_records_deinit(&t);
        assert_int_equal(n_freed, 2);
}

static void executors_are_sorted_and_limited(void **state)
{
        struct object_records t = pi_records(3);
        struct object_record *r = object_records_get(&t, "jobs", "pi");
        bool found, is_driver;
        assert_true(object_records_set_executor(&t, r, "exec-2", 7, 5, 1));
        assert_true(object_records_set_executor(&t, r, "exec-3", 7, 5, 1));
        assert_true(object_records_set_executor(&t, r, "exec-1", 7, 5, 1));
        assert_false(object_records_set_executor(&t, r, "exec-4", 7, 5, 1)); /* beyond the limit */
        assert_int_equal(r->executors.len, 3);
        assert_string_equal(r->executors.data[0].name, "exec-1");
        assert_string_equal(r->executors.data[2].name, "exec-3");
        assert_false(object_records_set_executor(&t, r, "exec-2", 7, 5, 2)); /* an old version */
        assert_false(object_records_set_executor(&t, r, "exec-2", 7, 6, 1)); /* the same state */
        assert_true(object_records_set_executor(&t, r, "exec-2", 7, 7, 2));
        assert_true(object_records_set_executor(&t, r, "exec-2", 7, 0, 3)); /* a version that is not a number */
        assert_int_equal(object_record_executor_place(r, "exec-2", &found), 1);
        assert_true(found);
        assert_true(object_records_remove_pod(&t, r, "exec-2", NULL, &is_driver));
        assert_false(is_driver);
        assert_int_equal(object_record_executor_place(r, "exec-2", &found), 1);
        assert_false(found);
        assert_string_equal(r->executors.data[1].name, "exec-3");
        object_records_deinit(&t);
}

static void pauses_grow_and_outlive_no_clock(void **state)
{
        struct object_record r = {0};
        assert_false(object_record_pauses(&r, 1000));
        object_record_pause(&r, 1000);
        assert_int_equal(r.retry_at_ms, 1250);
        assert_true(object_record_pauses(&r, 1249));
        assert_false(object_record_pauses(&r, 1250));
        object_record_pause(&r, 2000);
        assert_int_equal(r.retry_at_ms, 2500);
        assert_int_equal(object_pause_ms(100), LONGEST_OBJECT_PAUSE_MS);
        assert_false(object_record_pauses(&r, 2500 - LONGEST_OBJECT_PAUSE_MS - 1)); /* the clock was set back */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_records_with_object_or_pod),
                cmocka_unit_test(finds_pods_by_name),
                cmocka_unit_test(executors_are_sorted_and_limited),
                cmocka_unit_test(pauses_grow_and_outlive_no_clock),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
