/*
 * Objects that a Py4J program holds, and the classes that describe them to it.
 *
 * An object starts with struct py4j_object. A class is a static table of members; nothing here knows what they do.
 *
 *      static void list_size(struct py4j_call *call)
 *      {
 *              call->result = py4j_int(list_of(call->self)->values.len);
 *      }
 *      static const struct py4j_member list_members[] = {{"size", "", list_size}, …};
 *
 * A call has one of three outcomes: its result, an exception (py4j_throw), or, before the function is called, the
 * answer that no member takes these arguments.
 */
#pragma once

#include "py4j/value.h"

struct py4j_call;
struct py4j_class;
struct py4j_gateway;

struct py4j_object {
        const struct py4j_class *class;
        int refs; /* atomic */
};

/* Initialises a new object with one reference, which the caller owns. */
void py4j_object_init(struct py4j_object *object, const struct py4j_class *class);

/* Takes a reference and returns @object. Both accept NULL, and any thread may call them. */
struct py4j_object *py4j_object_ref(struct py4j_object *object);

/* Gives a reference back. The last one frees the object by its class. */
void py4j_object_unref(struct py4j_object *object);

/* Appends the text of its toString. */
void py4j_object_print(const struct py4j_object *object, struct buf *out);

enum py4j_member_kind {
        PY4J_METHOD_OF_OBJECT,
        PY4J_STATIC_METHOD,
        PY4J_CONSTRUCTOR, /* its name is that of no method: "" */
        PY4J_STATIC_FIELD /* the function makes its value; "" */
};

struct py4j_member {
        const char *name;
        /*
         * The arguments, a letter each: s text, S text or null, i integer, b boolean, d number, j bytes, r object,
         * R object or null, o anything. "*" stands for any number of anything. Several rows with one name are
         * overloads, of which the first that fits is called.
         */
        const char *arguments;
        void (*call)(struct py4j_call *call);
        enum py4j_member_kind kind;
};

struct py4j_class {
        const char *name;                /* "java.util.ArrayList" */
        const struct py4j_class *parent; /* NULL: java.lang.Object */
        enum py4j_type letter;           /* of answers; 0: PY4J_OBJECT */
        const struct py4j_member *members;
        size_t n_members;
        void (*free)(struct py4j_object *object);                         /* NULL: plain free */
        void (*print)(const struct py4j_object *object, struct buf *out); /* toString; NULL: name and address */
};

#define PY4J_MEMBERS(table) .members = (table), .n_members = ARRAY_SIZE(table)

/* java.lang.Object, the parent of every class. */
extern const struct py4j_class py4j_object_class;

/* Whether @class is @name or inherits from it. */
bool py4j_class_is(const struct py4j_class *class, const char *name);

/* One call of a member. */
struct py4j_call {
        struct py4j_gateway *gateway;
        void *context; /* of the gateway's owner */
        const struct py4j_member *member;
        const struct py4j_class *class; /* of the object, or the one that was named */
        struct py4j_object *self;       /* NULL: static */
        const struct py4j_value *args;  /* borrowed; objects are resolved */
        size_t n;
        struct py4j_value result;   /* set by the function; void at first */
        struct py4j_object *thrown; /* set by py4j_throw; owned */
};

/* Ends the call with an exception of the Java class @class. Replaces an earlier one. */
void py4j_throw(struct py4j_call *call, const char *class, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* As above, with a message that may be long, and the text that printStackTrace prints ("CLASS: MESSAGE" for NULL). */
void py4j_throw_text(struct py4j_call *call, const char *class, const char *message, const char *trace);

/* Argument @i if it is an object of @class or of a class that inherits from it; else NULL, and the call throws. */
struct py4j_object *py4j_argument(struct py4j_call *call, size_t i, const struct py4j_class *class);

/* The text of argument @i, NULL for null. Borrowed. */
const char *py4j_text_argument(const struct py4j_call *call, size_t i);
