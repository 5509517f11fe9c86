/* Helpers for tests of cogroups: rows of two sides with every kind of key, and a sink that records the result. */
#pragma once

#include "rdd/cogroup/op_cogroup.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/memory.h"
#include "store/spill_space.h"

#include <firesteel/list.h>

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* FST_KEYS again: FST_FN cannot be used inside FST_KEYS itself. */
#define KINDS(X)                                                                                                       \
        X(I64, i64, int64_t)                                                                                           \
        X(F64, f64, double)                                                                                            \
        X(BYTES, bytes, fst_bytes)                                                                                     \
        X(FIXED, fixed, const void *)

enum { AMPLE = 256 << 20, TIGHT = 5 << 20 };

/* ------------------------------------------------------------------------------------------------------- rows */

/* The key is a rank, which gives the order. The F64 key 0 occurs as -0.0 and 0.0; -0.0 comes first. */
struct side_row {
        int64_t rank, number, value;
        bool negative;
};

struct rows_of_side {
        struct side_row *data;
        size_t len, cap;
};

/* A row of the result: a rank and two numbers. */
struct result_row {
        int64_t rank, a, b;
};

static uint64_t random_state;

static inline uint64_t random_below(uint64_t n)
{
        uint64_t z = random_state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (z ^ (z >> 31)) % n;
}

static inline fst_type key_type(uint8_t kind)
{
        static const fst_type types[] = {
                [FST_KIND_I64] = {.key = FST_KIND_I64, .key_size = 8},
                [FST_KIND_F64] = {.key = FST_KIND_F64, .key_size = 8},
                [FST_KIND_BYTES] = {.key = FST_KIND_BYTES},
                [FST_KIND_FIXED] = {.key = FST_KIND_FIXED, .key_size = 20},
        };
        return types[kind];
}

/* Conversions between ranks and the keys that functions get. */
enum { NAN_RANK = 1000000 };

static inline double f64_of(const struct side_row *r)
{
        return r->rank == NAN_RANK ? NAN : r->rank == 0 && r->negative ? -0.0 : (double)r->rank;
}

static inline int64_t rank_of_i64(int64_t key)
{
        return key;
}

static inline int64_t rank_of_f64(double key)
{
        return isnan(key) ? NAN_RANK : (int64_t)key;
}

static inline int64_t rank_of_bytes(fst_bytes key)
{
        char digits[12] = {0};
        assert_true(key.len >= 9);
        memcpy(digits, key.data, 9);
        return atoll(digits) - 500;
}

static inline int64_t rank_of_fixed(const void *key)
{
        return rank_of_bytes((fst_bytes){key, 20});
}

/* Digits that sort like ranks. Some are longer than two registers. */
static inline size_t bytes_of(const struct side_row *r, char *to)
{
        size_t more = r->rank % 3 == 0 ? 30 : 0;
        char digits[24];
        snprintf(digits, sizeof(digits), "%09lld", (long long)r->rank + 500);
        memcpy(to, digits, 9);
        memset(to + 9, 'x', 11 + more);
        return 9 + more;
}

static inline struct rows_of_side random_rows(uint8_t kind, size_t n, int64_t ranks, int skew)
{
        struct rows_of_side rows = {0};
        vec_reserve(&rows, n);
        for (size_t i = 0; i < n; i++) {
                bool skewed = (int)random_below(100) < skew;
                int64_t rank = skewed ? 7 : (int64_t)random_below((uint64_t)ranks) - (kind == FST_KIND_F64 ? 10 : 0);
                if (kind == FST_KIND_F64 && random_below(50) == 0)
                        rank = NAN_RANK;
                rows.data[rows.len++] =
                        (struct side_row){rank, (int64_t)i, (int64_t)random_below(1000), random_below(2) == 0};
        }
        return rows;
}

static bool two_ways;

static inline int row_compare(const void *x, const void *y)
{
        const struct side_row *a = x, *b = y;
        if (a->rank != b->rank)
                return a->rank < b->rank ? -1 : 1;
        if (two_ways && a->rank == 0 && a->negative != b->negative)
                return a->negative ? -1 : 1;
        return a->number < b->number ? -1 : a->number > b->number;
}

static inline void sort_rows(struct rows_of_side *rows, uint8_t kind)
{
        two_ways = kind == FST_KIND_F64;
        if (rows->data)
                qsort(rows->data, rows->len, sizeof(*rows->data), row_compare);
}

/* ------------------------------------------------------------------------------------------------ the fixture */

struct cogroup_fixture {
        struct memory_manager *manager;
        struct spill_space space;
        struct task_run run;
        struct op sink;
        VEC(struct result_row) seen;
        size_t enough; /* rows that suffice for the sink; 0: it takes all */
};

static inline int cogroup_see(struct op *op, const struct rows *in)
{
        struct cogroup_fixture *f = container_of(op, struct cogroup_fixture, sink);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                struct result_row s;
                memcpy(&s, in->batch.key.fixed + i * sizeof(s), sizeof(s));
                vec_push(&f->seen, s);
        }
        return f->enough && f->seen.len >= f->enough ? OP_ENOUGH : 0;
}

static const struct op_class see_class = {"see", .consume = cogroup_see};

static inline void fixture_init(struct cogroup_fixture *f, size_t pool, bool may_spill)
{
        struct fst_error error = FST_ERROR_INIT;
        *f = (struct cogroup_fixture){.manager = memory_manager_new(pool, 0)};
        f->space.spill_codec = CODEC_LZ4;
        if (may_spill && disk_dirs_new("/tmp", 4, &f->space.dirs, &error) != 0)
                fail_msg("%s", error_message(&error));
        task_run_init(&f->run, f->manager, may_spill ? &f->space : NULL);
        task_run_begin(&f->run, &(struct fst_task_info){0}, 1);
        op_init(&f->sink, &see_class, &f->run, FST_FIXED(sizeof(struct result_row)));
        random_state = 1;
}

static inline void fixture_deinit(struct cogroup_fixture *f)
{
        task_run_end(&f->run);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
        task_run_deinit(&f->run);
        memory_manager_free(f->manager);
        disk_dirs_free(f->space.dirs);
        vec_deinit(&f->seen);
}

static inline struct op *cogroup_new(struct cogroup_fixture *f, enum cogroup_mode mode, const fst_type *sides, int n,
                                     fst_type out, fst_fn fn)
{
        struct fst_error error = FST_ERROR_INIT;
        fn.name = fn.name ? fn.name : "none";
        if (cogroup_check(mode, "cogroup", sides, n, out, &fn, &error))
                fail_msg("%s", error_message(&error));
        struct op *op = cogroup_op_new(&f->run, mode, sides, n, out, &fn);
        op->next = &f->sink;
        return op;
}

/* Pushes rows in batches and overwrites each batch afterwards. */
static inline int push_side(struct op *side, const struct rows_of_side *rows)
{
        fst_type type = side->type;
        enum { MOST = 500 };
        int64_t *values = new_array(int64_t, MOST);
        char *fixed = new_array(char, MOST * 60);
        fst_bytes *keys = new_array(fst_bytes, MOST), *texts = new_array(fst_bytes, MOST);
        int r = op_begin(side);
        for (size_t at = 0; at < rows->len && r == 0;) {
                uint32_t n = (uint32_t)MIN(rows->len - at, (size_t)(1 + at % MOST));
                struct rows in = {.batch = {.rows = n, .type = type}};
                for (uint32_t i = 0; i < n; i++) {
                        const struct side_row *row = &rows->data[at + i];
                        values[i] = row->value;
                        texts[i] = (fst_bytes){(char *)&values[i], sizeof(values[i])};
                        switch (type.key) {
                        case FST_KIND_I64:
                                ((int64_t *)fixed)[i] = row->rank;
                                break;
                        case FST_KIND_F64:
                                ((double *)fixed)[i] = f64_of(row);
                                break;
                        case FST_KIND_BYTES:
                                keys[i] = (fst_bytes){fixed + (size_t)i * 60, bytes_of(row, fixed + (size_t)i * 60)};
                                break;
                        default:
                                bytes_of(row, fixed + (size_t)i * 20);
                        }
                }
                in.batch.key.fixed = type.key == FST_KIND_BYTES ? (char *)keys : fixed;
                in.batch.value.i64 = type.value == FST_KIND_BYTES ? (int64_t *)texts : values;
                r = side->class->consume(side, &in);
                at += n;
        }
        free(values);
        free(fixed);
        free(keys);
        free(texts);
        return r;
}

static inline int run_cogroup(struct op *op, const struct rows_of_side *rows, int n)
{
        int r = op_begin(op);
        for (int k = 0; k < n && r == 0; k++)
                r = push_side(cogroup_op_side(op, k), &rows[k]);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static inline void cogroup_expect(struct cogroup_fixture *f, const struct result_row *wanted, size_t n)
{
        assert_int_equal(f->seen.len, n);
        for (size_t i = 0; i < n; i++)
                if (memcmp(&f->seen.data[i], &wanted[i], sizeof(*wanted)))
                        fail_msg("row %zu is (%lld: %lld, %lld), not (%lld: %lld, %lld)", i,
                                 (long long)f->seen.data[i].rank, (long long)f->seen.data[i].a,
                                 (long long)f->seen.data[i].b, (long long)wanted[i].rank, (long long)wanted[i].a,
                                 (long long)wanted[i].b);
}

/* Rows are spilled in the same way for all kinds except BYTES. */
static inline void for_all_kinds(void (*check)(uint8_t kind, size_t pool))
{
        for (uint8_t kind = FST_KIND_I64; kind <= FST_KIND_FIXED; kind++) {
                check(kind, AMPLE);
                if (kind == FST_KIND_F64 || kind == FST_KIND_BYTES)
                        check(kind, TIGHT);
        }
}

static inline size_t run_of(const struct rows_of_side *rows, size_t at)
{
        size_t to = at;
        while (to < rows->len && rows->data[to].rank == rows->data[at].rank)
                to++;
        return to;
}

static inline int64_t rank_in(const fst_batch *b, uint32_t i)
{
        switch (b->type.key) {
        case FST_KIND_I64:
                return rank_of_i64(b->key.i64[i]);
        case FST_KIND_F64:
                return rank_of_f64(b->key.f64[i]);
        case FST_KIND_BYTES:
                return rank_of_bytes(b->key.bytes[i]);
        default:
                return rank_of_fixed(b->key.fixed + i * b->type.key_size);
        }
}
