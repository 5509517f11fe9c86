/*
 * Actions that send rows to the driver: collect and take. run_job (the rows that a function makes of a partition); top
 * and take_ordered (the first rows in an order); lookup (the values of a key); reduce_by_key_locally (a pair for each
 * key). They differ only in the operator before the row sink (exec/actions/row_sink.h).
 */
#include "exec/actions/action_kinds.h"

#include "base/mem.h"
#include "exec/actions/action_wire.h"
#include "exec/actions/row_sink.h"
#include "rdd/pipeline/op_chain.h"
#include "rdd/aggregate/op_combine.h"
#include "rdd/pipeline/op_element.h"
#include "rdd/pipeline/op_iter.h"
#include "rdd/pipeline/op_key.h"
#include "rdd/aggregate/op_lookup.h"
#include "rdd/sort/op_top.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

static struct rows_action *rows_of(struct action *action)
{
        return container_of(action, struct rows_action, action);
}

static struct op *action_rows_sink_of(struct rows_action *self, struct task_run *run)
{
        return row_sink_new(run, self->made, self->limit);
}

static struct op *collect_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        return action_rows_sink_of(rows_of(action), run);
}

static struct op *run_job_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct rows_action *self = rows_of(action);
        return chain_op_new(iter_op_new(run, action->type, self->made, &self->fn), action_rows_sink_of(self, run));
}

static struct op *top_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct rows_action *self = rows_of(action);
        struct op *top = top_op_new(run, self->made, (size_t)self->limit, self->order, self->keyed);
        struct op *sink = chain_op_new(top, action_rows_sink_of(self, run));
        return self->keyed ? chain_op_new(key_op_new(run, action->type, self->made, &self->fn), sink) : sink;
}

static struct op *lookup_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct rows_action *self = rows_of(action);
        return chain_op_new(lookup_op_new(run, action->type, self->value), action_rows_sink_of(self, run));
}

static struct op *combine_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct rows_action *self = rows_of(action);
        return chain_op_new(combine_op_new(run, action->type, &self->fn), action_rows_sink_of(self, run));
}

/* Returns the row sink behind the operators of @sink. */
static struct op *row_sink_of(const struct rows_action *self, struct op *sink)
{
        const struct action_class *class = self->action.class;
        if (class == &rows_action_class)
                return sink;
        return chain_op_last(class == &top_action_class && self->keyed ? chain_op_last(sink) : sink);
}

static int rows_result(struct action *action, struct op *op, struct task_result *result)
{
        result->data = row_sink_take(row_sink_of(rows_of(action), op), &result->bytes);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- on the wire */

static int rows_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                       struct fst_error *error)
{
        const struct rows_action *self = container_of(action, struct rows_action, action);
        fst_type key = {.key = action->type.key, .key_size = action->type.key_size};
        message->limit = (uint64_t)self->limit;
        message->descending = self->order == FST_DESCENDING;
        message->keyed = self->keyed;
        action_wire_put_type(message, self->made);
        action_wire_put_value(writer, message, key, self->value);
        return self->fn.shape ? writer->function(writer, &self->fn, &message->function, error) : 0;
}

/* Decodes the common fields, then checks them against the class. */
static int rows_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                       struct action **out, bool (*fits)(fst_type type, const struct rows_action *self),
                       struct fst_error *error)
{
        struct rows_action *self = wire_array(reader->memory, 1, sizeof(*self));
        fst_type key = {.key = type.key, .key_size = type.key_size};
        if (!self)
                return rdd_wire_too_big(error);
        if (message->limit > INT64_MAX)
                return error_set(error, -EBADMSG, "collect has an invalid limit");
        self->limit = (int64_t)message->limit;
        self->order = message->descending ? FST_DESCENDING : FST_ASCENDING;
        self->keyed = message->keyed;
        int r = action_wire_type(message, &self->made, error);
        if (r == 0)
                r = action_wire_value(reader, message, key, &self->value, error);
        if (r == 0 && message->function)
                r = reader->function(reader, message->function, &self->fn, error);
        if (r == 0 && !fits(type, self))
                r = error_set(error, -EBADMSG, "%s does not apply to rows of this type", message->name);
        if (r == 0)
                *out = &self->action;
        return r;
}

static bool collect_fits(fst_type type, const struct rows_action *self)
{
        return fst_type_equal(type, self->made);
}

static bool run_job_fits(fst_type type, const struct rows_action *self)
{
        return FST_SHAPE_FORM(self->fn.shape) == FST_FORM_ITER;
}

static bool top_fits(fst_type type, const struct rows_action *self)
{
        fst_type key = {.key = self->made.key, .key_size = self->made.key_size};
        if (!self->keyed)
                return fst_type_equal(type, self->made);
        return fst_type_equal(self->made, fst_type_pair(key, key_op_value(type))) &&
               element_check(ELEMENT_MAP, type, key, &self->fn, NULL) == 0;
}

static bool lookup_fits(fst_type type, const struct rows_action *self)
{
        fst_type value = {.key = type.value, .key_size = type.value_size};
        return type.value && self->value && fst_type_equal(value, self->made);
}

static bool combine_fits(fst_type type, const struct rows_action *self)
{
        fst_type value = {.key = type.value, .key_size = type.value_size};
        return type.value && fst_type_equal(type, self->made) && combine_check(value, &self->fn, NULL) == 0;
}

#define DECODE(kind)                                                                                                   \
        static int kind##_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,      \
                                 struct action **out, struct fst_error *error)                                         \
        {                                                                                                              \
                return rows_decode(reader, message, type, out, kind##_fits, error);                                    \
        }
DECODE(collect)
DECODE(run_job)
DECODE(top)
DECODE(lookup)
DECODE(combine)

static int rows_decode_result(const struct action *action, const unsigned char *data, size_t len,
                              struct task_result *result, struct fst_error *error)
{
        const struct rows_action *self = container_of(action, struct rows_action, action);
        return row_pages_decode(self->made, self->limit, data, len, result, error);
}

#define ROWS_CLASS(title, kind)                                                                                        \
        {                                                                                                              \
                .name = (title), .sink_new = kind##_sink_new, .result = rows_result, .discard = row_pages_discard,     \
                .encode = rows_encode, .decode = kind##_decode, .encode_result = row_pages_encode,                     \
                .decode_result = rows_decode_result                                                                    \
        }

const struct action_class rows_action_class = ROWS_CLASS("collect", collect);
const struct action_class run_job_action_class = ROWS_CLASS("run_job", run_job);
const struct action_class top_action_class = ROWS_CLASS("top", top);
const struct action_class lookup_action_class = ROWS_CLASS("lookup", lookup);
const struct action_class combine_action_class = ROWS_CLASS("reduce_by_key_locally", combine);
