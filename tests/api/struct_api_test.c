/* Tests rows that are structs with fields (firesteel/struct.h): as rows, keys and values of every operator. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <math.h>

struct person {
        fst_bytes name;
        int64_t age;
        char unlisted[9];
        double weight;
        bool member;
};
FST_FIELDS(person, name, age, weight, member);

struct place {
        int32_t zone;
        fst_bytes town;
};
FST_FIELDS(place, zone, town);

static const char *const names[] = {"Ann", "Bob", "C\0d", "", "Eve"};

/* A person of number @x: 5 names, 7 ages. */
static int make_person(fst_task *task, int64_t x, fst_out *out)
{
        char text[8] = "";
        size_t len = x % 5 == 2 ? 3 : strlen(names[x % 5]);
        memcpy(text, names[x % 5], len);
        struct person p = {{text, len}, x % 7, "unseen", (double)x / 2, x % 2};
        fst_emit(out, &p);
        memset(text, '#', sizeof(text)); /* the row has its own copy */
        return 0;
}

static fst_rdd *people(fst_context *sc, int64_t n)
{
        return fst_map(fst_range_n(sc, 0, n, 3), make_person, FST_STRUCT(person));
}

static bool is_member(fst_task *task, const void *row)
{
        return ((const struct person *)row)->member;
}

static int twins(fst_task *task, const void *row, fst_out *out)
{
        struct person p = *(const struct person *)row;
        fst_emit(out, row);
        p.age++;
        fst_emit(out, &p);
        return 0;
}

static int64_t age_of(fst_task *task, const void *row)
{
        return ((const struct person *)row)->age;
}

static int name_of(fst_task *task, const void *row, fst_out *out)
{
        fst_emit(out, ((const struct person *)row)->name);
        return 0;
}

static int self_of(fst_task *task, const void *row, fst_out *out)
{
        fst_emit(out, row);
        return 0;
}

static int place_of(fst_task *task, const void *row, fst_out *out)
{
        const struct person *p = row;
        struct place place = {(int32_t)(p->age % 2) - 1, p->name};
        fst_emit(out, &place, (int64_t)1);
        return 0;
}

static int by_place(fst_task *task, const void *row, fst_out *out)
{
        const struct person *p = row;
        struct place place = {(int32_t)(p->age % 2) - 1, p->name};
        fst_emit(out, &place, p);
        return 0;
}

static int64_t count_of(fst_rdd *rdd)
{
        int64_t n = -1;
        return fst_count(rdd, &n) == 0 ? n : -1;
}

static void check_person(const struct person *p, int64_t x)
{
        assert_int_equal(p->name.len, x % 5 == 2 ? 3 : strlen(names[x % 5]));
        assert_memory_equal(p->name.data, names[x % 5], p->name.len);
        assert_int_equal(p->age, x % 7);
        assert_true(p->weight == (double)x / 2);
        assert_int_equal(p->member, x % 2);
        assert_int_equal(p->unlisted[0], 0);
}

static void rows_arrive_with_all_fields(void **state)
{
        enum { ROWS = 5000 };
        static const struct person *seen[ROWS];
        fst_iter *rows;
        int64_t n = 0;
        assert_int_equal(fst_collect(people(*state, ROWS), &rows), 0);
        while (n < ROWS && fst_next(rows, &seen[n]))
                n++;
        assert_int_equal(fst_iter_status(rows), 0);
        assert_int_equal(n, ROWS);
        for (n = 0; n < ROWS; n++) /* the rows stay */
                check_person(seen[n], n);
        struct person first;
        assert_int_equal(fst_first(fst_filter(people(*state, 100), is_member), &first), 0);
        check_person(&first, 1);
        assert_int_equal(fst_to_local_iterator(people(*state, 40), &rows), 0);
        for (n = 0; fst_next(rows, &seen[0]); n++)
                check_person(seen[0], n);
        assert_int_equal(n, 40);
        assert_int_equal(fst_take(people(*state, 40), 7, &rows), 0);
        for (n = 0; fst_next(rows, &seen[0]); n++)
                check_person(seen[0], n);
        assert_int_equal(n, 7);
}

static int sum_ages(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t sum = 0;
        for (const struct person *p; fst_next(rows, &p);)
                sum += p->age;
        fst_emit(out, sum);
        return 0;
}

static int sum_batch(fst_task *task, const fst_batch *batch, fst_out *out)
{
        int64_t sum = 0;
        const struct person *p = (const struct person *)batch->key.fixed;
        for (uint32_t i = 0; i < batch->rows; i++)
                sum += p[i].age;
        fst_emit(out, sum);
        return 0;
}

static int sum_two(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        const struct person *p, *q;
        while (fst_next(a, &p) && fst_next(b, &q))
                if (!fst_bytes_equal(p->name, q->name))
                        return fst_fail(task, "names differ");
        return sum_ages(task, a, out);
}

static int check_row(fst_task *task, const void *row)
{
        const struct person *p = row;
        return p->age == (int64_t)(p->weight * 2) % 7 ? 0 : fst_fail(task, "age %d", (int)p->age);
}

static void functions_of_all_forms_get_structs(void **state)
{
        int64_t sum, want = 0;
        fst_rdd *rows = people(*state, 3000);
        for (int i = 0; i < 3000; i++)
                want += i % 7;
        assert_int_equal(fst_reduce(fst_map(rows, age_of, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, want);
        assert_int_equal(fst_reduce(fst_map_partitions(rows, sum_ages, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, want);
        assert_int_equal(fst_reduce(fst_map_batches(rows, sum_batch, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, want);
        assert_int_equal(count_of(fst_flat_map(rows, twins, FST_STRUCT(person))), 6000);
        assert_int_equal(count_of(fst_filter(rows, is_member)), 1500);
        assert_int_equal(fst_foreach(rows, check_row), 0);
        assert_int_equal(fst_reduce(fst_zip_partitions(rows, rows, sum_two, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 0);
        assert_int_equal(count_of(fst_union(rows, rows)), 6000);
}

static int older(fst_task *task, void *a, const void *b)
{
        struct person *p = a;
        const struct person *q = b;
        if (q->weight > p->weight)
                p->name = q->name;
        p->weight = fmax(p->weight, q->weight);
        p->age += q->age;
        return 0;
}

static void structs_reduce_fold_and_compare(void **state)
{
        struct person p = {0}, zero = {.name = {"zero", 4}, .weight = 1e9};
        fst_rdd *rows = people(*state, 5000);
        assert_int_equal(fst_reduce(rows, older, &p), 0);
        assert_int_equal(p.name.len, 3);
        assert_memory_equal(p.name.data, "Eve", 3);
        assert_true(p.weight == 2499.5);
        assert_int_equal(fst_fold(rows, &zero, older, &p), 0);
        assert_memory_equal(p.name.data, "zero", 4);
        assert_int_equal(fst_tree_reduce(rows, older, 2, &p), 0);
        assert_true(p.weight == 2499.5);
        assert_int_equal(fst_max(rows, &p), 0);
        assert_memory_equal(p.name.data, "Eve", 3);
        assert_int_equal(p.age, 6);
        assert_true(p.weight == 2484.5); /* 4969 is the greatest with the last name and age */
        assert_int_equal(fst_min(rows, &p), 0);
        assert_int_equal(p.name.len, 0);
        assert_int_equal(p.age, 0);
        assert_int_equal(fst_reduce(rows, fst_fn_first, &p), 0);
        check_person(&p, 0);
}

static void keys_are_equal_by_their_fields(void **state)
{
        fst_rdd *pairs = fst_map(people(*state, 7000), place_of, FST_PAIR(STRUCT(place), I64));
        fst_iter *rows;
        const struct place *key;
        int64_t n, keys = 0, all = 0;
        assert_int_equal(fst_collect(fst_reduce_by_key(pairs, fst_fn_sum), &rows), 0);
        for (; fst_next(rows, &key, &n); keys++)
                all += n;
        assert_int_equal(keys, 10);
        assert_int_equal(all, 7000);
        assert_int_equal(count_of(fst_distinct(fst_keys(pairs))), 10);
        assert_int_equal(count_of(fst_group_by_key(pairs)), 10);
        assert_int_equal(count_of(fst_distinct(people(*state, 70))), 70);

        fst_map *map;
        struct place wanted = {-1, {"C\0d", 3}}, other = {5, {"C\0d", 3}};
        assert_int_equal(fst_count_by_key(pairs, &map), 0);
        assert_int_equal(fst_map_count(map), 10);
        assert_true(fst_map_get(map, &wanted, &n));
        assert_int_equal(n, 800);
        assert_false(fst_map_get(map, &other, &n));
        for (rows = fst_map_rows(map), keys = 0; fst_next(rows, &key, &n); keys++)
                assert_true(key->zone == -1 || key->zone == 0);
        assert_int_equal(keys, 10);
        assert_int_equal(fst_lookup(fst_reduce_by_key(pairs, fst_fn_sum), &wanted, &rows), 0);
        assert_true(fst_next(rows, &n));
        assert_int_equal(n, 800);
}

static int oldest_text(fst_task *task, const void *key, fst_iter *values, fst_out *out)
{
        int64_t rows = 0;
        for (const struct person *p; fst_next(values, &p); rows++)
                if (!fst_bytes_equal(p->name, ((const struct place *)key)->town))
                        return fst_fail(task, "a row of another key");
        fst_emit(out, key, rows);
        return 0;
}

static int join_rows(fst_task *task, const void *key, const void *left, int64_t right, fst_out *out)
{
        const struct person *p = left;
        if (!fst_bytes_equal(p->name, ((const struct place *)key)->town))
                return fst_fail(task, "a row of another key");
        fst_emit(out, p, right);
        return 0;
}

static int outer_rows(fst_task *task, const void *key, const void *left, const void *right, fst_out *out)
{
        const struct place *k = key;
        const struct person *p = left, *q = right;
        if ((p && !fst_bytes_equal(p->name, k->town)) || (q && !fst_bytes_equal(q->name, k->town)))
                return fst_fail(task, "a row of another key");
        fst_emit(out, (p ? 1 : 0) + (q ? 2 : 0));
        return 0;
}

static int groups_of_two(fst_task *task, const void *key, fst_iter *a, fst_iter *b, fst_out *out)
{
        const struct person *p;
        int64_t n = 0, x;
        while (fst_next(a, &p))
                n += p->age >= 0;
        while (fst_next(b, &x))
                n += 1000000 * x;
        fst_emit(out, n);
        return 0;
}

static bool is_zone_0(fst_task *task, const void *key, const void *row)
{
        return ((const struct place *)key)->zone == 0;
}

static void structs_group_and_join(void **state)
{
        fst_rdd *rows = people(*state, 700);
        fst_rdd *pairs = fst_map(rows, by_place, FST_PAIR(STRUCT(place), STRUCT(person)));
        fst_rdd *counts = fst_reduce_by_key(fst_map(rows, place_of, FST_PAIR(STRUCT(place), I64)), fst_fn_sum);
        fst_iter *out;
        const struct place *key;
        const struct person *p;
        int64_t n, all = 0;
        assert_int_equal(fst_collect(fst_flat_map_groups(pairs, oldest_text, FST_PAIR(STRUCT(place), I64)), &out), 0);
        while (fst_next(out, &key, &n))
                all += n;
        assert_int_equal(all, 700);
        all = 0;
        assert_int_equal(fst_collect(fst_join(pairs, counts, join_rows, FST_PAIR(STRUCT(person), I64)), &out), 0);
        for (; fst_next(out, &p, &n); all++)
                assert_int_equal(n, p->age % 2 ? 60 : 80);
        assert_int_equal(all, 700);
        all = 0;
        assert_int_equal(fst_collect(fst_broadcast_join(pairs, counts, join_rows, FST_PAIR(STRUCT(person), I64)), &out),
                         0);
        for (; fst_next(out, &p, &n); all++)
                assert_int_equal(n, p->age % 2 ? 60 : 80);
        assert_int_equal(all, 700);
        fst_rdd *zone = fst_filter(pairs, is_zone_0);
        assert_int_equal(
                fst_reduce(fst_full_outer_join(fst_distinct(pairs), zone, outer_rows, FST_I64), fst_fn_max, &n), 0);
        assert_int_equal(n, 3);
        assert_int_equal(fst_reduce(fst_full_outer_join(zone, pairs, outer_rows, FST_I64), fst_fn_min, &n), 0);
        assert_int_equal(n, 2);
        assert_int_equal(fst_reduce(fst_cogroup(pairs, counts, groups_of_two, FST_I64), fst_fn_sum, &n), 0);
        assert_int_equal(n, 700 + 1000000 * (int64_t)700);
        assert_int_equal(count_of(fst_subtract_by_key(pairs, zone)), 400);
}

static int longest(fst_task *task, void *a, const void *b)
{
        struct place *p = a;
        const struct place *q = b;
        if (q->town.len > p->town.len)
                p->town = q->town;
        p->zone += q->zone;
        return 0;
}

static int numbered(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "%0*lld", (int)(x % 50), (long long)x);
        struct place p = {1, {text, strlen(text)}};
        fst_emit(out, x % 3, &p);
        return 0;
}

static int make_place(fst_task *task, const void *value, fst_out *out)
{
        fst_emit(out, value);
        return 0;
}

static int64_t add_zone(fst_task *task, int64_t so_far, const void *value)
{
        return so_far + ((const struct place *)value)->zone;
}

static int64_t add(fst_task *task, int64_t a, int64_t b)
{
        return a + b;
}

static void check_longest(fst_rdd *combined, int32_t extra)
{
        fst_iter *rows;
        const struct place *p;
        int64_t key, n = 0;
        assert_int_equal(fst_collect(combined, &rows), 0);
        for (; fst_next(rows, &key, &p); n++) {
                assert_int_equal(p->town.len, 49);
                assert_in_range(p->zone, 300 + extra, 300 + 9 * extra);
        }
        assert_int_equal(n, 3);
}

static void values_combine_by_key(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 900, 3), numbered, FST_PAIR(I64, STRUCT(place)));
        struct place zero = {10, {"z", 1}};
        int64_t none = 0, key, n;
        fst_iter *rows;
        check_longest(fst_reduce_by_key(pairs, longest), 0);
        check_longest(fst_fold_by_key(pairs, &zero, longest), 10);
        check_longest(fst_combine_by_key(pairs, make_place, longest, longest, FST_STRUCT(place)), 0);
        assert_int_equal(fst_collect(fst_aggregate_by_key(pairs, &none, add_zone, add), &rows), 0);
        while (fst_next(rows, &key, &n))
                assert_int_equal(n, 300);
        assert_int_equal(fst_collect(fst_aggregate_by_key(fst_partition_by(pairs, 2), &none, add_zone, add), &rows), 0);
        while (fst_next(rows, &key, &n))
                assert_int_equal(n, 300);
}

static int place_by_zone(fst_task *task, const void *key, int partitions)
{
        return (int)(((const struct place *)key)->zone + 1) % partitions;
}

static void sorts_by_fields_in_their_order(void **state)
{
        fst_rdd *pairs = fst_map(people(*state, 2000), by_place, FST_PAIR(STRUCT(place), STRUCT(person)));
        for (int order = FST_ASCENDING; order <= FST_DESCENDING; order++) {
                fst_iter *rows;
                const struct place *key, *before = NULL;
                const struct person *p, *last = NULL;
                int64_t n = 0;
                assert_int_equal(fst_collect(fst_sort_by_key(pairs, (enum fst_order)order), &rows), 0);
                for (; fst_next(rows, &key, &p); n++, before = key) {
                        if (!before)
                                continue;
                        int r = before->zone != key->zone ? (before->zone > key->zone) - (before->zone < key->zone)
                                                          : fst_bytes_compare(before->town, key->town);
                        assert_true(order == FST_ASCENDING ? r <= 0 : r >= 0);
                }
                assert_int_equal(n, 2000);
                fst_rdd *sorted = fst_sort_by(people(*state, 2000), self_of, FST_STRUCT(person), (enum fst_order)order);
                assert_int_equal(fst_collect(sorted, &rows), 0);
                for (n = 0; fst_next(rows, &p); n++, last = p) {
                        int r = last ? fst_bytes_compare(last->name, p->name) : 0;
                        r = r || !last ? r : (last->age > p->age) - (last->age < p->age);
                        assert_true(order == FST_ASCENDING ? r <= 0 : r >= 0);
                }
                assert_int_equal(n, 2000);
        }
        struct place low = {-1, {"B", 1}}, high = {-1, {"D", 1}};
        assert_int_equal(count_of(fst_filter_by_range(fst_sort_by_key(pairs, FST_ASCENDING), &low, &high)), 457);
        fst_rdd *placed = fst_partition_by_function(pairs, 2, place_by_zone);
        assert_int_equal(count_of(placed), 2000);
        assert_int_equal(fst_rdd_partitions(placed), 2);
}

static void saves_text_as_tuples(void **state)
{
        static const struct person people[] = {{{"Ann", 3}, 30, "", 61.5, true}, {{"", 0}, -1, "", 1e10, false}};
        char dir[TEMP_DIR_SIZE], path[96], text[256] = "";
        temp_dir_new(dir);
        snprintf(path, sizeof(path), "%s/out", dir);
        fst_rdd *rows = fst_parallelize_structs_n(*state, person, people, 2, 1);
        assert_int_equal(fst_save_as_text_file(rows, path), 0);
        snprintf(path, sizeof(path), "%s/out/part-00000", dir);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
        fclose(file);
        assert_string_equal(text, "(Ann,30,61.5,true)\n(,-1,1.0E10,false)\n");
        snprintf(path, sizeof(path), "%s/pairs", dir);
        fst_rdd *pairs = fst_map(rows, place_of, FST_PAIR(STRUCT(place), I64));
        assert_int_equal(fst_save_as_text_file(pairs, path), 0);
        snprintf(path, sizeof(path), "%s/pairs/part-00000", dir);
        file = fopen(path, "r");
        memset(text, 0, sizeof(text));
        assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
        fclose(file);
        assert_string_equal(text, "((-1,Ann),1)\n((-2,),1)\n");
        remove_tree(dir);
}

static int large_text(fst_task *task, int64_t x, fst_out *out)
{
        size_t len = (size_t)x * 300000;
        char *text = calloc(len + 1, 1);
        memset(text, 'a' + (int)x, len);
        struct place p = {(int32_t)x, {text, len}};
        fst_emit(out, &p);
        free(text);
        return 0;
}

static void texts_may_exceed_a_page(void **state)
{
        fst_rdd *rows = fst_map(fst_range_n(*state, 0, 6, 2), large_text, FST_STRUCT(place));
        fst_rdd *sorted = fst_sort_by(rows, self_of, FST_STRUCT(place), FST_DESCENDING);
        fst_iter *all;
        const struct place *p;
        int64_t x = 5;
        assert_int_equal(fst_collect(sorted, &all), 0);
        for (; fst_next(all, &p); x--) {
                assert_int_equal(p->zone, x);
                assert_int_equal(p->town.len, x * 300000);
                assert_true(x == 0 || p->town.data[p->town.len - 1] == 'a' + (char)x);
        }
        assert_int_equal(x, -1);
}

static void cached_rows_are_the_same(void **state)
{
        fst_rdd *rows = fst_persist(people(*state, 500), FST_STORAGE_MEMORY_ONLY_SER);
        assert_int_equal(count_of(fst_filter(rows, is_member)), 250);
        assert_int_equal(count_of(fst_filter(rows, is_member)), 250);
        assert_int_equal(fst_foreach(rows, check_row), 0);
        fst_unpersist(rows);
}

/* ------------------------------------------------------------------------------------------------------- misuse */

struct narrow {
        int64_t age;
};
FST_FIELDS(narrow, age);

static int make_narrow(fst_task *task, int64_t x, fst_out *out)
{
        struct narrow n = {x};
        fst_emit(out, &n);
        return 0;
}

static bool takes_number(fst_task *task, int64_t x)
{
        return x > 0;
}

static int read_narrow(fst_task *task, fst_iter *rows, fst_out *out)
{
        for (const struct narrow *n; fst_next(rows, &n);)
                fst_emit(out, n->age);
        return 0;
}

static void refuses_other_structs(void **state)
{
        fst_rdd *rows = people(*state, 10), *narrow = fst_map(fst_range(*state, 0, 3), make_narrow, FST_STRUCT(narrow));
        struct narrow n;
        assert_refused(fst_count(fst_map(fst_range(*state, 0, 3), make_narrow, FST_STRUCT(person)), NULL), -EIO,
                       "emits FIXED(8) where its operator declares STRUCT(person)");
        assert_refused(fst_count(fst_filter(rows, takes_number), NULL), -EINVAL,
                       "takes_number takes I64, but the rows are STRUCT(person)");
        assert_refused(fst_count(fst_map_partitions(rows, read_narrow, FST_I64), NULL), -EIO, "FIXED(8)");
        assert_refused(fst_count(fst_union(rows, narrow), NULL), -EINVAL,
                       "the rows are STRUCT(person) and STRUCT(narrow)");
        assert_refused(fst_first(rows, &n), -EINVAL, "STRUCT(person)");
        assert_refused(fst_reduce(rows, older, &n), -EINVAL, "STRUCT(person)");
        assert_refused(fst_count(fst_map(rows, age_of, fst_struct_type(NULL)), NULL), -EINVAL,
                       "the type of a struct whose description is invalid");
        assert_refused(fst_count(fst_map(rows, name_of, FST_STRUCT(person)), NULL), -EIO,
                       "emits BYTES where its operator declares STRUCT(person)");
}

static void object_files_keep_descriptions(void **state)
{
        fst_rdd *pairs = fst_map(people(*state, 300), by_place, FST_PAIR(STRUCT(place), STRUCT(person)));
        char dir[TEMP_DIR_SIZE], path[96];
        temp_dir_new(dir);
        snprintf(path, sizeof(path), "%s/objects", dir);
        assert_int_equal(fst_save_as_object_file(pairs, path), 0);
        fst_rdd *read = fst_object_file(*state, path, FST_PAIR(STRUCT(place), STRUCT(person)));
        assert_int_equal(fst_foreach(fst_values(read), check_row), 0);
        assert_int_equal(count_of(read), 300);
        assert_refused(fst_count(fst_object_file(*state, path, FST_PAIR(STRUCT(person), BYTES)), NULL), -EINVAL,
                       "has rows of PAIR(STRUCT place(zone I32, town BYTES), STRUCT person(name BYTES, age I64, weight "
                       "F64, member BOOL)), not of PAIR(STRUCT person(name BYTES, age I64, weight F64, member BOOL), "
                       "BYTES)");
        remove_tree(dir);
}

static void refuses_a_namesake_with_other_fields(void **state)
{
        static const fst_field fields[] = {{"name", 0, FST_FIELD_BYTES}};
        fst_type namesake = fst_struct_type(&(fst_struct){"person", 16, 1, fields});
        fst_rdd *other = fst_map(people(*state, 10), name_of, FST_BYTES);
        fst_rdd *rows = fst_parallelize_at(*state, &(fst_bytes){"x", 1}, 1, namesake, 1, FST_HERE("parallelize"));
        assert_refused(fst_count(fst_union(people(*state, 10), rows), NULL), -EINVAL,
                       "STRUCT(person) and STRUCT(person#2)");
        assert_refused(fst_count(fst_union(other, rows), NULL), -EINVAL, "BYTES and STRUCT(person#2)");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_arrive_with_all_fields),     cmocka_unit_test(functions_of_all_forms_get_structs),
                cmocka_unit_test(structs_reduce_fold_and_compare), cmocka_unit_test(keys_are_equal_by_their_fields),
                cmocka_unit_test(structs_group_and_join),          cmocka_unit_test(values_combine_by_key),
                cmocka_unit_test(sorts_by_fields_in_their_order),  cmocka_unit_test(saves_text_as_tuples),
                cmocka_unit_test(texts_may_exceed_a_page),         cmocka_unit_test(cached_rows_are_the_same),
        };
        const struct CMUnitTest loud[] = {
                cmocka_unit_test(refuses_other_structs),
                cmocka_unit_test(object_files_keep_descriptions),
                cmocka_unit_test(refuses_a_namesake_with_other_fields),
        };
        int failed = cmocka_run_group_tests(tests, api_setup, api_teardown);
        return failed + cmocka_run_group_tests(loud, api_setup_loud, api_teardown);
}
