/* Tests frames through the public interface, here and with lineage from the wire: sources, conversions, placement. */
#include "api/bindings/frames_fixture.h"
#include "base/fs.h"

static void reads_frames_of_a_file(void **state)
{
        fst_context *sc = *state;
        EXPECT_FRAMES(frames_of_texts(sc, "a,bc,,-,def", 2), "[a] [bc] [] - [def] ");
        EXPECT_FRAMES(frames_of_texts(sc, "", 3), "");
        assert_int_equal(fst_rdd_partitions(frames_of_texts(sc, "", 3)), 3);
        assert_int_equal(fst_rdd_partitions(frames_of_texts(sc, "a", 0)), fst_context_default_parallelism(sc));
        EXPECT_FRAMES(fst_union(frames_of_texts(sc, "a", 1), frames_of_texts(sc, "-,b", 2)), "[a] - [b] ");
}

static int count_rows(fst_task *task, fst_iter *in, fst_out *out)
{
        fst_bytes row;
        int64_t n = 0;
        while (fst_next(in, &row))
                n++;
        fst_emit(out, n);
        return 0;
}

/* Checks the numbers of rows of the three partitions of @rdd. */
static void expect_rows(fst_rdd *rdd, int64_t first, int64_t second, int64_t third)
{
        int64_t n[3], at = 0, x;
        fst_iter *rows;
        assert_int_equal(fst_collect(fst_map_partitions(rdd, count_rows, FST_I64), &rows), 0);
        while (fst_next(rows, &x)) {
                assert_true(at < 3);
                n[at++] = x;
        }
        assert_int_equal(at, 3);
        assert_int_equal(n[0], first);
        assert_int_equal(n[1], second);
        assert_int_equal(n[2], third);
}

static void cuts_files_like_spark(void **state)
{
        expect_rows(frames_of_texts(*state, "1,2,3,4,5,6,7,8", 3), 2, 3, 3);
        expect_rows(frames_of_texts(*state, "1,2", 3), 0, 1, 1);
}

static void rejects_damaged_files(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        assert_refused(fst_count(fst_frames_from_file(sc, "/nonexistent/frames", 2), &n), -ENOENT,
                       "/nonexistent/frames: the file cannot be opened");
        assert_refused(fst_count(fst_frames_from_file(sc, "/", 2), &n), -EINVAL, "it is not a regular file");
        assert_refused(fst_count(fst_frames_from_file(sc, "", 2), &n), -EINVAL, "needs the path");
        char *path = frames_write("/tmp", "abc,de");
        assert_refused(fst_count(fst_frames_from_file(sc, path, -1), &n), -EINVAL, "Positive number of partitions required");
        assert_int_equal(truncate(path, 12), 0);
        assert_refused(fst_count(fst_frames_from_file(sc, path, 2), &n), -EBADMSG,
                       "frame 1 at byte 7 of 12 is damaged: its length is 2, and 5 bytes are left");
        assert_int_equal(truncate(path, 10), 0);
        assert_refused(fst_count(fst_frames_from_file(sc, path, 2), &n), -EBADMSG, "3 bytes are left");
        unlink(path);
        free(path);
}

static int with_value(fst_task *task, fst_bytes row, fst_out *out)
{
        fst_emit(out, row, "v");
        return 0;
}

static void converts_rows(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_bytes texts[] = {fst_bytes_of("a"), fst_bytes_of(""), fst_bytes_of("ccc")};
        struct two {
                char c[2];
        } structs[] = {{"xy"}, {"zz"}};
        fst_rdd *rows = fst_parallelize_n(sc, texts, 3, 2);
        EXPECT_FRAMES(fst_frames_from_rows(rows), "[a] [] [ccc] ");
        EXPECT_FRAMES(fst_frames_from_rows(fst_parallelize_n(sc, structs, 2, 2)), "[xy] [zz] ");
        EXPECT_FRAMES(fst_frames_from_rows(fst_flat_map(rows, with_value, FST_PAIR(BYTES, BYTES))),
                      "[a][v] [][v] [ccc][v] ");
        EXPECT_FRAMES(fst_frames_from_rows(fst_frames_to_rows(fst_frames_from_rows(rows))), "[a] [] [ccc] ");
        assert_refused(fst_count(fst_frames_from_rows(fst_range(sc, 0, 3)), &n), -EINVAL,
                       "needs rows of BYTES or FIXED, or pairs of these, not of I64");
        assert_refused(fst_count(fst_frames_to_rows(fst_range(sc, 0, 3)), &n), -EINVAL, "needs rows of BYTES");
        assert_refused(fst_count(fst_frames_to_rows(frames_of_texts(sc, "a,-", 1)), &n), -EIO, "is null (None)");
        assert_refused(fst_count(fst_frames_to_rows(rows), &n), -EIO, "is not a frame");
        fst_rdd *pairs = fst_frames_zip(frames_of_texts(sc, "a", 1), frames_of_texts(sc, "b", 1));
        assert_refused(fst_count(fst_frames_to_rows(pairs), &n), -EIO, "is a pair");
}

/* More rows and bytes than a batch and a block hold, and rows larger than a page. */
static int large_and_small(fst_task *task, int64_t i, fst_out *out)
{
        size_t len = i % 500 == 7 ? 700000 : (size_t)(i % 300);
        char *text = malloc(len + 1);
        memset(text, 'a' + (int)(i % 26), len);
        fst_emit(out, fst_out_copy(out, text, len));
        free(text);
        return 0;
}

static int64_t row_hash(fst_task *task, fst_bytes row)
{
        uint64_t hash = row.len;
        for (size_t i = 0; i < row.len; i++)
                hash = hash * 31 + (unsigned char)row.data[i];
        return (int64_t)hash;
}

static void converts_large_rows_and_many(void **state)
{
        fst_rdd *rows = fst_flat_map(fst_range_n(*state, 0, 3000, 2), large_and_small, FST_BYTES);
        int64_t wanted, got, n;
        assert_int_equal(fst_sum(fst_map(rows, row_hash, FST_I64), &wanted), 0);
        fst_rdd *frames = fst_frames_from_rows(rows);
        assert_int_equal(fst_count(frames, &n), 0);
        assert_int_equal(n, 3000);
        assert_int_equal(fst_sum(fst_map(fst_frames_to_rows(frames), row_hash, FST_I64), &got), 0);
        assert_int_equal(got, wanted);
        fst_rdd *twice = fst_frames_zip(frames, frames);
        assert_int_equal(fst_count(twice, &n), 0);
        assert_int_equal(n, 3000);
}

static fst_rdd *frames_of_bytes(fst_context *sc, const fst_bytes *contents, size_t n)
{
        return fst_frames_from_rows(fst_parallelize_n(sc, contents, n, 2));
}

static void reads_pickled_numbers(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        double sum;
        fst_bytes ints[] = {{"\x80\5]\x94(K\1K\2K\3e.", 13}, {"\x80\5K\4.", 5}, {"\x80\5]\x94.", 5}};
        fst_bytes floats[] = {{"\x80\5]\x94(G\x3f\xf8\0\0\0\0\0\0\x88" "e.", 17}};
        fst_bytes text[] = {{"\x80\5X\1\0\0\0a.", 9}};
        EXPECT(fst_frames_to_numbers(frames_of_bytes(sc, ints, 3), FST_I64), 1, 2, 3, 4);
        assert_int_equal(fst_sum(fst_frames_to_numbers(frames_of_bytes(sc, ints, 3), FST_F64), &sum), 0);
        assert_true(sum == 10);
        assert_int_equal(fst_sum(fst_frames_to_numbers(frames_of_bytes(sc, floats, 1), FST_F64), &sum), 0);
        assert_true(sum == 2.5);
        assert_refused(fst_count(fst_frames_to_numbers(frames_of_bytes(sc, floats, 1), FST_I64), &n), -EIO,
                       "a pickle holds a float where an int is expected");
        assert_refused(fst_count(fst_frames_to_numbers(frames_of_bytes(sc, text, 1), FST_F64), &n), -EIO,
                       "a pickle holds a str where a number is expected");
        assert_refused(fst_count(fst_frames_to_numbers(frames_of_texts(sc, "a", 1), FST_F64), &n), -EIO,
                       "a damaged pickle");
        assert_refused(fst_count(fst_frames_to_numbers(frames_of_texts(sc, "a", 1), FST_BYTES), &n), -EINVAL,
                       "frames cannot become rows of BYTES");
}

static int number_and_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[24];
        snprintf(text, sizeof(text), "%lld", (long long)x);
        fst_emit(out, x, fst_out_copy(out, text, strlen(text)));
        return 0;
}

static int64_t checked_number(fst_task *task, int64_t x, fst_bytes text)
{
        char copy[24] = {0};
        memcpy(copy, text.data, MIN(text.len, sizeof(copy) - 1));
        return atoll(copy) == x ? x : -1;
}

static void packs_rows_of_any_type(void **state)
{
        fst_context *sc = *state;
        int64_t n, sum;
        fst_rdd *numbers = fst_range_n(sc, 0, 100000, 3);
        fst_rdd *frames = fst_frames_from_elements(numbers);
        assert_int_equal(fst_count(frames, &n), 0);
        assert_in_range(n, 3, 12); /* lists of up to 256 KiB */
        assert_int_equal(fst_sum(fst_frames_to_elements(frames, FST_I64), &sum), 0);
        assert_int_equal(sum, 4999950000);
        fst_rdd *pairs = fst_flat_map(numbers, number_and_text, FST_PAIR(I64, BYTES));
        fst_rdd *back = fst_frames_to_elements(fst_frames_from_elements(pairs), FST_PAIR(I64, BYTES));
        assert_int_equal(fst_sum(fst_map(back, checked_number, FST_I64), &sum), 0);
        assert_int_equal(sum, 4999950000);
        assert_refused(fst_count(fst_frames_to_elements(frames_of_texts(sc, "abc", 1), FST_I64), &n), -EIO,
                       "does not hold a list of rows");
        assert_refused(fst_count(fst_frames_to_elements(frames_of_texts(sc, "-", 1), FST_I64), &n), -EIO,
                       "needs rows of one frame");
        assert_refused(fst_count(fst_frames_to_elements(frames, FST_FIXED(0)), &n), -EINVAL, "");
}

/* ---------------------------------------------------------------------------------------------------- placement */

/* A key of 8 bytes as Python's pack_long writes it, then a value. */
static int key_and_value(fst_task *task, int64_t x, fst_out *out)
{
        char frame[12] = {0, 0, 0, 8}, value[32] = {0};
        uint64_t key = htobe64((uint64_t)x);
        memcpy(frame + 4, &key, 8);
        fst_emit(out, fst_out_copy(out, frame, sizeof(frame)));
        int len = snprintf(value + 4, sizeof(value) - 4, "%lld", (long long)x);
        value[3] = (char)len;
        fst_emit(out, fst_out_copy(out, value, (size_t)len + 4));
        return 0;
}

static fst_rdd *keyed_frames(fst_context *sc, int64_t first, int64_t end, int partitions)
{
        return fst_flat_map(fst_range_n(sc, first, end, partitions), key_and_value, FST_BYTES);
}

static fst_rdd *placed_frames(fst_context *sc, int64_t first, int64_t end, int n, int64_t id)
{
        fst_rdd *pairs = fst_frames_to_pairs(keyed_frames(sc, first, end, 1));
        return fst_frames_values(fst_frames_partition_by(pairs, n, id));
}

static void places_pairs_like_python(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        EXPECT_FRAMES(placed_frames(sc, -4, 5, 3, 7), "[-3] [0] [3] [-2] [1] [4] [-4] [-1] [2] ");
        /* only the lower 32 bits count */
        EXPECT_FRAMES(placed_frames(sc, (5ll << 32) + 1, (5ll << 32) + 3, 2, 7), "[21474836482] [21474836481] ");
        EXPECT_FRAMES(placed_frames(sc, 0, 3, 1, 7), "[0] [1] [2] ");
        fst_rdd *five = fst_frames_to_pairs(frames_of_texts(sc, "12345678,a,12345678", 1));
        assert_refused(fst_count(five, &n), -EIO, "PairwiseRDD: unexpected value: the key");
        assert_refused(fst_count(fst_frames_to_pairs(frames_of_texts(sc, "1234567,a", 1)), &n), -EIO,
                       "needs keys of 8 bytes before their values");
        assert_refused(fst_count(fst_frames_to_pairs(frames_of_texts(sc, "-,a", 1)), &n), -EIO, "is null (None)");
        assert_refused(fst_count(fst_frames_partition_by(fst_range(sc, 0, 2), 2, 1), &n), -EINVAL, "needs pairs");
        fst_rdd *pairs = fst_frames_to_pairs(keyed_frames(sc, 0, 2, 1));
        assert_refused(fst_count(fst_frames_partition_by(pairs, 0, 1), &n), -EINVAL, "must be positive");
}

static void keeps_the_order_within_an_input_partition(void **state)
{
        /* 200,000 rows with keys of one partition, in pages of a small memory */
        fst_rdd *pairs = fst_frames_to_pairs(keyed_frames(*state, 0, 200000, 1));
        fst_rdd *placed = fst_frames_to_rows(fst_frames_values(fst_frames_partition_by(pairs, 4, 1)));
        fst_iter *rows;
        fst_bytes row;
        int64_t last = -1, n = 0;
        assert_int_equal(fst_collect(placed, &rows), 0);
        for (; fst_next(rows, &row); n++) {
                char text[32] = {0};
                memcpy(text, row.data, MIN(row.len, sizeof(text) - 1));
                int64_t x = atoll(text);
                assert_true(x > last || x < 4); /* a new partition starts with its number */
                last = x;
        }
        assert_int_equal(n, 200000);
}

static void equal_placement_spares_shuffles(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = fst_frames_to_pairs(keyed_frames(sc, 0, 6, 2));
        fst_rdd *once = fst_frames_partition_by(pairs, 3, 17);
        assert_ptr_equal(fst_frames_partition_by(once, 3, 17), once);
        assert_ptr_not_equal(fst_frames_partition_by(once, 3, 18), once);
        assert_ptr_not_equal(fst_frames_partition_by(once, 4, 17), once);
        assert_int_equal(fst_rdd_partitioner(once), FST_FUNCTION_PARTITIONER);
        fst_rdd *a = placed_frames(sc, 0, 4, 3, 17), *b = placed_frames(sc, 4, 8, 3, 17);
        assert_int_equal(fst_rdd_partitions(fst_union(a, b)), 3);
        EXPECT_FRAMES(fst_union(a, b), "[0] [3] [6] [1] [4] [7] [2] [5] ");
        assert_int_equal(fst_rdd_partitions(fst_union(a, placed_frames(sc, 4, 8, 3, 18))), 6);
}

static void pairs_frames_of_two_rdds(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *a = frames_of_texts(sc, "a,-,c", 2), *b = frames_of_texts(sc, "1,2,33", 2);
        EXPECT_FRAMES(fst_frames_zip(a, b), "[a][1] -[2] [c][33] ");
        EXPECT_FRAMES(fst_frames_zip(fst_frames_zip(a, b), b), "[a][1][1] -[2][2] [c][33][33] ");
        fst_rdd *pairs = fst_frames_cartesian(frames_of_texts(sc, "a,b", 2), frames_of_texts(sc, "1,2", 1));
        assert_int_equal(fst_rdd_partitions(pairs), 2);
        EXPECT_FRAMES(pairs, "[a][1] [a][2] [b][1] [b][2] ");
        assert_refused(fst_count(fst_frames_zip(a, frames_of_texts(sc, "1,2", 2)), &n), -EIO,
                       "Can only zip RDDs with same number of elements in each partition");
        assert_refused(fst_count(fst_frames_zip(a, frames_of_texts(sc, "1", 1)), &n), -EINVAL,
                       "Can't zip RDDs with unequal numbers of partitions");
        assert_refused(fst_count(fst_frames_zip(fst_range(sc, 0, 2), fst_range(sc, 0, 2)), &n), -EINVAL,
                       "needs rows of pairs of BYTES");
}

static void persists_and_checkpoints_frames(void **state)
{
        fst_context *sc = *state;
        char dir[] = "/tmp/firesteel-unit-XXXXXX";
        assert_non_null(mkdtemp(dir));
        fst_rdd *frames = fst_persist(fst_frames_from_rows(fst_frames_to_rows(frames_of_texts(sc, "a,b,c", 2))),
                                      FST_STORAGE_MEMORY_ONLY_SER);
        EXPECT_FRAMES(frames, "[a] [b] [c] ");
        EXPECT_FRAMES(fst_coalesce(frames, 1), "[a] [b] [c] ");
        assert_int_equal(fst_set_checkpoint_dir(sc, dir), 0);
        fst_rdd *kept = fst_checkpoint(frames_of_texts(sc, "x,-", 2));
        EXPECT_FRAMES(kept, "[x] - ");
        assert_true(fst_is_checkpointed(kept));
        EXPECT_FRAMES(kept, "[x] - ");
        fst_rdd *local = fst_local_checkpoint(frames_of_texts(sc, "y,z", 2));
        EXPECT_FRAMES(local, "[y] [z] ");
        assert_true(fst_is_checkpointed(local));
        EXPECT_FRAMES(fst_union(local, kept), "[y] [z] [x] - ");
        remove_tree(dir);
}

static void saves_java_object_files(void **state)
{
        fst_context *sc = *state;
        char dir[] = "/tmp/firesteel-unit-XXXXXX";
        int64_t n;
        assert_non_null(mkdtemp(dir));
        char *path = mem_printf("%s/out", dir);
        assert_int_equal(fst_save_as_java_object_file(frames_of_texts(sc, "a,-,,bc", 2), path), 0);
        fst_rdd *back = fst_java_object_file(sc, path, 1);
        EXPECT_FRAMES(fst_coalesce(back, 1), "[a] - [] [bc] ");
        assert_refused(fst_save_as_java_object_file(frames_of_texts(sc, "a", 1), path), -EEXIST, "already exists");
        free(path);
        path = mem_printf("%s/pairs", dir);
        fst_rdd *pairs = fst_frames_zip(frames_of_texts(sc, "a", 1), frames_of_texts(sc, "b", 1));
        assert_refused(fst_save_as_java_object_file(pairs, path), -EIO, "is not one frame");
        assert_refused(fst_save_as_java_object_file(fst_range(sc, 0, 1), path), -EINVAL, "only frames can be saved");
        assert_refused(fst_count(fst_java_object_file(sc, dir, 1), &n), -EISDIR, "");
        free(path);
        remove_tree(dir);
}

int main(void)
{
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(reads_frames_of_a_file, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(cuts_files_like_spark, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(converts_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(converts_large_rows_and_many, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reads_pickled_numbers, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(packs_rows_of_any_type, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(places_pairs_like_python, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(keeps_the_order_within_an_input_partition, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(equal_placement_spares_shuffles, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(pairs_frames_of_two_rdds, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(persists_and_checkpoints_frames, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(saves_java_object_files, loud_setup, api_teardown),
        };
        const struct CMUnitTest more[] = {
                cmocka_unit_test_setup_teardown(rejects_damaged_files, loud_setup, api_teardown),
        };
        return pair_cases_run(cases, ARRAY_SIZE(cases), more, ARRAY_SIZE(more));
}
