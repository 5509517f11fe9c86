/* Tests lists, the mode of group_by_key (rdd/cogroup/cogroup_lists.c). */
#include "rdd/cogroup/cogroup_fixture.h"

/* ------------------------------------------------------------------------------------------------------- lists */

struct list_sink {
        struct op op;
        const struct rows_of_side *rows; /* sorted */
        size_t at;
        fst_type elements;
};

/* Checks lists of values: I64, or these encoded in BYTES. */
static int check_list(struct op *op, const struct rows *in)
{
        struct list_sink *sink = container_of(op, struct list_sink, op);
        const struct rows_of_side *rows = sink->rows;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                assert_true(sink->at < rows->len);
                int64_t rank = rows->data[sink->at].rank;
                fst_bytes bytes = in->batch.value.bytes[i];
                assert_int_equal(rank_in(&in->batch, i), rank);
                size_t end = run_of(rows, sink->at);
                assert_int_equal(fst_list_count(bytes, sink->elements), end - sink->at);
                fst_list list = fst_list_of(bytes, sink->elements);
                for (; sink->at < end; sink->at++) {
                        int64_t x = 0;
                        if (sink->elements.key == FST_KIND_BYTES) {
                                fst_bytes value = {0};
                                assert_true(fst_list_next(&list, &value));
                                assert_int_equal(value.len, 8);
                                memcpy(&x, value.data, 8);
                        } else {
                                assert_true(fst_list_next(&list, &x));
                        }
                        assert_int_equal(x, rows->data[sink->at].value);
                }
                assert_int_equal(list.end - list.at, 0);
        }
        return 0;
}

static const struct op_class list_class = {"list", .consume = check_list};

static void check_lists_of(uint8_t kind, size_t pool, fst_type value, size_t n, int64_t ranks, int skew)
{
        struct cogroup_fixture f;
        fixture_init(&f, pool, true);
        struct rows_of_side rows = random_rows(kind, n, ranks, skew), sorted = {0};
        fst_type type = fst_type_pair(key_type(kind), value), lists = fst_type_pair(type, FST_BYTES);
        vec_reserve(&sorted, rows.len + 1);
        if (rows.len)
                memcpy(sorted.data, rows.data, rows.len * sizeof(*rows.data));
        sorted.len = rows.len;
        sort_rows(&sorted, kind);
        struct list_sink sink = {.rows = &sorted, .elements = value};
        op_init(&sink.op, &list_class, &f.run, lists);
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        op->next = &sink.op;
        if (run_cogroup(op, &rows, 1) != 0)
                fail_msg("%s", error_message(&f.run.error));
        assert_int_equal(sink.at, sorted.len);
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
        vec_deinit(&sorted);
}

static void check_lists(uint8_t kind, size_t pool)
{
        size_t many = pool == TIGHT ? 150000 : 20000;
        check_lists_of(kind, pool, FST_I64, many, 30000, 10);
        check_lists_of(kind, pool, FST_BYTES, many, 100, 20);
        check_lists_of(kind, pool, FST_I64, 0, 1, 0);
}

static void lists_keep_the_order_of_values(void **state)
{
        for_all_kinds(check_lists);
}

/* One key whose values fill half of the task's memory, among as many other rows, and in rows that just fit. */
static void lists_take_up_to_half_of_memory(void **state)
{
        size_t values = TIGHT / sizeof(int64_t) / 2;
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values, 1, 100);
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values * 2, 1000, 49);
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values / 4, 1, 100);
}

/* Few rows must not evict other tasks' blocks, however large the task's share is. */
static void lists_of_few_rows_take_little_memory(void **state)
{
        struct cogroup_fixture f;
        fixture_init(&f, (size_t)1 << 30, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 1000, 100, 0);
        fst_type type = FST_PAIR(I64, I64), lists = FST_PAIR(I64, BYTES);
        struct list_sink sink = {.rows = &rows, .elements = FST_I64};
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, lists);
        op->next = &sink.op;
        assert_int_equal(run_cogroup(op, &rows, 1), 0);
        assert_in_range(memory_task_peak(task_run_memory(&f.run)), 1000 * 16, 8 << 20);
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

/* A consumer of the task that frees nothing and counts the requests when memory is short. */
struct stingy_consumer {
        struct memory_consumer consumer;
        int asked;
};

static int refuse(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        container_of(consumer, struct stingy_consumer, consumer)->asked++;
        return 0;
}

/* The small values of one key just fit: the rest of the memory is not requested value by value. */
static void lists_grow_in_few_steps(void **state)
{
        struct cogroup_fixture f;
        struct stingy_consumer other = {0};
        fixture_init(&f, TIGHT, true);
        memory_consumer_init(&other.consumer, task_run_memory(&f.run), "other", refuse);
        assert_int_equal(memory_acquire(&other.consumer, 4096), 0);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 220000, 1, 0);
        fst_type type = FST_PAIR(I64, BYTES);
        struct list_sink sink = {.rows = &rows, .elements = FST_BYTES};
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, type, (fst_fn){0});
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, type);
        op->next = &sink.op;
        if (run_cogroup(op, &rows, 1) != 0)
                fail_msg("%s", error_message(&f.run.error));
        assert_int_equal(sink.at, rows.len);
        assert_in_range(other.asked, 1, 300);
        op_free(op);
        op_deinit(&sink.op);
        memory_consumer_deinit(&other.consumer);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

static void lists_too_large_fail_with_advice(void **state)
{
        struct cogroup_fixture f;
        fixture_init(&f, TIGHT, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 900000, 1000, 95);
        fst_type type = FST_PAIR(I64, I64), lists = FST_PAIR(I64, BYTES);
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        struct list_sink sink = {.rows = &rows, .elements = FST_I64};
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, lists);
        op->next = &sink.op;
        assert_int_equal(run_cogroup(op, &rows, 1), -ENOMEM);
        assert_non_null(strstr(error_message(&f.run.error), "fst_flat_map_groups reads them one after another"));
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

/* Elements of every type, contiguous, as functions may also write them. */
static void reads_lists_by_type(void **state)
{
        char text[] = {3, 0, 0, 0, 2, 0, 0, 0, 'o', 'n', 'e', 'i', 'n', 0, 0, 0, 0, 1, 0, 0, 0, 'x'};
        fst_list list = fst_list_of((fst_bytes){text, sizeof(text)}, FST_PAIR(BYTES, BYTES));
        fst_bytes key, value;
        int64_t i = 4711, got;
        double d = 0.5;
        char pair[24];
        const void *fixed;
        assert_true(fst_list_next(&list, &key, &value));
        assert_memory_equal(key.data, "one", key.len);
        assert_int_equal(value.len, 2);
        assert_true(fst_list_next(&list, &key, &value));
        assert_int_equal(key.len, 0);
        assert_memory_equal(value.data, "x", value.len);
        assert_false(fst_list_next(&list, &key, &value));
        assert_int_equal(fst_list_status(&list), 0);
        assert_int_equal(fst_list_count((fst_bytes){text, sizeof(text)}, FST_PAIR(BYTES, BYTES)), 2);

        memcpy(pair + 1, &i, 8);
        memcpy(pair + 9, &d, 8);
        memcpy(pair + 17, "fixed", 6);
        list = fst_list_of((fst_bytes){pair + 1, 16}, FST_PAIR(I64, F64));
        assert_true(fst_list_next(&list, &got, &d));
        assert_int_equal(got, 4711);
        assert_true(d == 0.5);
        list = fst_list_of((fst_bytes){pair + 17, 6}, FST_FIXED(6));
        assert_true(fst_list_next(&list, &fixed));
        assert_string_equal(fixed, "fixed");

        /* A truncated list, and a list of another type, ends with a status. */
        list = fst_list_of((fst_bytes){text, 10}, FST_PAIR(BYTES, BYTES));
        assert_false(fst_list_next(&list, &key, &value));
        assert_int_equal(fst_list_status(&list), -EBADMSG);
        list = fst_list_of((fst_bytes){text, 10}, FST_PAIR(BYTES, BYTES));
        assert_false(fst_list_next(&list, &got));
        assert_int_equal(fst_list_status(&list), -EINVAL);
        list = fst_list_of((fst_bytes){text, 2}, FST_BYTES);
        assert_false(fst_list_next(&list, &key));
        assert_int_equal(fst_list_status(&list), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists_keep_the_order_of_values),
                cmocka_unit_test(lists_take_up_to_half_of_memory),
                cmocka_unit_test(lists_of_few_rows_take_little_memory),
                cmocka_unit_test(lists_grow_in_few_steps),
                cmocka_unit_test(lists_too_large_fail_with_advice),
                cmocka_unit_test(reads_lists_by_type),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
