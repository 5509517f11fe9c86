/* foreach and foreach_partition: the sink calls the application's function. The result is empty. */
#include "exec/actions/action_kinds.h"

#include "base/mem.h"
#include "rdd/pipeline/op_element.h"
#include "rdd/pipeline/op_iter.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

static struct op *foreach_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct foreach_action *self = container_of(action, struct foreach_action, action);
        return element_op_new(ELEMENT_FOREACH, run, action->type, action->type, &self->fn);
}

static struct op *partition_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct foreach_action *self = container_of(action, struct foreach_action, action);
        return iter_op_new(run, action->type, action->type, &self->fn);
}

static int foreach_result(struct action *action, struct op *sink, struct task_result *result)
{
        return 0;
}

static int foreach_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                          struct fst_error *error)
{
        const fst_fn *fn = &container_of(action, struct foreach_action, action)->fn;
        return writer->function(writer, fn, &message->function, error);
}

static int action_foreach_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message,
                                 struct foreach_action **out, struct fst_error *error)
{
        *out = wire_array(reader->memory, 1, sizeof(**out));
        if (!*out)
                return rdd_wire_too_big(error);
        if (!message->function)
                return error_set(error, -EBADMSG, "foreach has no function");
        return reader->function(reader, message->function, &(*out)->fn, error);
}

static int foreach_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                          struct action **out, struct fst_error *error)
{
        struct foreach_action *self;
        int r = action_foreach_decode(reader, message, &self, error);
        if (r == 0)
                r = element_check(ELEMENT_FOREACH, type, type, &self->fn, error);
        if (r == 0)
                *out = &self->action;
        return r;
}

static int partition_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                            struct action **out, struct fst_error *error)
{
        struct foreach_action *self;
        int r = action_foreach_decode(reader, message, &self, error);
        if (r == 0 && FST_SHAPE_FORM(self->fn.shape) != FST_FORM_EACH_ITER)
                r = error_set(error, -EBADMSG, "%s is not a function of a partition", self->fn.name);
        if (r == 0)
                *out = &self->action;
        return r;
}

const struct action_class foreach_action_class = {
        .name = "foreach",
        .sink_new = foreach_sink_new,
        .result = foreach_result,
        .encode = foreach_encode,
        .decode = foreach_decode,
};

const struct action_class foreach_partition_action_class = {
        .name = "foreach_partition",
        .sink_new = partition_sink_new,
        .result = foreach_result,
        .encode = foreach_encode,
        .decode = partition_decode,
};
