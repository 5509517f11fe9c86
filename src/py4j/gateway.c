/* The dispatch; see gateway.h. */
#include "py4j/gateway.h"

#include "base/error.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "py4j/collections.h"
#include "py4j/command.h"
#include "py4j/throwable.h"

#include <pthread.h>

/* An id that the program holds. */
struct held {
        struct held *next, **link; /* in the list of all */
        uint64_t id;
        struct py4j_object *object;
};

struct py4j_gateway {
        struct py4j_gateway_options options;
        struct object_table classes;      /* by name */
        struct object_table simple_names; /* by the part after the last point */
        pthread_mutex_t lock;             /* guards the fields below */
        struct object_table by_id;        /* struct held */
        struct held *first;
        uint64_t next_id;
        char *refused_import; /* a package that the program imported and we refuse, with its point; NULL: none */
};

static const struct py4j_class *const own_classes[] = {&py4j_object_class, &py4j_list_class, &py4j_map_class,
                                                       &py4j_set_class, &py4j_tuple_class};

static const char *class_simple_name(const struct py4j_class *class)
{
        const char *end = strrchr(class->name, '.');
        return end ? end + 1 : class->name;
}

static bool class_has_name(const void *object, const void *key)
{
        return strcmp(((const struct py4j_class *)object)->name, key) == 0;
}

static bool class_has_simple_name(const void *object, const void *key)
{
        return strcmp(class_simple_name(object), key) == 0;
}

static bool held_has_id(const void *object, const void *key)
{
        return ((const struct held *)object)->id == *(const uint64_t *)key;
}

static void gateway_add_class(struct py4j_gateway *g, const struct py4j_class *class)
{
        const char *simple = class_simple_name(class);
        object_table_put(&g->classes, object_hash_text(class->name), (void *)class);
        if (!object_table_find(&g->simple_names, object_hash_text(simple), class_has_simple_name, simple))
                object_table_put(&g->simple_names, object_hash_text(simple), (void *)class);
}

struct py4j_gateway *py4j_gateway_new(const struct py4j_gateway_options *options)
{
        struct py4j_gateway *g = new0(struct py4j_gateway);
        g->options = *options;
        pthread_mutex_init(&g->lock, NULL);
        for (size_t i = 0; i < options->n_classes; i++)
                gateway_add_class(g, options->classes[i]);
        for (size_t i = 0; i < ARRAY_SIZE(own_classes); i++)
                gateway_add_class(g, own_classes[i]);
        return g;
}

void py4j_gateway_interrupt(struct py4j_gateway *gateway)
{
        if (gateway->options.interrupted)
                gateway->options.interrupted(gateway->options.context);
}

/* Removes an id. The caller holds the lock, or is alone. */
static struct py4j_object *held_take(struct py4j_gateway *g, struct held *held)
{
        struct py4j_object *object = held->object;
        *held->link = held->next;
        if (held->next)
                held->next->link = held->link;
        object_table_remove(&g->by_id, object_hash_number(held->id), held);
        free(held);
        return object;
}

void py4j_gateway_free(struct py4j_gateway *g)
{
        if (!g)
                return;
        while (g->first)
                py4j_object_unref(held_take(g, g->first));
        object_table_deinit(&g->by_id);
        object_table_deinit(&g->classes);
        object_table_deinit(&g->simple_names);
        pthread_mutex_destroy(&g->lock);
        free(g->refused_import);
        free(g);
}

/* ------------------------------------------------------------------------------------------------------ ids */

/* Gives @object, whose reference it takes over, an id. */
static uint64_t gateway_hold(struct py4j_gateway *g, struct py4j_object *object)
{
        struct held *held = new0(struct held);
        pthread_mutex_lock(&g->lock);
        uint64_t id = g->next_id++; /* another connection may release it before this one has answered */
        *held = (struct held){.next = g->first, .link = &g->first, .id = id, .object = object};
        if (held->next)
                held->next->link = &held->next;
        g->first = held;
        object_table_put(&g->by_id, object_hash_number(held->id), held);
        pthread_mutex_unlock(&g->lock);
        return id;
}

/* The entry of "o17", or NULL. The caller holds the lock. */
static struct held *gateway_find_held(struct py4j_gateway *g, const char *text)
{
        char *end;
        if (text[0] != 'o' || text[1] < '0' || text[1] > '9')
                return NULL;
        uint64_t id = strtoull(text + 1, &end, 10);
        return *end ? NULL : object_table_find(&g->by_id, object_hash_number(id), held_has_id, &id);
}

/* A reference to the object with the id @text, or NULL. */
static struct py4j_object *gateway_object(struct py4j_gateway *g, const char *text)
{
        pthread_mutex_lock(&g->lock);
        struct held *held = gateway_find_held(g, text);
        struct py4j_object *object = held ? py4j_object_ref(held->object) : NULL;
        pthread_mutex_unlock(&g->lock);
        return object;
}

static void gateway_release(struct py4j_gateway *g, const char *text)
{
        pthread_mutex_lock(&g->lock);
        struct held *held = gateway_find_held(g, text);
        struct py4j_object *object = held ? held_take(g, held) : NULL;
        pthread_mutex_unlock(&g->lock);
        py4j_object_unref(object); /* without the lock: it may end a broadcast */
}

size_t py4j_gateway_objects(struct py4j_gateway *g)
{
        pthread_mutex_lock(&g->lock);
        size_t n = g->by_id.count;
        pthread_mutex_unlock(&g->lock);
        return n;
}

/* -------------------------------------------------------------------------------------------------- answers */

/* Takes over @value. */
static void answer_value(struct py4j_gateway *g, struct py4j_value value, struct buf *answer)
{
        buf_puts(answer, "!y");
        if (value.type == PY4J_OBJECT) {
                enum py4j_type letter = value.object->class->letter;
                uint64_t id = gateway_hold(g, steal(value.object));
                buf_printf(answer, "%co%" PRIu64, letter ? (char)letter : 'r', id);
        } else {
                py4j_value_write(&value, answer);
        }
        buf_putc(answer, '\n');
        py4j_value_deinit(&value);
}

static void answer_type(enum py4j_type type, struct buf *answer)
{
        buf_printf(answer, "!y%c\n", (char)type);
}

/* An error of the protocol or of a name, which Python raises as Py4JError. */
static void answer_error(struct buf *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void answer_error(struct buf *answer, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_puts(&text, "py4j.Py4JException: ");
        buf_vprintf(&text, format, args);
        va_end(args);
        buf_puts(answer, "!xs");
        py4j_escape(answer, text.data, text.len);
        buf_putc(answer, '\n');
}

/* Takes over @thrown. */
static void answer_throw(struct py4j_gateway *g, struct py4j_object *thrown, struct buf *answer)
{
        buf_printf(answer, "!xro%" PRIu64 "\n", gateway_hold(g, thrown));
}

static const struct py4j_refusal *gateway_refusal(const struct py4j_gateway *g, const char *name)
{
        for (size_t i = 0; i < g->options.n_refusals; i++)
                if (text_starts_with(name, g->options.refusals[i].prefix))
                        return &g->options.refusals[i];
        return NULL;
}

static void answer_refusal(struct py4j_gateway *g, const struct py4j_refusal *refusal, const char *name,
                           struct buf *answer)
{
        _cleanup_free_ char *message = mem_printf("%s: %s", refusal->reason, name);
        answer_throw(g, py4j_throwable_new("java.lang.UnsupportedOperationException", message, NULL), answer);
}

/* ---------------------------------------------------------------------------------------------------- names */

static const struct py4j_class *gateway_class(const struct py4j_gateway *g, const char *name)
{
        return object_table_find(&g->classes, object_hash_text(name), class_has_name, name);
}

static void answer_class(const char *name, struct buf *answer)
{
        buf_printf(answer, "!yc%s\n", name);
}

/* The program asks for a name without knowing whether it is a package or a class: the answer says which. */
static void gateway_resolve(struct py4j_gateway *g, const char *name, struct buf *answer)
{
        const char *point = strrchr(name, '.'), *simple = point ? point + 1 : name;
        const struct py4j_class *class = gateway_class(g, name);
        if (!class && !point)
                class = object_table_find(&g->simple_names, object_hash_text(name), class_has_simple_name, name);
        if (class) {
                answer_class(class->name, answer);
                return;
        }
        bool named_like_class = simple[0] >= 'A' && simple[0] <= 'Z';
        pthread_mutex_lock(&g->lock);
        if (named_like_class && point && gateway_refusal(g, name))
                answer_class(name, answer);
        else if (named_like_class && !point && g->refused_import)
                buf_printf(answer, "!yc%s%s\n", g->refused_import, name);
        else
                answer_type(PY4J_PACKAGE, answer);
        pthread_mutex_unlock(&g->lock);
}

static void gateway_import(struct py4j_gateway *g, const char *name)
{
        const char *point = strrchr(name, '.');
        if (!point || !gateway_refusal(g, name))
                return;
        pthread_mutex_lock(&g->lock);
        free(g->refused_import); /* the last one: pyspark imports SQL after the rest */
        g->refused_import = mem_strndup(name, (size_t)(point + 1 - name));
        pthread_mutex_unlock(&g->lock);
}

/* ---------------------------------------------------------------------------------------------------- calls */

static bool argument_fits(char letter, const struct py4j_value *value)
{
        enum py4j_type type = value->type;
        switch (letter) {
        case 's':
                return type == PY4J_STRING;
        case 'S':
                return type == PY4J_STRING || type == PY4J_NULL;
        case 'i':
                return type == PY4J_INT || type == PY4J_LONG;
        case 'b':
                return type == PY4J_BOOL;
        case 'd':
                return type == PY4J_DOUBLE || type == PY4J_INT || type == PY4J_LONG;
        case 'j':
                return type == PY4J_BYTES;
        case 'r':
                return type == PY4J_OBJECT;
        case 'R':
                return type == PY4J_OBJECT || type == PY4J_NULL;
        default:
                return true;
        }
}

static bool arguments_fit(const char *letters, const struct py4j_value *args, size_t n)
{
        if (strcmp(letters, "*") == 0)
                return true;
        if (strlen(letters) != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!argument_fits(letters[i], &args[i]))
                        return false;
        return true;
}

/* Arguments of a call without any; class_member takes NULL for unknown arguments. */
static const struct py4j_value no_value = {.type = PY4J_VOID};

static const struct py4j_class *class_parent(const struct py4j_class *class)
{
        return class == &py4j_object_class ? NULL : class->parent ? class->parent : &py4j_object_class;
}

/* The member @name of @class and its parents, of @kind, that takes these arguments (@args NULL: any). */
static const struct py4j_member *class_member(const struct py4j_class *class, const char *name,
                                              enum py4j_member_kind kind, const struct py4j_value *args, size_t n)
{
        for (; class; class = kind == PY4J_CONSTRUCTOR ? NULL : class_parent(class)) {
                for (size_t i = 0; i < class->n_members; i++) {
                        const struct py4j_member *m = &class->members[i];
                        if (m->kind == kind && strcmp(m->name, name) == 0 &&
                            (!args || arguments_fit(m->arguments, args, n)))
                                return m;
                }
        }
        return NULL;
}

/* The name of the Java class that @value has, for messages. */
static const char *value_class_name(const struct py4j_value *value)
{
        switch (value->type) {
        case PY4J_STRING:
                return "class java.lang.String";
        case PY4J_INT:
                return "class java.lang.Integer";
        case PY4J_LONG:
                return "class java.lang.Long";
        case PY4J_DOUBLE:
                return "class java.lang.Double";
        case PY4J_BOOL:
                return "class java.lang.Boolean";
        case PY4J_BYTES:
                return "class [B";
        case PY4J_OBJECT:
                return value->object->class->name;
        default:
                return "null";
        }
}

static void answer_no_method(const struct py4j_class *class, const char *name, const struct py4j_value *args, size_t n,
                             struct buf *answer)
{
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        for (size_t i = 0; i < n; i++)
                buf_printf(&list, "%s%s", i ? ", " : "", value_class_name(&args[i]));
        if (*name)
                answer_error(answer, "Method %s([%s]) does not exist. Firesteel's class %s has no such method", name,
                             buf_text(&list), class->name);
        else
                answer_error(answer, "Constructor %s([%s]) does not exist", class->name, buf_text(&list));
}

static void gateway_call(struct py4j_gateway *g, struct py4j_call *call, struct buf *answer)
{
        call->gateway = g;
        call->context = g->options.context;
        call->result = PY4J_VALUE_INIT;
        void *entered = g->options.enter ? g->options.enter(call) : NULL;
        call->member->call(call);
        if (g->options.leave)
                g->options.leave(entered);
        if (call->thrown) {
                py4j_value_deinit(&call->result);
                answer_throw(g, steal(call->thrown), answer);
        } else {
                answer_value(g, call->result, answer);
        }
}

/* Replaces ids by references. Returns false after an answer. */
static bool gateway_resolve_parts(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        for (size_t i = 0; i < c->parts.len; i++) {
                struct py4j_value *part = &c->parts.data[i];
                if (part->type != PY4J_OBJECT)
                        continue;
                part->object = gateway_object(g, part->text);
                if (!part->object) {
                        answer_error(answer, "Target Object ID does not exist for this gateway :%.40s", part->text);
                        return false;
                }
        }
        return true;
}

static void gateway_call_static(struct py4j_gateway *g, const struct py4j_command *c, const char *name,
                                const char *method, enum py4j_member_kind kind, struct buf *answer)
{
        const struct py4j_class *class = gateway_class(g, name);
        const struct py4j_refusal *refusal = class ? NULL : gateway_refusal(g, name);
        if (refusal) {
                answer_refusal(g, refusal, name, answer);
                return;
        }
        if (!class) {
                answer_error(answer, "Firesteel has no class %.200s", name);
                return;
        }
        struct py4j_call call = {.class = class, .args = c->parts.data, .n = c->parts.len};
        call.member = class_member(class, method, kind, c->parts.data ? c->parts.data : &no_value, c->parts.len);
        if (call.member)
                gateway_call(g, &call, answer);
        else
                answer_no_method(class, method, c->parts.data, c->parts.len, answer);
}

static void gateway_call_object(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        const char *id = c->words[0], *method = c->words[1];
        if (text_starts_with(id, "z:")) {
                gateway_call_static(g, c, id + 2, method, PY4J_STATIC_METHOD, answer);
                return;
        }
        struct py4j_object *self = gateway_object(g, id);
        if (!self) {
                answer_error(answer, "Target Object ID does not exist for this gateway :%.40s", id);
                return;
        }
        struct py4j_call call = {.class = self->class, .self = self, .args = c->parts.data, .n = c->parts.len};
        call.member = class_member(self->class, method, PY4J_METHOD_OF_OBJECT,
                                   c->parts.data ? c->parts.data : &no_value, c->parts.len);
        if (call.member)
                gateway_call(g, &call, answer);
        else
                answer_no_method(self->class, method, c->parts.data, c->parts.len, answer);
        py4j_object_unref(self);
}

/* ----------------------------------------------------------------------------------------------- reflection */

static void gateway_static_member(struct py4j_gateway *g, const char *name, const char *member, struct buf *answer)
{
        const struct py4j_class *class = gateway_class(g, name);
        const struct py4j_member *field = class ? class_member(class, member, PY4J_STATIC_FIELD, NULL, 0) : NULL;
        _cleanup_free_ char *nested = mem_printf("%s$%s", name, member);
        if (field) {
                struct py4j_call call = {.class = class, .member = field};
                gateway_call(g, &call, answer);
        } else if (class ? class_member(class, member, PY4J_STATIC_METHOD, NULL, 0) != NULL
                         : gateway_refusal(g, name) != NULL) {
                answer_type(PY4J_METHOD, answer);
        } else if (gateway_class(g, nested)) {
                answer_class(nested, answer);
        } else {
                buf_puts(answer, "!x\n"); /* Python's words: "does not exist in the JVM" */
        }
}

static void gateway_reflect(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        if (strcmp(c->words[0], "u") == 0)
                gateway_resolve(g, c->words[1], answer);
        else if (strcmp(c->words[0], "m") == 0)
                gateway_static_member(g, c->words[1], c->words[2], answer);
        else
                answer_error(answer, "Firesteel answers no question '%.20s' about a class", c->words[0]);
}

/* Names of methods, for completion. */
static void gateway_list_members(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        bool of_object = strcmp(c->words[0], "m") == 0, of_class = strcmp(c->words[0], "s") == 0;
        struct py4j_object *object = of_object ? gateway_object(g, c->words[1]) : NULL;
        const struct py4j_class *class = object ? object->class : of_class ? gateway_class(g, c->words[1]) : NULL;
        for (; class; class = of_class ? NULL : class_parent(class))
                for (size_t i = 0; i < class->n_members; i++)
                        if (class->members[i].name[0] && (class->members[i].kind == PY4J_METHOD_OF_OBJECT) == of_object)
                                buf_printf(&names, "%s%s", names.len ? "\n" : "", class->members[i].name);
        py4j_object_unref(object);
        answer_value(g, py4j_string(buf_text(&names)), answer);
}

/* ---------------------------------------------------------------------------------------- arrays and lists */

static bool gateway_index(const struct py4j_command *c, const struct py4j_object *array, size_t parts, size_t *at)
{
        const struct py4j_value *part = c->parts.data;
        if (c->parts.len != parts || part->type != PY4J_INT || part->number < 0 ||
            (size_t)part->number >= py4j_length(array))
                return false;
        *at = (size_t)part->number;
        return true;
}

static void gateway_create_array(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        if (c->parts.len != 1 || c->parts.data->type != PY4J_INT || c->parts.data->number < 0 ||
            c->parts.data->number > PY4J_MAX_PARTS)
                answer_error(answer, "an array has one length, of at most %d", PY4J_MAX_PARTS);
        else
                answer_value(g, py4j_object_value(py4j_array_new(c->words[1], (size_t)c->parts.data->number)), answer);
}

static void gateway_use_array(struct py4j_gateway *g, const struct py4j_command *c, struct py4j_object *array,
                              struct buf *answer)
{
        char sub = c->words[0][0];
        size_t at;
        struct py4j_object *slice;
        if (sub == 'e') {
                answer_value(g, py4j_int((int64_t)py4j_length(array)), answer);
        } else if (sub == 'g' && gateway_index(c, array, 1, &at)) {
                answer_value(g, py4j_element_copy(array, at), answer);
        } else if (sub == 's' && gateway_index(c, array, 2, &at) && py4j_may_hold(array, &c->parts.data[1])) {
                py4j_array_set(array, at, py4j_value_copy(&c->parts.data[1]));
                answer_type(PY4J_VOID, answer);
        } else if (sub == 'l' && (slice = py4j_slice(array, c->parts.data, c->parts.len))) {
                answer_value(g, py4j_object_value(slice), answer);
        } else {
                _cleanup_free_ char *message = mem_printf("Index out of bounds for length %zu", py4j_length(array));
                answer_throw(g, py4j_throwable_new("java.lang.ArrayIndexOutOfBoundsException", message, NULL), answer);
        }
}

/* Arrays, and the slices of lists. */
static void gateway_array(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        if (c->letter == 'a' && strcmp(c->words[0], "c") == 0) {
                gateway_create_array(g, c, answer);
                return;
        }
        struct py4j_object *object = gateway_object(g, c->words[1]);
        const struct py4j_class *wanted = c->letter == 'a' ? &py4j_array_class : &py4j_list_class;
        if (!object || object->class != wanted || (c->letter == 'l' && strcmp(c->words[0], "l") != 0))
                answer_error(answer, "Firesteel cannot do '%.20s' with %s %.40s", c->words[0],
                             c->letter == 'a' ? "the array" : "the list", c->words[1]);
        else
                gateway_use_array(g, c, object, answer);
        py4j_object_unref(object);
}

/* ------------------------------------------------------------------------------------------------- commands */

static void gateway_print_exception(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        const struct py4j_value *part = c->parts.data;
        if (c->parts.len == 1 && part->type == PY4J_OBJECT && part->object->class == &py4j_throwable_class)
                answer_value(g, py4j_string(py4j_throwable_trace(part->object)), answer);
        else
                answer_error(answer, "no exception to print");
}

static void gateway_views(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        if (strcmp(c->words[0], "i") == 0) {
                gateway_import(g, c->words[2]);
                answer_type(PY4J_VOID, answer);
        } else if (strcmp(c->words[0], "c") == 0) {
                struct py4j_object *view = new0(struct py4j_object);
                py4j_object_init(view, &py4j_object_class);
                answer_value(g, py4j_object_value(view), answer);
        } else {
                answer_error(answer, "Firesteel cannot search imports");
        }
}

void py4j_gateway_execute(struct py4j_gateway *g, const struct py4j_command *c, struct buf *answer)
{
        if (c->letter == 's' || !gateway_resolve_parts(g, c, answer)) /* a shutdown has no answer, nor an error */
                return;
        switch (c->letter) {
        case 'c':
                gateway_call_object(g, c, answer);
                break;
        case 'i':
                gateway_call_static(g, c, c->words[0], "", PY4J_CONSTRUCTOR, answer);
                break;
        case 'm':
                if (strcmp(c->words[0], "d") == 0)
                        gateway_release(g, c->words[1]);
                answer_type(PY4J_VOID, answer);
                break;
        case 'r':
                gateway_reflect(g, c, answer);
                break;
        case 'a':
        case 'l':
                gateway_array(g, c, answer);
                break;
        case 'p':
                gateway_print_exception(g, c, answer);
                break;
        case 'j':
                gateway_views(g, c, answer);
                break;
        case 'f':
                answer_type(PY4J_NO_MEMBER, answer);
                break;
        case 'd':
                gateway_list_members(g, c, answer);
                break;
        case 'h':
                answer_value(g, py4j_string(""), answer);
                break;
        default:
                answer_error(answer, "'%c' is not a command of Py4J", c->letter > ' ' ? c->letter : '?');
        }
}
