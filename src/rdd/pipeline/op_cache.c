/* See op_cache.h. As Spark, keeps the whole partition even if downstream needs only its first rows: the source goes on
 * for as long as the block is being written. */
#include "rdd/pipeline/op_cache.h"

#include "base/log.h"
#include "base/mem.h"
#include "store/block_store.h"

struct cache_op {
        struct op op;
        struct block_writer *writer;
};

static int cache_op_consume(struct op *op, const struct rows *in)
{
        struct cache_op *self = container_of(op, struct cache_op, op);
        struct fst_error error = FST_ERROR_INIT;
        int r = self->writer ? block_writer_append(self->writer, &in->batch, &error) : 0;
        if (r < 0)
                log_warn("BlockManager", "cannot cache a partition: %s", error_message(&error));
        if (r) { /* or memory has no room for it */
                error_deinit(&error);
                block_writer_abort(steal(self->writer));
        }
        r = op_push(op, in);
        return r == OP_ENOUGH && self->writer ? 0 : r;
}

static void cache_op_free(struct op *op)
{
        struct cache_op *self = container_of(op, struct cache_op, op);
        block_writer_abort(self->writer);
        op_deinit(op);
        free(self);
}

static const struct op_class cache_op_class = {"persist", .consume = cache_op_consume, .free = cache_op_free};

struct op *cache_op_new(struct task_run *run, fst_type type)
{
        struct cache_op *self = new0(struct cache_op);
        op_init(&self->op, &cache_op_class, run, type);
        return &self->op;
}

void cache_op_start(struct op *op, struct block_writer *writer)
{
        container_of(op, struct cache_op, op)->writer = writer;
        op_begin(op);
}

int cache_op_finish(struct op *op, int result)
{
        struct cache_op *self = container_of(op, struct cache_op, op);
        struct fst_error error = FST_ERROR_INIT;
        struct block_writer *writer = steal(self->writer);
        if (!writer)
                return result;
        if (result || op->status < 0)
                block_writer_abort(writer);
        else if (block_writer_commit(writer, &error) < 0)
                log_warn("BlockManager", "cannot cache a partition: %s", error_message(&error));
        error_deinit(&error);
        return result ? result : op->status;
}
