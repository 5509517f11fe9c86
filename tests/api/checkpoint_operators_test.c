/* Tests checkpoints of every operator, and below every operator, in files and as cached partitions: the rows stay
 * equal. Cases follow Spark's CheckpointSuite. */
#include "base/mem.h"
#include "base/fs.h"
#include "api/api_fixture.h"
#include "driver/backend/wire_fixture.h"
#include "rdd/rdd.h"
#include "unit/temp_dir.h"

enum { MOST = 40 };

/* Counts calls: local tasks run in this process. */
static int calls;

static int64_t counted(fst_task *task, int64_t x)
{
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        return x + 1;
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static int with_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "%0*lld", (int)(x % 50 + 1), (long long)x);
        fst_emit(out, text, x);
        return 0;
}

/* A digest of rows that does not depend on their order, and their number. */
struct content {
        uint64_t hash;
        int64_t rows;
};

static uint64_t hash_column(fst_column column, uint8_t kind, uint32_t size, uint32_t row)
{
        const void *at = column.i64 + row;
        size_t length = 8;
        if (kind == FST_KIND_BYTES) {
                at = column.bytes[row].data;
                length = column.bytes[row].len;
        } else if (kind == FST_KIND_FIXED) {
                at = column.fixed + (size_t)row * size;
                length = size;
        }
        uint64_t hash = 0xcbf29ce484222325;
        for (size_t i = 0; i < length && kind; i++)
                hash = (hash ^ ((const unsigned char *)at)[i]) * 0x100000001b3;
        return hash;
}

static struct content content_of(fst_rdd *rdd)
{
        struct content c = {0};
        fst_iter *rows;
        const fst_batch *b;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        while (fst_next_batch(rows, &b))
                for (uint32_t i = 0; i < b->rows; i++, c.rows++)
                        c.hash += hash_column(b->key, b->type.key, b->type.key_size, i) * 31 ^
                                  hash_column(b->value, b->type.value, b->type.value_size, i);
        return c;
}

static int up_to(fst_task *task, int64_t x, fst_out *out)
{
        for (int64_t i = 0; i < x % 5; i++)
                fst_emit(out, i);
        return 0;
}

static bool even(fst_task *task, int64_t x)
{
        return x % 2 == 0;
}

static int pass(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        return fst_iter_status(rows);
}

static int numbered(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, partition, x);
        return fst_iter_status(rows);
}

static int one_each(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t x, y;
        while (fst_next(a, &x) && fst_next(b, &y))
                fst_emit(out, x + y);
        return 0;
}

static int of_both(fst_task *task, int64_t key, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t x, sum = 0;
        while (fst_next(a, &x))
                sum += x;
        while (fst_next(b, &x))
                sum -= x;
        fst_emit(out, key, sum);
        return 0;
}

static int of_pair(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, key, l * r);
        return 0;
}

static int by_parity(fst_task *task, int64_t key, int partitions)
{
        return (int)(key % 2);
}

/* Builds one RDD of each operator from some numbers. Returns the number of RDDs. */
static int operators(fst_context *sc, fst_rdd **to)
{
        fst_rdd *numbers = fst_map(fst_range_n(sc, 0, 100, 4), counted, FST_I64);
        fst_rdd *pairs = fst_map(numbers, keyed, FST_PAIR(I64, I64)), *sums = fst_reduce_by_key(pairs, fst_fn_sum);
        fst_rdd *made[] = {
                fst_map(numbers, counted, FST_I64),
                fst_flat_map(numbers, up_to, FST_I64),
                fst_filter(numbers, even),
                fst_sample(numbers, false, 0.5, 0),
                fst_glom(numbers),
                fst_map_partitions(numbers, pass, FST_I64),
                fst_map_partitions_with_index(numbers, numbered, FST_PAIR(I64, I64)),
                fst_map_values(sums, counted, FST_I64),
                fst_flat_map_values(sums, up_to, FST_I64),
                fst_pipe(numbers, "cat"),
                fst_partition_by(pairs, 3),
                sums,
                fst_union(numbers, fst_range_n(sc, 1, 11, 1)),
                fst_cartesian(numbers, fst_range_n(sc, 1, 11, 2)),
                fst_coalesce(numbers, 2),
                fst_cogroup(pairs, fst_partition_by(pairs, 3), of_both, FST_PAIR(I64, I64)),
                fst_zip(numbers, fst_map(numbers, counted, FST_I64)),
                fst_zip_partitions(numbers, fst_range_n(sc, 0, 100, 4), one_each, FST_I64),
                fst_union(fst_partition_by(pairs, 3), fst_partition_by(pairs, 3)),
                fst_sort_by_key_n(pairs, FST_DESCENDING, 3),
                fst_join(pairs, fst_partition_by(pairs, 5), of_pair, FST_PAIR(I64, I64)),
                fst_group_by_key(pairs),
                fst_zip_with_index(numbers),
                fst_repartition(numbers, 7),
                fst_distinct(pairs),
                fst_partition_by_function(pairs, 2, by_parity),
                fst_sort_within_partitions(pairs, FST_DESCENDING),
                fst_map(fst_range_n(sc, 0, 40, 2), with_text, FST_PAIR(BYTES, I64)),
        };
        _Static_assert(ARRAY_SIZE(made) <= MOST, "there is room for all");
        memcpy(to, made, sizeof(made));
        return ARRAY_SIZE(made);
}

static void checkpoint(fst_rdd *rdd, bool local)
{
        if (local)
                fst_local_checkpoint(rdd);
        else
                fst_checkpoint(rdd);
}

/* Checks that rows, partitions and partitioner are unchanged and dependencies are gone. */
static void check_checkpoint(fst_rdd *rdd, bool local, struct content was, int which)
{
        int partitions = fst_rdd_partitions(rdd);
        const struct partitioner *partitioner = rdd->partitioner;
        checkpoint(rdd, local);
        struct content first = content_of(rdd);
        if (!fst_is_checkpointed(rdd) || local != !fst_checkpoint_file(rdd))
                fail_msg("operator %d is not checkpointed", which);
        int before = calls;
        struct content again = content_of(rdd);
        if (calls != before || memcmp(&was, &first, sizeof(was)) || memcmp(&was, &again, sizeof(was)))
                fail_msg("operator %d: %lld rows, then %lld and %lld, and %d calls", which, (long long)was.rows,
                         (long long)first.rows, (long long)again.rows, calls - before);
        assert_int_equal(fst_rdd_partitions(rdd), partitions);
        assert_ptr_equal(rdd->partitioner, partitioner);
        assert_int_equal(rdd->lineage.n_deps, 1);
        assert_int_equal(rdd->lineage.deps[0].parent->n_deps, 0);
}

/* Computes an RDD whose parents are checkpointed, before and after they are. */
static void check_parents(fst_rdd *rdd, bool local, struct content was, int which)
{
        for (int i = 0; i < rdd->n_parents; i++)
                checkpoint(rdd->parents[i], local);
        for (int round = 0; round < 2; round++) {
                struct content is = content_of(rdd);
                if (memcmp(&was, &is, sizeof(was)))
                        fail_msg("below operator %d, round %d: %lld rows, then %lld", which, round, (long long)was.rows,
                                 (long long)is.rows);
        }
        assert_false(fst_is_checkpointed(rdd));
        for (int i = 0; i < rdd->n_parents; i++)
                assert_true(fst_is_checkpointed(rdd->parents[i]));
}

static void each_with(void **state, void (*check)(fst_rdd *rdd, bool local, struct content was, int which))
{
        char dir[TEMP_DIR_SIZE];
        temp_dir_new(dir);
        assert_int_equal(fst_set_checkpoint_dir(*state, dir), 0);
        for (int local = 0; local < 2; local++) {
                fst_rdd *computed[MOST];
                for (int i = 0, n = operators(*state, computed); i < n; i++) {
                        fst_rdd *rdds[MOST]; /* separate ones: other cases may have checkpointed their ancestors */
                        operators(*state, rdds);
                        check(rdds[i], local, content_of(computed[i]), i);
                }
        }
        remove_tree(dir);
}

static void checkpoints_every_operator(void **state)
{
        each_with(state, check_checkpoint);
}

static void checkpoints_below_every_operator(void **state)
{
        each_with(state, check_parents);
}

#define CASES                                                                                                          \
        cmocka_unit_test_setup_teardown(checkpoints_every_operator, api_setup, api_teardown),                                   \
                cmocka_unit_test_setup_teardown(checkpoints_below_every_operator, api_setup, api_teardown)

int main(void)
{
        const struct CMUnitTest here[] = {CASES}, by_way_of_the_wire[] = {CASES};
        int failed = cmocka_run_group_tests_name("here", here, NULL, NULL);
        local_backend_set_probe(&by_wire);
        failed += cmocka_run_group_tests_name("by way of the wire", by_way_of_the_wire, NULL, NULL);
        local_backend_set_probe(NULL);
        return failed;
}
