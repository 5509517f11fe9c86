/*
 * The objects that R holds, by id. R sees each as an object of a class of Java or Spark.
 *
 * Threads: the functions that take the table lock it. An object that r_objects_get returned is referenced, so that
 * another connection may remove it meanwhile.
 */
#pragma once

#include "sparkr/r_value.h"

#include <firesteel/firesteel.h>

#include <pthread.h>

struct page;

enum r_class {
        R_CLASS_NONE,
        R_CLASS_JAVA_CONTEXT, /* `sc()` of it is the next */
        R_CLASS_CONTEXT,
        R_CLASS_CONF,
        R_CLASS_SESSION,
        R_CLASS_SESSION_CONF,
        R_CLASS_RDD,
        R_CLASS_PAIRWISE_RDD, /* of a shuffle */
        R_CLASS_JAVA_RDD,
        R_CLASS_JAVA_PAIR_RDD,
        R_CLASS_TAG,
        R_CLASS_CLASS, /* java.lang.Class */
        R_CLASS_ROWS,  /* a list of collected rows */
        R_CLASS_PAIR,
        R_CLASS_LIST,
        R_CLASS_PROPERTIES,
        R_CLASS_PARTITIONER,
        R_CLASS_BROADCAST,
        R_CLASS_LEVEL,
        R_CLASS_OPTION,
        R_CLASS_SERVER, /* takes a large collection that must not be in a file */
        R_CLASSES,
};

/* The rows of partitions, collected. */
struct r_rows {
        struct page *pages;       /* the rows borrow from them */
        fst_bytes *keys, *values; /* values: NULL unless the rows are pairs */
        size_t n;
        bool key_lines, value_lines;
};

struct r_object {
        enum r_class class;
        unsigned refs;       /* atomic: ids, calls that run, other objects */
        struct r_object *of; /* R_CLASS_PAIR: its rows; views of an RDD: the RDD; referenced; NULL: none */
        union {
                struct {
                        fst_rdd *rdd; /* NULL: its context was stopped. Of the object without `of`; released with it */
                        bool key_lines, value_lines; /* the rows, or both sides of pairs, are text */
                } rdd;
                struct r_rows rows;
                size_t index;   /* R_CLASS_PAIR */
                int partitions; /* R_CLASS_PARTITIONER */
                fst_broadcast broadcast;
                struct {
                        const char *name; /* borrowed */
                        enum fst_storage_level level;
                } level;
                char *text; /* R_CLASS_CLASS: a name; R_CLASS_OPTION: the value, or NULL */
                struct {
                        struct arena memory;
                        struct r_value *items;
                        size_t n, room;
                } list; /* R_CLASS_LIST; R_CLASS_PROPERTIES: key, value, … */
                struct r_parallelize *server;
        };
};

/* The RDD's own object, with its rdd. */
static inline struct r_object *r_object_rdd(struct r_object *object)
{
        return object->of ? object->of : object;
}

/* The name in Java of @class. */
const char *r_class_name(enum r_class class);

struct r_objects {
        pthread_mutex_t lock;
        struct r_object **all; /* by id; NULL: removed */
        size_t n, room;
};

void r_objects_init(struct r_objects *objects);
void r_objects_deinit(struct r_objects *objects);

/* Creates an object with one reference, the caller's. */
struct r_object *r_object_new(enum r_class class);

/* A view of @object as @class: an object of its own that refers to the same RDD. */
struct r_object *r_object_view(struct r_object *object, enum r_class class);

struct r_object *r_object_ref(struct r_object *object);

/* Drops a reference. NULL is allowed. The last one releases the RDD or frees the rows. */
void r_object_unref(struct r_object *object);

/* Gives @object an id and takes over the caller's reference. The value's text is in @arena. */
struct r_value r_objects_add(struct r_objects *objects, struct r_object *object, struct arena *arena);

/* Returns the object of an id with a reference for the caller, or NULL. */
struct r_object *r_objects_get(struct r_objects *objects, const char *id);

/* Removes an id. Returns false if it is unknown. */
bool r_objects_remove(struct r_objects *objects, const char *id);

/* The context is about to stop: no object refers to one of its RDDs any more. */
void r_objects_forget_rdds(struct r_objects *objects);
