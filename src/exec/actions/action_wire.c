/* See action_wire.h. Input comes from a well-formed message and is otherwise untrusted. */
#include "exec/actions/action_wire.h"

#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

/* The size of a column as sent. That of structs is a number that the RDDs of the stage have described. */
static uint32_t action_wire_given_size(uint8_t kind, uint32_t size)
{
        return kind == FST_KIND_FIXED || kind == FST_KIND_BYTES ? size : 0;
}

void action_wire_put_type(Firesteel__Action *message, fst_type type)
{
        message->kinds = (uint32_t)type.key | (uint32_t)type.value << 8;
        message->key_size = action_wire_given_size(type.key, type.key_size);
        message->value_size = action_wire_given_size(type.value, type.value_size);
}

static uint32_t action_wire_size_of(uint8_t kind, uint32_t given)
{
        return kind == FST_KIND_I64 || kind == FST_KIND_F64 ? 8 : given;
}

int action_wire_type(const Firesteel__Action *message, fst_type *out, struct fst_error *error)
{
        if (message->kinds > 0xffff)
                return error_set(error, -EBADMSG, "the action has an invalid result type");
        fst_type type = {.key = (uint8_t)message->kinds, .value = (uint8_t)(message->kinds >> 8)};
        type.key_size = action_wire_size_of(type.key, message->key_size);
        type.value_size = action_wire_size_of(type.value, message->value_size);
        int r = fst_type_check(type, error);
        if (r)
                return error_wrap(error, -EBADMSG, "the result type of an action");
        *out = type;
        return 0;
}

void action_wire_put_value(struct rdd_wire_writer *writer, Firesteel__Action *message, fst_type type,
                           const struct reduce_value *value)
{
        message->has_data = value && value->present;
        if (!message->has_data)
                return;
        bool number = type.key == FST_KIND_I64 || type.key == FST_KIND_F64;
        const void *data = number ? (const void *)&value->number : value->data;
        message->data.len = number ? 8 : value->size;
        message->data.data = arena_alloc(&writer->arena, message->data.len + 1);
        if (message->data.len)
                memcpy(message->data.data, data, message->data.len);
}

int action_wire_value(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                      const struct reduce_value **out, struct fst_error *error)
{
        *out = NULL;
        if (!message->has_data)
                return 0;
        if (type.key != FST_KIND_BYTES && message->data.len != type.key_size)
                return error_set(error, -EBADMSG, "a value of the action has a wrong size of %zu bytes",
                                 message->data.len);
        struct reduce_value *value = wire_array(reader->memory, 1, sizeof(*value));
        if (!value)
                return rdd_wire_too_big(error);
        value->present = true;
        if (type.key == FST_KIND_I64 || type.key == FST_KIND_F64) {
                memcpy(&value->number, message->data.data, 8);
        } else {
                value->data = (char *)message->data.data; /* also in the reader's memory */
                value->size = message->data.len;
        }
        *out = value;
        return 0;
}
