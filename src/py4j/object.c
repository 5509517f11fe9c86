/* Objects, java.lang.Object, java.lang.Class and exceptions; see object.h. */
#include "py4j/object.h"

#include "base/mem.h"
#include "py4j/throwable.h"

#include <stdio.h>

void py4j_object_init(struct py4j_object *object, const struct py4j_class *class)
{
        object->class = class;
        object->refs = 1;
}

struct py4j_object *py4j_object_ref(struct py4j_object *object)
{
        if (object)
                __atomic_add_fetch(&object->refs, 1, __ATOMIC_RELAXED);
        return object;
}

void py4j_object_unref(struct py4j_object *object)
{
        if (!object || __atomic_sub_fetch(&object->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        if (object->class->free)
                object->class->free(object);
        else
                free(object);
}

/* Collections nest, and may contain themselves, several times. */
#define MAX_DEPTH 16
#define MAX_TEXT ((size_t)1 << 20)

void py4j_object_print(const struct py4j_object *object, struct buf *out)
{
        static _Thread_local int depth;
        if (!object) {
                buf_puts(out, "null");
        } else if (object->class->print && depth < MAX_DEPTH && out->len < MAX_TEXT) {
                depth++;
                object->class->print(object, out);
                depth--;
        } else {
                buf_printf(out, "%s@%x", object->class->name, (unsigned)((uintptr_t)object >> 4));
        }
}

bool py4j_class_is(const struct py4j_class *class, const char *name)
{
        for (; class; class = class->parent)
                if (strcmp(class->name, name) == 0)
                        return true;
        return strcmp(name, py4j_object_class.name) == 0;
}

/* ------------------------------------------------------------------------------------------ java.lang.Class */

struct class_object {
        struct py4j_object object;
        const struct py4j_class *of;
        const char *name;
};

static const char *class_object_name(const struct py4j_call *call)
{
        return ((const struct class_object *)call->self)->name;
}

static void class_object_get_name(struct py4j_call *call)
{
        call->result = py4j_string(class_object_name(call));
}

static void class_object_get_simple_name(struct py4j_call *call)
{
        const char *name = class_object_name(call), *end = strrchr(name, '.');
        call->result = py4j_string(end ? end + 1 : name);
}

static void class_object_print(const struct py4j_object *object, struct buf *out)
{
        buf_printf(out, "class %s", ((const struct class_object *)object)->name);
}

static const struct py4j_member class_object_members[] = {
        {"getName", "", class_object_get_name},
        {"getCanonicalName", "", class_object_get_name},
        {"getTypeName", "", class_object_get_name},
        {"getSimpleName", "", class_object_get_simple_name},
};

static const struct py4j_class class_object_class = {
        .name = "java.lang.Class", PY4J_MEMBERS(class_object_members), .print = class_object_print};

/* ----------------------------------------------------------------------------------------- java.lang.Object */

static void object_get_class(struct py4j_call *call)
{
        struct class_object *class = new0(struct class_object);
        py4j_object_init(&class->object, &class_object_class);
        class->of = call->self->class;
        class->name = py4j_class_is(call->self->class, PY4J_THROWABLE) ? py4j_throwable_class_name(call->self)
                                                                       : call->self->class->name;
        call->result = py4j_object_value(&class->object);
}

static void object_to_string(struct py4j_call *call)
{
        struct buf text = BUF_INIT;
        py4j_object_print(call->self, &text);
        call->result = py4j_string(buf_text(&text));
        buf_deinit(&text);
}

static void object_hash_code(struct py4j_call *call)
{
        call->result = py4j_int((int32_t)((uintptr_t)call->self >> 4));
}

static void object_equals(struct py4j_call *call)
{
        struct py4j_value self = py4j_object_value(call->self);
        call->result = py4j_bool(py4j_value_equals(&self, &call->args[0]));
}

static const struct py4j_member object_members[] = {
        {"getClass", "", object_get_class},
        {"toString", "", object_to_string},
        {"hashCode", "", object_hash_code},
        {"equals", "o", object_equals},
};

const struct py4j_class py4j_object_class = {.name = "java.lang.Object", PY4J_MEMBERS(object_members)};

/* ---------------------------------------------------------------------------------------------------- calls */

struct py4j_object *py4j_argument(struct py4j_call *call, size_t i, const struct py4j_class *class)
{
        const struct py4j_value *value = &call->args[i];
        if (value->type == PY4J_OBJECT && py4j_class_is(value->object->class, class->name))
                return value->object;
        py4j_throw(call, "java.lang.ClassCastException", "class %s cannot be cast to class %s",
                   value->type == PY4J_OBJECT ? value->object->class->name : "of that value", class->name);
        return NULL;
}

const char *py4j_text_argument(const struct py4j_call *call, size_t i)
{
        return call->args[i].type == PY4J_STRING ? call->args[i].text : NULL;
}
