/* The inner loops of a combining table; see combine_rows.h. */
#include "rdd/aggregate/combine_rows.h"

#include "base/error.h"
#include "rdd/aggregate/table_group.h"
#include "rdd/pipeline/op.h"
#include "structs/struct_row.h"

#include <math.h>

enum combine_kind {
        OP_NONE, /* no value: only the key counts */
        OP_FIRST,
        OP_SUM_I64,
        OP_MIN_I64,
        OP_MAX_I64,
        OP_SUM_F64,
        OP_MIN_F64,
        OP_MAX_F64,
        OP_USER_I64,
        OP_USER_F64,
        OP_OTHER, /* BYTES and FIXED */

        /* The accumulator takes a value of the second kind. */
        OP_I64_I64,
        OP_I64_F64,
        OP_I64_BYTES,
        OP_I64_FIXED,
        OP_F64_I64,
        OP_F64_F64,
        OP_F64_BYTES,
        OP_F64_FIXED,
        OP_FIXED_I64,
        OP_FIXED_F64,
        OP_FIXED_BYTES,
        OP_FIXED_FIXED,
        OP_BYTES,
};

/* The value of row `row` as a function parameter. */
#define VALUE_I64 batch->value.i64[row]
#define VALUE_F64 batch->value.f64[row]
#define VALUE_BYTES batch->value.bytes[row]
#define VALUE_FIXED (const void *)(batch->value.fixed + (size_t)row * batch->type.value_size)

static const char *combine_rows_function_name(const fst_fn *fn)
{
        return fn->name ? fn->name : "the combining function";
}

static __attribute__((cold)) int combine_rows_fail(struct combine_table *t, const fst_fn *fn, int status)
{
        return error_set(t->error, status < 0 ? status : -EINVAL, "%s failed with status %d",
                         combine_rows_function_name(fn), status);
}

/* Checks that the call of @fn emitted one row. */
static int combine_rows_check_emitted(struct combine_table *t, const fst_fn *fn, int status)
{
        if (status)
                return combine_rows_fail(t, fn, status);
        if (t->out->rows == 1)
                return 0;
        return error_set(t->error, -EINVAL, "%s emitted %u rows, but must combine two values into one",
                         combine_rows_function_name(fn), t->out->rows);
}

static int table_cell_new(struct combine_table *t, fst_bytes bytes, size_t cap, struct table_cell **cell)
{
        void *memory;
        if (bytes.len > UINT32_MAX / 2)
                return error_set(t->error, -EMSGSIZE, "a value of %zu bytes is too large to be combined", bytes.len);
        int r = table_take(t, sizeof(**cell) + cap, &memory);
        if (r)
                return r;
        *cell = memory;
        (*cell)->len = bytes.len;
        (*cell)->cap = cap;
        if (bytes.len)
                memcpy((*cell)->data, bytes.data, bytes.len);
        return 0;
}

/* Stores row @row of @column as a new accumulator of BYTES or FIXED. */
static int combine_rows_new_value(struct combine_table *t, fst_column column, uint32_t row, uint64_t *bits)
{
        union {
                uint64_t bits;
                char small[8];
                void *out;
        } value = {0};
        int r = 0;
        if (t->type.value == FST_KIND_BYTES) {
                struct table_cell *cell;
                fst_bytes bytes = column.bytes[row];
                r = table_cell_new(t, bytes, bytes.len, &cell);
                value.out = r ? NULL : cell;
        } else {
                size_t size = t->type.value_size;
                const char *from = column.fixed + row * size;
                char *to = value.small;
                if (size > sizeof(value.small)) {
                        r = table_take(t, size, &value.out);
                        to = value.out;
                }
                if (!r)
                        memcpy(to, from, size);
        }
        *bits = value.bits;
        return r;
}

/* Stores @result as the accumulator. */
static int combine_rows_store(struct combine_table *t, union slot_value *value, fst_bytes result)
{
        struct table_cell *cell = value->out;
        if (result.len <= cell->cap) {
                if (result.len)
                        memmove(cell->data, result.data, result.len);
                cell->len = result.len;
                return 0;
        }
        /* Allocates spare room: otherwise a value that grows by a byte at a time would be copied each time. */
        int r = table_cell_new(t, result, result.len + result.len / 2, &cell);
        if (r == FST_MEMORY_E_DENIED)
                r = table_cell_new(t, result, result.len, &cell);
        if (!r)
                value->out = cell;
        return r;
}

static int combine_rows_bytes(struct combine_table *t, union slot_value *value, fst_bytes b)
{
        struct table_cell *cell = value->out;
        int (*f)(fst_task *, fst_bytes, fst_bytes, fst_out *) =
                (int (*)(fst_task *, fst_bytes, fst_bytes, fst_out *))t->combine.code;
        t->out_reset(t->out);
        int r = combine_rows_check_emitted(t, &t->combine, f(t->task, (fst_bytes){cell->data, cell->len}, b, t->out));
        return r ? r : combine_rows_store(t, value, t->out->key.bytes[0]);
}

/* Makes the struct of an accumulator with fields, in t->into. A function changes it, and combine_rows_store_struct
 * makes its bytes the accumulator. */
static int combine_rows_read_struct(struct combine_table *t, const union slot_value *value)
{
        const struct table_cell *cell = value->out;
        return struct_column_read(&t->into, &(fst_bytes){cell->data, cell->len}, 1, t->error);
}

static int combine_rows_store_struct(struct combine_table *t, union slot_value *value)
{
        const struct struct_type *s = t->into.type;
        struct table_cell *cell = value->out;
        if (!s->has_texts) {
                struct_row_write(s, t->into.rows, cell->data);
                return 0;
        }
        /* Not in place: its texts may be views into the accumulator. */
        size_t size = struct_row_size(s, t->into.rows);
        arena_reset(&t->encoded);
        char *row = arena_try_alloc(&t->encoded, size);
        if (!row)
                return error_set(t->error, -ENOMEM, "no memory for a value of %zu bytes", size);
        struct_row_write(s, t->into.rows, row);
        return combine_rows_store(t, value, (fst_bytes){row, size});
}

static int combine_rows_structs(struct combine_table *t, union slot_value *value, fst_bytes b)
{
        int (*f)(fst_task *, void *, const void *) = (int (*)(fst_task *, void *, const void *))t->combine.code;
        int r = combine_rows_read_struct(t, value);
        if (r == 0)
                r = struct_column_read(&t->other, &b, 1, t->error);
        if (r)
                return r;
        r = f(t->task, t->into.rows, t->other.rows);
        return r ? combine_rows_fail(t, &t->combine, r) : combine_rows_store_struct(t, value);
}

/* Combines a value of any kind into an accumulator with fields. */
static int combine_rows_take_into_struct(struct combine_table *t, union slot_value *value, const fst_batch *batch,
                                         uint32_t row)
{
        int r = combine_rows_read_struct(t, value);
        if (r)
                return r;
#define TAKE(kind, suffix, T)                                                                                          \
        if (batch->type.value == FST_KIND_##kind)                                                                      \
                r = ((int (*)(fst_task *, void *, T))t->merge.code)(t->task, t->into.rows, VALUE_##kind);
        FST_KEYS(TAKE)
#undef TAKE
        return r ? combine_rows_fail(t, &t->merge, r) : combine_rows_store_struct(t, value);
}

static void *combine_rows_fixed_at(struct combine_table *t, union slot_value *value)
{
        return t->type.value_size > sizeof(value->small) ? value->out : value->small;
}

static int combine_rows_other(struct combine_table *t, union slot_value *value, const fst_batch *batch, uint32_t row)
{
        if (!t->combine.code)
                return 0; /* fst_fn_first */
        if (t->into.type)
                return combine_rows_structs(t, value, batch->value.bytes[row]);
        if (t->type.value == FST_KIND_BYTES)
                return combine_rows_bytes(t, value, batch->value.bytes[row]);
        int (*f)(fst_task *, void *, const void *) = (int (*)(fst_task *, void *, const void *))t->combine.code;
        int r = f(t->task, combine_rows_fixed_at(t, value), VALUE_FIXED);
        return r ? combine_rows_fail(t, &t->combine, r) : 0;
}

/* Combines a value of any kind into a BYTES accumulator. */
static int combine_rows_take_into_bytes(struct combine_table *t, union slot_value *value, const fst_batch *batch,
                                        uint32_t row)
{
        if (t->into.type)
                return combine_rows_take_into_struct(t, value, batch, row);
        struct table_cell *cell = value->out;
        fst_bytes so_far = {cell->data, cell->len};
        int r = 0;
        t->out_reset(t->out);
#define TAKE(kind, suffix, T)                                                                                          \
        if (batch->type.value == FST_KIND_##kind)                                                                      \
                r = ((int (*)(fst_task *, fst_bytes, T, fst_out *))t->merge.code)(t->task, so_far, VALUE_##kind,       \
                                                                                  t->out);
        FST_KEYS(TAKE)
#undef TAKE
        r = combine_rows_check_emitted(t, &t->merge, r);
        return r ? r : combine_rows_store(t, value, t->out->key.bytes[0]);
}

/* True if @a sorts before @b: -0.0 before 0.0, NaN last. */
static inline bool f64_sorts_before(double a, double b)
{
        if (a < b)
                return true;
        if (a > b)
                return false;
        if (a == b)
                return signbit(a) && !signbit(b);
        return !isnan(a);
}

static inline __attribute__((always_inline)) int combine(struct combine_table *t, union slot_value *value,
                                                         const fst_batch *batch, uint32_t row, enum combine_kind op)
{
        switch (op) {
        case OP_NONE:
        case OP_FIRST:
                return 0;
        case OP_SUM_I64:
                value->bits += (uint64_t)batch->value.i64[row];
                return 0;
        case OP_MIN_I64:
                value->i64 = MIN(value->i64, batch->value.i64[row]);
                return 0;
        case OP_MAX_I64:
                value->i64 = MAX(value->i64, batch->value.i64[row]);
                return 0;
        case OP_SUM_F64:
                value->f64 += batch->value.f64[row];
                return 0;
        case OP_MIN_F64:
                if (f64_sorts_before(batch->value.f64[row], value->f64))
                        value->f64 = batch->value.f64[row];
                return 0;
        case OP_MAX_F64:
                if (f64_sorts_before(value->f64, batch->value.f64[row]))
                        value->f64 = batch->value.f64[row];
                return 0;
        case OP_USER_I64:
                value->i64 = ((int64_t(*)(fst_task *, int64_t, int64_t))t->combine.code)(t->task, value->i64,
                                                                                         batch->value.i64[row]);
                return 0;
        case OP_USER_F64:
                value->f64 = ((double (*)(fst_task *, double, double))t->combine.code)(t->task, value->f64,
                                                                                       batch->value.f64[row]);
                return 0;
#define TAKE_NUMBER(kind, suffix, type)                                                                                \
        case OP_I64_##kind:                                                                                            \
                value->i64 =                                                                                           \
                        ((int64_t(*)(fst_task *, int64_t, type))t->merge.code)(t->task, value->i64, VALUE_##kind);     \
                return 0;                                                                                              \
        case OP_F64_##kind:                                                                                            \
                value->f64 = ((double (*)(fst_task *, double, type))t->merge.code)(t->task, value->f64, VALUE_##kind); \
                return 0;                                                                                              \
        case OP_FIXED_##kind: {                                                                                        \
                int r = ((int (*)(fst_task *, void *, type))t->merge.code)(t->task, combine_rows_fixed_at(t, value),   \
                                                                           VALUE_##kind);                              \
                return unlikely(r) ? combine_rows_fail(t, &t->merge, r) : 0;                                           \
        }
                FST_KEYS(TAKE_NUMBER)
#undef TAKE_NUMBER
        case OP_BYTES:
                return combine_rows_take_into_bytes(t, value, batch, row);
        case OP_OTHER:
                break;
        }
        return combine_rows_other(t, value, batch, row);
}

/* Creates the accumulator of a new key, before row @row is combined into it: the bits of a slot's value. */
static inline __attribute__((always_inline)) int accumulator_begin(struct combine_table *t, const fst_batch *batch,
                                                                   uint32_t row, enum combine_kind op, bool take,
                                                                   uint64_t *bits)
{
        if (take)
                return t->create_value(t, batch, row, bits);
        if (op == OP_OTHER)
                return combine_rows_new_value(t, batch->value, row, bits);
        if (op != OP_NONE)
                memcpy(bits, &batch->value.i64[row], sizeof(*bits));
        return 0;
}

/* ------------------------------------------------------------------------------------------ keys of any kind */

/* Inserts the new key of @row into slot @s. */
static inline __attribute__((always_inline)) int slot_insert(struct combine_table *t, struct table_slot *s,
                                                             const struct group_row *row, const fst_batch *batch,
                                                             uint32_t at, enum combine_kind op, bool take)
{
        uint64_t lo = row->lo, bits = 0;
        if (unlikely(meta_is_long(row->meta))) {
                void *key;
                size_t len = meta_len(row->meta);
                if (len >= UINT32_MAX / 2)
                        return error_set(t->error, -EMSGSIZE, "a key of 2 GiB or more is too large");
                int r = table_take(t, len, &key);
                if (r)
                        return r;
                memcpy(key, (const void *)(uintptr_t)lo, len);
                lo = (uintptr_t)key;
        }
        int r = accumulator_begin(t, batch, at, op, take, &bits);
        if (r)
                return r;
        *s = (struct table_slot){.meta = row->meta, .lo = lo, .hi = row->hi, .value.bits = bits};
        t->count++;
        if (unlikely(t->shared != NULL))
                vec_push(&t->fresh, (uint32_t)(s - t->slots));
        return take && t->zero ? combine(t, &s->value, batch, at, op) : 0;
}

static inline bool slot_has_key(const struct table_slot *s, const struct group_row *row)
{
        return s->meta == row->meta && likely(s->lo == row->lo) && likely(s->hi == row->hi);
}

/* The slot of the key of @row, or the free slot for it. */
static __attribute__((noinline)) struct table_slot *slot_search(const struct combine_table *t,
                                                                const struct group_row *row)
{
        struct table_slot *s = row->home, *end = t->slots + t->capacity;
        bool is_long = meta_is_long(row->meta);
        for (;;) {
                if (!s->meta || slot_has_key(s, row))
                        return s;
                if (is_long && s->meta == row->meta && s->hi == row->hi &&
                    memcmp((const void *)(uintptr_t)s->lo, (const void *)(uintptr_t)row->lo, meta_len(s->meta)) == 0)
                        return s;
                if (++s == end)
                        s = t->slots;
        }
}

/* A key that is new, long, or not in the line where its search begins. */
static inline __attribute__((always_inline)) int combine_rows_search(struct combine_table *t,
                                                                     const struct group_row *row,
                                                                     const fst_batch *batch, uint32_t at,
                                                                     enum combine_kind op, bool take)
{
        struct table_slot *s = slot_search(t, row);
        return s->meta ? combine(t, &s->value, batch, at, op) : slot_insert(t, s, row, batch, at, op, take);
}

/* Arithmetic chooses between the two slots of the line: a branch would be mispredicted for every fourth word of a text,
 * which costs more than all the rest. */
static inline __attribute__((always_inline)) int combine_rows_any_keys(struct combine_table *t,
                                                                       const struct table_group *g, uint32_t n,
                                                                       const fst_batch *rows, uint32_t first,
                                                                       uint32_t *done, enum combine_kind op, bool take)
{
        const fst_batch batch = *rows; /* in registers across the stores into slots */
        for (uint32_t i = 0; i < n; i++) {
                const struct group_row *row = &g->rows[i];
                struct table_slot *s = row->home;
                s += s[1].meta == row->meta;
                int r = likely(slot_has_key(s, row)) ? combine(t, &s->value, &batch, first + i, op)
                                                     : combine_rows_search(t, row, &batch, first + i, op, take);
                if (unlikely(r)) {
                        *done = i;
                        return r;
                }
        }
        *done = n;
        return 0;
}

/* -------------------------------------------------------------------------------------------------- number keys */

static inline __attribute__((always_inline)) int number_slot_insert(struct combine_table *t, struct number_slot *s,
                                                                    uint64_t key, const fst_batch *batch, uint32_t row,
                                                                    enum combine_kind op, bool take)
{
        uint64_t bits = 0;
        int r = accumulator_begin(t, batch, row, op, take, &bits);
        if (r)
                return r;
        *s = (struct number_slot){key, {bits}};
        t->has_aside = t->has_aside || !key;
        t->count++;
        return take && t->zero ? combine(t, &s->value, batch, row, op) : 0;
}

/* The slot of @key, or the free slot for it. An earlier row of the group may have put the key into the line at @home.
 */
static __attribute__((noinline)) struct number_slot *number_slot_search(const struct combine_table *t,
                                                                        struct number_slot *home, uint64_t key)
{
        struct number_slot *s = home, *end = t->numbers + t->capacity;
        while (s->key && s->key != key)
                if (++s == end)
                        s = t->numbers;
        return s;
}

/* All four slots of a line were compared, so that the only branch is whether the key is present. */
static inline __attribute__((always_inline)) int
combine_rows_number_keys(struct combine_table *t, const struct table_group *g, uint32_t n, const fst_batch *rows,
                         uint32_t first, uint32_t *done, enum combine_kind op, bool take)
{
        const fst_batch batch = *rows;
        for (uint32_t i = 0; i < n; i++) {
                struct number_slot *s = g->numbers[i].home;
                uint64_t key = g->numbers[i].key;
                const unsigned at = g->found[i];
                bool found = true;
                if (likely(at && key)) {
                        s += __builtin_ctz(at) / 2;
                } else if (key) {
                        s = number_slot_search(t, s, key);
                        found = s->key;
                } else {
                        s = &t->aside;
                        found = t->has_aside;
                }
                int r = likely(found) ? combine(t, &s->value, &batch, first + i, op)
                                      : number_slot_insert(t, s, key, &batch, first + i, op, take);
                if (unlikely(r)) {
                        *done = i;
                        return r;
                }
        }
        *done = n;
        return 0;
}

#define ROWS(name, op, take)                                                                                           \
        static int name(struct combine_table *t, const struct table_group *g, uint32_t n, const fst_batch *batch,      \
                        uint32_t first, uint32_t *done)                                                                \
        {                                                                                                              \
                return t->is_number ? combine_rows_number_keys(t, g, n, batch, first, done, op, take)                  \
                                    : combine_rows_any_keys(t, g, n, batch, first, done, op, take);                    \
        }
ROWS(rows_none, OP_NONE, false)
ROWS(rows_first, OP_FIRST, false)
ROWS(rows_sum_i64, OP_SUM_I64, false)
ROWS(rows_min_i64, OP_MIN_I64, false)
ROWS(rows_max_i64, OP_MAX_I64, false)
ROWS(rows_sum_f64, OP_SUM_F64, false)
ROWS(rows_min_f64, OP_MIN_F64, false)
ROWS(rows_max_f64, OP_MAX_F64, false)
ROWS(rows_user_i64, OP_USER_I64, false)
ROWS(rows_user_f64, OP_USER_F64, false)
ROWS(rows_other, OP_OTHER, false)

/* -------------------------------------------------------------------------- values into accumulators */

/* Creates the accumulator of a new key as a copy of `zero`. */
static int accumulator_create_zero(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits)
{
        if (t->type.value == FST_KIND_BYTES || t->type.value == FST_KIND_FIXED)
                return combine_rows_new_value(t, (fst_column){.fixed = (char *)t->zero}, 0, bits);
        memcpy(bits, t->zero, sizeof(*bits));
        return 0;
}

/* Creates the accumulator of a new key from the row that `create` emitted. */
static int accumulator_create_emitted(struct combine_table *t, int status, uint64_t *bits)
{
        int r = combine_rows_check_emitted(t, &t->create, status);
        if (r)
                return r;
        if (t->type.value == FST_KIND_BYTES || t->type.value == FST_KIND_FIXED)
                return combine_rows_new_value(t, t->out->key, 0, bits);
        memcpy(bits, &t->out->key.i64[0], sizeof(*bits));
        return 0;
}

#define CREATE_CALL(parameters, arguments)                                                                             \
        ({                                                                                                             \
                const void *captured_ = t->task->captured;                                                             \
                t->task->captured = t->create.captured;                                                                \
                __auto_type result_ = ((parameters)t->create.code)arguments;                                           \
                t->task->captured = captured_;                                                                         \
                result_;                                                                                               \
        })

#define CREATE(kind, suffix, type)                                                                                     \
        static int create_i64_##suffix(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits)  \
        {                                                                                                              \
                *bits = (uint64_t)CREATE_CALL(int64_t(*)(fst_task *, type), (t->task, VALUE_##kind));                  \
                return 0;                                                                                              \
        }                                                                                                              \
        static int create_f64_##suffix(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits)  \
        {                                                                                                              \
                double x = CREATE_CALL(double (*)(fst_task *, type), (t->task, VALUE_##kind));                         \
                memcpy(bits, &x, sizeof(x));                                                                           \
                return 0;                                                                                              \
        }                                                                                                              \
        static int create_emit_##suffix(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits) \
        {                                                                                                              \
                t->out_reset(t->out);                                                                                  \
                int r = CREATE_CALL(int (*)(fst_task *, type, fst_out *), (t->task, VALUE_##kind, t->out));            \
                return accumulator_create_emitted(t, r, bits);                                                         \
        }
FST_KEYS(CREATE)

#define TAKE_ROWS(kind, suffix, type)                                                                                  \
        ROWS(take_i64_##suffix, OP_I64_##kind, true)                                                                   \
        ROWS(take_f64_##suffix, OP_F64_##kind, true)                                                                   \
        ROWS(take_fixed_##suffix, OP_FIXED_##kind, true)
FST_KEYS(TAKE_ROWS)
ROWS(take_bytes, OP_BYTES, true)
ROWS(take_first, OP_FIRST, true)
ROWS(take_sum_i64, OP_SUM_I64, true)
ROWS(take_min_i64, OP_MIN_I64, true)
ROWS(take_max_i64, OP_MAX_I64, true)
ROWS(take_sum_f64, OP_SUM_F64, true)
ROWS(take_min_f64, OP_MIN_F64, true)
ROWS(take_max_f64, OP_MAX_F64, true)

/* ------------------------------------------------------------------------------------------ choosing the loops */

/* The loop for values of @type and the combining function @f, or NULL if they do not fit. */
static table_rows_fn combine_rows_loop_for(fst_type type, const fst_fn *f)
{
        static const table_rows_fn numbers[][2] = {
                [FST_BUILTIN_SUM] = {rows_sum_i64, rows_sum_f64},
                [FST_BUILTIN_MIN] = {rows_min_i64, rows_min_f64},
                [FST_BUILTIN_MAX] = {rows_max_i64, rows_max_f64},
        };
        uint32_t form = FST_SHAPE_FORM(f->shape), tag = FST_SHAPE_TAG(f->shape);
        uint8_t value = fst_type_seen(type).key;
        if (value == FST_KIND_NONE)
                return rows_none;
        if (form == FST_FORM_BUILTIN) {
                if (tag == FST_BUILTIN_FIRST)
                        return value == FST_KIND_I64 || value == FST_KIND_F64 ? rows_first : rows_other;
                if (tag >= ARRAY_SIZE(numbers) || (value != FST_KIND_I64 && value != FST_KIND_F64))
                        return NULL;
                return numbers[tag][value == FST_KIND_F64];
        }
        if (!f->code || tag != FST_TAG(value, form == FST_FORM_INTO ? FST_KIND_NONE : value))
                return NULL;
        if (value == FST_KIND_I64)
                return form == FST_FORM_I64 ? rows_user_i64 : NULL;
        if (value == FST_KIND_F64)
                return form == FST_FORM_F64 ? rows_user_f64 : NULL;
        return form == (value == FST_KIND_BYTES ? FST_FORM_EMIT : FST_FORM_INTO) ? rows_other : NULL;
}

/* The loop that combines values of @from into accumulators of @to by @f, or NULL if they do not fit. */
static table_rows_fn take_rows_loop_for(fst_type to, fst_type from, const fst_fn *f)
{
        static const table_rows_fn numbers[][2] = {
                [FST_BUILTIN_SUM] = {take_sum_i64, take_sum_f64},
                [FST_BUILTIN_MIN] = {take_min_i64, take_min_f64},
                [FST_BUILTIN_MAX] = {take_max_i64, take_max_f64},
        };
#define OF_KIND(kind, suffix, type) [FST_KIND_##kind] = {take_i64_##suffix, take_f64_##suffix, take_fixed_##suffix},
        static const table_rows_fn own[][3] = {FST_KEYS(OF_KIND)};
#undef OF_KIND
        uint32_t form = FST_SHAPE_FORM(f->shape), tag = FST_SHAPE_TAG(f->shape);
        uint8_t into = fst_type_seen(to).key, taken = fst_type_seen(from).key;
        if (form == FST_FORM_BUILTIN) {
                if (to.key != from.key || to.key_size != from.key_size)
                        return NULL;
                if (tag == FST_BUILTIN_FIRST)
                        return take_first;
                if (tag >= ARRAY_SIZE(numbers) || (to.key != FST_KIND_I64 && to.key != FST_KIND_F64))
                        return NULL;
                return numbers[tag][to.key == FST_KIND_F64];
        }
        if (!f->code || tag != (form == FST_FORM_INTO ? FST_TAG(taken, FST_KIND_NONE) : FST_TAG(into, taken)))
                return NULL;
        switch (to.key) {
        case FST_KIND_I64:
                return form == FST_FORM_I64 ? own[taken][0] : NULL;
        case FST_KIND_F64:
                return form == FST_FORM_F64 ? own[taken][1] : NULL;
        case FST_KIND_FIXED:
                return form == FST_FORM_INTO ? own[taken][2] : NULL;
        default:
                return form == (into == FST_KIND_BYTES ? FST_FORM_EMIT : FST_FORM_INTO) ? take_bytes : NULL;
        }
}

typedef int (*create_fn)(struct combine_table *, const fst_batch *, uint32_t, uint64_t *);

/* The function that creates an accumulator of @to from a value of @from by @f, or NULL if they do not fit. */
static create_fn accumulator_create_function_for(fst_type to, fst_type from, const fst_fn *f)
{
#define OF_KIND(kind, suffix, type)                                                                                    \
        [FST_KIND_##kind] = {create_i64_##suffix, create_f64_##suffix, create_emit_##suffix},
        static const create_fn own[][3] = {FST_KEYS(OF_KIND)};
#undef OF_KIND
        uint8_t taken = fst_type_seen(from).key;
        if (!f->code || FST_SHAPE_TAG(f->shape) != FST_TAG(taken, FST_KIND_NONE))
                return NULL;
        switch (FST_SHAPE_FORM(f->shape)) {
        case FST_FORM_I64:
                return to.key == FST_KIND_I64 ? own[taken][0] : NULL;
        case FST_FORM_F64:
                return to.key == FST_KIND_F64 ? own[taken][1] : NULL;
        case FST_FORM_EMIT:
                return own[taken][2];
        default:
                return NULL;
        }
}

int combine_rows_check(fst_type accumulator, const struct aggregate_values *values, const fst_fn *combine,
                       struct fst_error *error)
{
        char a[64], b[64];
        if (!combine_rows_loop_for(accumulator, combine))
                return error_set(error, -EINVAL,
                                 "%s does not combine two %s into one (firesteel/function.h lists the forms)",
                                 combine->name ? combine->name : "the function", fst_type_name(accumulator, a));
        if (!values)
                return 0;
        fst_type value = {.key = values->type.value, .key_size = values->type.value_size};
        if (!values->zero && !accumulator_create_function_for(accumulator, value, &values->create))
                return error_set(error, -EINVAL,
                                 "%s does not create %s from a value of %s (firesteel/function.h: a form of map)",
                                 combine_rows_function_name(&values->create), fst_type_name(accumulator, a),
                                 fst_type_name(value, b));
        if (!take_rows_loop_for(accumulator, value, &values->merge))
                return error_set(error, -EINVAL,
                                 "%s does not take a value of %s into %s (firesteel/function.h: the forms for "
                                 "aggregate)",
                                 combine_rows_function_name(&values->merge), fst_type_name(value, b),
                                 fst_type_name(accumulator, a));
        return 0;
}

int combine_rows_choose(struct combine_table *t, const struct aggregate_options *options, struct fst_error *error)
{
        fst_type accumulator = {.key = options->type.value, .key_size = options->type.value_size};
        const struct aggregate_values *values = options->values;
        int r = combine_rows_check(accumulator, values, &options->combine, error);
        if (r)
                return r;
        t->combine_rows = t->take_rows = combine_rows_loop_for(accumulator, &options->combine);
        t->zero = NULL;
        t->merge = options->combine;
        if (!values)
                return 0;
        fst_type value = {.key = values->type.value, .key_size = values->type.value_size};
        t->zero = values->zero;
        t->create = values->create;
        t->merge = values->merge;
        t->take_rows = take_rows_loop_for(accumulator, value, &values->merge);
        t->create_value = values->zero ? accumulator_create_zero
                                       : accumulator_create_function_for(accumulator, value, &values->create);
        return 0;
}
