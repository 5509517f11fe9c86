/*
 * Random lineages against what they mean: operators, types, partitions, caches, failing tasks and little memory are
 * drawn from a seed, and the rows that come out are compared with those that a loop over an array computes.
 *
 * A model row is two numbers. Each kind has one way to write a number, which is checked when it is read again, so that
 * bytes that went bad on the way are noticed where they are read first. FIRESTEEL_SEED=N runs one seed alone,
 * FIRESTEEL_LINEAGES=N so many.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "driver/api_fixture.h"
#include "driver/context.h"
#include "driver/local_backend.h"
#include "driver/wire_fixture.h"
#include "exec/action.h"
#include "exec/slot.h"
#include "rdd/pipeline.h"
#include "rdd/slice.h"

#include <inttypes.h>

#define LINEAGES 400
#define STEPS 7
#define JOINED_MOST 60000 /* rows that a join may make */

struct fixed {
        int64_t x, inverse;
        char more[8];
};

struct row {
        int64_t key, value;
};

struct rows_list {
        struct row *data;
        size_t len, cap;
};

enum step_kind {
        MAP,
        FLAT_MAP,
        FILTER,
        MAP_VALUES,
        ITERATE,
        REDUCE,
        PLACE,
        COALESCE,
        PERSIST,
        SORT,
        UNION,
        JOIN,
        STEP_KINDS
};

struct step {
        enum step_kind kind;
        int into; /* index of the type that it makes */
        int n;
        int64_t a;
        int64_t fail; /* not 0: one row in so many fails the first attempt */
};

#define TYPES(X)                                                                                                       \
        X(0, I64, NONE)                                                                                                \
        X(1, BYTES, NONE)                                                                                              \
        X(2, I64, I64)                                                                                                 \
        X(3, BYTES, I64)                                                                                               \
        X(4, BYTES, BYTES)                                                                                             \
        X(5, I64, FIXED)                                                                                               \
        X(6, F64, BYTES)                                                                                               \
        X(7, FIXED, I64)                                                                                               \
        X(8, FIXED, NONE)
enum { TYPES_N = 9 };

/* What can be joined: left type, right type, kinds of key and of both values. */
#define JOINS(X)                                                                                                       \
        X(2, 2, I64, I64, I64)                                                                                         \
        X(2, 5, I64, I64, FIXED)                                                                                       \
        X(5, 2, I64, FIXED, I64)                                                                                       \
        X(5, 5, I64, FIXED, FIXED)                                                                                     \
        X(3, 3, BYTES, I64, I64)                                                                                       \
        X(3, 4, BYTES, I64, BYTES)                                                                                     \
        X(4, 3, BYTES, BYTES, I64)                                                                                     \
        X(4, 4, BYTES, BYTES, BYTES)                                                                                   \
        X(6, 6, F64, BYTES, BYTES)                                                                                     \
        X(7, 7, FIXED, I64, I64)

static fst_type type_of_kind(int kind)
{
        static const uint32_t sizes[] = {0, 8, 8, 0, sizeof(struct fixed)};
        return (fst_type){.key = (uint8_t)kind, .key_size = sizes[kind]};
}

static fst_type type_of(int index)
{
#define TYPE_ENTRY(i, k, v) {FST_KIND_##k, FST_KIND_##v},
        static const int kinds[][2] = {TYPES(TYPE_ENTRY)};
        return fst_type_pair(type_of_kind(kinds[index][0]), type_of_kind(kinds[index][1]));
}

static uint64_t mix(uint64_t a, uint64_t b)
{
        uint64_t z = a * 0x9e3779b97f4a7c15u + b;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

/* ------------------------------------------------------------------------------------- what steps do to a row */

static size_t copies(const struct step *s, struct row in)
{
        return s->kind == FLAT_MAP ? mix((uint64_t)(in.key ^ s->a), 1) % 4 : 1;
}

/* Few keys, so that they meet. */
static struct row changed(const struct step *s, struct row in, size_t copy)
{
        return (struct row){(int64_t)(mix((uint64_t)in.key, (uint64_t)s->a + copy) % 500) - 100,
                            (int64_t)(mix((uint64_t)in.value, (uint64_t)in.key) % 100000)};
}

static int64_t changed_value(const struct step *s, int64_t value)
{
        return (int64_t)(mix((uint64_t)value, (uint64_t)s->a) % 1000);
}

static bool stays(const struct step *s, struct row in)
{
        return mix((uint64_t)in.key, (uint64_t)(in.value + s->a)) % 3 != 0;
}

/* The rows that two with one key make. */
static size_t pairings(const struct step *s, int64_t key, int64_t left, int64_t right)
{
        return mix((uint64_t)(key ^ left), (uint64_t)(right + s->a)) % 3;
}

static struct row paired(const struct step *s, int64_t key, int64_t left, int64_t right)
{
        return (struct row){key, (int64_t)(mix((uint64_t)left, (uint64_t)(right + s->a)) % 100000)};
}

/* ------------------------------------------------------------------------------------------------ kinds of field */

static size_t padding(int64_t x)
{
        uint64_t m = mix((uint64_t)x, 3);
        return m % 1000 == 0 ? 300000 : m % 50 == 0 ? 3000 : m % 20;
}

static fst_bytes write_bytes(int64_t x, char **room)
{
        size_t pad = padding(x);
        *room = mem_alloc(pad + 32);
        int n = snprintf(*room, 32, "%" PRId64 ":", x);
        memset(*room + n, (char)('a' + (x & 15)), pad);
        return (fst_bytes){*room, (size_t)n + pad};
}

static bool read_bytes(fst_bytes b, int64_t *x)
{
        char number[32] = {0};
        const char *colon = memchr(b.data, ':', b.len);
        size_t n = colon ? (size_t)(colon - b.data) : b.len;
        memcpy(number, b.data, n < 31 ? n : 31);
        *x = strtoll(number, NULL, 10);
        if (n == b.len || b.len != n + 1 + padding(*x))
                return false;
        for (size_t i = n + 1; i < b.len; i++)
                if (b.data[i] != (char)('a' + (*x & 15)))
                        return false;
        return true;
}

static bool read_fixed(const void *p, int64_t *x)
{
        struct fixed f;
        memcpy(&f, p, sizeof(f));
        *x = f.x;
        return f.inverse == ~f.x && f.more[7] == 'z';
}

static struct fixed write_fixed(int64_t x)
{
        return (struct fixed){x, ~x, "abcdefgz"};
}

#define PARAM_I64(name) , int64_t name
#define PARAM_F64(name) , double name
#define PARAM_BYTES(name) , fst_bytes name
#define PARAM_FIXED(name) , const void *name
#define PARAM_NONE(name)
#define READ_I64(from, to) ((to) = (from), true)
#define READ_F64(from, to) ((to) = (int64_t)((from)*4), true)
#define READ_BYTES(from, to) read_bytes(from, &(to))
#define READ_FIXED(from, to) read_fixed(from, &(to))
#define READ_NONE(from, to) ((to) = 0, true)

/* Emit a model row as a type of this test; the text lies in memory that is gone right after. */
static void emit_row(fst_out *out, int type, struct row row)
{
        char *key_room = NULL, *value_room = NULL;
        struct fixed key = write_fixed(row.key), value = write_fixed(row.value);
        switch (type) {
        case 0:
                fst_emit(out, row.key);
                break;
        case 1:
                fst_emit(out, write_bytes(row.key, &key_room));
                break;
        case 2:
                fst_emit(out, row.key, row.value);
                break;
        case 3:
                fst_emit(out, write_bytes(row.key, &key_room), row.value);
                break;
        case 4: {
                fst_bytes a = write_bytes(row.key, &key_room), b = write_bytes(row.value, &value_room);
                fst_emit(out, a, b);
                break;
        }
        case 5:
                fst_emit(out, row.key, &value);
                break;
        case 6: {
                fst_bytes b = write_bytes(row.value, &value_room);
                fst_emit(out, (double)row.key / 4, b);
                break;
        }
        case 7:
                fst_emit(out, &key, row.value);
                break;
        default:
                fst_emit(out, &key);
        }
        free(key_room);
        free(value_room);
}

/* ------------------------------------------------------------------------------------------ functions of the steps */

/* Some rows fail the first attempt, half of them without answering it. */
static int misfortune(fst_task *task, const struct step *s, struct row row)
{
        if (!s->fail || fst_task_attempt(task) || mix((uint64_t)row.key, (uint64_t)row.value) % (uint64_t)s->fail)
                return 0;
        int r = fst_fail(task, "a drawn failure");
        return row.value & 1 ? r : 0;
}

static int apply(fst_task *task, bool good, struct row row, fst_out *out)
{
        const struct step *s = fst_captured(task);
        if (!good)
                return fst_fail(task, "damaged row");
        int r = misfortune(task, s, row);
        for (size_t i = 0; i < copies(s, row); i++)
                emit_row(out, s->into, changed(s, row, i));
        return r;
}

#define FUNCTIONS(i, k, v)                                                                                             \
        static int apply_##i(fst_task *task PARAM_##k(key) PARAM_##v(value), fst_out *out)                             \
        {                                                                                                              \
                struct row row;                                                                                        \
                bool good = READ_##k(key, row.key) && READ_##v(value, row.value);                                      \
                return apply(task, good, row, out);                                                                    \
        }                                                                                                              \
        static bool keep_##i(fst_task *task PARAM_##k(key) PARAM_##v(value))                                           \
        {                                                                                                              \
                struct row row;                                                                                        \
                if (!(READ_##k(key, row.key) && READ_##v(value, row.value)))                                           \
                        fst_fail(task, "damaged row");                                                                 \
                misfortune(task, fst_captured(task), row);                                                             \
                return stays(fst_captured(task), row);                                                                 \
        }
TYPES(FUNCTIONS)

static int apply_value(fst_task *task, bool good, int64_t value, fst_out *out)
{
        const struct step *s = fst_captured(task);
        char *room = NULL;
        int64_t x = changed_value(s, value);
        struct fixed fixed = write_fixed(x);
        switch (type_of(s->into).value) {
        case FST_KIND_I64:
                fst_emit(out, x);
                break;
        case FST_KIND_BYTES:
                fst_emit(out, write_bytes(x, &room));
                break;
        default:
                fst_emit(out, &fixed);
        }
        free(room);
        return good ? misfortune(task, s, (struct row){value, x}) : fst_fail(task, "damaged value");
}

#define VALUE_FUNCTION(kind)                                                                                           \
        static int value_##kind(fst_task *task PARAM_##kind(value), fst_out *out)                                      \
        {                                                                                                              \
                int64_t x;                                                                                             \
                bool good = READ_##kind(value, x);                                                                     \
                return apply_value(task, good, x, out);                                                                \
        }
VALUE_FUNCTION(I64)
VALUE_FUNCTION(BYTES)
VALUE_FUNCTION(FIXED)

#define VAR_I64(name) int64_t name
#define VAR_F64(name) double name
#define VAR_BYTES(name) fst_bytes name
#define VAR_FIXED(name) const void *name
#define ITERATE_1(i, k)                                                                                                \
        static int iterate_##i(fst_task *task, fst_iter *rows, fst_out *out)                                           \
        {                                                                                                              \
                int r = 0;                                                                                             \
                VAR_##k(key);                                                                                          \
                while (r == 0 && fst_next(rows, &key)) {                                                               \
                        struct row row = {0};                                                                          \
                        bool good = READ_##k(key, row.key);                                                            \
                        r = apply(task, good, row, out);                                                               \
                }                                                                                                      \
                return r;                                                                                              \
        }
#define ITERATE_2(i, k, v)                                                                                             \
        static int iterate_##i(fst_task *task, fst_iter *rows, fst_out *out)                                           \
        {                                                                                                              \
                int r = 0;                                                                                             \
                VAR_##k(key);                                                                                          \
                VAR_##v(value);                                                                                        \
                while (r == 0 && fst_next(rows, &key, &value)) {                                                       \
                        struct row row;                                                                                \
                        bool good = READ_##k(key, row.key) && READ_##v(value, row.value);                              \
                        r = apply(task, good, row, out);                                                               \
                }                                                                                                      \
                return r;                                                                                              \
        }
ITERATE_1(0, I64)
ITERATE_1(1, BYTES)
ITERATE_2(2, I64, I64)
ITERATE_2(3, BYTES, I64)
ITERATE_2(4, BYTES, BYTES)
ITERATE_2(5, I64, FIXED)
ITERATE_2(6, F64, BYTES)
ITERATE_2(7, FIXED, I64)
ITERATE_1(8, FIXED)

#define JOIN_FUNCTION(i, j, k, l, r)                                                                                   \
        static int join_##i##_##j(fst_task *task PARAM_##k(key) PARAM_##l(left) PARAM_##r(right), fst_out *out)        \
        {                                                                                                              \
                const struct step *s = fst_captured(task);                                                             \
                int64_t x, a, b;                                                                                       \
                if (!(READ_##k(key, x) && READ_##l(left, a) && READ_##r(right, b)))                                    \
                        return fst_fail(task, "damaged row");                                                          \
                for (size_t n = pairings(s, x, a, b); n > 0; n--)                                                      \
                        emit_row(out, s->into, changed(s, paired(s, x, a, b), n));                                     \
                return misfortune(task, s, (struct row){x, a});                                                        \
        }
JOINS(JOIN_FUNCTION)

/* Reducing keeps the greater number, whatever it is written as. */
static int64_t greater(fst_task *task, int64_t a, int64_t b)
{
        misfortune(task, fst_captured(task), (struct row){a, b});
        return a > b ? a : b;
}

static int greater_bytes(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        int64_t x, y;
        if (!read_bytes(a, &x) || !read_bytes(b, &y))
                return fst_fail(task, "damaged value");
        fst_emit(out, x > y ? a : b);
        return misfortune(task, fst_captured(task), (struct row){x, y});
}

static int greater_fixed(fst_task *task, void *a, const void *b)
{
        int64_t x, y;
        if (!read_fixed(a, &x) || !read_fixed(b, &y))
                return fst_fail(task, "damaged value");
        if (y > x)
                memcpy(a, b, sizeof(struct fixed));
        return misfortune(task, fst_captured(task), (struct row){x, y});
}

/* ---------------------------------------------------------------------------------------------- building lineage */

#define APPLY_ENTRY(i, k, v)                                                                                           \
        case i:                                                                                                        \
                return FST_FN(apply_##i);
#define KEEP_ENTRY(i, k, v)                                                                                            \
        case i:                                                                                                        \
                return FST_FN(keep_##i);
#define ITERATE_ENTRY(i, k, v)                                                                                         \
        case i:                                                                                                        \
                return FST_FN(iterate_##i);

/* clang-format off */
static fst_fn apply_of(int type) { switch (type) { TYPES(APPLY_ENTRY) default: abort(); } }
static fst_fn keep_of(int type) { switch (type) { TYPES(KEEP_ENTRY) default: abort(); } }
static fst_fn iterate_of(int type) { switch (type) { TYPES(ITERATE_ENTRY) default: abort(); } }
/* clang-format on */

#define JOIN_ENTRY(i, j, k, l, r)                                                                                      \
        if (left == (i) && right == (j))                                                                               \
                return FST_FN(join_##i##_##j);
static fst_fn join_of(int left, int right)
{
        JOINS(JOIN_ENTRY)
        abort();
}

static fst_fn with(fst_fn f, const struct step *s)
{
        return fst_fn_with(f, s, sizeof(*s));
}

static fst_fn value_fn(fst_type type)
{
        return type.value == FST_KIND_I64     ? FST_FN(value_I64)
               : type.value == FST_KIND_BYTES ? FST_FN(value_BYTES)
                                              : FST_FN(value_FIXED);
}

static fst_fn greater_fn(fst_type type)
{
        return type.value == FST_KIND_I64     ? FST_FN(greater)
               : type.value == FST_KIND_BYTES ? FST_FN(greater_bytes)
                                              : FST_FN(greater_fixed);
}

static fst_rdd *build(fst_rdd *rdd, const struct step *s, int from)
{
        fst_type type = type_of(s->into), value = {.key = type.value, .key_size = type.value_size};
        switch (s->kind) {
        case MAP:
                return fst_map(rdd, with(apply_of(from), s), type);
        case FLAT_MAP:
                return fst_flat_map(rdd, with(apply_of(from), s), type);
        case FILTER:
                return fst_filter(rdd, with(keep_of(from), s));
        case MAP_VALUES:
                return fst_map_values(rdd, with(value_fn(type_of(from)), s), value);
        case ITERATE:
                return fst_map_partitions(rdd, with(iterate_of(from), s), type);
        case REDUCE:
                return fst_reduce_by_key_n(rdd, with(greater_fn(type), s), s->n);
        case PLACE:
                return fst_partition_by(rdd, s->n);
        case COALESCE:
                return fst_coalesce(rdd, s->n);
        case SORT:
                if (type.value)
                        return fst_sort_by_key_n(rdd, s->a % 2 ? FST_DESCENDING : FST_ASCENDING, s->n);
                return fst_sort_by_n(rdd, fst_identity, type, s->a % 2 ? FST_DESCENDING : FST_ASCENDING, s->n);
        default:
                return fst_persist(rdd, (enum fst_storage_level)(1 + s->n % 3));
        }
}

/* -------------------------------------------------------------------------------------------------- the evaluator */

static void add(struct rows_list *list, struct row row)
{
        if (list->len == list->cap) {
                list->cap = list->cap ? list->cap * 2 : 64;
                list->data = mem_grow(list->data, list->cap * sizeof(*list->data));
        }
        list->data[list->len++] = row;
}

static int by_key(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_rows(struct rows_list *list)
{
        if (list->len)
                qsort(list->data, list->len, sizeof(*list->data), by_key);
}

/* The rows of both, sorted by key, before any is joined: how many pairs meet. */
static size_t meetings(struct rows_list *left, struct rows_list *right)
{
        size_t n = 0;
        sort_rows(left);
        sort_rows(right);
        for (size_t i = 0, j = 0; i < left->len; i++) {
                while (j < right->len && right->data[j].key < left->data[i].key)
                        j++;
                for (size_t k = j; k < right->len && right->data[k].key == left->data[i].key; k++)
                        n++;
        }
        return n;
}

static struct rows_list copy_of(const struct rows_list *list)
{
        struct rows_list copy = {0};
        for (size_t i = 0; i < list->len; i++)
                add(&copy, list->data[i]);
        return copy;
}

/* @left becomes the union or the join of both; @right is sorted. */
static void evaluate_both(struct rows_list *left, const struct rows_list *right, const struct step *s)
{
        struct rows_list next = {0};
        for (size_t i = 0; s->kind == UNION && i < right->len; i++)
                add(left, right->data[i]);
        if (s->kind == UNION)
                return;
        for (size_t i = 0, j = 0; i < left->len; i++) {
                struct row row = left->data[i];
                while (j < right->len && right->data[j].key < row.key)
                        j++;
                for (size_t k = j; k < right->len && right->data[k].key == row.key; k++)
                        for (size_t n = pairings(s, row.key, row.value, right->data[k].value); n > 0; n--)
                                add(&next, changed(s, paired(s, row.key, row.value, right->data[k].value), n));
        }
        for (size_t i = 0; type_of(s->into).value == FST_KIND_NONE && i < next.len; i++)
                next.data[i].value = 0;
        free(left->data);
        *left = next;
}

static void evaluate(struct rows_list *rows, const struct step *s)
{
        struct rows_list next = {0};
        for (size_t i = 0; i < rows->len; i++) {
                struct row row = rows->data[i];
                switch (s->kind) {
                case MAP:
                case FLAT_MAP:
                case ITERATE:
                        for (size_t copy = 0; copy < copies(s, row); copy++)
                                add(&next, changed(s, row, copy));
                        break;
                case FILTER:
                        if (stays(s, row))
                                add(&next, row);
                        break;
                case MAP_VALUES:
                        add(&next, (struct row){row.key, changed_value(s, row.value)});
                        break;
                default:
                        add(&next, row);
                }
        }
        if (s->kind == REDUCE) { /* the last of each key is its greatest */
                struct rows_list reduced = {0};
                sort_rows(&next);
                for (size_t i = 0; i < next.len; i++)
                        if (i + 1 == next.len || next.data[i].key != next.data[i + 1].key)
                                add(&reduced, next.data[i]);
                free(next.data);
                next = reduced;
        }
        /* What the type has no place for is gone. */
        for (size_t i = 0; type_of(s->into).value == FST_KIND_NONE && i < next.len; i++)
                next.data[i].value = 0;
        free(rows->data);
        *rows = next;
}

/* --------------------------------------------------------------------------------------------- reading what came out
 */

#define COLLECT_1(i, k)                                                                                                \
        case i: {                                                                                                      \
                VAR_##k(key);                                                                                          \
                while (fst_next(iter, &key)) {                                                                         \
                        struct row row = {0};                                                                          \
                        bool good = READ_##k(key, row.key);                                                            \
                        assert_true(good);                                                                             \
                        add(rows, row);                                                                                \
                }                                                                                                      \
                break;                                                                                                 \
        }
#define COLLECT_2(i, k, v)                                                                                             \
        case i: {                                                                                                      \
                VAR_##k(key);                                                                                          \
                VAR_##v(value);                                                                                        \
                while (fst_next(iter, &key, &value)) {                                                                 \
                        struct row row;                                                                                \
                        bool good = READ_##k(key, row.key) && READ_##v(value, row.value);                              \
                        assert_true(good);                                                                             \
                        add(rows, row);                                                                                \
                }                                                                                                      \
                break;                                                                                                 \
        }
static void read_rows(fst_iter *iter, int type, struct rows_list *rows)
{
        switch (type) {
                COLLECT_1(0, I64)
                COLLECT_1(1, BYTES)
                COLLECT_2(2, I64, I64)
                COLLECT_2(3, BYTES, I64)
                COLLECT_2(4, BYTES, BYTES)
                COLLECT_2(5, I64, FIXED)
                COLLECT_2(6, F64, BYTES)
                COLLECT_2(7, FIXED, I64)
                COLLECT_1(8, FIXED)
        default:
                abort();
        }
}

/* --------------------------------------------------------------------------------------------------- one lineage */

struct dice {
        uint64_t state;
};

static int roll(struct dice *d, int sides)
{
        return (int)(mix(++d->state, 77) % (uint64_t)sides);
}

static int some_partitions(struct dice *d)
{
        return roll(d, 8) ? 1 + roll(d, 16) : 40 + roll(d, 40);
}

/* A step that can follow rows of type @from. */
static struct step draw_step(struct dice *d, int from)
{
        struct step s = {.kind = (enum step_kind)roll(d, STEP_KINDS), .into = from, .a = roll(d, 1000)};
        bool pairs = type_of(from).value != FST_KIND_NONE;
        if (!pairs && (s.kind == MAP_VALUES || s.kind == REDUCE || s.kind == PLACE || s.kind == JOIN))
                s.kind = MAP;
        if (s.kind == MAP || s.kind == FLAT_MAP || s.kind == ITERATE || s.kind == JOIN)
                s.into = roll(d, TYPES_N);
        if (s.kind == MAP_VALUES)
                do
                        s.into = roll(d, TYPES_N);
                while (type_of(s.into).key != type_of(from).key || !type_of(s.into).value);
        s.n = some_partitions(d);
        s.fail = roll(d, 4) ? 0 : 100 + roll(d, 5000);
        return s;
}

static void describe(uint64_t seed, int rows, int partitions, const struct step *steps, int n)
{
        static const char *const names[] = {"map",           "flat_map",     "filter",   "map_values", "map_partitions",
                                            "reduce_by_key", "partition_by", "coalesce", "persist",    "sort",
                                            "union",         "join"};
        print_error("FIRESTEEL_SEED=%" PRIu64 ": range(%d) in %d partitions", seed, rows, partitions);
        for (int i = 0; i < n; i++)
                print_error(", %s to type %d (n %d, a %" PRId64 ", fail %" PRId64 ")", names[steps[i].kind],
                            steps[i].into, steps[i].n, steps[i].a, steps[i].fail);
        print_error("\n");
}

/* 0 … count - 1. */
static fst_rdd *source(fst_context *sc, uint64_t seed, int count, int partitions)
{
        if (seed % 3)
                return fst_range_n(sc, 0, count, partitions);
        _cleanup_free_ int64_t *numbers = new_array(int64_t, (size_t)count + 1);
        for (int i = 0; i < count; i++)
                numbers[i] = i;
        return fst_parallelize_n(sc, numbers, (size_t)count, partitions);
}

/* An RDD with the rows that it is to have. */
struct branch {
        fst_rdd *rdd;
        struct rows_list rows;
        int type;
};

/* Something to unite or join with: one of the RDDs before, or a new one with a different number of partitions. */
static struct branch draw_other(struct dice *d, fst_context *sc, const struct branch *before, int n, int from,
                                bool join, struct step *s)
{
        const struct branch *found = NULL;
        for (int i = 0; i < n; i++) {
                fst_type a = type_of(before[i].type), b = type_of(from);
                if (join ? a.key == b.key && a.value : before[i].type == from)
                        found = found && roll(d, 2) ? found : &before[i];
        }
        if (found && roll(d, 4))
                return (struct branch){found->rdd, copy_of(&found->rows), found->type};
        struct branch other = {.type = from};
        int count = roll(d, 1000);
        *s = (struct step){.kind = MAP, .into = from, .a = roll(d, 1000)};
        for (int i = 0; i < count; i++)
                add(&other.rows, (struct row){i, 0});
        other.rdd = build(fst_range_n(sc, 0, count, some_partitions(d)), s, 0);
        evaluate(&other.rows, s);
        return other;
}

/* One more step, on the last of the branches: the next branch. */
static struct branch grow(struct dice *d, fst_context *sc, const struct branch *branches, int n, struct step *s)
{
        const struct branch *last = &branches[n - 1];
        struct branch next = {.rdd = last->rdd, .rows = copy_of(&last->rows), .type = s->into};
        if (s->kind == UNION || s->kind == JOIN) {
                struct step made;
                struct branch other = draw_other(d, sc, branches, n, last->type, s->kind == JOIN, &made);
                if (s->kind == JOIN && meetings(&next.rows, &other.rows) <= JOINED_MOST) {
                        next.rdd = fst_join_n(next.rdd, other.rdd, with(join_of(last->type, other.type), s),
                                              type_of(s->into), s->n % 2 ? 0 : s->n);
                        evaluate_both(&next.rows, &other.rows, s);
                } else if (s->kind == UNION) {
                        next.rdd = roll(d, 2) ? fst_union(next.rdd, other.rdd)
                                              : fst_union_all(sc, ((fst_rdd *[]){next.rdd, other.rdd}), 2);
                        evaluate_both(&next.rows, &other.rows, s);
                } else { /* too many rows */
                        s->kind = FILTER;
                        s->into = next.type = last->type;
                }
                free(other.rows.data);
        }
        if (s->kind != UNION && s->kind != JOIN) {
                next.rdd = build(next.rdd, s, last->type);
                evaluate(&next.rows, s);
        }
        return next;
}

static int check_lineage(fst_context *sc, uint64_t seed)
{
        struct dice d = {seed * 1000};
        struct branch branches[STEPS + 1];
        struct step steps[STEPS];
        int n = 1 + roll(&d, STEPS), from = 0;
        int count = roll(&d, 5) ? roll(&d, roll(&d, 10) ? 3000 : 30000) : roll(&d, 3);
        int partitions = some_partitions(&d);
        branches[0] = (struct branch){.rdd = source(sc, seed, count, partitions)};
        for (int i = 0; i < count; i++)
                add(&branches[0].rows, (struct row){i, 0});
        for (int i = 0; i < n; i++) {
                steps[i] = draw_step(&d, from);
                if (steps[i].kind == PERSIST)
                        steps[i].n = (int)seed; /* one level: another one for the same RDD is refused */
                branches[i + 1] = grow(&d, sc, branches, i + 1, &steps[i]);
                from = steps[i].into;
        }
        fst_rdd *rdd = branches[n].rdd;
        struct rows_list expected = branches[n].rows;
        int64_t some = roll(&d, 2000), rows = -1;
        fst_iter *iter = NULL;
        struct rows_list got = {0}, taken = {0};
        int r = 0;
        bool good = false;
        if ((r = fst_count(rdd, &rows)) == 0 && (size_t)rows == expected.len && (r = fst_collect(rdd, &iter)) == 0) {
                read_rows(iter, from, &got);
                sort_rows(&got);
                sort_rows(&expected);
                good = got.len == expected.len &&
                       (!got.len || memcmp(got.data, expected.data, got.len * sizeof(*got.data)) == 0);
        }
        if (good && (r = fst_take(rdd, some, &iter)) == 0) {
                read_rows(iter, from, &taken);
                good = taken.len == MIN((size_t)some, expected.len);
        }
        if (r || !good) {
                describe(seed, count, partitions, steps, n);
                print_error("status %d, %" PRId64 " rows counted, %zu collected, %zu expected\n", r, rows, got.len,
                            expected.len);
        }
        free(got.data);
        free(taken.data);
        free(expected.data);
        for (int i = 0; i < n; i++)
                free(branches[i].rows.data);
        return r == 0 && good ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------- by way of the wire */

/* A slice of what an RDD of the application holds, as the driver would give it. */
static int fetch_slice(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice)
{
        fst_context *sc = owner;
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *at = sc->registry.rdds;
        while (at->lineage.id != rdd)
                at = at->next;
        __atomic_add_fetch(&wire.slices, 1, __ATOMIC_RELAXED);
        int r = slice_encode(at, partition, slice, &error);
        return r ? task_run_fail_with(run, r, &error) : 0;
}

static const struct slice_source slices_of_driver = {.fetch = fetch_slice};

/* ------------------------------------------------------------------------------------------------------ all of them */

static void run_lineages(void)
{
        const char *one = getenv("FIRESTEEL_SEED"), *many = getenv("FIRESTEEL_LINEAGES");
        uint64_t first = one ? strtoull(one, NULL, 10) : 1;
        uint64_t last = one ? first : many ? strtoull(many, NULL, 10) : LINEAGES;
        fst_context *sc = NULL;
        for (uint64_t seed = first; seed <= last; seed++) {
                if (!sc)
                        sc = api_context("local[2,4]", "spark.driver.memory", "64m", "spark.memory.fraction",
                                         seed % 40 < 20 ? "0.6" : "0.3", NULL);
                sc->env.slices = &slices_of_driver;
                sc->env.slice_owner = sc;
                assert_int_equal(check_lineage(sc, seed), 0);
                if (seed % 20 == 0 || seed == last) {
                        assert_int_equal(fst_context_stop(sc), 0);
                        sc = NULL;
                }
        }
}

static void random_lineages_compute_what_they_mean(void **state)
{
        run_lineages();
}

static void random_lineages_compute_the_same_by_way_of_the_wire(void **state)
{
        local_backend_set_probe(&by_wire);
        run_lineages();
        local_backend_set_probe(NULL);
        assert_true(wire.stages > 0);
        if (!getenv("FIRESTEEL_SEED") && !getenv("FIRESTEEL_LINEAGES"))
                assert_true(wire.slices > 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(random_lineages_compute_what_they_mean),
                cmocka_unit_test(random_lineages_compute_the_same_by_way_of_the_wire),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
