/*
 * The collections of java.util that Python exchanges with Java: lists, maps, sets, iterators and arrays of values, and
 * scala.Option and scala.Tuple2, which are as plain.
 *
 * Collections are guarded by one lock, so that threads of a Python program may share them. Values passed in are taken
 * over; values handed out are borrowed until the collection changes.
 */
#pragma once

#include "py4j/object.h"

extern const struct py4j_class py4j_list_class, py4j_map_class, py4j_set_class, py4j_array_class, py4j_iterator_class,
        py4j_tuple_class, py4j_option_class;

struct py4j_object *py4j_list_new(void);
struct py4j_object *py4j_map_new(void);
struct py4j_object *py4j_set_new(void);

/* An array of @len nulls, of the element class @class (static or copied into the class's text). */
struct py4j_object *py4j_array_new(const char *class, size_t len);
struct py4j_object *py4j_tuple_new(struct py4j_value first, struct py4j_value second);

/* scala.Some of @value, or scala.None for a null value. */
struct py4j_object *py4j_option_new(struct py4j_value value);

/*
 * Whether @collection may hold @value: not if that would make it hold itself, which references by count cannot free, or
 * nest too deep. Those who add values of a program check this first.
 */
bool py4j_may_hold(const struct py4j_object *collection, const struct py4j_value *value);

/* Appends to a list, set or array. */
void py4j_add(struct py4j_object *collection, struct py4j_value value);
void py4j_map_put(struct py4j_object *map, struct py4j_value key, struct py4j_value value);
void py4j_map_clear(struct py4j_object *map);
void py4j_map_put_text(struct py4j_object *map, const char *key, const char *value);

/* The number of elements of a list, set, array or map; an element, of a map a value. @i is below the length. */
size_t py4j_length(const struct py4j_object *collection);
const struct py4j_value *py4j_element(const struct py4j_object *collection, size_t i);
const struct py4j_value *py4j_map_key(const struct py4j_object *map, size_t i);

/*
 * A new collection of the same class with the same elements. Whoever reads more than one element of a collection of the
 * program reads a copy, because other connections may change the collection meanwhile.
 */
struct py4j_object *py4j_collection_copy(const struct py4j_object *collection);

/* A copy of element @i; void if there is none any more. */
struct py4j_value py4j_element_copy(const struct py4j_object *collection, size_t i);

/* Replaces element @i of an array. */
void py4j_array_set(struct py4j_object *array, size_t i, struct py4j_value value);

/* A new list of the elements @index (of @n) of a list or array; NULL if one is out of range. */
struct py4j_object *py4j_slice(const struct py4j_object *collection, const struct py4j_value *index, size_t n);
