/*
 * See java_arrays.h. The grammar is that of the Java Object Serialization Specification, restricted to arrays. Each
 * class and each array gets the next handle, in the order of the stream, and later occurrences refer to it.
 */
#include "io/java_arrays.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"

#include <endian.h>

#define FIRST_HANDLE 0x7e0000u

enum { TC_NULL = 0x70, TC_REFERENCE = 0x71, TC_CLASSDESC = 0x72, TC_ARRAY = 0x75, TC_END_BLOCK = 0x78 };

static const char *const type_code_names[] = {"null",
                                              "a reference",
                                              "a class",
                                              "an object",
                                              "a string",
                                              "an array",
                                              "a class object",
                                              "a block of data",
                                              "the end of a block",
                                              "a reset",
                                              "a long block of data",
                                              "an exception",
                                              "a long string",
                                              "a proxy class",
                                              "an enum constant"};

enum java_array_class { JAVA_BYTES, JAVA_BYTES_ARRAY, JAVA_OBJECTS, JAVA_OTHER };

struct java_handle {
        bool is_class;
        enum java_array_class class;
        fst_bytes array; /* a byte array */
};

struct java_reader {
        const char *start, *at, *end;
        VEC(struct java_handle) handles;
        struct fst_error *error;
};

static int java_damaged(const struct java_reader *r, const char *what)
{
        return error_set(r->error, -EBADMSG, "damaged Java serialization at byte %zu: %s", (size_t)(r->at - r->start),
                         what);
}

static size_t java_left(const struct java_reader *r)
{
        return (size_t)(r->end - r->at);
}

/* Reads a big-endian number of @size bytes. */
static int java_number(struct java_reader *r, size_t size, uint64_t *value)
{
        if (java_left(r) < size)
                return java_damaged(r, "it is truncated");
        *value = 0;
        for (size_t i = 0; i < size; i++)
                *value = *value << 8 | (unsigned char)*r->at++;
        return 0;
}

static int java_other_object(const struct java_reader *r, unsigned code)
{
        size_t index = code - TC_NULL;
        return error_set(r->error, -ENOTSUP,
                         "it holds %s (type code 0x%02x) where an array of bytes is expected: only files of byte "
                         "arrays, such as PySpark's pickle files, can be read",
                         index < ARRAY_SIZE(type_code_names) ? type_code_names[index] : "an unknown object", code);
}

static int java_other_class(const struct java_reader *r, fst_bytes name)
{
        return error_set(
                r->error, -ENOTSUP,
                "it holds objects of class %.*s: only files of byte arrays, such as PySpark's pickle files, can "
                "be read",
                (int)MIN(name.len, (size_t)200), name.data);
}

static const struct java_handle *java_referred(struct java_reader *r)
{
        uint64_t handle = 0;
        if (java_number(r, 4, &handle))
                return NULL;
        if (handle < FIRST_HANDLE || handle - FIRST_HANDLE >= r->handles.len) {
                java_damaged(r, "a reference leads nowhere");
                return NULL;
        }
        return &r->handles.data[handle - FIRST_HANDLE];
}

static enum java_array_class java_class_of(fst_bytes name)
{
        if (fst_bytes_equal(name, fst_bytes_of("[B")))
                return JAVA_BYTES;
        if (fst_bytes_equal(name, fst_bytes_of("[[B")))
                return JAVA_BYTES_ARRAY;
        return fst_bytes_equal(name, fst_bytes_of("[Ljava.lang.Object;")) ? JAVA_OBJECTS : JAVA_OTHER;
}

/* Reads the class of an array: a description or a reference to one. */
static int java_read_class(struct java_reader *r, enum java_array_class *class)
{
        uint64_t code = 0, len = 0, number = 0;
        int e = java_number(r, 1, &code);
        if (e)
                return e;
        if (code == TC_REFERENCE) {
                const struct java_handle *handle = java_referred(r);
                if (!handle)
                        return -EBADMSG;
                *class = handle->class;
                return handle->is_class ? 0 : java_damaged(r, "a class is a reference to an array");
        }
        if (code != TC_CLASSDESC)
                return java_damaged(r, "an array has no class");
        if ((e = java_number(r, 2, &len)))
                return e;
        if (java_left(r) < len)
                return java_damaged(r, "the name of a class is truncated");
        fst_bytes name = {r->at, len};
        r->at += len;
        *class = java_class_of(name);
        if (*class == JAVA_OTHER)
                return java_other_class(r, name);
        vec_push(&r->handles, (struct java_handle){.is_class = true, .class = *class});
        /* serialVersionUID; flags, number of fields; end of annotations, superclass */
        if ((e = java_number(r, 8, &number)) || (e = java_number(r, 3, &number)))
                return e;
        if (number & 0xffff)
                return java_damaged(r, "the class of an array has fields");
        if ((e = java_number(r, 2, &number)))
                return e;
        return number == (TC_END_BLOCK << 8 | TC_NULL) ? 0 : java_damaged(r, "the class of an array has a superclass");
}

/* Reads the rest of an array of bytes, whose class was read. */
static int java_read_bytes(struct java_reader *r, fst_bytes *array)
{
        uint64_t len = 0;
        const char *start = r->at;
        vec_push(&r->handles, (struct java_handle){0});
        size_t handle = r->handles.len - 1;
        int e = java_number(r, 4, &len);
        if (e)
                return e;
        if (len > INT32_MAX || java_left(r) < len)
                return java_damaged(r, "an array of bytes is truncated");
        r->at += len;
        *array = (fst_bytes){start, (size_t)(r->at - start)};
        r->handles.data[handle] = (struct java_handle){.class = JAVA_BYTES, .array = *array};
        return 0;
}

static int java_read_element(struct java_reader *r, fst_bytes *element)
{
        enum java_array_class class;
        uint64_t code = 0;
        int e = java_number(r, 1, &code);
        *element = (fst_bytes){0};
        if (e || code == TC_NULL)
                return e;
        if (code == TC_REFERENCE) {
                const struct java_handle *handle = java_referred(r);
                if (!handle)
                        return -EBADMSG;
                *element = handle->array;
                return handle->array.data ? 0 : java_damaged(r, "an element is a reference to no array of bytes");
        }
        if (code != TC_ARRAY)
                return java_other_object(r, (unsigned)code);
        e = java_read_class(r, &class);
        if (e)
                return e;
        return class == JAVA_BYTES ? java_read_bytes(r, element)
                                   : java_other_class(r, fst_bytes_of("of an array in an array in an array"));
}

static int java_read_array(struct java_reader *r, java_arrays *elements)
{
        uint64_t header = 0, code = 0, n = 0;
        enum java_array_class class;
        int e = java_number(r, 4, &header);
        if (e)
                return e;
        if (header != 0xaced0005)
                return java_damaged(r, "the stream does not begin with its magic number");
        if ((e = java_number(r, 1, &code)))
                return e;
        if (code != TC_ARRAY)
                return java_other_object(r, (unsigned)code);
        if ((e = java_read_class(r, &class)))
                return e;
        if (class == JAVA_BYTES)
                return java_other_class(r, fst_bytes_of("byte[]"));
        vec_push(&r->handles, (struct java_handle){0});
        if ((e = java_number(r, 4, &n)))
                return e;
        if (n > java_left(r)) /* an element has at least one byte */
                return java_damaged(r, "the array has more elements than bytes");
        for (uint64_t i = 0; i < n && e == 0; i++) {
                fst_bytes element;
                e = java_read_element(r, &element);
                if (e == 0)
                        vec_push(elements, element);
        }
        return e || r->at == r->end ? e : java_damaged(r, "there are bytes behind the array");
}

int java_arrays_read(fst_bytes data, java_arrays *elements, struct fst_error *error)
{
        struct java_reader r = {.start = data.data, .at = data.data, .end = data.data + data.len, .error = error};
        size_t before = elements->len;
        int e = java_read_array(&r, elements);
        if (e)
                elements->len = before;
        vec_deinit(&r.handles);
        return e;
}

/* ------------------------------------------------------------------------------------------------------ writing */

static const char array_class[] = "\xac\xed\0\5ur\0\3[[B\x4b\xfd\x19\x15\x67\x67\xdb\x37\2\0\0xp";
static const char bytes_class[] = "ur\0\2[B\xac\xf3\x17\xf8\6\x08T\xe0\2\0\0xp";
static const char bytes_class_again[] = "uq\0\x7e\0\2";

void java_arrays_begin(struct java_arrays_writer *w, struct buf *out)
{
        *w = (struct java_arrays_writer){.out = out};
        buf_append(out, array_class, sizeof(array_class) - 1);
        w->count_at = out->len;
        buf_append(out, "\0\0\0\0", 4);
}

bool java_arrays_put(struct java_arrays_writer *w, fst_bytes element)
{
        if (!buf_try_reserve(w->out, sizeof(bytes_class) + element.len))
                return false;
        w->count++;
        if (!element.data) {
                buf_putc(w->out, TC_NULL);
                return true;
        }
        if (w->described)
                buf_append(w->out, bytes_class_again, sizeof(bytes_class_again) - 1);
        else
                buf_append(w->out, bytes_class, sizeof(bytes_class) - 1);
        w->described = true;
        buf_append(w->out, element.data, element.len);
        return true;
}

void java_arrays_end(struct java_arrays_writer *w)
{
        uint32_t count = htobe32(w->count);
        memcpy(w->out->data + w->count_at, &count, sizeof(count));
}
