/*
 * reduce, fold and aggregate: each task combines the rows of its partition into one value (none if there are no rows
 * and no initial value). The driver combines the values (driver/actions/action_reduce.c).
 */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"
#include "exec/actions/action_wire.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

static struct op *reduce_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct reduce_action *self = container_of(action, struct reduce_action, action);
        return reduce_op_new(run, action->type, self->made, &self->fn, self->zero);
}

static int reduce_result(struct action *action, struct op *sink, struct task_result *result)
{
        struct reduce_value *value = new0(struct reduce_value);
        reduce_op_take(sink, value);
        result->data = value;
        result->bytes = value->size + 8;
        return 0;
}

static void reduce_discard(struct action *action, struct task_result *result)
{
        struct reduce_value *value = result->data;
        if (value)
                free(value->data);
        free(value);
}

static int reduce_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                         struct fst_error *error)
{
        const struct reduce_action *self = container_of(action, struct reduce_action, action);
        action_wire_put_type(message, self->made);
        action_wire_put_value(writer, message, self->made, self->zero);
        return writer->function(writer, &self->fn, &message->function, error);
}

static int reduce_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                         struct action **out, struct fst_error *error)
{
        struct reduce_action *self = wire_array(reader->memory, 1, sizeof(*self));
        if (!self)
                return rdd_wire_too_big(error);
        int r = action_wire_type(message, &self->made, error);
        if (r == 0 && (!message->function || self->made.value))
                r = error_set(error, -EBADMSG, "reduce needs a function and a result that is not a pair");
        if (r == 0)
                r = action_wire_value(reader, message, self->made, &self->zero, error);
        if (r == 0 && !self->zero && !fst_type_equal(type, self->made))
                r = error_set(error, -EBADMSG, "reduce has an invalid initial value");
        if (r == 0)
                r = reader->function(reader, message->function, &self->fn, error);
        if (r == 0)
                r = reduce_check(type, self->made, &self->fn, error);
        if (r == 0)
                *out = &self->action;
        return r;
}

static bool is_number(fst_type type)
{
        return type.key == FST_KIND_I64 || type.key == FST_KIND_F64;
}

/* Encodes the result: empty without rows; else a byte 1 and the value (a number in 8 bytes, or all bytes). */
static int reduce_encode_result(const struct action *action, const struct task_result *result, struct buf *out,
                                struct fst_error *error)
{
        const struct reduce_value *value = result->data;
        if (!value->present)
                return 0;
        if (!buf_try_reserve(out, 1 + value->size))
                return error_set(error, -ENOMEM,
                                 "no memory for a result of %zu bytes: raise spark.executor.memoryOverhead",
                                 value->size);
        buf_putc(out, 1);
        if (is_number(container_of(action, struct reduce_action, action)->made))
                buf_append(out, &value->number, 8);
        else
                buf_append(out, value->data, value->size);
        return 0;
}

static int reduce_decode_result(const struct action *action, const unsigned char *data, size_t len,
                                struct task_result *result, struct fst_error *error)
{
        fst_type type = container_of(action, struct reduce_action, action)->made;
        size_t size = len ? len - 1 : 0;
        if (len && (data[0] != 1 || (type.key != FST_KIND_BYTES && size != type.key_size)))
                return error_set(error, -EBADMSG, "the value has a wrong size of %zu bytes", size);
        struct reduce_value *value = new0(struct reduce_value);
        value->present = len > 0;
        if (len && is_number(type)) {
                memcpy(&value->number, data + 1, 8);
        } else if (len) {
                value->data = mem_try(size + 1);
                if (!value->data) {
                        free(value);
                        return error_set(error, -ENOMEM, "no memory for a value of %zu bytes", size);
                }
                memcpy(value->data, data + 1, size);
                value->size = size;
        }
        result->data = value;
        result->bytes = value->size + 8;
        return 0;
}

const struct action_class reduce_action_class = {
        .name = "reduce",
        .sink_new = reduce_sink_new,
        .result = reduce_result,
        .discard = reduce_discard,
        .encode = reduce_encode,
        .decode = reduce_decode,
        .encode_result = reduce_encode_result,
        .decode_result = reduce_decode_result,
};
