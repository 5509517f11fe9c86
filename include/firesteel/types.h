/*
 * Types of rows.
 *
 * A row is one value, or a pair of a key and a value. Each of these has one of four kinds:
 *
 *      I64             int64_t
 *      F64             double
 *      BYTES           fst_bytes: bytes of any length, text or not
 *      FIXED(size)     a plain struct of that size (1 … FST_FIXED_MAX bytes), without pointers
 *
 * A type is written FST_I64, FST_BYTES, FST_FIXED(sizeof(struct point)), or FST_PAIR(BYTES, I64); struct.h describes
 * structs with texts. An RDD knows its type, so the engine hashes, sorts, compares and prints rows by itself.
 *
 * Numbers of rows and values of I64 are int64_t. Print them with C's PRId64, which this header includes:
 * printf("%" PRId64 " rows\n", n).
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Declarations with C linkage, also in a C++ program. */
#ifdef __cplusplus
#define FST_BEGIN_DECLS extern "C" {
#define FST_END_DECLS }
#else
#define FST_BEGIN_DECLS
#define FST_END_DECLS
#endif

#define FST_API __attribute__((visibility("default")))
#define fst_likely(x) __builtin_expect(!!(x), 1)

/* The version of these headers; fst_version() returns the library's. docs/abi.md explains the parts. */
#define FST_VERSION_MAJOR 0
#define FST_VERSION_MINOR 1
#define FST_VERSION_PATCH 0
#define FST_VERSION (FST_VERSION_MAJOR << 16 | FST_VERSION_MINOR << 8 | FST_VERSION_PATCH)

/*
 * The binary interface: the number in the library's file name, libfiresteel.so.n. The loader refuses a module that
 * was built against another number.
 */
#define FST_ABI 4

/* Marks a function that the next major version removes. The compiler warns and prints @instead. */
#define FST_DEPRECATED(instead) __attribute__((deprecated(instead)))

FST_BEGIN_DECLS

/* The place in the application that called a function, for messages. */
typedef struct fst_site {
        const char *operation; /* "flat_map" */
        const char *file;
        int line;
} fst_site;
#define FST_HERE(operation) ((fst_site){(operation), __FILE__, __LINE__})

typedef struct fst_context fst_context;
typedef struct fst_rdd fst_rdd;

enum fst_kind {
        FST_KIND_NONE = 0, /* the value of a type that is not a pair */
        FST_KIND_I64 = 1,
        FST_KIND_F64 = 2,
        FST_KIND_BYTES = 3,
        FST_KIND_FIXED = 4,
};

/* The largest struct of FIXED. A pair of two such structs fits into a page of the engine. */
#define FST_FIXED_MAX 65536

/* A row's type. Without a value, `value` is FST_KIND_NONE. Sizes are in bytes; 0 for BYTES that are not of struct.h. */
typedef struct fst_type {
        uint8_t key, value; /* enum fst_kind */
        uint16_t reserved;
        uint32_t key_size, value_size;
} fst_type;

#define FST_I64 ((fst_type){.key = FST_KIND_I64, .key_size = 8})
#define FST_F64 ((fst_type){.key = FST_KIND_F64, .key_size = 8})
#define FST_BYTES ((fst_type){.key = FST_KIND_BYTES})
#define FST_FIXED(size) ((fst_type){.key = FST_KIND_FIXED, .key_size = (uint32_t)(size)})
#define FST_PAIR(key, value) fst_type_pair(FST_##key, FST_##value)

static inline fst_type fst_type_pair(fst_type key, fst_type value)
{
        return (fst_type){key.key, value.key, 0, key.key_size, value.key_size};
}

/* Borrowed bytes: valid as long as the memory that they point to. They need not end in a NUL. */
typedef struct fst_bytes {
        const char *data;
        size_t len;
} fst_bytes;

/* The bytes of a C string without its NUL. */
static inline fst_bytes fst_bytes_of(const char *text)
{
        return (fst_bytes){text, strlen(text)};
}

/*
 * Compares bytes as unsigned numbers. A prefix comes before the longer bytes. Returns a negative number, 0, or a
 * positive one.
 */
static inline int fst_bytes_compare(fst_bytes a, fst_bytes b)
{
        size_t least = a.len < b.len ? a.len : b.len;
        int order = least ? memcmp(a.data, b.data, least) : 0; /* empty bytes may be NULL */
        return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool fst_bytes_equal(fst_bytes a, fst_bytes b)
{
        return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

FST_END_DECLS
