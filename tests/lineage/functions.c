/*
 * See functions.h. Macros define one function for each parameter list. It converts parameters to cells and calls the
 * common function.
 */
#include "functions.h"

#include "base/mem.h"

#include <pthread.h>

#define KINDS(X, ...) X(I64, ##__VA_ARGS__) X(F64, ##__VA_ARGS__) X(BYTES, ##__VA_ARGS__) X(FIXED, ##__VA_ARGS__)
#define KINDS_TOO(X, ...) X(I64, ##__VA_ARGS__) X(F64, ##__VA_ARGS__) X(BYTES, ##__VA_ARGS__) X(FIXED, ##__VA_ARGS__)
/* X(key, value) for every kind of row. */
#define ROW_KINDS(X) KINDS_TOO(X, NONE) KINDS_TOO(X, I64) KINDS_TOO(X, F64) KINDS_TOO(X, BYTES) KINDS_TOO(X, FIXED)

#define TYPE_I64 int64_t
#define TYPE_F64 double
#define TYPE_BYTES fst_bytes
#define TYPE_FIXED const void *
#define PARAM_I64(name) , int64_t name
#define PARAM_F64(name) , double name
#define PARAM_BYTES(name) , fst_bytes name
#define PARAM_FIXED(name) , const void *name
#define PARAM_NONE(name)
#define POINTER_I64(name) , const int64_t *name
#define POINTER_F64(name) , const double *name
#define POINTER_BYTES(name) , const fst_bytes *name
#define POINTER_FIXED(name) , const void *name
#define CELL_I64(x, size) cell_i64(x)
#define CELL_F64(x, size) cell_f64(x)
#define CELL_BYTES(x, size) cell_bytes(x)
#define CELL_FIXED(x, size) cell_fixed(x, size)
#define CELL_NONE(x, size) ((struct cell){0})
#define CELL_OF_I64(x, size) ((x) ? cell_i64(*(x)) : (struct cell){0})
#define CELL_OF_F64(x, size) ((x) ? cell_f64(*(x)) : (struct cell){0})
#define CELL_OF_BYTES(x, size) ((x) ? cell_bytes(*(x)) : (struct cell){0})
#define CELL_OF_FIXED(x, size) ((x) ? cell_fixed(x, size) : (struct cell){0})

/*
 * Memory for emitted rows. An emit may call functions of later operators on the same thread, so each call that emits has
 * its own. Freed at the end of the thread.
 */
static __thread struct rooms {
        struct cell_room *all[64];
        int used;
} rooms;
static pthread_key_t rooms_key;

static void rooms_free(void *ending)
{
        struct rooms *r = ending;
        for (int i = 0; r->all[i]; i++)
                free(r->all[i]);
}

static void rooms_key_make(void)
{
        if (pthread_key_create(&rooms_key, rooms_free))
                abort();
}

static struct cell_room *room_take(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        if (!rooms.all[rooms.used]) {
                rooms.all[rooms.used] = new0(struct cell_room);
                pthread_once(&once, rooms_key_make);
                pthread_setspecific(rooms_key, &rooms);
        }
        return rooms.all[rooms.used++];
}

static void room_return(struct cell_room *room)
{
        rooms.used--;
}

#define MAX_SUM 64 /* bytes of a sum of any kind */

static fst_fn function(void (*code)(void), uint32_t shape, const char *name, const struct deed *d)
{
        return (fst_fn){.code = code, .shape = shape, .name = name, .captured = d, .captured_size = sizeof(*d)};
}

/* ------------------------------------------------------------------------------------------------ reading, emitting */

#define NEXT_NONE(k)                                                                                                   \
        case FST_TAG(FST_KIND_##k, 0): {                                                                               \
                TYPE_##k key;                                                                                          \
                if (!fst_next(rows, &key))                                                                             \
                        return false;                                                                                  \
                *row = (struct row){.key = CELL_##k(key, type.key_size)};                                              \
                return true;                                                                                           \
        }
#define NEXT(k, v)                                                                                                     \
        case FST_TAG(FST_KIND_##k, FST_KIND_##v): {                                                                    \
                TYPE_##k key;                                                                                          \
                TYPE_##v value;                                                                                        \
                if (!fst_next(rows, &key, &value))                                                                     \
                        return false;                                                                                  \
                *row = (struct row){CELL_##k(key, type.key_size), CELL_##v(value, type.value_size)};                   \
                return true;                                                                                           \
        }

bool read_row(fst_iter *rows, fst_type type, struct row *row)
{
        switch (FST_TAG(type.key, type.value)) {
                KINDS(NEXT_NONE)
                KINDS(NEXT, I64)
                KINDS(NEXT, F64)
                KINDS(NEXT, BYTES)
                KINDS(NEXT, FIXED)
        default:
                abort();
        }
}

#define OUT_I64(c) (c).i64
#define OUT_F64(c) (c).f64
#define OUT_BYTES(c) (c).bytes
#define OUT_FIXED(c) (const void *)(c).bytes.data
#define EMIT_NONE(k)                                                                                                   \
        case FST_TAG(FST_KIND_##k, 0):                                                                                 \
                fst_emit(out, OUT_##k(row.key));                                                                       \
                break;
#define EMIT(k, v)                                                                                                     \
        case FST_TAG(FST_KIND_##k, FST_KIND_##v):                                                                      \
                fst_emit(out, OUT_##k(row.key), OUT_##v(row.value));                                                   \
                break;

static void emit_row(fst_out *out, fst_type type, struct row row)
{
        switch (FST_TAG(type.key, type.value)) {
                KINDS(EMIT_NONE)
                KINDS(EMIT, I64)
                KINDS(EMIT, F64)
                KINDS(EMIT, BYTES)
                KINDS(EMIT, FIXED)
        default:
                abort();
        }
}

/* Returns the status of a planned failure of this attempt. Barrier stages fail as a whole and are retried. */
static int misfortune(fst_task *task, const struct deed *d, uint64_t hash)
{
        if (!deed_fails(d, hash, fst_task_attempt(task) + task->info.stage_attempt))
                return 0;
        int r = fst_fail(task, "a drawn failure");
        return d->fail_silently ? 0 : r;
}

static int emit_all(fst_task *task, const struct deed *d, uint64_t hash, struct cell key, fst_out *out)
{
        struct cell_room *room = room_take();
        int r = misfortune(task, d, hash);
        for (uint32_t i = 0; i < deed_copies(d, hash) && r == 0; i++)
                emit_row(out, d->into, deed_row(d, hash, i, key, room));
        room_return(room);
        return r;
}

/* -------------------------------------------------------------------------------------------------- row by row */

static int row_emit(fst_task *task, struct row row, fst_out *out)
{
        return emit_all(task, fst_captured(task), row_hash(row), row.key, out);
}

static struct cell row_number(fst_task *task, struct row row)
{
        const struct deed *d = fst_captured(task);
        misfortune(task, d, row_hash(row));
        struct cell_room *room = room_take();
        room_return(room); /* not used for numbers */
        return deed_row(d, row_hash(row), 0, row.key, room).key;
}

static int row_seen(fst_task *task, struct row row)
{
        const struct deed *d = fst_captured(task);
        fst_accumulate(task, d->seen, (int64_t)row_hash(row));
        return misfortune(task, d, row_hash(row));
}

#define OF_ROW(k, v)                                                                                                   \
        ((struct row){CELL_##k(key, ((const struct deed *)fst_captured(task))->from.key_size),                         \
                      CELL_##v(value, ((const struct deed *)fst_captured(task))->from.value_size)})
#define ROW_FUNCTIONS(k, v)                                                                                            \
        static int emit_##k##_##v(fst_task *task PARAM_##k(key) PARAM_##v(value), fst_out *out)                        \
        {                                                                                                              \
                return row_emit(task, OF_ROW(k, v), out);                                                              \
        }                                                                                                              \
        static int64_t i64_##k##_##v(fst_task *task PARAM_##k(key) PARAM_##v(value))                                   \
        {                                                                                                              \
                return row_number(task, OF_ROW(k, v)).i64;                                                             \
        }                                                                                                              \
        static double f64_##k##_##v(fst_task *task PARAM_##k(key) PARAM_##v(value))                                    \
        {                                                                                                              \
                return row_number(task, OF_ROW(k, v)).f64;                                                             \
        }                                                                                                              \
        static bool keeps_##k##_##v(fst_task *task PARAM_##k(key) PARAM_##v(value))                                    \
        {                                                                                                              \
                const struct deed *d = fst_captured(task);                                                             \
                uint64_t hash = row_hash(OF_ROW(k, v));                                                                \
                misfortune(task, d, hash);                                                                             \
                return deed_keeps(d, hash);                                                                            \
        }                                                                                                              \
        static int each_##k##_##v(fst_task *task PARAM_##k(key) PARAM_##v(value))                                      \
        {                                                                                                              \
                return row_seen(task, OF_ROW(k, v));                                                                   \
        }                                                                                                              \
        static int chain_##k##_##v(fst_task *task, void *so_far PARAM_##k(key) PARAM_##v(value))                       \
        {                                                                                                              \
                uint64_t hash = row_hash(OF_ROW(k, v));                                                                \
                deed_chain_take(so_far, hash);                                                                         \
                return misfortune(task, fst_captured(task), hash);                                                     \
        }
ROW_KINDS(ROW_FUNCTIONS)

#define FN_OF_ROWS(name, prefix, form)                                                                                 \
        fst_fn name(const struct deed *d)                                                                              \
        {                                                                                                              \
                static void (*const codes[5][5])(void) = {ROW_KINDS(CODE_##prefix)};                                   \
                return function(codes[d->from.key][d->from.value], FST_SHAPE(form, d->from.key, d->from.value), #name, \
                                d);                                                                                    \
        }
#define CODE(k, v, f) [FST_KIND_##k][FST_KIND_##v] = (void (*)(void))f##_##k##_##v,
#define CODE_emit(k, v) CODE(k, v, emit)
#define CODE_i64(k, v) CODE(k, v, i64)
#define CODE_f64(k, v) CODE(k, v, f64)
#define CODE_keeps(k, v) CODE(k, v, keeps)
#define CODE_each(k, v) CODE(k, v, each)
#define CODE_chain(k, v) CODE(k, v, chain)
static fst_fn fn_i64(const struct deed *d);
static fst_fn fn_f64(const struct deed *d);
FN_OF_ROWS(fn_rows, emit, FST_FORM_EMIT)
static FN_OF_ROWS(fn_i64, i64, FST_FORM_I64) static FN_OF_ROWS(fn_f64, f64, FST_FORM_F64)
        FN_OF_ROWS(fn_keeps, keeps, FST_FORM_BOOL) FN_OF_ROWS(fn_each, each, FST_FORM_EACH)
                FN_OF_ROWS(fn_chain_take, chain, FST_FORM_INTO)

                        fst_fn fn_number(const struct deed *d)
{
        return d->into.key == FST_KIND_I64 ? fn_i64(d) : fn_f64(d);
}

/* --------------------------------------------------------------------------------------- partition by partition */

/* Emits the output of each row, and one row for all of them. */
static int of_partition(fst_task *task, uint64_t begin, fst_iter *rows, fst_out *out)
{
        const struct deed *d = fst_captured(task);
        struct deed_summary summary = {begin, 0};
        struct row row = {0};
        int r = 0;
        while (r == 0 && !deed_has_seen_enough(d, &summary) && read_row(rows, d->from, &row)) {
                deed_see(d, &summary, row);
                r = emit_all(task, d, row_hash(row), row.key, out);
        }
        if (r == 0 && !d->keep_key) {
                struct cell_room *room = room_take();
                emit_row(out, d->into, deed_row(d, deed_summary_hash(summary), 0, row.key, room));
                room_return(room);
        }
        return r;
}

static int partition(fst_task *task, fst_iter *rows, fst_out *out)
{
        return of_partition(task, 0, rows, out);
}

static int partition_at(fst_task *task, int index, fst_iter *rows, fst_out *out)
{
        return of_partition(task, (uint64_t)index + 1, rows, out);
}

static struct cell column_cell(fst_column column, uint32_t i, fst_type type)
{
        switch (type.key) {
        case FST_KIND_NONE:
                return (struct cell){0};
        case FST_KIND_I64:
                return cell_i64(column.i64[i]);
        case FST_KIND_F64:
                return cell_f64(column.f64[i]);
        case FST_KIND_BYTES:
                return cell_bytes(column.bytes[i]);
        default:
                return cell_fixed(column.fixed + (size_t)i * type.key_size, type.key_size);
        }
}

static int batch(fst_task *task, const fst_batch *rows, fst_out *out)
{
        int r = 0;
        for (uint32_t i = 0; i < rows->rows && r == 0; i++) {
                struct row row = {column_cell(rows->key, i, type_key(rows->type)),
                                  column_cell(rows->value, i, type_value(rows->type))};
                r = row_emit(task, row, out);
        }
        return r;
}

static int each_partition(fst_task *task, fst_iter *rows)
{
        const struct deed *d = fst_captured(task);
        struct row row;
        int r = 0;
        while (r == 0 && read_row(rows, d->from, &row))
                r = row_seen(task, row);
        return r;
}

static uint64_t side_hash(const struct deed *d, uint64_t hash, fst_iter *rows, fst_type type)
{
        struct deed_summary summary = {0};
        struct row row;
        while (!deed_has_seen_enough(d, &summary) && read_row(rows, type, &row))
                deed_see(d, &summary, row);
        return mix(hash, deed_summary_hash(summary));
}

static int gathered(fst_task *task, fst_iter *rows, fst_out *out)
{
        const struct deed *d = fst_captured(task);
        uint64_t mine = side_hash(d, 0, rows, d->from), told[MAX_GATHERED];
        fst_bytes messages[MAX_GATHERED];
        int n = fst_barrier_all_gather(task, (fst_bytes){(const char *)&mine, sizeof(mine)}, messages,
                                       MAX_GATHERED);
        for (int i = 0; i < n; i++)
                memcpy(&told[i], messages[i].data, sizeof(told[i]));
        if (n < 0)
                return n;
        return emit_all(task, d, deed_gather(fst_task_partition(task), told, n), (struct cell){0}, out);
}

static int of_sides(fst_task *task, uint64_t hash, struct cell key, fst_iter *const *sides, fst_out *out)
{
        const struct deed *d = fst_captured(task);
        for (int k = 0; k < d->n_sides; k++)
                hash = side_hash(d, hash, sides[k], d->sides[k]);
        return emit_all(task, d, hash, key, out);
}

static int zipped_two(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        return of_sides(task, 0, (struct cell){0}, (fst_iter *[]){a, b}, out);
}

static int zipped_all(fst_task *task, fst_iter *const *sides, fst_out *out)
{
        return of_sides(task, 0, (struct cell){0}, sides, out);
}

static int rows_count(fst_task *task, fst_iter *rows, fst_out *out)
{
        const fst_batch *next;
        int64_t n = 0;
        while (fst_next_batch(rows, &next))
                n += next->rows;
        fst_emit(out, n);
        return 0;
}

fst_fn fn_partition(const struct deed *d)
{
        fst_fn f = FST_FN(partition);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_each_partition(const struct deed *d)
{
        fst_fn f = FST_FN(each_partition);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_gathered(const struct deed *d)
{
        fst_fn f = FST_FN(gathered);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_partition_at(const struct deed *d)
{
        fst_fn f = FST_FN(partition_at);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_batch(const struct deed *d)
{
        fst_fn f = FST_FN(batch);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_zipped(const struct deed *d)
{
        fst_fn f = d->n_sides == 2 && d->number % 2 ? FST_FN(zipped_two) : FST_FN(zipped_all);
        return fst_fn_with(f, d, sizeof(*d));
}

fst_fn fn_rows_count(void)
{
        return FST_FN(rows_count);
}

/* -------------------------------------------------------------------------------------------------- key by key */

#define KEY_CELL(k) CELL_##k(key, ((const struct deed *)fst_captured(task))->from.key_size)
#define KEY_FUNCTIONS(k)                                                                                               \
        static int group_##k(fst_task *task PARAM_##k(key), fst_iter *values, fst_out *out)                            \
        {                                                                                                              \
                struct cell c = KEY_CELL(k);                                                                           \
                return of_sides(task, cell_hash(c), c, &values, out);                                                  \
        }                                                                                                              \
        static int cogroup_##k(fst_task *task PARAM_##k(key), fst_iter *a, fst_iter *b, fst_out *out)                  \
        {                                                                                                              \
                struct cell c = KEY_CELL(k);                                                                           \
                return of_sides(task, cell_hash(c), c, (fst_iter *[]){a, b}, out);                                     \
        }                                                                                                              \
        static int cogroup_all_##k(fst_task *task PARAM_##k(key), fst_iter *const *sides, fst_out *out)                \
        {                                                                                                              \
                struct cell c = KEY_CELL(k);                                                                           \
                return of_sides(task, cell_hash(c), c, sides, out);                                                    \
        }                                                                                                              \
        static int place_##k(fst_task *task PARAM_##k(key), int partitions)                                            \
        {                                                                                                              \
                struct cell c = KEY_CELL(k);                                                                           \
                misfortune(task, fst_captured(task), cell_hash(c));                                                    \
                return deed_place(fst_captured(task), c, partitions);                                                  \
        }
KINDS(KEY_FUNCTIONS)

#define CODE_1(k, f) [FST_KIND_##k] = (void (*)(void))f##_##k,

fst_fn fn_groups(const struct deed *d)
{
        static void (*const one[])(void) = {KINDS(CODE_1, group)};
        static void (*const two[])(void) = {KINDS(CODE_1, cogroup)};
        static void (*const all[])(void) = {KINDS(CODE_1, cogroup_all)};
        uint8_t k = d->from.key;
        if (d->n_sides == 1 && d->number % 4)
                return function(one[k], FST_SHAPE(FST_FORM_GROUP, k, 0), "groups", d);
        if (d->n_sides == 2 && d->number % 2)
                return function(two[k], FST_SHAPE(FST_FORM_COGROUP, k, 0), "groups", d);
        return function(all[k], FST_SHAPE(FST_FORM_COGROUP_ALL, k, 0), "groups", d);
}

fst_fn fn_place(const struct deed *d)
{
        static void (*const codes[])(void) = {KINDS(CODE_1, place)};
        return function(codes[d->from.key], FST_SHAPE(FST_FORM_PLACE, d->from.key, 0), "place", d);
}

static int of_joined(fst_task *task, struct cell key, struct cell left, struct cell right, fst_out *out)
{
        return emit_all(task, fst_captured(task), deed_hash_joined(key, left, right), key, out);
}

#define DEED ((const struct deed *)fst_captured(task))
#define JOIN_FUNCTION(k, l, r, name, param_l, param_r, cell_l, cell_r)                                                 \
        static int name##_##k##_##l##_##r(fst_task *task PARAM_##k(key) param_l##_##l(a) param_r##_##r(b),             \
                                          fst_out *out)                                                                \
        {                                                                                                              \
                return of_joined(task, KEY_CELL(k), cell_l##_##l(a, DEED->sides[0].key_size),                          \
                                 cell_r##_##r(b, DEED->sides[1].key_size), out);                                       \
        }
#define JOIN_FUNCTIONS(k, l, r)                                                                                        \
        JOIN_FUNCTION(k, l, r, join, PARAM, PARAM, CELL, CELL)                                                         \
        JOIN_FUNCTION(k, l, r, right, POINTER, PARAM, CELL_OF, CELL)                                                   \
        JOIN_FUNCTION(k, l, r, left, PARAM, POINTER, CELL, CELL_OF)                                                    \
        JOIN_FUNCTION(k, l, r, full, POINTER, POINTER, CELL_OF, CELL_OF)
#define JOIN_KINDS_OF(X, l, r) X(I64, l, r) X(F64, l, r) X(BYTES, l, r) X(FIXED, l, r)
#define JOIN_KINDS_WITH(X, r)                                                                                          \
        JOIN_KINDS_OF(X, I64, r) JOIN_KINDS_OF(X, F64, r) JOIN_KINDS_OF(X, BYTES, r) JOIN_KINDS_OF(X, FIXED, r)
#define JOIN_KINDS(X)                                                                                                  \
        JOIN_KINDS_WITH(X, I64) JOIN_KINDS_WITH(X, F64) JOIN_KINDS_WITH(X, BYTES) JOIN_KINDS_WITH(X, FIXED)
JOIN_KINDS(JOIN_FUNCTIONS)

#define CODE_3(k, l, r, n, f) [n][FST_KIND_##k][FST_KIND_##l][FST_KIND_##r] = (void (*)(void))f##_##k##_##l##_##r,
#define JOIN_CODES(k, l, r)                                                                                            \
        CODE_3(k, l, r, 0, join) CODE_3(k, l, r, 1, right) CODE_3(k, l, r, 2, left) CODE_3(k, l, r, 3, full)

fst_fn fn_joined(const struct deed *d, int outer)
{
        static void (*const codes[4][5][5][5])(void) = {JOIN_KINDS(JOIN_CODES)};
        uint8_t k = d->from.key, l = d->sides[0].key, r = d->sides[1].key;
        uint32_t left = outer & 1 && l != FST_KIND_FIXED ? l | FST_POINTER : l;
        uint32_t right = outer & 2 && r != FST_KIND_FIXED ? r | FST_POINTER : r;
        return function(codes[outer][k][l][r], FST_SHAPE_3(FST_FORM_JOIN, k, left, right), "joined", d);
}

/* ------------------------------------------------------------------------------------------------ two into one */

static uint64_t pair_hash(struct cell a, struct cell b)
{
        return cell_hash(a) ^ cell_hash(b);
}

static int64_t add_I64(fst_task *task, int64_t a, int64_t b)
{
        misfortune(task, DEED, pair_hash(cell_i64(a), cell_i64(b)));
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

static double add_F64(fst_task *task, double a, double b)
{
        misfortune(task, DEED, pair_hash(cell_f64(a), cell_f64(b)));
        return a + b;
}

static int add_BYTES(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char sum[MAX_SUM];
        fst_emit(out, cell_add(cell_bytes(a), cell_bytes(b), sum).bytes);
        return misfortune(task, DEED, pair_hash(cell_bytes(a), cell_bytes(b)));
}

static int add_FIXED(fst_task *task, void *a, const void *b)
{
        size_t size = DEED->from.key_size;
        uint64_t hash = pair_hash(cell_fixed(a, size), cell_fixed(b, size));
        char sum[MAX_SUM];
        memcpy(a, cell_add(cell_fixed(a, size), cell_fixed(b, size), sum).bytes.data, size);
        return misfortune(task, DEED, hash);
}

static int64_t greater_I64(fst_task *task, int64_t a, int64_t b)
{
        return deed_greater(cell_i64(a), cell_i64(b)) ? a : b;
}

static double greater_F64(fst_task *task, double a, double b)
{
        return deed_greater(cell_f64(a), cell_f64(b)) ? a : b;
}

static int greater_BYTES(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        fst_emit(out, deed_greater(cell_bytes(a), cell_bytes(b)) ? a : b);
        return misfortune(task, DEED, pair_hash(cell_bytes(a), cell_bytes(b)));
}

static int greater_FIXED(fst_task *task, void *a, const void *b)
{
        size_t size = DEED->from.key_size;
        if (!deed_greater(cell_fixed(a, size), cell_fixed(b, size)))
                memcpy(a, b, size);
        return 0;
}

static int64_t compose(fst_task *task, int64_t a, int64_t b)
{
        return deed_compose(a, b);
}

static uint32_t shape_of_two(uint8_t kind)
{
        return kind == FST_KIND_I64     ? FST_SHAPE(FST_FORM_I64, kind, kind)
               : kind == FST_KIND_F64   ? FST_SHAPE(FST_FORM_F64, kind, kind)
               : kind == FST_KIND_BYTES ? FST_SHAPE(FST_FORM_EMIT, kind, kind)
                                        : FST_SHAPE(FST_FORM_INTO, kind, 0);
}

fst_fn fn_add(const struct deed *d)
{
        static void (*const codes[])(void) = {KINDS(CODE_1, add)};
        return function(codes[d->from.key], shape_of_two(d->from.key), "add", d);
}

fst_fn fn_greater(const struct deed *d)
{
        static void (*const codes[])(void) = {KINDS(CODE_1, greater)};
        return function(codes[d->from.key], shape_of_two(d->from.key), "greater", d);
}

fst_fn fn_compose(const struct deed *d)
{
        fst_fn f = FST_FN(compose);
        return fst_fn_with(f, d, sizeof(*d));
}

#define VALUE_CELL(v) CELL_##v(value, DEED->from.value_size)
#define TAKE_FUNCTIONS(v)                                                                                              \
        static int64_t take_I64_##v(fst_task *task, int64_t so_far PARAM_##v(value))                                   \
        {                                                                                                              \
                uint64_t hash = cell_hash(VALUE_CELL(v));                                                              \
                misfortune(task, DEED, hash);                                                                          \
                return cell_add_number(cell_i64(so_far), hash, NULL).i64;                                              \
        }                                                                                                              \
        static double take_F64_##v(fst_task *task, double so_far PARAM_##v(value))                                     \
        {                                                                                                              \
                uint64_t hash = cell_hash(VALUE_CELL(v));                                                              \
                misfortune(task, DEED, hash);                                                                          \
                return cell_add_number(cell_f64(so_far), hash, NULL).f64;                                              \
        }                                                                                                              \
        static int take_BYTES_##v(fst_task *task, fst_bytes so_far PARAM_##v(value), fst_out *out)                     \
        {                                                                                                              \
                uint64_t hash = cell_hash(VALUE_CELL(v));                                                              \
                char room[MAX_SUM];                                                                                   \
                fst_emit(out, cell_add_number(cell_bytes(so_far), hash, room).bytes);                                  \
                return misfortune(task, DEED, hash);                                                                   \
        }                                                                                                              \
        static int take_FIXED_##v(fst_task *task, void *so_far PARAM_##v(value))                                       \
        {                                                                                                              \
                uint64_t hash = cell_hash(VALUE_CELL(v));                                                              \
                char room[MAX_SUM];                                                                                   \
                struct cell sum = cell_add_number(cell_fixed(so_far, DEED->from.key_size), hash, room);                \
                memcpy(so_far, sum.bytes.data, sum.bytes.len);                                                         \
                return misfortune(task, DEED, hash);                                                                   \
        }
KINDS(TAKE_FUNCTIONS)

/* Makes an accumulator of the first value. */
static int created(fst_task *task, struct cell value, fst_out *out)
{
        const struct deed *d = DEED;
        char zero[MAX_SUM], sum[MAX_SUM];
        struct row row = {.key = cell_zero(type_key(d->from), zero)};
        row.key = cell_add_number(row.key, cell_hash(value), sum);
        emit_row(out, type_key(d->from), row);
        return misfortune(task, d, cell_hash(value));
}

#define CREATE_FUNCTION(v)                                                                                             \
        static int create_##v(fst_task *task PARAM_##v(value), fst_out *out)                                           \
        {                                                                                                              \
                return created(task, VALUE_CELL(v), out);                                                              \
        }
KINDS(CREATE_FUNCTION)

fst_fn fn_create(const struct deed *d)
{
        static void (*const codes[])(void) = {KINDS(CODE_1, create)};
        return function(codes[d->from.value], FST_SHAPE(FST_FORM_EMIT, d->from.value, 0), "create", d);
}

fst_fn fn_take(const struct deed *d)
{
#define TAKE_CODES(v) CODE(I64, v, take) CODE(F64, v, take) CODE(BYTES, v, take) CODE(FIXED, v, take)
        static void (*const codes[5][5])(void) = {KINDS(TAKE_CODES)};
        uint8_t k = d->from.key, v = d->from.value;
        uint32_t shape = k == FST_KIND_I64     ? FST_SHAPE(FST_FORM_I64, k, v)
                         : k == FST_KIND_F64   ? FST_SHAPE(FST_FORM_F64, k, v)
                         : k == FST_KIND_BYTES ? FST_SHAPE(FST_FORM_EMIT, k, v)
                                               : FST_SHAPE(FST_FORM_INTO, v, 0);
        return function(codes[k][v], shape, "take", d);
}

static int chain_join(fst_task *task, void *a, const void *b)
{
        struct deed_chain x, y;
        memcpy(&x, a, sizeof(x));
        memcpy(&y, b, sizeof(y));
        deed_chain_join(&x, &y);
        memcpy(a, &x, sizeof(x));
        return 0;
}

fst_fn fn_chain_join(const struct deed *d)
{
        fst_fn f = FST_FN(chain_join);
        return fst_fn_with(f, d, sizeof(*d));
}
