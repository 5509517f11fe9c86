/*
 * See java_objects.h. The stream is a sequence of contents, each with a tag. Strings, classes and objects get numbers
 * in the order in which they begin, and a later content may refer to one by its number.
 *
 * Lengths in the stream are not trusted. Each value of the tree takes at least one byte of the stream, so the memory is
 * bounded by the stream's length. Nesting and chains of superclasses have limits.
 */
#include "hadoop/java_objects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define STREAM_MAGIC 0xacedu
#define STREAM_VERSION 5
#define FIRST_HANDLE 0x7e0000
#define MAX_DEPTH 64
#define MAX_SUPERCLASSES 16

enum content_tag {
        TAG_NULL = 0x70,
        TAG_REFERENCE,
        TAG_CLASS_DESCRIPTION,
        TAG_OBJECT,
        TAG_STRING,
        TAG_ARRAY,
        TAG_CLASS,
        TAG_BLOCK_DATA,
        TAG_END_BLOCK_DATA,
        TAG_RESET,
        TAG_BLOCK_DATA_LONG,
        TAG_EXCEPTION,
        TAG_LONG_STRING,
        TAG_PROXY_CLASS_DESCRIPTION,
        TAG_ENUM,
};

enum class_flag { CLASS_WRITES_MORE = 1, CLASS_IS_SERIALIZABLE = 2, CLASS_IS_EXTERNALIZABLE = 4 };

struct class_field {
        char type; /* as in Java's class files: 'I', 'J', 'L', … */
        const char *name;
};

struct java_class {
        const char *name;
        unsigned flags;
        struct class_field *fields;
        size_t n_fields;
        const struct java_class *super;
        int n_supers;
        bool is_complete;
};

/* The object that a number stands for: a class, or a value. */
struct handle {
        const struct java_class *class;
        struct java_value value;
};

struct object_stream {
        struct arena *arena;
        const unsigned char *p, *end;
        VEC(struct handle) handles;
        int depth;
        struct fst_error *error;
};

typedef VEC(struct java_value) java_values;
typedef VEC(struct java_field) java_fields;

static int stream_damaged(struct object_stream *s, const char *what)
{
        return error_set(s->error, -EBADMSG, "a stream of Java objects is damaged: %s", what);
}

static int stream_unsupported(struct object_stream *s, const char *what)
{
        return error_set(s->error, -ENOTSUP, "a stream of Java objects holds %s, which Firesteel does not read", what);
}

static int stream_read_number(struct object_stream *s, size_t size, uint64_t *out)
{
        if ((size_t)(s->end - s->p) < size)
                return stream_damaged(s, "it ends too early");
        *out = 0;
        for (size_t i = 0; i < size; i++)
                *out = *out << 8 | *s->p++;
        return 0;
}

static int stream_read_tag(struct object_stream *s, unsigned *out)
{
        uint64_t tag = 0;
        const int r = stream_read_number(s, 1, &tag);
        *out = (unsigned)tag;
        return r;
}

/* A text with a length of @size bytes. */
static int stream_read_text(struct object_stream *s, size_t size, const char **out)
{
        uint64_t n = 0;
        const int r = stream_read_number(s, size, &n);
        if (r < 0)
                return r;
        if (n > (uint64_t)(s->end - s->p))
                return stream_damaged(s, "a text is longer than the stream");
        *out = arena_copy(s->arena, s->p, (size_t)n);
        s->p += n;
        return 0;
}

static int stream_find_handle(struct object_stream *s, const struct handle **out)
{
        uint64_t number = 0;
        const int r = stream_read_number(s, 4, &number);
        if (r < 0)
                return r;
        if (number < FIRST_HANDLE || number - FIRST_HANDLE >= s->handles.len)
                return stream_damaged(s, "it refers to an unknown object");
        *out = &s->handles.data[number - FIRST_HANDLE];
        return 0;
}

static int stream_read_value(struct object_stream *s, unsigned tag, struct java_value *out);

/* Reads the items that a class has written by itself, up to the end mark. Skips raw bytes. @items NULL: drops all. */
static int stream_read_items(struct object_stream *s, java_values *items)
{
        for (;;) {
                struct java_value value;
                unsigned tag = 0;
                uint64_t n = 0;
                int r = stream_read_tag(s, &tag);
                if (r < 0 || tag == TAG_END_BLOCK_DATA)
                        return r;
                if (tag == TAG_BLOCK_DATA || tag == TAG_BLOCK_DATA_LONG) {
                        r = stream_read_number(s, tag == TAG_BLOCK_DATA ? 1 : 4, &n);
                        if (r == 0 && n > (uint64_t)(s->end - s->p))
                                r = stream_damaged(s, "a block is longer than the stream");
                        s->p += r == 0 ? n : 0;
                } else {
                        r = stream_read_value(s, tag, &value);
                        if (r == 0 && items)
                                vec_push(items, value);
                }
                if (r < 0)
                        return r;
        }
}

/* -------------------------------------------------------------------------------------------------------- classes */

static int stream_read_class_fields(struct object_stream *s, struct java_class *class)
{
        uint64_t n = 0;
        int r = stream_read_number(s, 2, &n);
        if (r == 0 && n > (uint64_t)(s->end - s->p))
                r = stream_damaged(s, "a class has more fields than the stream has bytes");
        if (r < 0)
                return r;
        class->fields = arena_alloc(s->arena, ((size_t)n + 1) * sizeof(*class->fields));
        for (; class->n_fields < n; class->n_fields++) {
                struct class_field *field = &class->fields[class->n_fields];
                struct java_value type;
                unsigned tag = 0;
                r = stream_read_tag(s, &tag);
                field->type = (char)tag;
                r = r < 0 ? r : stream_read_text(s, 2, &field->name);
                if (r == 0 && (tag == 'L' || tag == '[')) {
                        r = stream_read_tag(s, &tag);
                        r = r < 0 ? r : stream_read_value(s, tag, &type);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

static int stream_read_class(struct object_stream *s, const struct java_class **out);

static int stream_read_new_class(struct object_stream *s, const struct java_class **out)
{
        struct java_class *class = arena_alloc(s->arena, sizeof(*class));
        uint64_t number = 0;
        *class = (struct java_class){0};
        int r = stream_read_text(s, 2, &class->name);
        r = r < 0 ? r : stream_read_number(s, 8, &number); /* the class's version */
        if (r < 0)
                return r;
        vec_push(&s->handles, (struct handle){.class = class});
        r = stream_read_number(s, 1, &number);
        class->flags = (unsigned)number;
        r = r < 0 ? r : stream_read_class_fields(s, class);
        r = r < 0 ? r : stream_read_items(s, NULL);
        r = r < 0 ? r : stream_read_class(s, &class->super);
        if (r < 0)
                return r;
        if (class->super && !class->super->is_complete)
                return stream_damaged(s, "a class is its own superclass");
        class->n_supers = class->super ? class->super->n_supers + 1 : 0;
        if (class->n_supers > MAX_SUPERCLASSES)
                return stream_damaged(s, "a class has too many superclasses");
        if (class->flags & CLASS_IS_EXTERNALIZABLE)
                return stream_unsupported(s, "a class that writes itself");
        class->is_complete = true;
        *out = class;
        return 0;
}

/* Sets *@out to NULL for none. */
static int stream_read_class(struct object_stream *s, const struct java_class **out)
{
        const struct handle *handle;
        unsigned tag = 0;
        int r = stream_read_tag(s, &tag);
        *out = NULL;
        if (r < 0 || tag == TAG_NULL)
                return r;
        if (++s->depth > MAX_DEPTH)
                return stream_damaged(s, "it is nested too deeply");
        if (tag == TAG_REFERENCE) {
                r = stream_find_handle(s, &handle);
                if (r == 0 && !handle->class)
                        r = stream_damaged(s, "it refers to a class that is none");
                *out = r == 0 ? handle->class : NULL;
        } else if (tag == TAG_CLASS_DESCRIPTION) {
                r = stream_read_new_class(s, out);
        } else {
                r = stream_unsupported(s, "a proxy class");
        }
        s->depth--;
        return r;
}

/* --------------------------------------------------------------------------------------------------------- values */

static int stream_read_primitive(struct object_stream *s, char type, struct java_value *out)
{
        static const struct {
                char type;
                unsigned char size;
                bool is_whole;
        } types[] = {{'B', 1, true}, {'C', 2, true}, {'D', 8, false}, {'F', 4, false},
                     {'I', 4, true}, {'J', 8, true}, {'S', 2, true},  {'Z', 1, true}};
        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                uint64_t bits = 0;
                if (types[i].type != type)
                        continue;
                const int r = stream_read_number(s, types[i].size, &bits);
                if (r < 0)
                        return r;
                const unsigned unused = 64 - 8 * types[i].size;
                const int64_t number = type == 'C' ? (int64_t)bits : (int64_t)(bits << unused) >> unused;
                *out = (struct java_value){.kind = JAVA_NUMBER, .number = types[i].is_whole ? number : 0};
                return 0;
        }
        return stream_damaged(s, "a field has an unknown type");
}

static int stream_read_fields(struct object_stream *s, const struct java_class *class, java_fields *fields,
                              java_values *items)
{
        int r = class->super ? stream_read_fields(s, class->super, fields, items) : 0;
        if (r < 0 || !(class->flags & CLASS_IS_SERIALIZABLE))
                return r;
        for (size_t i = 0; i < class->n_fields; i++) {
                struct java_field field = {.name = class->fields[i].name};
                const char type = class->fields[i].type;
                if (type == 'L' || type == '[') {
                        unsigned tag = 0;
                        r = stream_read_tag(s, &tag);
                        r = r < 0 ? r : stream_read_value(s, tag, &field.value);
                } else {
                        r = stream_read_primitive(s, type, &field.value);
                }
                if (r < 0)
                        return r;
                vec_push(fields, field);
        }
        return class->flags & CLASS_WRITES_MORE ? stream_read_items(s, items) : 0;
}

static int stream_read_object(struct object_stream *s, struct java_value *out)
{
        const struct java_class *class;
        java_fields fields = {0};
        java_values items = {0};
        int r = stream_read_class(s, &class);
        if (r < 0)
                return r;
        if (!class || !class->is_complete)
                return stream_damaged(s, "an object has no class");
        struct java_object *object = arena_alloc(s->arena, sizeof(*object));
        *object = (struct java_object){.class_name = class->name};
        *out = (struct java_value){.kind = JAVA_OBJECT, .object = object};
        vec_push(&s->handles, (struct handle){.value = *out});
        r = stream_read_fields(s, class, &fields, &items);
        if (r == 0) {
                object->fields = arena_alloc(s->arena, (fields.len + 1) * sizeof(*fields.data));
                object->items = arena_alloc(s->arena, (items.len + 1) * sizeof(*items.data));
                object->n_fields = fields.len;
                object->n_items = items.len;
                if (fields.len)
                        memcpy(object->fields, fields.data, fields.len * sizeof(*fields.data));
                if (items.len)
                        memcpy(object->items, items.data, items.len * sizeof(*items.data));
        }
        vec_deinit(&fields);
        vec_deinit(&items);
        return r;
}

static int stream_read_enum(struct object_stream *s, struct java_value *out)
{
        const struct java_class *class;
        unsigned tag = 0;
        int r = stream_read_class(s, &class);
        if (r < 0)
                return r;
        const size_t handle = s->handles.len;
        vec_push(&s->handles, (struct handle){0});
        r = stream_read_tag(s, &tag);
        r = r < 0 ? r : stream_read_value(s, tag, out);
        if (r == 0 && out->kind != JAVA_TEXT)
                r = stream_damaged(s, "a constant has no name");
        if (r == 0)
                s->handles.data[handle].value = *out;
        return r;
}

static int stream_read_string(struct object_stream *s, unsigned tag, struct java_value *out)
{
        *out = (struct java_value){.kind = JAVA_TEXT};
        const int r = stream_read_text(s, tag == TAG_STRING ? 2 : 8, &out->text);
        if (r == 0)
                vec_push(&s->handles, (struct handle){.value = *out});
        return r;
}

static int stream_read_reference(struct object_stream *s, struct java_value *out)
{
        const struct handle *handle;
        const int r = stream_find_handle(s, &handle);
        if (r < 0)
                return r;
        if (handle->class)
                return stream_damaged(s, "a value refers to a class");
        *out = handle->value;
        return 0;
}

/* The value behind @tag. */
static int stream_read_value(struct object_stream *s, unsigned tag, struct java_value *out)
{
        int r;
        *out = (struct java_value){.kind = JAVA_NULL};
        if (++s->depth > MAX_DEPTH)
                return stream_damaged(s, "it is nested too deeply");
        switch (tag) {
        case TAG_NULL:
                r = 0;
                break;
        case TAG_REFERENCE:
                r = stream_read_reference(s, out);
                break;
        case TAG_OBJECT:
                r = stream_read_object(s, out);
                break;
        case TAG_STRING:
        case TAG_LONG_STRING:
                r = stream_read_string(s, tag, out);
                break;
        case TAG_ENUM:
                r = stream_read_enum(s, out);
                break;
        case TAG_ARRAY:
        case TAG_CLASS:
                r = stream_unsupported(s, tag == TAG_ARRAY ? "an array" : "a class as a value");
                break;
        default:
                r = stream_damaged(s, "it holds an unknown kind of content");
        }
        s->depth--;
        return r;
}

int java_object_read(struct arena *arena, const void *data, size_t len, const struct java_object **out,
                     struct fst_error *error)
{
        struct object_stream s = {.arena = arena, .p = data, .end = (const unsigned char *)data + len, .error = error};
        struct java_value root = {.kind = JAVA_NULL};
        uint64_t magic = 0, version = 0;
        unsigned tag = 0;
        if (len > JAVA_OBJECTS_MAX_SIZE)
                return error_set(error, -EFBIG, "a stream of Java objects is larger than %zu MiB",
                                 JAVA_OBJECTS_MAX_SIZE >> 20);
        int r = stream_read_number(&s, 2, &magic);
        r = r < 0 ? r : stream_read_number(&s, 2, &version);
        if (r == 0 && (magic != STREAM_MAGIC || version != STREAM_VERSION))
                r = stream_damaged(&s, "it does not begin as one");
        r = r < 0 ? r : stream_read_tag(&s, &tag);
        r = r < 0 ? r : stream_read_value(&s, tag, &root);
        if (r == 0 && root.kind != JAVA_OBJECT)
                r = stream_damaged(&s, "its first value is not an object");
        if (r == 0)
                *out = root.object;
        vec_deinit(&s.handles);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static const struct java_value *java_object_find(const struct java_object *object, const char *name,
                                                 enum java_value_kind kind)
{
        for (size_t i = 0; object && i < object->n_fields; i++)
                if (object->fields[i].value.kind == kind && strcmp(object->fields[i].name, name) == 0)
                        return &object->fields[i].value;
        return NULL;
}

const struct java_object *java_object_at(const struct java_object *object, const char *name)
{
        const struct java_value *value = java_object_find(object, name, JAVA_OBJECT);
        return value ? value->object : NULL;
}

const char *java_object_text(const struct java_object *object, const char *name)
{
        const struct java_value *value = java_object_find(object, name, JAVA_TEXT);
        return value ? value->text : NULL;
}

int64_t java_object_number(const struct java_object *object, const char *name)
{
        const struct java_value *value = java_object_find(object, name, JAVA_NUMBER);
        return value ? value->number : -1;
}
