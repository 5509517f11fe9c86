/* glom: the rows of each partition as one list, in a reserved buffer that grows by doubling. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/pipeline/record.h"

#include "base/mem.h"
#include "store/page.h"

#define LEAST ((size_t)64 << 10)
#define MAX_LIST ((size_t)UINT32_MAX)

FST_API fst_rdd *fst_glom_at(fst_rdd *parent, fst_site site)
{
        parent = rdd_given(parent, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_GLOM, FST_BYTES, parent, site);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

static int glom_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return rdd_wire_bad(rdd, error, "lists are BYTES");
        return rdd_wire_check_partitions(rdd, error);
}

struct glom_op {
        struct op op;
        struct memory_consumer memory;
        bool started;
        char *data;
        size_t used, room;
};

static struct glom_op *glom_of(struct op *op)
{
        return container_of(op, struct glom_op, op);
}

static int glom_begin(struct op *op)
{
        struct glom_op *self = glom_of(op);
        memory_consumer_init(&self->memory, task_run_memory(op->run), "glom", NULL);
        self->started = true;
        self->used = self->room = 0;
        return 0;
}

static int glom_too_large(struct glom_op *self, size_t wanted)
{
        return task_run_fail(self->op.run, -ENOMEM,
                             "glom has no memory for a list of %zu bytes or more: a partition must fit into a task's "
                             "share of it; more partitions make smaller ones",
                             wanted);
}

/* Makes room for @more bytes. */
static int glom_make_room(struct glom_op *self, size_t more)
{
        size_t wanted = self->used + more, room = MAX(MAX(self->room * 2, wanted), LEAST);
        if (wanted <= self->room)
                return 0;
        if (wanted > MAX_LIST)
                return glom_too_large(self, wanted);
        int r = memory_acquire(&self->memory, room - self->room);
        if (r == FST_MEMORY_E_DENIED && room > wanted)
                r = memory_acquire(&self->memory, (room = wanted) - self->room);
        if (r == -ECANCELED)
                return task_run_cancelled(self->op.run);
        char *data = r ? NULL : mem_try_grow(self->data, room);
        if (!data)
                return glom_too_large(self, wanted);
        self->data = data;
        self->room = room;
        return 0;
}

static void glom_put(struct glom_op *self, const void *data, size_t len)
{
        if (len)
                memcpy(self->data + self->used, data, len);
        self->used += len;
}

static void glom_put_length(struct glom_op *self, uint8_t kind, size_t len)
{
        uint32_t length = (uint32_t)len;
        if (kind == FST_KIND_BYTES)
                glom_put(self, &length, sizeof(length));
}

/* Appends a row as a record of a page, the form of a list's elements. */
static int glom_put_row(struct glom_op *self, const fst_batch *batch, uint32_t row)
{
        fst_type t = batch->type;
        size_t key = record_field_size(t.key, t.key_size, batch->key, row);
        size_t value = t.value ? record_field_size(t.value, t.value_size, batch->value, row) : 0;
        int r = glom_make_room(self, page_record_size(batch, row));
        if (r)
                return r;
        glom_put_length(self, t.key, key);
        glom_put_length(self, t.value, value);
        glom_put(self, record_field(t.key, t.key_size, batch->key, row), key);
        if (t.value)
                glom_put(self, record_field(t.value, t.value_size, batch->value, row), value);
        return 0;
}

static int glom_consume(struct op *op, const struct rows *in)
{
        struct glom_op *self = glom_of(op);
        fst_type t = in->batch.type;
        int r = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        if (!t.value && t.key != FST_KIND_BYTES) {
                size_t all = (size_t)in->batch.rows * t.key_size;
                r = glom_make_room(self, all);
                if (r == 0)
                        glom_put(self, in->batch.key.fixed, all);
                return r;
        }
        for (uint32_t i = 0; i < in->batch.rows && r == 0; i++)
                r = glom_put_row(self, &in->batch, i);
        return r;
}

static void glom_abandon(struct op *op)
{
        struct glom_op *self = glom_of(op);
        if (self->started)
                memory_consumer_deinit(&self->memory);
        self->started = false;
        free(steal(self->data));
        self->used = self->room = 0;
}

static int glom_end(struct op *op)
{
        struct glom_op *self = glom_of(op);
        fst_bytes list = {self->data ? self->data : "", self->used};
        struct rows rows = {.batch = {.rows = 1, .type = FST_BYTES, .key.bytes = &list}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)list.data, list.len};
        int r = op_push(op, &rows);
        glom_abandon(op);
        return r;
}

static void glom_free(struct op *op)
{
        glom_abandon(op);
        op_deinit(op);
        free(glom_of(op));
}

static const struct op_class glom_op_class = {"glom",          .begin = glom_begin,     .consume = glom_consume,
                                              .end = glom_end, .abandon = glom_abandon, .free = glom_free};

static struct op *glom_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct glom_op *self = new0(struct glom_op);
        op_init(&self->op, &glom_op_class, run, FST_BYTES);
        return &self->op;
}

const struct rdd_class rdd_glom_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .decode = glom_decode,
        .op_new = glom_op_new,
};
