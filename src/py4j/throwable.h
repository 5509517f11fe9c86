/* Exceptions that Python gets as Py4JJavaError: an object with a class name, a message and the text of its stack trace.
 */
#pragma once

#include "py4j/object.h"

#define PY4J_THROWABLE "java.lang.Throwable"

extern const struct py4j_class py4j_throwable_class;

/* A new exception; the texts are copied. @trace NULL: "CLASS: MESSAGE". */
struct py4j_object *py4j_throwable_new(const char *class, const char *message, const char *trace);

/* The Java class, the stack trace. Borrowed. */
const char *py4j_throwable_class_name(const struct py4j_object *object);
const char *py4j_throwable_trace(const struct py4j_object *object);
