/*
 * Java's serialization of an array of byte arrays, the elements of Spark's saveAsObjectFile for an RDD of byte arrays
 * (which PySpark's saveAsPickleFile is). Pure.
 *
 * An element is a view that includes its length: an int32 in big-endian order, then as many bytes. Null is the view
 * {NULL, 0}.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <firesteel/types.h>

struct fst_error;

typedef VEC(fst_bytes) java_arrays;

/*
 * Appends the elements of the serialized byte[][], or Object[] of byte[], in @data to @elements. They are views into
 * @data. Returns -EBADMSG with @error for damaged data, -ENOTSUP for objects of other classes, which the message names.
 */
int java_arrays_read(fst_bytes data, java_arrays *elements, struct fst_error *error);

/* Writes a byte[][] into a buffer: begin, put each element, end. */
struct java_arrays_writer {
        struct buf *out;
        size_t count_at; /* where the number of elements stands */
        uint32_t count;
        bool described; /* the class byte[] was written */
};

void java_arrays_begin(struct java_arrays_writer *w, struct buf *out);

/* Returns false when out of memory. */
bool java_arrays_put(struct java_arrays_writer *w, fst_bytes element);
void java_arrays_end(struct java_arrays_writer *w);
