/*
 * Collections; see collections.h. All of them are a vector of values. A map has a second vector with the keys. Lookups
 * compare one element after another, because Python programs send lists and environments, not large maps.
 */
#include "py4j/collections.h"

#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>

struct collection {
        struct py4j_object object;
        VEC(struct py4j_value) keys;   /* of a map */
        VEC(struct py4j_value) values; /* of an iterator: a copy of what it walks */
        size_t next;                   /* of an iterator */
        char *element;                 /* of an array: the class of its elements */
        struct collection *next_free;  /* in the list of those to free */
};

static pthread_mutex_t collections_lock = PTHREAD_MUTEX_INITIALIZER;

static struct collection *collection_of(const struct py4j_object *object)
{
        return (struct collection *)object;
}

static void collection_free_one(struct collection *c)
{
        for (size_t i = 0; i < c->keys.len; i++)
                py4j_value_deinit(&c->keys.data[i]);
        for (size_t i = 0; i < c->values.len; i++)
                py4j_value_deinit(&c->values.data[i]);
        vec_deinit(&c->keys);
        vec_deinit(&c->values);
        free(c->element);
        free(c);
}

/* Frees collections in collections, of any depth, one by one, because a recursion would need as much stack. */
static void collection_free(struct py4j_object *object)
{
        static _Thread_local struct collection *to_free;
        static _Thread_local bool freeing;
        struct collection *c = collection_of(object);
        c->next_free = to_free;
        to_free = c;
        if (freeing)
                return;
        freeing = true;
        while ((c = to_free)) {
                to_free = c->next_free;
                collection_free_one(c);
        }
        freeing = false;
}

static struct collection *collection_new(const struct py4j_class *class)
{
        struct collection *c = new0(struct collection);
        py4j_object_init(&c->object, class);
        return c;
}

/* The index of @value in the keys (@keys) or values, or -1. */
static ssize_t collection_find(const struct collection *c, bool keys, const struct py4j_value *value)
{
        const struct py4j_value *data = keys ? c->keys.data : c->values.data;
        size_t n = keys ? c->keys.len : c->values.len;
        for (size_t i = 0; i < n; i++)
                if (py4j_value_equals(&data[i], value))
                        return (ssize_t)i;
        return -1;
}

/* Removes element @at and returns it. *@key receives its key, void if the collection is no map. */
static struct py4j_value collection_take(struct collection *c, size_t at, struct py4j_value *key)
{
        struct py4j_value taken = c->values.data[at];
        *key = PY4J_VALUE_INIT;
        memmove(&c->values.data[at], &c->values.data[at + 1], (c->values.len - at - 1) * sizeof(taken));
        c->values.len--;
        if (c->keys.len) {
                *key = c->keys.data[at];
                memmove(&c->keys.data[at], &c->keys.data[at + 1], (c->keys.len - at - 1) * sizeof(taken));
                c->keys.len--;
        }
        return taken;
}

/* How deep collections nest, and how many of them a collection may hold in all. */
#define MAX_NESTING 64
#define MAX_NESTED 100000

/* Whether @value is @target, holds it, or holds too much. */
static bool collection_reaches(const struct py4j_value *value, const struct py4j_object *target, int depth, int *left)
{
        if (value->type != PY4J_OBJECT || value->object->class->free != collection_free)
                return false;
        if (value->object == target || depth == 0 || --*left < 0)
                return true;
        const struct collection *c = collection_of(value->object);
        for (size_t i = 0; i < c->keys.len; i++)
                if (collection_reaches(&c->keys.data[i], target, depth - 1, left))
                        return true;
        for (size_t i = 0; i < c->values.len; i++)
                if (collection_reaches(&c->values.data[i], target, depth - 1, left))
                        return true;
        return false;
}

bool py4j_may_hold(const struct py4j_object *object, const struct py4j_value *value)
{
        int left = MAX_NESTED;
        pthread_mutex_lock(&collections_lock);
        bool reaches = collection_reaches(value, object, MAX_NESTING, &left);
        pthread_mutex_unlock(&collections_lock);
        return !reaches;
}

/* Whether the collection of @call may hold argument @i. If not, the call throws. */
static bool collection_accepts(struct py4j_call *call, size_t i)
{
        bool accepts = py4j_may_hold(call->self, &call->args[i]);
        if (!accepts)
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "a collection cannot hold itself, or nest more than %d times", MAX_NESTING);
        return accepts;
}

void py4j_add(struct py4j_object *object, struct py4j_value value)
{
        struct collection *c = collection_of(object);
        pthread_mutex_lock(&collections_lock);
        vec_push(&c->values, value);
        pthread_mutex_unlock(&collections_lock);
}

void py4j_map_put(struct py4j_object *object, struct py4j_value key, struct py4j_value value)
{
        struct collection *map = collection_of(object);
        pthread_mutex_lock(&collections_lock);
        ssize_t at = collection_find(map, true, &key);
        struct py4j_value old = PY4J_VALUE_INIT;
        if (at < 0) {
                vec_push(&map->keys, key);
                vec_push(&map->values, value);
                key = PY4J_VALUE_INIT;
        } else {
                old = map->values.data[at];
                map->values.data[at] = value;
        }
        pthread_mutex_unlock(&collections_lock);
        py4j_value_deinit(&key);
        py4j_value_deinit(&old);
}

void py4j_map_put_text(struct py4j_object *map, const char *key, const char *value)
{
        py4j_map_put(map, py4j_string(key), py4j_string(value));
}

size_t py4j_length(const struct py4j_object *object)
{
        return collection_of(object)->values.len;
}

const struct py4j_value *py4j_element(const struct py4j_object *object, size_t i)
{
        return &collection_of(object)->values.data[i];
}

const struct py4j_value *py4j_map_key(const struct py4j_object *map, size_t i)
{
        return &collection_of(map)->keys.data[i];
}

struct py4j_object *py4j_collection_copy(const struct py4j_object *object)
{
        const struct collection *from = collection_of(object);
        struct collection *copy = collection_new(object->class);
        copy->element = mem_strdup_if(from->element);
        pthread_mutex_lock(&collections_lock);
        for (size_t i = 0; i < from->keys.len; i++)
                vec_push(&copy->keys, py4j_value_copy(&from->keys.data[i]));
        for (size_t i = 0; i < from->values.len; i++)
                vec_push(&copy->values, py4j_value_copy(&from->values.data[i]));
        pthread_mutex_unlock(&collections_lock);
        return &copy->object;
}

struct py4j_value py4j_element_copy(const struct py4j_object *object, size_t i)
{
        const struct collection *c = collection_of(object);
        pthread_mutex_lock(&collections_lock);
        struct py4j_value copy = i < c->values.len ? py4j_value_copy(&c->values.data[i]) : PY4J_VALUE_INIT;
        pthread_mutex_unlock(&collections_lock);
        return copy;
}

void py4j_array_set(struct py4j_object *array, size_t i, struct py4j_value value)
{
        struct collection *c = collection_of(array);
        pthread_mutex_lock(&collections_lock);
        struct py4j_value old = c->values.data[i];
        c->values.data[i] = value;
        pthread_mutex_unlock(&collections_lock);
        py4j_value_deinit(&old);
}

struct py4j_object *py4j_slice(const struct py4j_object *object, const struct py4j_value *index, size_t n)
{
        const struct collection *from = collection_of(object);
        struct collection *list = collection_new(object->class);
        bool fits = true;
        list->element = mem_strdup_if(from->element);
        pthread_mutex_lock(&collections_lock);
        for (size_t i = 0; i < n && fits; i++) {
                fits = index[i].type == PY4J_INT && index[i].number >= 0 && (size_t)index[i].number < from->values.len;
                if (fits)
                        vec_push(&list->values, py4j_value_copy(&from->values.data[index[i].number]));
        }
        pthread_mutex_unlock(&collections_lock);
        if (fits)
                return &list->object;
        py4j_object_unref(&list->object);
        return NULL;
}

static struct collection *collection_iterator(const struct collection *from, bool keys)
{
        struct collection *it = collection_new(&py4j_iterator_class);
        pthread_mutex_lock(&collections_lock);
        const struct py4j_value *data = keys ? from->keys.data : from->values.data;
        for (size_t i = 0, n = keys ? from->keys.len : from->values.len; i < n; i++)
                vec_push(&it->values, py4j_value_copy(&data[i]));
        pthread_mutex_unlock(&collections_lock);
        return it;
}

/* ------------------------------------------------------------------------------- members of all collections */

static void collection_size(struct py4j_call *call)
{
        call->result = py4j_int((int64_t)py4j_length(call->self));
}

static void collection_is_empty(struct py4j_call *call)
{
        call->result = py4j_bool(py4j_length(call->self) == 0);
}

static void collection_iterate(struct py4j_call *call)
{
        call->result = py4j_object_value(&collection_iterator(collection_of(call->self), false)->object);
}

static void collection_contains(struct py4j_call *call)
{
        pthread_mutex_lock(&collections_lock);
        call->result = py4j_bool(collection_find(collection_of(call->self), false, &call->args[0]) >= 0);
        pthread_mutex_unlock(&collections_lock);
}

void py4j_map_clear(struct py4j_object *object)
{
        struct collection *c = collection_of(object), *old = collection_new(object->class);
        pthread_mutex_lock(&collections_lock);
        memcpy(&old->keys, &c->keys, sizeof(c->keys));
        memcpy(&old->values, &c->values, sizeof(c->values));
        memset(&c->keys, 0, sizeof(c->keys));
        memset(&c->values, 0, sizeof(c->values));
        pthread_mutex_unlock(&collections_lock);
        py4j_object_unref(&old->object);
}

static void collection_clear(struct py4j_call *call)
{
        py4j_map_clear(call->self);
}

static void collection_print(const struct py4j_object *object, struct buf *out)
{
        struct py4j_object *copy = py4j_collection_copy(object);
        const struct collection *c = collection_of(copy);
        bool is_map = object->class == &py4j_map_class;
        buf_putc(out, is_map ? '{' : '[');
        for (size_t i = 0; i < c->values.len; i++) {
                if (i)
                        buf_puts(out, ", ");
                if (is_map) {
                        py4j_value_print(&c->keys.data[i], out);
                        buf_putc(out, '=');
                }
                py4j_value_print(&c->values.data[i], out);
        }
        buf_putc(out, is_map ? '}' : ']');
        py4j_object_unref(copy);
}

/* ---------------------------------------------------------------------------------------------------- lists */

/* The index in argument @i, or -1, and the call throws. @end allows the position after the last element. */
static ssize_t list_index(struct py4j_call *call, bool end)
{
        int64_t at = call->args[0].number;
        size_t n = collection_of(call->self)->values.len;
        if (at >= 0 && (size_t)at < n + end)
                return (ssize_t)at;
        py4j_throw(call, "java.lang.IndexOutOfBoundsException", "Index %" PRId64 " out of bounds for length %zu", at,
                   n);
        return -1;
}

static void list_get(struct py4j_call *call)
{
        pthread_mutex_lock(&collections_lock);
        ssize_t at = list_index(call, false);
        if (at >= 0)
                call->result = py4j_value_copy(&collection_of(call->self)->values.data[at]);
        pthread_mutex_unlock(&collections_lock);
}

static void list_set(struct py4j_call *call)
{
        struct collection *list = collection_of(call->self);
        if (!collection_accepts(call, 1))
                return;
        pthread_mutex_lock(&collections_lock);
        ssize_t at = list_index(call, false);
        if (at >= 0) {
                call->result = list->values.data[at];
                list->values.data[at] = py4j_value_copy(&call->args[1]);
        }
        pthread_mutex_unlock(&collections_lock);
}

static void list_add(struct py4j_call *call)
{
        if (!collection_accepts(call, 0))
                return;
        py4j_add(call->self, py4j_value_copy(&call->args[0]));
        call->result = py4j_bool(true);
}

static void list_insert(struct py4j_call *call)
{
        struct collection *list = collection_of(call->self);
        if (!collection_accepts(call, 1))
                return;
        pthread_mutex_lock(&collections_lock);
        ssize_t at = list_index(call, true);
        if (at >= 0)
                vec_insert(&list->values, (size_t)at, py4j_value_copy(&call->args[1]));
        pthread_mutex_unlock(&collections_lock);
}

static void list_remove_at(struct py4j_call *call)
{
        struct py4j_value no_key;
        pthread_mutex_lock(&collections_lock);
        ssize_t at = list_index(call, false);
        if (at >= 0)
                call->result = collection_take(collection_of(call->self), (size_t)at, &no_key);
        pthread_mutex_unlock(&collections_lock);
}

static void collection_remove(struct py4j_call *call)
{
        struct collection *c = collection_of(call->self);
        struct py4j_value taken = PY4J_VALUE_INIT, no_key;
        pthread_mutex_lock(&collections_lock);
        ssize_t at = collection_find(c, false, &call->args[0]);
        if (at >= 0)
                taken = collection_take(c, (size_t)at, &no_key);
        pthread_mutex_unlock(&collections_lock);
        py4j_value_deinit(&taken);
        call->result = py4j_bool(at >= 0);
}

static void list_index_of(struct py4j_call *call)
{
        pthread_mutex_lock(&collections_lock);
        call->result = py4j_int(collection_find(collection_of(call->self), false, &call->args[0]));
        pthread_mutex_unlock(&collections_lock);
}

static void list_construct(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_list_new());
}

static const struct py4j_member list_members[] = {
        {"", "", list_construct, PY4J_CONSTRUCTOR},
        {"", "i", list_construct, PY4J_CONSTRUCTOR},
        {"add", "o", list_add},
        {"add", "io", list_insert},
        {"size", "", collection_size},
        {"length", "", collection_size},
        {"get", "i", list_get},
        {"apply", "i", list_get},
        {"set", "io", list_set},
        {"iterator", "", collection_iterate},
        {"contains", "o", collection_contains},
        {"indexOf", "o", list_index_of},
        {"isEmpty", "", collection_is_empty},
        {"clear", "", collection_clear},
        {"remove", "i", list_remove_at},
        {"remove", "o", collection_remove},
};

const struct py4j_class py4j_list_class = {.name = "java.util.ArrayList",
                                           .letter = 'l',
                                           PY4J_MEMBERS(list_members),
                                           .free = collection_free,
                                           .print = collection_print};

struct py4j_object *py4j_list_new(void)
{
        return &collection_new(&py4j_list_class)->object;
}

/* ----------------------------------------------------------------------------------------------------- sets */

static void set_add(struct py4j_call *call)
{
        struct collection *set = collection_of(call->self);
        if (!collection_accepts(call, 0))
                return;
        pthread_mutex_lock(&collections_lock);
        bool is_new = collection_find(set, false, &call->args[0]) < 0;
        if (is_new)
                vec_push(&set->values, py4j_value_copy(&call->args[0]));
        pthread_mutex_unlock(&collections_lock);
        call->result = py4j_bool(is_new);
}

static void set_construct(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_set_new());
}

static const struct py4j_member set_members[] = {
        {"", "", set_construct, PY4J_CONSTRUCTOR},
        {"add", "o", set_add},
        {"size", "", collection_size},
        {"iterator", "", collection_iterate},
        {"contains", "o", collection_contains},
        {"isEmpty", "", collection_is_empty},
        {"clear", "", collection_clear},
        {"remove", "o", collection_remove},
};

const struct py4j_class py4j_set_class = {.name = "java.util.HashSet",
                                          .letter = 'h',
                                          PY4J_MEMBERS(set_members),
                                          .free = collection_free,
                                          .print = collection_print};

struct py4j_object *py4j_set_new(void)
{
        return &collection_new(&py4j_set_class)->object;
}

/* ----------------------------------------------------------------------------------------------------- maps */

static void map_get(struct py4j_call *call)
{
        struct collection *map = collection_of(call->self);
        pthread_mutex_lock(&collections_lock);
        ssize_t at = collection_find(map, true, &call->args[0]);
        call->result = at < 0 ? py4j_object_value(NULL) : py4j_value_copy(&map->values.data[at]);
        pthread_mutex_unlock(&collections_lock);
}

static void map_put(struct py4j_call *call)
{
        if (!collection_accepts(call, 0) || !collection_accepts(call, 1))
                return;
        map_get(call);
        py4j_map_put(call->self, py4j_value_copy(&call->args[0]), py4j_value_copy(&call->args[1]));
}

static void map_contains_key(struct py4j_call *call)
{
        pthread_mutex_lock(&collections_lock);
        call->result = py4j_bool(collection_find(collection_of(call->self), true, &call->args[0]) >= 0);
        pthread_mutex_unlock(&collections_lock);
}

static void map_remove(struct py4j_call *call)
{
        struct collection *map = collection_of(call->self);
        struct py4j_value key = PY4J_VALUE_INIT;
        pthread_mutex_lock(&collections_lock);
        ssize_t at = collection_find(map, true, &call->args[0]);
        call->result = at < 0 ? py4j_object_value(NULL) : collection_take(map, (size_t)at, &key);
        pthread_mutex_unlock(&collections_lock);
        py4j_value_deinit(&key); /* without the lock: it may end a broadcast */
}

static void map_key_set(struct py4j_call *call)
{
        struct collection *set = collection_iterator(collection_of(call->self), true);
        set->object.class = &py4j_set_class;
        call->result = py4j_object_value(&set->object);
}

static void map_values(struct py4j_call *call)
{
        struct collection *list = collection_iterator(collection_of(call->self), false);
        list->object.class = &py4j_list_class;
        call->result = py4j_object_value(&list->object);
}

static void map_clone(struct py4j_call *call)
{
        struct py4j_object *copy = py4j_map_new();
        struct collection *map = collection_of(call->self), *to = collection_of(copy);
        pthread_mutex_lock(&collections_lock);
        for (size_t i = 0; i < map->keys.len; i++) {
                vec_push(&to->keys, py4j_value_copy(&map->keys.data[i]));
                vec_push(&to->values, py4j_value_copy(&map->values.data[i]));
        }
        pthread_mutex_unlock(&collections_lock);
        call->result = py4j_object_value(copy);
}

static void map_construct(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_map_new());
}

static const struct py4j_member map_members[] = {
        {"", "", map_construct, PY4J_CONSTRUCTOR},
        {"put", "oo", map_put},
        {"get", "o", map_get},
        {"getProperty", "o", map_get},
        {"containsKey", "o", map_contains_key},
        {"keySet", "", map_key_set},
        {"values", "", map_values},
        {"size", "", collection_size},
        {"isEmpty", "", collection_is_empty},
        {"remove", "o", map_remove},
        {"clear", "", collection_clear},
        {"clone", "", map_clone},
};

const struct py4j_class py4j_map_class = {.name = "java.util.HashMap",
                                          .letter = 'a',
                                          PY4J_MEMBERS(map_members),
                                          .free = collection_free,
                                          .print = collection_print};

struct py4j_object *py4j_map_new(void)
{
        return &collection_new(&py4j_map_class)->object;
}

/* -------------------------------------------------------------------------------------- arrays and iterators */

static void array_print(const struct py4j_object *object, struct buf *out)
{
        buf_printf(out, "[L%s;@%x", collection_of(object)->element, (unsigned)((uintptr_t)object >> 4));
}

const struct py4j_class py4j_array_class = {
        .name = "java.lang.Object[]", .letter = 't', .free = collection_free, .print = array_print};

struct py4j_object *py4j_array_new(const char *class, size_t len)
{
        struct collection *array = collection_new(&py4j_array_class);
        array->element = mem_strdup(class);
        for (size_t i = 0; i < len; i++)
                vec_push(&array->values, py4j_object_value(NULL));
        return &array->object;
}

static void iterator_next(struct py4j_call *call)
{
        struct collection *it = collection_of(call->self);
        pthread_mutex_lock(&collections_lock);
        if (it->next < it->values.len)
                call->result = py4j_value_copy(&it->values.data[it->next++]);
        else
                py4j_throw(call, "java.util.NoSuchElementException", "no more elements");
        pthread_mutex_unlock(&collections_lock);
}

static void iterator_has_next(struct py4j_call *call)
{
        struct collection *it = collection_of(call->self);
        call->result = py4j_bool(it->next < it->values.len);
}

static const struct py4j_member iterator_members[] = {
        {"next", "", iterator_next},
        {"hasNext", "", iterator_has_next},
};

const struct py4j_class py4j_iterator_class = {
        .name = "java.util.Iterator", .letter = 'g', PY4J_MEMBERS(iterator_members), .free = collection_free};

/* ------------------------------------------------------------------------------------------ tuples, options */

static void tuple_first(struct py4j_call *call)
{
        call->result = py4j_value_copy(py4j_element(call->self, 0));
}

static void tuple_second(struct py4j_call *call)
{
        call->result = py4j_value_copy(py4j_element(call->self, 1));
}

static void tuple_construct(struct py4j_call *call)
{
        if (!collection_accepts(call, 0) || !collection_accepts(call, 1))
                return;
        call->result =
                py4j_object_value(py4j_tuple_new(py4j_value_copy(&call->args[0]), py4j_value_copy(&call->args[1])));
}

static void tuple_print(const struct py4j_object *object, struct buf *out)
{
        buf_putc(out, '(');
        py4j_value_print(py4j_element(object, 0), out);
        buf_putc(out, ',');
        py4j_value_print(py4j_element(object, 1), out);
        buf_putc(out, ')');
}

static const struct py4j_member tuple_members[] = {
        {"", "oo", tuple_construct, PY4J_CONSTRUCTOR},
        {"_1", "", tuple_first},
        {"_2", "", tuple_second},
};

const struct py4j_class py4j_tuple_class = {
        .name = "scala.Tuple2", PY4J_MEMBERS(tuple_members), .free = collection_free, .print = tuple_print};

struct py4j_object *py4j_tuple_new(struct py4j_value first, struct py4j_value second)
{
        struct collection *tuple = collection_new(&py4j_tuple_class);
        vec_push(&tuple->values, first);
        vec_push(&tuple->values, second);
        return &tuple->object;
}

static void option_get(struct py4j_call *call)
{
        if (py4j_length(call->self))
                call->result = py4j_value_copy(py4j_element(call->self, 0));
        else
                py4j_throw(call, "java.util.NoSuchElementException", "None.get");
}

static void option_is_defined(struct py4j_call *call)
{
        call->result = py4j_bool(py4j_length(call->self) > 0);
}

static void option_print(const struct py4j_object *object, struct buf *out)
{
        if (!py4j_length(object)) {
                buf_puts(out, "None");
                return;
        }
        buf_puts(out, "Some(");
        py4j_value_print(py4j_element(object, 0), out);
        buf_putc(out, ')');
}

static const struct py4j_member option_members[] = {
        {"get", "", option_get},
        {"isDefined", "", option_is_defined},
        {"nonEmpty", "", option_is_defined},
        {"isEmpty", "", collection_is_empty},
};

const struct py4j_class py4j_option_class = {
        .name = "scala.Option", PY4J_MEMBERS(option_members), .free = collection_free, .print = option_print};

struct py4j_object *py4j_option_new(struct py4j_value value)
{
        struct collection *option = collection_new(&py4j_option_class);
        if (value.type != PY4J_NULL)
                vec_push(&option->values, value);
        return &option->object;
}
