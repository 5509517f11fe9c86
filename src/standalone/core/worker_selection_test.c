/* Compares the index and the table of objects with plain arrays. */
#include "standalone/core/worker_selection.h"

#include "base/mem.h"
#include "base/hash_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { N = 200 };

static uint64_t dice(uint64_t *state)
{
        return object_hash_number(*state += 0x9e3779b97f4a7c15u);
}

static void the_order_holds_while_numbers_change(void **state)
{
        static struct index_node nodes[N];
        static char names[N][8];
        struct worker_index index = {0};
        uint64_t seed = 7;

        for (int i = 0; i < N; i++)
                snprintf(names[i], sizeof(names[i]), "w%03d", i);
        for (int step = 0; step < 5000; step++) {
                struct index_node *n = &nodes[dice(&seed) % N];
                int64_t number = (int64_t)(dice(&seed) % 9);

                switch (dice(&seed) % 3) {
                case 0:
                        worker_index_remove(&index, n);
                        break;
                case 1:
                        worker_index_move(&index, n, number);
                        break;
                case 2:
                        if (!n->inside)
                                worker_index_insert(&index, n, number, names[n - nodes]);
                }
                if (step % 50)
                        continue;
                int inside = 0, forward = 0, backward = 0;

                for (int i = 0; i < N; i++)
                        inside += nodes[i].inside;
                for (struct index_node *a = worker_index_from(&index, INT64_MIN), *b; a; a = b, forward++) {
                        b = worker_index_next(a);
                        assert_true(!b || a->number < b->number ||
                                    (a->number == b->number && strcmp(a->name, b->name) < 0));
                }
                for (struct index_node *a = worker_index_last(&index); a; a = worker_index_previous(a))
                        backward++;
                assert_int_equal(forward, inside);
                assert_int_equal(backward, inside);
                struct index_node *from = worker_index_from(&index, number);

                for (int i = 0; i < N; i++)
                        if (nodes[i].inside && nodes[i].number >= number) {
                                assert_true(from);
                                assert_true(from->number <= nodes[i].number);
                        }
                if (from)
                        assert_true(from->number >= number);
        }
}

static bool is_number(const void *object, const void *key)
{
        return *(const int *)object == *(const int *)key;
}

static void objects_are_found_until_removed(void **state)
{
        static int objects[N];
        static bool inside[N];
        struct object_table t = {0};
        uint64_t seed = 3;

        for (int i = 0; i < N; i++)
                objects[i] = i;
        for (int step = 0; step < 20000; step++) {
                int i = (int)(dice(&seed) % N);
                uint64_t hash = object_hash_number((uint64_t)i) % 64; /* many objects share a hash */

                assert_ptr_equal(object_table_find(&t, hash, is_number, &i), inside[i] ? &objects[i] : NULL);
                if (inside[i] || dice(&seed) % 2)
                        object_table_remove(&t, hash, &objects[i]);
                else
                        object_table_put(&t, hash, &objects[i]);
                inside[i] = object_table_find(&t, hash, is_number, &i) != NULL;
        }
        size_t count = 0;

        for (int i = 0; i < N; i++)
                count += inside[i];
        assert_int_equal(count, t.count);
        object_table_deinit(&t);
}

static bool any_key(const void *object, const void *key)
{
        return true;
}

/* The places of these keys collide in a table of 16. */
static void one_of_the_keys_of_an_object_is_removed(void **state)
{
        enum { FIRST = 3, SECOND = 3 + 16, THIRD = 3 + 32 };
        struct object_table t = {0};
        int object = 0;

        object_table_put(&t, FIRST, &object);
        object_table_put(&t, SECOND, &object);
        object_table_put(&t, THIRD, &object);
        object_table_remove(&t, SECOND, &object);
        assert_ptr_equal(object_table_find(&t, FIRST, any_key, NULL), &object);
        assert_null(object_table_find(&t, SECOND, any_key, NULL));
        assert_ptr_equal(object_table_find(&t, THIRD, any_key, NULL), &object);
        object_table_remove(&t, SECOND, &object);
        assert_int_equal(t.count, 2);
        object_table_deinit(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_order_holds_while_numbers_change),
                cmocka_unit_test(objects_are_found_until_removed),
                cmocka_unit_test(one_of_the_keys_of_an_object_is_removed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
