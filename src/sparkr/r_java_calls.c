/* Members of Java's and Scala's classes, and of the values that Spark's members return. */
#include "sparkr/r_calls.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/page.h"
#include "store/storage_level.h"

/* ------------------------------------------------------------------------------------------------------ classes */

static int class_for_name(struct r_call *call)
{
        const char *name;
        int r = r_call_text(call, 0, &name);
        if (r)
                return r;
        struct r_object *object = r_object_new(R_CLASS_CLASS);
        object->text = mem_strdup(name);
        return r_call_give(call, object);
}

static int class_is_instance(struct r_call *call)
{
        const struct r_value *v = &call->arguments[0];
        struct r_object *object = v->type == R_OBJECT ? r_objects_get(&call->world->objects, v->bytes.data) : NULL;
        call->result = r_value_bool(object && strcmp(r_class_name(object->class), call->self->text) == 0);
        r_object_unref(object);
        return 0;
}

static int class_get_name(struct r_call *call)
{
        return r_call_give_text(call, call->self->text);
}

static int object_get_class(struct r_call *call)
{
        struct r_object *object = r_object_new(R_CLASS_CLASS);
        object->text = mem_strdup(r_class_name(call->self->class));
        return r_call_give(call, object);
}

/* -------------------------------------------------------------------------------------------- values and strings */

static int string_value_of(struct r_call *call)
{
        _cleanup_free_ char *text = r_value_text(&call->arguments[0]);
        return r_call_give_text(call, text ? text : "null");
}

/* Milliseconds since 1970, which R sees as a double. */
static int system_current_time(struct r_call *call)
{
        call->result = r_value_double((double)time_of_day_ms());
        return 0;
}

static int option_is_defined(struct r_call *call)
{
        call->result = r_value_bool(call->self->text != NULL);
        return 0;
}

static int option_is_empty(struct r_call *call)
{
        call->result = r_value_bool(!call->self->text);
        return 0;
}

static int option_get(struct r_call *call)
{
        if (call->self->text)
                return r_call_give_text(call, call->self->text);
        call->exception = "java.util.NoSuchElementException";
        return error_set(&call->error, -ENOENT, "None.get");
}

/* -------------------------------------------------------------------------------------------------------- lists */

/* A copy of @v in @arena. An object keeps its id. */
static struct r_value value_copy(struct arena *arena, const struct r_value *v)
{
        struct r_value copy = *v;
        switch (v->type) {
        case R_STRING:
        case R_DATE:
        case R_OBJECT:
        case R_BYTES:
                copy.bytes.data = arena_copy(arena, v->bytes.data, v->bytes.len);
                break;
        case R_ARRAY:
        case R_LIST:
        case R_STRUCT:
        case R_MAP:
                copy.list.items = arena_alloc(arena, (v->list.n + 1) * sizeof(*v->list.items));
                for (size_t i = 0; i < v->list.n; i++)
                        copy.list.items[i] = value_copy(arena, &v->list.items[i]);
                break;
        default:
                break;
        }
        return copy;
}

static void list_push(struct r_object *object, const struct r_value *v)
{
        if (object->list.n == object->list.room) {
                object->list.room = object->list.room ? object->list.room * 2 : 8;
                object->list.items = mem_grow(object->list.items, object->list.room * sizeof(*object->list.items));
        }
        object->list.items[object->list.n++] = value_copy(&object->list.memory, v);
}

static int list_new(struct r_call *call)
{
        return r_call_give(call, r_object_new(R_CLASS_LIST));
}

static int list_add(struct r_call *call)
{
        list_push(call->self, &call->arguments[0]);
        call->result = r_value_bool(true);
        return 0;
}

static int list_size(struct r_call *call)
{
        call->result = r_value_int((int32_t)call->self->list.n);
        return 0;
}

static int index_out_of_bounds(struct r_call *call, int32_t index, size_t n)
{
        call->exception = "java.lang.IndexOutOfBoundsException";
        return error_set(&call->error, -ERANGE, "Index %d out of bounds for length %zu", index, n);
}

static int list_get(struct r_call *call)
{
        int32_t index;
        int r = r_call_int(call, 0, &index);
        if (r)
                return r;
        if (index < 0 || (size_t)index >= call->self->list.n)
                return index_out_of_bounds(call, index, call->self->list.n);
        call->result = value_copy(call->arena, &call->self->list.items[index]);
        return 0;
}

/* --------------------------------------------------------------------------------------------------- properties */

static struct r_value *properties_find(struct r_object *object, const char *key)
{
        for (size_t i = 0; i + 1 < object->list.n; i += 2)
                if (strcmp(object->list.items[i].bytes.data, key) == 0)
                        return &object->list.items[i + 1];
        return NULL;
}

static int properties_new(struct r_call *call)
{
        return r_call_give(call, r_object_new(R_CLASS_PROPERTIES));
}

static int properties_set(struct r_call *call)
{
        const char *key, *value;
        int r = r_call_text(call, 0, &key);
        if (r == 0)
                r = r_call_text(call, 1, &value);
        if (r)
                return r;
        struct r_value *found = properties_find(call->self, key);
        if (found) {
                *found = value_copy(&call->self->list.memory, &call->arguments[1]);
        } else {
                list_push(call->self, &call->arguments[0]);
                list_push(call->self, &call->arguments[1]);
        }
        return 0;
}

static int properties_get(struct r_call *call)
{
        const char *key;
        int r = r_call_text(call, 0, &key);
        const struct r_value *found = r ? NULL : properties_find(call->self, key);
        return r ? r : r_call_give_text(call, found ? found->bytes.data : NULL);
}

static int properties_size(struct r_call *call)
{
        call->result = r_value_int((int32_t)(call->self->list.n / 2));
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- rows */

static int rows_size(struct r_call *call)
{
        call->result = r_value_int((int32_t)call->self->rows.n);
        return 0;
}

/* A row: it borrows from its object until the answer was written. */
static struct r_value row_value(struct r_call *call, fst_bytes row, bool line)
{
        if (!line)
                return (struct r_value){.type = R_BYTES, .bytes = row};
        return (struct r_value){.type = R_STRING, .bytes = {arena_copy(call->arena, row.data, row.len), row.len}};
}

static int rows_get(struct r_call *call)
{
        const struct r_rows *rows = &call->self->rows;
        int32_t index;
        int r = r_call_int(call, 0, &index);
        if (r)
                return r;
        if (index < 0 || (size_t)index >= rows->n)
                return index_out_of_bounds(call, index, rows->n);
        if (rows->values) {
                struct r_object *pair = r_object_new(R_CLASS_PAIR);
                pair->of = r_object_ref(call->self);
                pair->index = (size_t)index;
                return r_call_give(call, pair);
        }
        call->result = row_value(call, rows->keys[index], rows->key_lines);
        return 0;
}

static int pair_first(struct r_call *call)
{
        const struct r_rows *rows = &call->self->of->rows;
        call->result = row_value(call, rows->keys[call->self->index], rows->key_lines);
        return 0;
}

static int pair_second(struct r_call *call)
{
        const struct r_rows *rows = &call->self->of->rows;
        call->result = row_value(call, rows->values[call->self->index], rows->value_lines);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- levels */

static const struct {
        const char *name;
        enum fst_storage_level level;
} levels[] = {
        {"NONE", FST_STORAGE_NONE},
        {"DISK_ONLY", FST_STORAGE_DISK_ONLY},
        {"DISK_ONLY_2", FST_STORAGE_DISK_ONLY_2},
        {"DISK_ONLY_3", FST_STORAGE_DISK_ONLY_3},
        {"MEMORY_ONLY", FST_STORAGE_MEMORY_ONLY},
        {"MEMORY_ONLY_2", FST_STORAGE_MEMORY_ONLY_2},
        {"MEMORY_ONLY_SER", FST_STORAGE_MEMORY_ONLY_SER},
        {"MEMORY_ONLY_SER_2", FST_STORAGE_MEMORY_ONLY_SER_2},
        {"MEMORY_AND_DISK", FST_STORAGE_MEMORY_AND_DISK},
        {"MEMORY_AND_DISK_2", FST_STORAGE_MEMORY_AND_DISK_2},
        {"MEMORY_AND_DISK_SER", FST_STORAGE_MEMORY_AND_DISK_SER},
        {"MEMORY_AND_DISK_SER_2", FST_STORAGE_MEMORY_AND_DISK_SER_2},
        {"OFF_HEAP", FST_STORAGE_OFF_HEAP},
};

static int level_static(struct r_call *call)
{
        struct r_object *object = r_object_new(R_CLASS_LEVEL);
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
                if (strcmp(levels[i].name, call->member) == 0) {
                        object->level.name = levels[i].name;
                        object->level.level = levels[i].level;
                }
        return r_call_give(call, object);
}

static const struct storage_level *level_of(const struct r_call *call)
{
        return &storage_levels[call->self->level.level];
}

static int level_use_disk(struct r_call *call)
{
        call->result = r_value_bool(level_of(call)->disk);
        return 0;
}

static int level_use_memory(struct r_call *call)
{
        call->result = r_value_bool(level_of(call)->memory);
        return 0;
}

static int level_use_off_heap(struct r_call *call)
{
        call->result = r_value_bool(level_of(call)->off_heap);
        return 0;
}

static int level_deserialized(struct r_call *call)
{
        call->result = r_value_bool(level_of(call)->deserialized);
        return 0;
}

static int level_replication(struct r_call *call)
{
        call->result = r_value_int(level_of(call)->replicas);
        return 0;
}

static int level_to_string(struct r_call *call)
{
        const struct storage_level *level = level_of(call);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        buf_puts(&text, "StorageLevel(");
        if (level->disk)
                buf_puts(&text, "disk, ");
        if (level->memory)
                buf_puts(&text, "memory, ");
        if (level->off_heap)
                buf_puts(&text, "offheap, ");
        if (level->deserialized)
                buf_puts(&text, "deserialized, ");
        buf_printf(&text, "%d replicas)", level->replicas ? level->replicas : 1);
        return r_call_give_text(call, buf_text(&text));
}

#define STORAGE_LEVEL "org.apache.spark.storage.StorageLevel"
#define LEVEL(name_)                                                                                                   \
        {                                                                                                              \
                .class_name = STORAGE_LEVEL, .name = name_, .call = level_static                                       \
        }
#define GET_CLASS(class_)                                                                                              \
        {                                                                                                              \
                .class = class_, .name = "getClass", .call = object_get_class                                          \
        }

const struct r_member r_java_members[] = {
        {.class_name = "java.lang.Class", .name = "forName", .least = 1, .most = 1, .call = class_for_name},
        {.class_name = "java.lang.String", .name = "valueOf", .least = 1, .most = 1, .call = string_value_of},
        {.class_name = "java.lang.System", .name = "currentTimeMillis", .call = system_current_time},
        {.class_name = "java.util.ArrayList", .name = "<init>", .call = list_new},
        {.class_name = "java.util.Properties", .name = "<init>", .call = properties_new},
        {.class_name = "java.util.HashMap", .name = "<init>", .call = properties_new},
        {.class = R_CLASS_CLASS, .name = "isInstance", .least = 1, .most = 1, .call = class_is_instance},
        {.class = R_CLASS_CLASS, .name = "getName", .call = class_get_name},
        {.class = R_CLASS_OPTION, .name = "isDefined", .call = option_is_defined},
        {.class = R_CLASS_OPTION, .name = "isEmpty", .call = option_is_empty},
        {.class = R_CLASS_OPTION, .name = "get", .call = option_get},
        {.class = R_CLASS_LIST, .name = "add", .least = 1, .most = 1, .call = list_add},
        {.class = R_CLASS_LIST, .name = "size", .call = list_size},
        {.class = R_CLASS_LIST, .name = "get", .least = 1, .most = 1, .call = list_get},
        {.class = R_CLASS_PROPERTIES, .name = "setProperty", .least = 2, .most = 2, .call = properties_set},
        {.class = R_CLASS_PROPERTIES, .name = "put", .least = 2, .most = 2, .call = properties_set},
        {.class = R_CLASS_PROPERTIES, .name = "getProperty", .least = 1, .most = 1, .call = properties_get},
        {.class = R_CLASS_PROPERTIES, .name = "get", .least = 1, .most = 1, .call = properties_get},
        {.class = R_CLASS_PROPERTIES, .name = "size", .call = properties_size},
        {.class = R_CLASS_ROWS, .name = "size", .call = rows_size},
        {.class = R_CLASS_ROWS, .name = "get", .least = 1, .most = 1, .call = rows_get},
        {.class = R_CLASS_PAIR, .name = "_1", .call = pair_first},
        {.class = R_CLASS_PAIR, .name = "_2", .call = pair_second},
        LEVEL("NONE"),
        LEVEL("DISK_ONLY"),
        LEVEL("DISK_ONLY_2"),
        LEVEL("DISK_ONLY_3"),
        LEVEL("MEMORY_ONLY"),
        LEVEL("MEMORY_ONLY_2"),
        LEVEL("MEMORY_ONLY_SER"),
        LEVEL("MEMORY_ONLY_SER_2"),
        LEVEL("MEMORY_AND_DISK"),
        LEVEL("MEMORY_AND_DISK_2"),
        LEVEL("MEMORY_AND_DISK_SER"),
        LEVEL("MEMORY_AND_DISK_SER_2"),
        LEVEL("OFF_HEAP"),
        {.class = R_CLASS_LEVEL, .name = "useDisk", .call = level_use_disk},
        {.class = R_CLASS_LEVEL, .name = "useMemory", .call = level_use_memory},
        {.class = R_CLASS_LEVEL, .name = "useOffHeap", .call = level_use_off_heap},
        {.class = R_CLASS_LEVEL, .name = "deserialized", .call = level_deserialized},
        {.class = R_CLASS_LEVEL, .name = "replication", .call = level_replication},
        {.class = R_CLASS_LEVEL, .name = "toString", .call = level_to_string},
        GET_CLASS(R_CLASS_JAVA_CONTEXT),
        GET_CLASS(R_CLASS_CONTEXT),
        GET_CLASS(R_CLASS_CONF),
        GET_CLASS(R_CLASS_SESSION),
        GET_CLASS(R_CLASS_RDD),
        GET_CLASS(R_CLASS_PAIRWISE_RDD),
        GET_CLASS(R_CLASS_JAVA_RDD),
        GET_CLASS(R_CLASS_JAVA_PAIR_RDD),
        GET_CLASS(R_CLASS_ROWS),
        GET_CLASS(R_CLASS_PAIR),
        GET_CLASS(R_CLASS_LIST),
        GET_CLASS(R_CLASS_PROPERTIES),
        GET_CLASS(R_CLASS_PARTITIONER),
        GET_CLASS(R_CLASS_BROADCAST),
        GET_CLASS(R_CLASS_LEVEL),
        GET_CLASS(R_CLASS_OPTION),
        {0},
};
