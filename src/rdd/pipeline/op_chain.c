/* See op_chain.h. As in a pipeline, the last operator begins first and ends last. */
#include "rdd/pipeline/op_chain.h"

#include "base/mem.h"

struct chain_op {
        struct op op;
        struct op *first, *last;
};

static struct chain_op *chain_of(struct op *op)
{
        return container_of(op, struct chain_op, op);
}

static int chain_begin(struct op *op)
{
        struct chain_op *self = chain_of(op);
        int r = op_begin(self->last);
        return r ? r : op_begin(self->first);
}

static int chain_consume(struct op *op, const struct rows *in)
{
        struct op *first = chain_of(op)->first;
        return first->class->consume(first, in);
}

static int chain_end(struct op *op)
{
        struct chain_op *self = chain_of(op);
        int r = op_end(self->first);
        return r < 0 ? r : op_end(self->last);
}

static void chain_abandon(struct op *op)
{
        op_abandon(chain_of(op)->first);
        op_abandon(chain_of(op)->last);
}

static void chain_free(struct op *op)
{
        struct chain_op *self = chain_of(op);
        op_free(self->first);
        op_free(self->last);
        op_deinit(op);
        free(self);
}

static const struct op_class chain_class = {
        "chain",          .begin = chain_begin,     .consume = chain_consume,
        .end = chain_end, .abandon = chain_abandon, .free = chain_free,
};

struct op *chain_op_new(struct op *first, struct op *last)
{
        struct chain_op *self = new0(struct chain_op);
        op_init(&self->op, &chain_class, first->run, last->type);
        self->first = first;
        self->last = last;
        first->next = last;
        return &self->op;
}

struct op *chain_op_last(struct op *chain)
{
        return chain_of(chain)->last;
}
