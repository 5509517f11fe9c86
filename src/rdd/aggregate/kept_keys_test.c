/* Tables that keep their keys from task to task: each task must see its own rows, whatever the ones before had. */
#include "rdd/aggregate/aggregate_fixture.h"

#include "rdd/partitioner.h"

#include <stdio.h>

enum { MANY = 6000 }; /* keys: more than the smallest table that is kept has */

struct kept_case {
        size_t first, keys, step; /* the keys first, first + step … */
        int64_t value;            /* of each row */
        size_t times;             /* rows of each key */
};

static void kept_fixture_init(struct aggregate_fixture *f, size_t pool)
{
        fixture_init(f, pool, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        f->options.keep_keys = true;
}

/* Each fifth key is longer than a slot has room for. */
static fst_bytes kept_key(size_t number, char text[static 64])
{
        int len = snprintf(text, 64, number % 5 ? "k%zu" : "a key that is far too long for a slot: %zu", number);
        return (fst_bytes){text, (size_t)len};
}

/* Adds the rows of @c, a batch of distinct keys at a time. Partial rows go to @partial. */
static void kept_add(struct aggregate_fixture *f, struct kept_case c, struct entries *partial)
{
        static char text[FST_BATCH_ROWS][64];
        fst_bytes keys[FST_BATCH_ROWS];
        int64_t values[FST_BATCH_ROWS];
        for (size_t i = 0; i < c.keys * c.times;) {
                fst_batch batch = {.type = f->options.type, .key.bytes = keys, .value.i64 = values};
                for (; batch.rows < FST_BATCH_ROWS && i < c.keys * c.times; i++, batch.rows++) {
                        keys[batch.rows] = kept_key(c.first + i % c.keys * c.step, text[batch.rows]);
                        values[batch.rows] = c.value;
                }
                fixture_add_all(f, &batch, partial);
        }
}

static void kept_expect(struct entries *got, struct kept_case c)
{
        struct entries expected = {0};
        char text[64];
        for (size_t i = 0; i < c.keys; i++)
                entries_add(&expected, kept_key(c.first + i * c.step, text), (int64_t)((uint64_t)c.value * c.times));
        entries_combine(&expected);
        entries_combine(got);
        entries_equal(&expected, got);
        entries_deinit(&expected);
        entries_deinit(got);
}

/* Ends a task whose rows so far are those of @c. */
static void kept_end(struct aggregate_fixture *f, struct kept_case c, struct entries got)
{
        aggregate_keep_keys(f->a);
        fixture_drain(f, &got);
        kept_expect(&got, c);
        aggregate_reset(f->a);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
}

/* Returns whether it began with the keys of the task before. */
static bool kept_task(struct aggregate_fixture *f, struct kept_case c)
{
        fixture_start(f);
        bool kept = aggregate_has_kept_keys(f->a);
        kept_add(f, c, NULL);
        kept_end(f, c, (struct entries){0});
        return kept;
}

static void next_tasks_find_their_keys(void **state)
{
        struct aggregate_fixture f;
        kept_fixture_init(&f, 64 << 20);
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 3}));
        assert_true(kept_task(&f, (struct kept_case){0, MANY, 1, 7, 2}));
        assert_int_equal(aggregate_stats(f.a).keys, 0);
        assert_true(kept_task(&f, (struct kept_case){0, MANY * 2 / 3, 1, 2, 2})); /* some of them */
        assert_true(kept_task(&f, (struct kept_case){0, MANY * 5 / 4, 1, 1, 2})); /* and more */
        assert_true(aggregate_stats(f.a).keys > 0);
        assert_true(kept_task(&f, (struct kept_case){3, MANY, 1, 1, 2}));
        fixture_deinit(&f);
}

static void tasks_with_other_keys_end_it(void **state)
{
        struct aggregate_fixture f;
        kept_fixture_init(&f, 64 << 20);
        kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2});
        struct entries got = {0};
        fixture_start(&f);
        assert_true(aggregate_has_kept_keys(f.a));
        const struct kept_case others = {MANY, 4 * MANY, 1, 1, 2};
        kept_add(&f, others, &got);
        kept_end(&f, others, got);
        assert_false(kept_task(&f, others));
        assert_false(kept_task(&f, others));
        fixture_deinit(&f);
}

static void few_keys_or_rare_repetition_end_it(void **state)
{
        struct aggregate_fixture f;
        kept_fixture_init(&f, 64 << 20);
        kept_task(&f, (struct kept_case){0, 1000, 1, 1, 2});
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 1}));
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
        assert_true(kept_task(&f, (struct kept_case){0, MANY / 8, 1, 1, 2})); /* the others do not come again */
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
        fixture_deinit(&f);
}

/* A sum of 0 is a row, and does not look like a key of the task before. */
static void numbers_that_are_not_positive_are_rows(void **state)
{
        const int64_t values[] = {0, -1, INT64_MIN, (int64_t)1 << 31 | 1};
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
                struct aggregate_fixture f;
                struct entries got = {0};
                kept_fixture_init(&f, 64 << 20);
                kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2});
                assert_true(kept_task(&f, (struct kept_case){2, MANY - 5000, 1, values[i], 2}));
                assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
                fixture_start(&f); /* positive rows come first */
                assert_true(aggregate_has_kept_keys(f.a));
                kept_add(&f, (struct kept_case){0, 2000, 1, 1, 1}, NULL);
                kept_add(&f, (struct kept_case){0, 2000, 1, -1, 1}, &got);
                assert_int_equal(got.n, 2000);
                kept_end(&f, (struct kept_case){0, 2000, 1, 0, 1}, got);
                fixture_deinit(&f);
        }
}

static void abandoned_tasks_leave_nothing(void **state)
{
        struct aggregate_fixture f;
        kept_fixture_init(&f, 64 << 20);
        kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2});
        fixture_start(&f);
        assert_true(aggregate_has_kept_keys(f.a));
        kept_add(&f, (struct kept_case){5, MANY, 1, 1, 2}, NULL);
        aggregate_reset(f.a);
        assert_int_equal(memory_manager_execution_used(f.manager), 0);
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
        fixture_start(&f); /* this one fails while its rows are read */
        kept_add(&f, (struct kept_case){5, MANY, 1, 1, 2}, NULL);
        aggregate_keep_keys(f.a);
        fst_batch out;
        assert_true(fixture_next_row(&f, &out) > 0);
        aggregate_reset(f.a);
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2}));
        fixture_deinit(&f);
}

/* Kept keys are memory that a task may not have, and that it gives back while it has no rows. */
static void keys_give_way_to_need_of_memory(void **state)
{
        struct aggregate_fixture f;
        struct memory_consumer other;
        const struct kept_case c = {0, MANY, 1, 1, 2};
        kept_fixture_init(&f, 4 << 20);
        kept_task(&f, c);
        memory_consumer_init(&other, f.memory, "other", NULL);
        assert_int_equal(memory_acquire(&other, (4 << 20) - (256 << 10)), 0);
        fixture_start(&f);
        assert_false(aggregate_has_kept_keys(f.a));
        memory_consumer_deinit(&other);
        kept_add(&f, c, NULL);
        kept_end(&f, c, (struct entries){0});
        fixture_start(&f);
        assert_true(aggregate_has_kept_keys(f.a));
        size_t before = memory_manager_execution_used(f.manager);
        aggregate_shrink(f.a);
        assert_false(aggregate_has_kept_keys(f.a));
        assert_true(memory_manager_execution_used(f.manager) < before / 4);
        kept_add(&f, c, NULL);
        kept_end(&f, c, (struct entries){0});
        fixture_deinit(&f);
}

/* Other functions, and numbers as keys, take no notice. */
static void only_sums_by_bytes_keep_keys(void **state)
{
        struct aggregate_fixture f;
        kept_fixture_init(&f, 64 << 20);
        f.options.combine = max;
        kept_task(&f, (struct kept_case){0, MANY, 1, 1, 1});
        fixture_start(&f);
        kept_add(&f, (struct kept_case){0, MANY, 1, 1, 4}, NULL);
        kept_end(&f, (struct kept_case){0, MANY, 1, 1, 1}, (struct entries){0});
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 1}));
        f.options.combine = sum; /* with the keys of sums, another function begins without them */
        kept_task(&f, (struct kept_case){0, MANY, 1, 1, 2});
        f.options.combine = min;
        assert_false(kept_task(&f, (struct kept_case){0, MANY, 1, 1, 1}));
        fixture_deinit(&f);
}

/* Returns whether the second of two tasks with @n keys of @type, numbers as bytes, may share them. */
static bool shares_keys(fst_type type, uint32_t n, int partitions)
{
        struct aggregate_fixture f;
        struct partitioner partitioner;
        struct page_keys *shared = NULL;
        char keys[FST_BATCH_ROWS * 32] = {0};
        fst_bytes views[FST_BATCH_ROWS];
        int64_t ones[FST_BATCH_ROWS];
        fixture_init(&f, 64 << 20, AGGREGATE_MAP, type, sum);
        f.options.keep_keys = true;
        partitioner_init_hash(&partitioner, partitions, type);
        for (int task = 0; task < 2; task++) {
                fixture_start(&f);
                for (uint32_t i = 0; i < 2 * n;) {
                        fst_batch batch = {.type = type, .value.i64 = ones};
                        for (; i < 2 * n && batch.rows < FST_BATCH_ROWS; i++, batch.rows++) {
                                uint32_t number = i % n;
                                memcpy(keys + (size_t)batch.rows * 32, &number, sizeof(number));
                                views[batch.rows] = (fst_bytes){keys + (size_t)batch.rows * 32, 32};
                                ones[batch.rows] = 1;
                        }
                        if (type.key == FST_KIND_BYTES)
                                batch.key.bytes = views;
                        else
                                batch.key.fixed = keys;
                        fixture_add_all(&f, &batch, NULL);
                }
                aggregate_keep_keys(f.a);
                shared = aggregate_share_keys(f.a, &partitioner, f.manager);
                assert_true(task || !shared);
                fst_batch out;
                for (int rows = 0; (rows = fixture_next_row(&f, &out)) > 0;)
                        ;
                aggregate_reset(f.a);
        }
        bool shares = shared != NULL;
        partitioner_deinit(&partitioner);
        fixture_deinit(&f);
        return shares;
}

static void only_many_bytes_keys_are_shared(void **state)
{
        assert_true(shares_keys(FST_PAIR(BYTES, I64), MANY, 3));
        assert_false(shares_keys(FST_PAIR(BYTES, I64), MANY, 200)); /* a few for each partition */
        fst_type fixed = FST_PAIR(BYTES, I64);
        fixed.key = FST_KIND_FIXED;
        fixed.key_size = 32;
        assert_false(shares_keys(fixed, MANY, 3));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(next_tasks_find_their_keys),
                cmocka_unit_test(tasks_with_other_keys_end_it),
                cmocka_unit_test(few_keys_or_rare_repetition_end_it),
                cmocka_unit_test(numbers_that_are_not_positive_are_rows),
                cmocka_unit_test(abandoned_tasks_leave_nothing),
                cmocka_unit_test(keys_give_way_to_need_of_memory),
                cmocka_unit_test(only_sums_by_bytes_keep_keys),
                cmocka_unit_test(only_many_bytes_keys_are_shared),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
