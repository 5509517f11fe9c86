/* See op_top.h. The rows held form a heap with the last row, in the requested order, at the root. A row that does not
 * precede the root is skipped, which for numbers takes one comparison. */
#include "rdd/sort/op_top.h"

#include "base/mem.h"
#include "rdd/partitioner.h"

struct top_row {
        uint64_t prefix, value_prefix; /* ascending in either order */
        uint64_t seq;
        char *data; /* bytes of key and value */
        uint32_t key_len, value_len;
        size_t room;
};

struct top_op {
        struct op op;
        size_t most, n, cap;
        bool descending, by_key;
        uint64_t seen;
        struct top_row *heap;
};

static struct top_op *top_of(struct op *op)
{
        return container_of(op, struct top_op, op);
}

static int top_compare_column(uint64_t a, uint64_t b, fst_bytes x, fst_bytes y)
{
        if (a != b)
                return a < b ? -1 : 1;
        return fst_bytes_compare(x, y);
}

static bool top_has_view(uint8_t kind)
{
        return kind == FST_KIND_BYTES || kind == FST_KIND_FIXED;
}

static fst_bytes top_key_of(const struct top_op *self, const struct top_row *row)
{
        return top_has_view(self->op.type.key) ? (fst_bytes){row->data, row->key_len} : (fst_bytes){"", 0};
}

static fst_bytes top_value_of(const struct top_op *self, const struct top_row *row)
{
        return top_has_view(self->op.type.value) ? (fst_bytes){row->data + row->key_len, row->value_len}
                                                 : (fst_bytes){"", 0};
}

/* Returns <0 if @a comes first. */
static int top_compare(const struct top_op *self, const struct top_row *a, const struct top_row *b)
{
        int r = top_compare_column(a->prefix, b->prefix, top_key_of(self, a), top_key_of(self, b));
        if (r == 0 && !self->by_key)
                r = top_compare_column(a->value_prefix, b->value_prefix, top_value_of(self, a), top_value_of(self, b));
        if (r)
                return self->descending ? -r : r;
        return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void top_swap(struct top_row *a, struct top_row *b)
{
        struct top_row t = *a;
        *a = *b;
        *b = t;
}

static void top_sift_down(struct top_op *self, size_t at, size_t n)
{
        for (;;) {
                size_t last = at, left = 2 * at + 1;
                for (size_t child = left; child < n && child <= left + 1; child++)
                        if (top_compare(self, &self->heap[child], &self->heap[last]) > 0)
                                last = child;
                if (last == at)
                        return;
                top_swap(&self->heap[at], &self->heap[last]);
                at = last;
        }
}

static void top_sift_up(struct top_op *self, size_t at)
{
        while (at > 0 && top_compare(self, &self->heap[at], &self->heap[(at - 1) / 2]) > 0) {
                top_swap(&self->heap[at], &self->heap[(at - 1) / 2]);
                at = (at - 1) / 2;
        }
}

static fst_bytes op_top_cell(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        switch (kind) {
        case FST_KIND_NONE:
                return (fst_bytes){"", 0};
        case FST_KIND_BYTES:
                return column.bytes[row];
        case FST_KIND_FIXED:
                return (fst_bytes){column.fixed + (size_t)row * size, size};
        default:
                return (fst_bytes){(const char *)&column.i64[row], 8};
        }
}

/* Stores row @i of @in in @to and reuses its memory. */
static void top_row_set(struct top_op *self, struct top_row *to, const struct top_row *as, fst_bytes key,
                        fst_bytes value)
{
        char *data = to->data;
        size_t room = to->room;
        if (key.len + value.len > room || !data) {
                free(data);
                room = key.len + value.len + 16;
                data = mem_alloc(room);
        }
        if (key.len)
                memcpy(data, key.data, key.len);
        if (value.len)
                memcpy(data + key.len, value.data, value.len);
        *to = *as;
        to->data = data;
        to->room = room;
}

static int top_take_row(struct top_op *self, const fst_batch *in, uint32_t i)
{
        fst_type type = in->type;
        fst_type value_type = {.key = type.value, .key_size = type.value_size};
        fst_bytes key = op_top_cell(type.key, type.key_size, in->key, i);
        fst_bytes value = op_top_cell(type.value, type.value_size, in->value, i);
        struct top_row row = {.prefix = key_prefix(type, in->key, i), .seq = self->seen++};
        if (key.len > UINT32_MAX - value.len)
                return task_run_fail(self->op.run, -E2BIG, "a row of %zu bytes is too large", key.len + value.len);
        row.key_len = (uint32_t)key.len;
        row.value_len = (uint32_t)value.len;
        if (type.value && !self->by_key)
                row.value_prefix = key_prefix(value_type, in->value, i);
        if (self->n < self->most) {
                if (self->n == self->cap) {
                        self->cap = self->cap ? 2 * self->cap : 64;
                        self->heap = mem_grow(self->heap, self->cap * sizeof(*self->heap));
                        memset(self->heap + self->n, 0, (self->cap - self->n) * sizeof(*self->heap));
                }
                top_row_set(self, &self->heap[self->n++], &row, key, value);
                top_sift_up(self, self->n - 1);
                return 0;
        }
        /* A row must be copied for a full comparison. Often the prefix decides without a copy. */
        struct top_row *last = &self->heap[0];
        if (row.prefix != last->prefix ? (row.prefix > last->prefix) != self->descending
                                       : self->by_key && !top_has_view(type.key))
                return 0;
        struct top_row held = {0};
        top_row_set(self, &held, &row, key, value);
        if (top_compare(self, &held, last) < 0) {
                top_swap(&held, last);
                top_sift_down(self, 0, self->n);
        }
        free(held.data);
        return 0;
}

static int top_begin(struct op *op)
{
        top_of(op)->n = 0;
        top_of(op)->seen = 0;
        return 0;
}

static int top_consume(struct op *op, const struct rows *in)
{
        struct top_op *self = top_of(op);
        int r = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows && r == 0 && self->most; i++)
                r = top_take_row(self, &in->batch, i);
        return r;
}

static int top_push_row(struct top_op *self, const struct top_row *row)
{
        fst_type type = self->op.type;
        fst_bytes key = {row->data, row->key_len}, value = {row->data + row->key_len, row->value_len};
        int64_t key_number = 0, value_number = 0;
        struct rows rows = {.batch = {.rows = 1, .type = type}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)row->data, row->room};
        rows.batch.key = (fst_column){.fixed = row->data};
        rows.batch.value = (fst_column){.fixed = row->data + row->key_len};
        if (type.key == FST_KIND_BYTES) {
                rows.batch.key.bytes = &key;
        } else if (type.key != FST_KIND_FIXED) {
                memcpy(&key_number, key.data, 8);
                rows.batch.key.i64 = &key_number;
        }
        if (type.value == FST_KIND_BYTES) {
                rows.batch.value.bytes = &value;
        } else if (type.value == FST_KIND_I64 || type.value == FST_KIND_F64) {
                memcpy(&value_number, value.data, 8); /* value.data may be unaligned */
                rows.batch.value.i64 = &value_number;
        }
        return op_push(&self->op, &rows);
}

/* Heapsort: moves the root to the end, and so on. */
static int top_end(struct op *op)
{
        struct top_op *self = top_of(op);
        int r = 0;
        for (size_t n = self->n; n > 1; n--) {
                top_swap(&self->heap[0], &self->heap[n - 1]);
                top_sift_down(self, 0, n - 1);
        }
        for (size_t i = 0; i < self->n && r == 0; i++)
                r = top_push_row(self, &self->heap[i]);
        return r;
}

static void top_free(struct op *op)
{
        struct top_op *self = top_of(op);
        for (size_t i = 0; i < self->cap; i++)
                free(self->heap[i].data);
        free(self->heap);
        op_deinit(op);
        free(self);
}

static const struct op_class top_class = {"top", .begin = top_begin, .consume = top_consume, .end = top_end,
                                          .free = top_free};

struct op *top_op_new(struct task_run *run, fst_type type, size_t most, enum fst_order order, bool by_key)
{
        struct top_op *self = new0(struct top_op);
        op_init(&self->op, &top_class, run, type);
        self->most = most;
        self->descending = order == FST_DESCENDING;
        self->by_key = by_key || !type.value;
        return &self->op;
}
