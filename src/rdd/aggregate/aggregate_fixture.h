/* The tests of aggregation share an aggregation in a pool of its own, and a plain reference to compare it with. */
#pragma once

#include "rdd/aggregate/aggregate.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/aggregate/hash.h"
#include "store/page.h"
#include "store/spill_space.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const fst_fn sum
        __attribute__((unused)) = {.shape = FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_SUM, 0), .name = "fst_fn_sum"};
static const fst_fn min
        __attribute__((unused)) = {.shape = FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_MIN, 0), .name = "fst_fn_min"};
static const fst_fn max
        __attribute__((unused)) = {.shape = FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_MAX, 0), .name = "fst_fn_max"};
static const fst_fn first
        __attribute__((unused)) = {.shape = FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_FIRST, 0), .name = "fst_fn_first"};

static uint64_t random_state;

static inline uint64_t random_below(uint64_t n)
{
        uint64_t z = random_state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (z ^ (z >> 31)) % n;
}

/* ---------------------------------------------------------------------------------------------- the fixture */

struct aggregate_fixture {
        struct memory_manager *manager;
        struct memory_task *memory;
        struct aggregate *a;
        fst_task task;
        struct aggregate_options options;
        struct spill_space space;
        bool crowded; /* while rows are added, other consumers hold all memory and free none */
};

static inline void fixture_init(struct aggregate_fixture *f, size_t pool, enum aggregate_side side, fst_type type,
                                fst_fn combine)
{
        *f = (struct aggregate_fixture){.manager = memory_manager_new(pool, 0.5), .a = aggregate_new()};
        f->memory = memory_task_new(f->manager);
        f->options = (struct aggregate_options){
                .side = side, .memory = f->memory, .type = type, .combine = combine, .task = &f->task};
        random_state = 1;
}

static inline void fixture_start(struct aggregate_fixture *f)
{
        struct fst_error error = FST_ERROR_INIT;
        if (aggregate_start(f->a, &f->options, &error) != 0)
                fail_msg("%s", error_message(&error));
}

static inline void fixture_may_spill(struct aggregate_fixture *f)
{
        struct fst_error error = FST_ERROR_INIT;
        f->space.spill_codec = CODEC_LZ4;
        f->options.spill = &f->space;
        if (disk_dirs_new("/tmp", 4, &f->space.dirs, &error) != 0)
                fail_msg("%s", error_message(&error));
}

static inline void fixture_deinit(struct aggregate_fixture *f)
{
        aggregate_reset(f->a);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
        aggregate_free(f->a);
        memory_task_free(f->memory);
        memory_manager_free(f->manager);
        disk_dirs_free(f->space.dirs);
}

/* ------------------------------------------------------------------------------- reference: sum for BYTES keys */

struct reference_entry {
        char *key;
        size_t len;
        int64_t value;
};

struct entries {
        struct reference_entry *data;
        size_t n, cap;
};

static inline int entry_compare(const void *x, const void *y)
{
        const struct reference_entry *a = x, *b = y;
        return fst_bytes_compare((fst_bytes){a->key, a->len}, (fst_bytes){b->key, b->len});
}

static inline void entries_add(struct entries *e, fst_bytes key, int64_t value)
{
        if (e->n == e->cap)
                e->data = mem_grow(e->data, (e->cap = e->cap ? e->cap * 2 : 64) * sizeof(*e->data));
        e->data[e->n++] = (struct reference_entry){memcpy(mem_alloc(key.len + 1), key.len ? key.data : "", key.len),
                                                   key.len, value};
}

static inline void entries_combine(struct entries *e)
{
        size_t n = 0;
        qsort(e->data, e->n, sizeof(*e->data), entry_compare);
        for (size_t i = 0; i < e->n; i++) {
                if (n && entry_compare(&e->data[n - 1], &e->data[i]) == 0) {
                        e->data[n - 1].value += e->data[i].value;
                        free(e->data[i].key);
                } else {
                        e->data[n++] = e->data[i];
                }
        }
        e->n = n;
}

static inline void entries_deinit(struct entries *e)
{
        for (size_t i = 0; i < e->n; i++)
                free(e->data[i].key);
        free(e->data);
}

/* Drains into @got and checks hashes. Returns the number of rows. */
static inline size_t fixture_drain(struct aggregate_fixture *f, struct entries *got)
{
        struct fst_error error = FST_ERROR_INIT;
        uint64_t hashes[FST_BATCH_ROWS], expected[FST_BATCH_ROWS];
        fst_batch out;
        size_t rows = 0;
        for (;;) {
                int r = aggregate_next(f->a, &out, hashes, &error);
                if (r)
                        fail_msg("%s", error_message(&error));
                if (!out.rows)
                        break;
                hash_keys(&out, expected);
                assert_memory_equal(hashes, expected, out.rows * sizeof(*hashes));
                for (uint32_t i = 0; i < out.rows; i++)
                        entries_add(got, out.key.bytes[i], out.value.i64[i]);
                rows += out.rows;
        }
        return rows;
}

static inline void fixture_add_all(struct aggregate_fixture *f, const fst_batch *batch, struct entries *partial)
{
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        int r;
        while ((r = aggregate_add(f->a, batch, &at, &error)) == FST_AGGREGATE_E_FULL) {
                assert_non_null(partial);
                assert_true(fixture_drain(f, partial) > 0);
        }
        if (r)
                fail_msg("%s", error_message(&error));
        assert_int_equal(at, batch->rows);
}

static inline void entries_equal(struct entries *a, struct entries *b)
{
        assert_int_equal(a->n, b->n);
        for (size_t i = 0; i < a->n; i++) {
                assert_int_equal(entry_compare(&a->data[i], &b->data[i]), 0);
                assert_int_equal(a->data[i].value, b->data[i].value);
        }
}

/* Adds @rows random rows with @keys keys of @shortest … @longest bytes. With @once every key must come out once. */
static inline void bytes_case(struct aggregate_fixture *f, size_t rows, size_t keys, size_t shortest, size_t longest,
                              bool once)
{
        struct entries expected = {0}, got = {0};
        fst_bytes views[FST_BATCH_ROWS];
        int64_t values[FST_BATCH_ROWS];
        char *text = mem_alloc(FST_BATCH_ROWS * (longest + 1));
        struct memory_consumer other;
        memory_consumer_init(&other, f->memory, "other", NULL);
        fixture_start(f);
        while (f->crowded && memory_acquire(&other, 4096) == 0)
                ;
        for (size_t done = 0; done < rows;) {
                fst_batch batch = {.type = f->options.type, .key.bytes = views, .value.i64 = values};
                size_t at = 0;
                batch.rows = (uint32_t)MIN(rows - done, 1 + random_below(FST_BATCH_ROWS));
                for (uint32_t i = 0; i < batch.rows; i++) {
                        uint64_t key = random_below(keys), saved = random_state;
                        random_state = key * 977 + 5;
                        size_t len = shortest + random_below(longest - shortest + 1);
                        for (size_t j = 0; j < len; j++)
                                text[at + j] = (char)(j < 4 ? (key >> (8 * j)) & 255 : random_below(3));
                        random_state = saved;
                        views[i] = (fst_bytes){text + at, len};
                        values[i] = (int64_t)random_below(1000) - 500;
                        entries_add(&expected, views[i], values[i]);
                        at += len;
                }
                fixture_add_all(f, &batch, once ? NULL : &got);
                done += batch.rows;
        }
        memory_consumer_deinit(&other);
        fixture_drain(f, &got);
        free(text);
        size_t partial = got.n;
        entries_combine(&expected);
        entries_combine(&got);
        if (once)
                assert_int_equal(partial, got.n);
        entries_equal(&expected, &got);
        entries_deinit(&expected);
        entries_deinit(&got);
}

static inline int fixture_next_row(struct aggregate_fixture *f, fst_batch *out)
{
        int r = aggregate_next(f->a, out, NULL, NULL);
        assert_int_equal(r, 0);
        return (int)out->rows;
}

/* An application function that concatenates and fails at '!'. The test owns `out`. */
static char joined[1 << 20];
static fst_bytes joined_row __attribute__((unused));

static inline int append_row(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        if (b.len && b.data[0] == '!')
                return -ECANCELED;
        if (b.len && b.data[0] == '?')
                return 0; /* emits nothing */
        memcpy(joined, a.data, a.len);
        memcpy(joined + a.len, b.data, b.len);
        out->key.bytes[out->rows++] = (fst_bytes){joined, a.len + b.len};
        return 0;
}

static inline void joined_forget(fst_out *out)
{
        out->rows = 0;
}
