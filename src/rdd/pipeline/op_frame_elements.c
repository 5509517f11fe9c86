/*
 * Frames with many elements; see op_frames.h. A frame that is unpacked holds a pickle or a list in the form of
 * firesteel/list.h, which programs in other languages write and read without the engine's help.
 */
#include "rdd/pipeline/op_frames.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/pickle.h"
#include "rdd/pipeline/record.h"
#include "store/page.h"

#include <firesteel/list.h>

/* A list is pushed when it has this many bytes. */
#define LIST_ENOUGH ((size_t)256 << 10)

struct elements_op {
        struct op op;
        fst_type in;
        pickle_values values;
        struct buf list; /* FRAMES_PACK: a frame with a list */
};

static struct elements_op *elements_of(struct op *op)
{
        return container_of(op, struct elements_op, op);
}

/* The content of the frame @row, which must be one and not null. Returns 0, or negative after task_run_fail. */
static int elements_content(struct op *op, fst_bytes row, fst_bytes *content)
{
        if (frame_size(row) != row.len || frame_length(row.data) < 0)
                return task_run_fail(op->run, -EBADMSG, "%s needs rows of one frame that is not null", op->class->name);
        *content = (fst_bytes){row.data + FRAME_HEADER, row.len - FRAME_HEADER};
        return 0;
}

/* --------------------------------------------------------------------------------------------------- unpickle */

static int elements_put_number(struct op *op, const struct pickle_value *value)
{
        bool whole = value->kind == PICKLE_INT || value->kind == PICKLE_BOOL;
        bool real = value->kind == PICKLE_FLOAT || value->kind == PICKLE_BIG;
        if (!whole && (!real || op->type.key == FST_KIND_I64))
                return task_run_fail(op->run, -EINVAL, "a pickle holds a %s%s where %s is expected",
                                     value->kind == PICKLE_BIG ? "large " : "", pickle_kind_name(value->kind),
                                     op->type.key == FST_KIND_I64 ? "an int" : "a number");
        if (op->out.rows == FST_BATCH_ROWS && op_flush(op))
                return op->status;
        if (op->type.key == FST_KIND_I64)
                op->out.key.i64[op->out.rows++] = value->number;
        else
                op->out.key.f64[op->out.rows++] = whole ? (double)value->number : value->real;
        return 0;
}

static int elements_unpickle(struct op *op, const struct rows *in)
{
        struct elements_op *self = elements_of(op);
        struct fst_error error = FST_ERROR_INIT;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes content;
                int r = elements_content(op, in->batch.key.bytes[i], &content);
                if (r)
                        return r;
                r = pickle_read(content, &self->values, &error);
                if (r)
                        return task_run_fail_with(op->run, r, &error);
                const struct pickle_value *value = self->values.data, *end = value + self->values.len;
                if (value->kind == PICKLE_LIST)
                        value++;
                for (; value < end && r == 0; value += value->size)
                        r = elements_put_number(op, value);
                if (r)
                        return r;
        }
        return op_flush(op);
}

/* ----------------------------------------------------------------------------------------------------- unpack */

static void elements_put_column(fst_column to, uint8_t kind, uint32_t size, uint32_t at, fst_bytes bytes)
{
        if (kind == FST_KIND_BYTES)
                to.bytes[at] = bytes;
        else if (kind == FST_KIND_FIXED)
                memcpy(to.fixed + (size_t)at * size, bytes.data, size);
        else if (kind != FST_KIND_NONE)
                memcpy(&to.i64[at], bytes.data, 8);
}

static int elements_unpack(struct op *op, const struct rows *in)
{
        fst_type t = op->type;
        op_borrow(op, in);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes content, key = {0}, value = {0};
                int r = elements_content(op, in->batch.key.bytes[i], &content);
                if (r)
                        return r;
                fst_list list = fst_list_of(content, t);
                while (fst_list_step(&list, FST_TAG(t.key, t.value), &key, &value)) {
                        if (op->out.rows == FST_BATCH_ROWS && op_flush(op))
                                return op->status;
                        elements_put_column(op->out.key, t.key, t.key_size, op->out.rows, key);
                        elements_put_column(op->out.value, t.value, t.value_size, op->out.rows, value);
                        op->out.rows++;
                }
                if (fst_list_status(&list))
                        return task_run_fail(op->run, -EBADMSG, "a frame of %zu bytes does not hold a list of rows",
                                             content.len);
        }
        return op_input_done(op);
}

/* ------------------------------------------------------------------------------------------------------- pack */

static int elements_push_list(struct elements_op *self)
{
        struct op *op = &self->op;
        if (self->list.len == 0)
                return op->status;
        if (self->list.len - FRAME_HEADER > FRAME_MAX)
                return task_run_fail(op->run, -E2BIG, "a row of %zu bytes is too large for Python, which reads at most %d",
                                     self->list.len - FRAME_HEADER, FRAME_MAX);
        frame_put_length(self->list.data, (uint32_t)(self->list.len - FRAME_HEADER));
        fst_bytes frame = {self->list.data, self->list.len};
        struct rows rows = {.batch = {.rows = 1, .type = FST_BYTES, .key.bytes = &frame}};
        int r = op_push(op, &rows);
        buf_reset(&self->list);
        return r;
}

static void elements_append_column(struct buf *list, uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        size_t len = record_field_size(kind, size, column, row);
        if (len)
                buf_append(list, record_field(kind, size, column, row), len);
}

static int elements_pack(struct op *op, const struct rows *in)
{
        struct elements_op *self = elements_of(op);
        const fst_batch *batch = &in->batch;
        fst_type t = self->in;
        for (uint32_t i = 0; i < batch->rows; i++) {
                size_t size = page_record_size(batch, i);
                int r = self->list.len && self->list.len + size > LIST_ENOUGH ? elements_push_list(self) : 0;
                if (r)
                        return r;
                if (!buf_try_reserve(&self->list, FRAME_HEADER + size))
                        return task_run_fail(op->run, -ENOMEM, "no memory for a row of %zu bytes", size);
                if (self->list.len == 0)
                        buf_append(&self->list, "\0\0\0\0", FRAME_HEADER);
                uint32_t key = (uint32_t)record_field_size(t.key, t.key_size, batch->key, i);
                uint32_t value = (uint32_t)record_field_size(t.value, t.value_size, batch->value, i);
                if (t.key == FST_KIND_BYTES)
                        buf_append(&self->list, &key, sizeof(key));
                if (t.value == FST_KIND_BYTES)
                        buf_append(&self->list, &value, sizeof(value));
                elements_append_column(&self->list, t.key, t.key_size, batch->key, i);
                elements_append_column(&self->list, t.value, t.value_size, batch->value, i);
        }
        return op->status;
}

static int elements_pack_end(struct op *op)
{
        return elements_push_list(elements_of(op));
}

static void elements_pack_abandon(struct op *op)
{
        buf_reset(&elements_of(op)->list);
}

/* ------------------------------------------------------------------------------------------------- the classes */

static void elements_free(struct op *op)
{
        struct elements_op *self = elements_of(op);
        vec_deinit(&self->values);
        buf_deinit(&self->list);
        op_deinit(op);
        free(self);
}

static const struct op_class elements_classes[] = {
        [FRAMES_UNPICKLE] = {"frames_to_numbers", .consume = elements_unpickle, .free = elements_free},
        [FRAMES_UNPACK] = {"frames_to_elements", .consume = elements_unpack, .free = elements_free},
        [FRAMES_PACK] = {"frames_from_elements", .consume = elements_pack, .end = elements_pack_end,
                         .abandon = elements_pack_abandon, .free = elements_free},
};

struct op *frame_elements_op_new(struct task_run *run, enum frames_mode mode, fst_type in, fst_type out)
{
        struct elements_op *self = new0(struct elements_op);
        op_init(&self->op, &elements_classes[mode], run, out);
        if (mode != FRAMES_PACK)
                op_alloc_out(&self->op, out);
        self->in = in;
        return &self->op;
}
