/*
 * The common part of operators: the batch being filled, its memory, and when it is pushed.
 *
 * Invariant: when an operator returns from `consume`, `out` holds no bytes that point into the input batch.
 */
#include "rdd/pipeline/op.h"

#include "base/mem.h"
#include "rdd/pipeline/emit_pieces.h"
#include "store/page.h"
#include "structs/struct_row.h"

#include <stdio.h>

/* One row more than a batch, so that map can detect a function that emits twice. */
#define COLUMN_ROWS ((size_t)FST_BATCH_ROWS + 1)

static void *column_new(uint8_t kind, uint32_t size)
{
        switch (kind) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                return mem_alloc(COLUMN_ROWS * 8);
        case FST_KIND_BYTES:
                return mem_alloc(COLUMN_ROWS * sizeof(fst_bytes));
        case FST_KIND_FIXED:
                return mem_alloc(COLUMN_ROWS * size);
        default:
                return NULL;
        }
}

void op_init(struct op *op, const struct op_class *class, struct task_run *run, fst_type type)
{
        op->class = class;
        op->run = run;
        op->type = type;
        op->out.op = op;
}

void op_alloc_out(struct op *op, fst_type made)
{
        fst_type emitted = fst_type_seen(made);
        op->out.tag = fst_type_tag(emitted);
        op->out.key_size = emitted.key_size;
        op->out.value_size = emitted.value_size;
        op->out_structs[0] = struct_type_of_column(made.key, made.key_size);
        op->out_structs[1] = struct_type_of_column(made.value, made.value_size);
        op->out.structs = op->out_structs[0] || op->out_structs[1];
        op->out.room = FST_BATCH_ROWS;
        op->out.key.fixed = column_new(made.key, made.key_size);
        op->out.value.fixed = column_new(made.value, made.value_size);
}

void op_deinit(struct op *op)
{
        free(op->out.key.fixed);
        free(op->out.value.fixed);
        arena_deinit(&op->heap);
}

void op_free(struct op *op)
{
        if (op)
                op->class->free(op);
}

int op_push(struct op *op, const struct rows *rows)
{
        if (op->status)
                return op->status;
        const void *captured = op->run->task.captured;
        op->status = op->next->class->consume(op->next, rows);
        op->run->task.captured = captured;
        return op->status;
}

int op_flush(struct op *op)
{
        if (op->deferred.end)
                pieces_emit_deferred(op);
        if (op->out.rows == 0)
                return op->status;
        struct rows rows = {
                .batch = {.rows = op->out.rows, .type = op->type, .key = op->out.key, .value = op->out.value},
                .stable = {op->source[0]},
        };
        if (op->heap.chunks)
                rows.stable[1].start = (uintptr_t)arena_newest(&op->heap, &rows.stable[1].size);
        int r = op_push(op, &rows);
        op->out.rows = 0;
        op->out.room = FST_BATCH_ROWS;
        arena_reset(&op->heap);
        return r;
}

static void column_gather(fst_column to, fst_column from, uint8_t kind, uint32_t size, const uint16_t *kept, uint32_t n)
{
        switch (kind) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                for (uint32_t i = 0; i < n; i++)
                        to.i64[i] = from.i64[kept[i]];
                break;
        case FST_KIND_BYTES:
                for (uint32_t i = 0; i < n; i++)
                        to.bytes[i] = from.bytes[kept[i]];
                break;
        case FST_KIND_FIXED:
                for (uint32_t i = 0; i < n; i++)
                        memcpy(to.fixed + (size_t)i * size, from.fixed + (size_t)kept[i] * size, size);
                break;
        default:
                break;
        }
}

int op_push_some(struct op *op, const struct rows *in, const uint16_t *at, uint32_t n)
{
        if (n == 0)
                return op->status;
        column_gather(op->out.key, in->batch.key, op->type.key, op->type.key_size, at, n);
        column_gather(op->out.value, in->batch.value, op->type.value, op->type.value_size, at, n);
        struct rows rows = *in;
        rows.batch.rows = n;
        rows.batch.key = op->out.key;
        rows.batch.value = op->out.value;
        return op_push(op, &rows);
}

void op_borrow(struct op *op, const struct rows *in)
{
        op->source[0] = op->out.stable[0] = in->stable[0];
        op->source[1] = op->out.stable[1] = in->stable[1];
        op->source_has_lines = in->lines;
}

int op_input_done(struct op *op)
{
        return fst_type_has_bytes(op->type) ? op_flush(op) : op->status;
}

/* Fails the task: the fst_emit at @file:@line does not match the operator's declared type. */
static void out_mismatch(fst_out *out, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        struct op *op = out->op;
        char emitted[64], declared[64];
        fst_type type = {.key = out->tag & 0xff,
                         .value = out->tag >> 8 & 0xff,
                         .key_size = out->key_size,
                         .value_size = out->value_size};
        if (op->out_structs[0])
                type.key = FST_KIND_BYTES, type.key_size = op->out_structs[0]->number;
        if (op->out_structs[1])
                type.value = FST_KIND_BYTES, type.value_size = op->out_structs[1]->number;
        if (!op->status)
                op->status = task_run_fail(op->run, -EINVAL, "%s emits %s where its operator declares %s (%s:%d)",
                                           op->class->name, fst_access_name(tag, sizes, emitted),
                                           fst_type_name(type, declared), file_base_name(file), line);
}

bool fst_out_more(fst_out *out, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        struct op *op = out->op;
        if (out->tag != tag || !fst_sizes_fit(sizes, out->key_size, out->value_size)) {
                out_mismatch(out, tag, sizes, file, line);
                return false;
        }
        if (op->one_for_one) {
                if (!op->status || op->status == OP_FULL)
                        op->status = task_run_fail(op->run, -EINVAL, "a function of %s emitted more than one row",
                                                   op->class->name);
                return false;
        }
        return op->status == 0 && op_flush(op) == 0;
}

int op_feed_pages(struct op *op, fst_type type, const struct page *pages)
{
        struct page_cursor cursor;
        struct rows rows = {0};
        int r = op_begin(op);
        page_cursor_init(&cursor, type);
        for (; pages && r == 0; pages = pages->next) {
                page_cursor_start(&cursor, pages);
                rows.stable[0] = (struct fst_stable){(uintptr_t)pages->data, pages->used};
                while (r == 0 && page_cursor_next(&cursor, &rows.batch))
                        r = op->class->consume(op, &rows);
        }
        page_cursor_deinit(&cursor);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return MIN(r, 0);
}

/* A batch is pushed when it holds this many bytes, whatever its number of rows. */
#define HEAP_ENOUGH ((size_t)4 << 20)

static void out_no_memory(fst_out *out, size_t len)
{
        struct op *op = out->op;
        if (!op->status || op->status == OP_FULL)
                op->status = task_run_fail(op->run, -ENOMEM,
                                           "no memory to copy a row of %zu bytes that a function of %s emits: "
                                           "raise spark.executor.memoryOverhead (with a local master the limit "
                                           "of the control group), or run fewer tasks at a time",
                                           len, op->class->name);
}

/* Has the batch pushed soon if its bytes are many. */
static inline void out_limit_heap(fst_out *out)
{
        struct op *op = out->op;
        if (likely(op->heap.bytes <= HEAP_ENOUGH))
                return;
        if (!op->one_for_one)
                *(op->deferred.end ? &op->deferred.room : &out->room) = out->rows + 1;
        else if (op->in_parts && !op->status)
                op->status = OP_FULL;
}

fst_bytes fst_out_copy(fst_out *out, const void *data, size_t len)
{
        struct op *op = out->op;
        char *copy = arena_try_copy(&op->heap, data, len);
        if (!copy && memory_task_evict(task_run_memory(op->run), len))
                copy = arena_try_copy(&op->heap, data, len);
        if (!copy) {
                out_no_memory(out, len);
                return (fst_bytes){"", 0};
        }
        out_limit_heap(out);
        return (fst_bytes){copy, len};
}

/* Writes a row of struct @s, or an empty row after the task has failed. */
static fst_bytes out_write_struct(fst_out *out, const struct struct_type *s, const void *x)
{
        struct op *op = out->op;
        size_t len = struct_row_size(s, x);
        char *row = arena_try_alloc(&op->heap, len);
        if (!row && memory_task_evict(task_run_memory(op->run), len))
                row = arena_try_alloc(&op->heap, len);
        if (!row) {
                out_no_memory(out, len);
                return (fst_bytes){"", 0};
        }
        struct_row_write(s, x, row);
        out_limit_heap(out);
        return (fst_bytes){row, len};
}

void fst_out_struct(fst_out *out, fst_column column, uint32_t size, const void *x)
{
        const struct struct_type *s = out->op->out_structs[column.fixed != out->key.fixed];
        if (s)
                column.bytes[out->rows] = out_write_struct(out, s, x);
        else
                memcpy(column.fixed + (size_t)out->rows * size, x, size);
}

static const char *const kind_names[] = {"nothing", "I64", "F64", "BYTES", "FIXED"};

const char *fst_tag_name(uint32_t tag, char text[static 64])
{
        uint32_t key = tag & 0xff, value = tag >> 8 & 0xff;
        if (key >= ARRAY_SIZE(kind_names) || value >= ARRAY_SIZE(kind_names))
                snprintf(text, 64, "an unknown type");
        else if (value)
                snprintf(text, 64, "PAIR(%s, %s)", kind_names[key], kind_names[value]);
        else
                snprintf(text, 64, "%s", kind_names[key]);
        return text;
}

static const char *column_name(uint8_t kind, uint32_t size, char text[static 24])
{
        const struct struct_type *s = struct_type_of_column(kind, size);
        if (s && s->namesakes)
                snprintf(text, 24, "STRUCT(%.11s#%u)", s->name, s->namesakes + 1);
        else if (s)
                snprintf(text, 24, "STRUCT(%.15s)", s->name);
        else if (kind == FST_KIND_FIXED)
                snprintf(text, 24, "FIXED(%u)", size);
        else
                snprintf(text, 24, "%s", kind < ARRAY_SIZE(kind_names) ? kind_names[kind] : "?");
        return text;
}

const char *fst_type_name(fst_type type, char text[static 64])
{
        char key[24], value[24];
        column_name(type.key, type.key_size, key);
        if (type.value)
                snprintf(text, 64, "PAIR(%s, %s)", key, column_name(type.value, type.value_size, value));
        else
                snprintf(text, 64, "%s", key);
        return text;
}

static const char *access_column(uint8_t kind, uint32_t size, char text[static 24])
{
        if (kind == FST_KIND_FIXED && !size)
                return "FIXED";
        return column_name(kind, size, text);
}

const char *fst_access_name(uint32_t tag, uint64_t sizes, char text[static 64])
{
        char key[24], value[24];
        const char *k = access_column(tag & 0xff, (uint32_t)sizes, key);
        if (tag >> 8)
                snprintf(text, 64, "PAIR(%s, %s)", k, access_column(tag >> 8 & 0xff, (uint32_t)(sizes >> 32), value));
        else
                snprintf(text, 64, "%s", k);
        return text;
}

const char *file_base_name(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

static int fst_type_check_column(uint8_t kind, uint32_t size, const char *which, struct fst_error *error)
{
        bool number = kind == FST_KIND_I64 || kind == FST_KIND_F64;
        if (kind == FST_KIND_NONE || kind >= ARRAY_SIZE(kind_names))
                return error_set(error, -EINVAL,
                                 "the %s's kind is %u, which is not a valid kind: use FST_I64, FST_F64, FST_BYTES "
                                 "or FST_FIXED(size)",
                                 which, kind);
        if (kind == FST_KIND_FIXED && size == 0)
                return error_set(error, -EINVAL, "FIXED(0) as the %s: a struct has at least one byte", which);
        if (kind == FST_KIND_FIXED && size > FST_FIXED_MAX)
                return error_set(error, -EINVAL,
                                 "FIXED(%u) as the %s: structs may have %d bytes at most "
                                 "(FST_FIXED_MAX); use BYTES for larger values",
                                 size, which, FST_FIXED_MAX);
        if (struct_type_of_column(kind, size))
                return 0;
        if (kind == FST_KIND_BYTES && size == STRUCT_TYPE_INVALID)
                return error_set(error, -EINVAL,
                                 "the %s has the type of a struct whose description is invalid: an error in the log "
                                 "says why",
                                 which);
        if (kind != FST_KIND_FIXED && size != (number ? 8 : 0))
                return error_set(error, -EINVAL, "the %s is %s of %u bytes: write types as FST_%s", which,
                                 kind_names[kind], size, kind_names[kind]);
        return 0;
}

_Static_assert(2 * FST_FIXED_MAX + 8 <= PAGE_CAPACITY, "a pair of the largest structs fits into a page");

int fst_type_check(fst_type type, struct fst_error *error)
{
        int r = fst_type_check_column(type.key, type.key_size, type.value ? "key" : "row", error);
        return r || !type.value ? r : fst_type_check_column(type.value, type.value_size, "value", error);
}
