/*
 * Makes frames of rows and rows of frames; see op_frames.h.
 *
 * To frames: rows are copied to one block of memory with their lengths between them, so that rows of a batch follow each
 * other without a gap and can be sent by one write. From frames: rows are views into the input.
 */
#include "rdd/pipeline/op_frames.h"

#include "base/mem.h"
#include "rdd/pipeline/record.h"
#include "store/memory.h"

/* A batch is pushed when its block has so many bytes; a larger row gets a block of its own. */
#define BLOCK_SIZE ((size_t)1 << 20)

struct frames_op {
        struct op op;
        enum frames_mode mode;
        fst_type in;
        char *block; /* the bytes of the rows in `out` */
        size_t room, used;
        bool has_key; /* FRAMES_TO_PAIRS: `key` waits for its value */
        int64_t key;
};

static struct frames_op *frames_of(struct op *op)
{
        return container_of(op, struct frames_op, op);
}

static bool frames_column_is_plain(uint8_t kind)
{
        return kind == FST_KIND_BYTES || kind == FST_KIND_FIXED;
}

static bool frames_reads(enum frames_mode mode, fst_type in)
{
        switch (mode) {
        case FRAMES_OF_ROWS:
                return frames_column_is_plain(in.key) && (!in.value || frames_column_is_plain(in.value));
        case FRAMES_JOIN:
                return in.key == FST_KIND_BYTES && in.value == FST_KIND_BYTES;
        case FRAMES_PACK:
                return true;
        default:
                return in.key == FST_KIND_BYTES && !in.value;
        }
}

static bool frames_makes(enum frames_mode mode, fst_type out)
{
        switch (mode) {
        case FRAMES_TO_PAIRS:
                return fst_type_equal(out, FST_PAIR(I64, BYTES));
        case FRAMES_UNPICKLE:
                return fst_type_equal(out, FST_I64) || fst_type_equal(out, FST_F64);
        case FRAMES_UNPACK:
                return fst_type_check(out, NULL) == 0;
        default:
                return fst_type_equal(out, FST_BYTES);
        }
}

int frames_check(enum frames_mode mode, fst_type in, fst_type out, struct fst_error *error)
{
        static const char *const wanted[] = {[FRAMES_OF_ROWS] = "BYTES or FIXED, or pairs of these",
                                             [FRAMES_JOIN] = "pairs of BYTES"};
        char text[64];
        bool named = mode < ARRAY_SIZE(wanted) && wanted[mode];
        if (!frames_reads(mode, in))
                return error_set(error, -EINVAL, "it needs rows of %s, not of %s",
                                 named ? wanted[mode] : "BYTES, each one frame", fst_type_name(in, text));
        return frames_makes(mode, out) ? 0
                                       : error_set(error, -EINVAL, "frames cannot become rows of %s here",
                                                   fst_type_name(out, text));
}

/* ------------------------------------------------------------------------------------------------- to frames */

static size_t frames_row_size(const struct frames_op *self, const fst_batch *in, uint32_t row)
{
        fst_type t = self->in;
        size_t headers = self->mode == FRAMES_JOIN ? 0 : t.value ? 2 * FRAME_HEADER : FRAME_HEADER;
        return headers + record_field_size(t.key, t.key_size, in->key, row) +
               (t.value ? record_field_size(t.value, t.value_size, in->value, row) : 0);
}

static char *frames_put_column(const struct frames_op *self, char *at, uint8_t kind, uint32_t size, fst_column column,
                               uint32_t row)
{
        size_t len = record_field_size(kind, size, column, row);
        if (self->mode == FRAMES_OF_ROWS) {
                frame_put_length(at, (uint32_t)len);
                at += FRAME_HEADER;
        }
        return len ? mempcpy(at, record_field(kind, size, column, row), len) : at;
}

/* Gives the empty block room for a row of @size bytes. */
static int frames_block_reserve(struct frames_op *self, size_t size)
{
        if (self->room >= size)
                return 0;
        size_t room = MAX(size, BLOCK_SIZE);
        free(self->block);
        self->room = 0;
        self->block = mem_try(room);
        if (!self->block && memory_task_evict(task_run_memory(self->op.run), room))
                self->block = mem_try(room);
        if (!self->block)
                return task_run_fail(self->op.run, -ENOMEM,
                                     "no memory for a frame of %zu bytes: raise spark.executor.memoryOverhead, or run "
                                     "fewer tasks at a time",
                                     size);
        self->room = room;
        return 0;
}

static int frames_flush(struct frames_op *self)
{
        self->op.source[0] = (struct fst_stable){(uintptr_t)self->block, self->used};
        int r = op_flush(&self->op);
        self->used = 0;
        if (self->room > BLOCK_SIZE) {
                free(steal(self->block));
                self->room = 0;
        }
        return r;
}

static int frames_check_size(const struct frames_op *self, const fst_batch *in, uint32_t row)
{
        fst_type t = self->in;
        size_t key = record_field_size(t.key, t.key_size, in->key, row), value = 0;
        if (t.value)
                value = record_field_size(t.value, t.value_size, in->value, row);
        if (self->mode == FRAMES_OF_ROWS && MAX(key, value) > FRAME_MAX)
                return task_run_fail(self->op.run, -E2BIG,
                                     "a row of %zu bytes is too large for Python, which reads at most %d: split it",
                                     MAX(key, value), FRAME_MAX);
        if (frames_row_size(self, in, row) > UINT32_MAX)
                return task_run_fail(self->op.run, -E2BIG, "a pair of %zu bytes is too large: rows have at most 4 GiB",
                                     frames_row_size(self, in, row));
        return 0;
}

static int frames_pack(struct op *op, const struct rows *in)
{
        struct frames_op *self = frames_of(op);
        const fst_batch *batch = &in->batch;
        fst_type t = self->in;
        for (uint32_t i = 0; i < batch->rows; i++) {
                size_t size = frames_row_size(self, batch, i);
                int r = size > FRAME_MAX ? frames_check_size(self, batch, i) : 0;
                if (r == 0 && (self->used + size > self->room || op->out.rows == FST_BATCH_ROWS))
                        r = frames_flush(self);
                if (r == 0)
                        r = frames_block_reserve(self, size);
                if (r)
                        return r;
                char *start = self->block + self->used;
                char *end = frames_put_column(self, start, t.key, t.key_size, batch->key, i);
                if (t.value)
                        end = frames_put_column(self, end, t.value, t.value_size, batch->value, i);
                op->out.key.bytes[op->out.rows++] = (fst_bytes){start, (size_t)(end - start)};
                self->used += size;
        }
        return op->status;
}

static int frames_pack_end(struct op *op)
{
        return frames_flush(frames_of(op));
}

static void frames_pack_abandon(struct op *op)
{
        frames_of(op)->used = 0;
}

/* --------------------------------------------------------------------------------------------- from frames */

static int frames_fail_frame(struct op *op, fst_bytes row, const char *wanted)
{
        size_t first = frame_size(row);
        const char *found = first == 0                               ? "is not a frame"
                            : first != row.len                       ? "is a pair"
                            : frame_length(row.data) == FRAME_NULL ? "is null (None)"
                                                                     : "is another frame";
        return task_run_fail(op->run, -EBADMSG, "%s needs %s, but a row of %zu bytes %s", op->class->name, wanted,
                             row.len, found);
}

static int frames_unpack_rows(struct op *op, const struct rows *in)
{
        struct rows rows = *in;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes row = in->batch.key.bytes[i];
                if (unlikely(frame_size(row) != row.len || frame_length(row.data) < 0))
                        return frames_fail_frame(op, row, "rows of one frame");
                op->out.key.bytes[i] = (fst_bytes){row.data + FRAME_HEADER, row.len - FRAME_HEADER};
        }
        rows.batch.key = op->out.key;
        return op_push(op, &rows);
}

static int64_t frames_key(const char *data)
{
        return (int64_t)((uint64_t)(uint32_t)frame_length(data) << 32 | (uint32_t)frame_length(data + 4));
}

static int frames_unpack_pairs(struct op *op, const struct rows *in)
{
        struct frames_op *self = frames_of(op);
        struct rows rows = *in;
        uint32_t n = 0;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes row = in->batch.key.bytes[i];
                if (self->has_key) {
                        op->out.key.i64[n] = self->key;
                        op->out.value.bytes[n++] = row;
                } else if (unlikely(row.len != FRAME_HEADER + 8 || frame_length(row.data) != 8)) {
                        return frames_fail_frame(op, row, "keys of 8 bytes before their values");
                } else {
                        self->key = frames_key(row.data + FRAME_HEADER);
                }
                self->has_key = !self->has_key;
        }
        if (n == 0)
                return op->status;
        rows.batch = (fst_batch){.rows = n, .type = op->type, .key = op->out.key, .value = op->out.value};
        return op_push(op, &rows);
}

static int frames_pairs_begin(struct op *op)
{
        frames_of(op)->has_key = false;
        return 0;
}

static int frames_pairs_end(struct op *op)
{
        if (op->status == 0 && frames_of(op)->has_key)
                return task_run_fail(op->run, -EBADMSG,
                                     "PairwiseRDD: unexpected value: the key %lld has no value: the partition has an "
                                     "odd number of rows",
                                     (long long)frames_of(op)->key);
        return op->status;
}

/* ------------------------------------------------------------------------------------------------- the classes */

static void frames_free(struct op *op)
{
        struct frames_op *self = frames_of(op);
        free(self->block);
        op_deinit(op);
        free(self);
}

static const struct op_class frames_classes[] = {
        [FRAMES_OF_ROWS] = {"frames_from_rows", .consume = frames_pack, .end = frames_pack_end,
                            .abandon = frames_pack_abandon, .free = frames_free},
        [FRAMES_JOIN] = {"frames_join", .consume = frames_pack, .end = frames_pack_end, .abandon = frames_pack_abandon,
                         .free = frames_free},
        [FRAMES_TO_ROWS] = {"frames_to_rows", .consume = frames_unpack_rows, .free = frames_free},
        [FRAMES_TO_PAIRS] = {"frames_to_pairs", .begin = frames_pairs_begin, .consume = frames_unpack_pairs,
                             .end = frames_pairs_end, .free = frames_free},
};

struct op *frames_op_new(struct task_run *run, enum frames_mode mode, fst_type in, fst_type out)
{
        if (mode >= FRAMES_UNPICKLE)
                return frame_elements_op_new(run, mode, in, out);
        struct frames_op *self = new0(struct frames_op);
        op_init(&self->op, &frames_classes[mode], run, out);
        op_alloc_out(&self->op, out);
        self->mode = mode;
        self->in = in;
        return &self->op;
}
