/* Exceptions; see throwable.h. */
#include "py4j/throwable.h"

#include "base/mem.h"
#include "py4j/collections.h"

struct throwable {
        struct py4j_object object;
        char *class_name, *message, *trace;
};

static const struct throwable *throwable_of(const struct py4j_object *object)
{
        return (const struct throwable *)object;
}

const char *py4j_throwable_class_name(const struct py4j_object *object)
{
        return throwable_of(object)->class_name;
}

const char *py4j_throwable_trace(const struct py4j_object *object)
{
        return throwable_of(object)->trace;
}

static void throwable_get_message(struct py4j_call *call)
{
        call->result = py4j_string(throwable_of(call->self)->message);
}

static void throwable_get_cause(struct py4j_call *call)
{
        call->result = py4j_object_value(NULL);
}

static void throwable_get_frames(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_array_new("java.lang.StackTraceElement", 0));
}

static void throwable_print(const struct py4j_object *object, struct buf *out)
{
        const struct throwable *t = throwable_of(object);
        buf_printf(out, "%s: %s", t->class_name, t->message);
}

static void throwable_free(struct py4j_object *object)
{
        struct throwable *t = (struct throwable *)object;
        free(t->class_name);
        free(t->message);
        free(t->trace);
        free(t);
}

static const struct py4j_member throwable_members[] = {
        {"getMessage", "", throwable_get_message},
        {"getLocalizedMessage", "", throwable_get_message},
        {"getCause", "", throwable_get_cause},
        {"getStackTrace", "", throwable_get_frames},
};

const struct py4j_class py4j_throwable_class = {
        .name = PY4J_THROWABLE, PY4J_MEMBERS(throwable_members), .free = throwable_free, .print = throwable_print};

struct py4j_object *py4j_throwable_new(const char *class, const char *message, const char *trace)
{
        struct throwable *t = new0(struct throwable);
        py4j_object_init(&t->object, &py4j_throwable_class);
        t->class_name = mem_strdup(class);
        t->message = mem_strdup(message);
        t->trace = trace ? mem_strdup(trace) : mem_printf("%s: %s", class, message);
        return &t->object;
}

void py4j_throw_text(struct py4j_call *call, const char *class, const char *message, const char *trace)
{
        py4j_object_unref(call->thrown);
        call->thrown = py4j_throwable_new(class, message, trace);
}

void py4j_throw(struct py4j_call *call, const char *class, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&message, format, args);
        va_end(args);
        py4j_throw_text(call, class, buf_text(&message), NULL);
}
