/* libsnappy as a table of functions, loaded when the first log that is compressed with snappy is read or written. It is linked
 * into a module of its own, libfiresteel-snappy.so, because it needs the library of C++. */
#pragma once

#include <snappy-c.h>
#include <stdint.h>

struct fst_error;

#define SNAPPY_LIBRARY_ABI 2
#define SNAPPY_MODULE_SYMBOL "firesteel_snappy_module" /* const struct snappy_library *f(void) */

struct snappy_library {
        uint32_t abi; /* SNAPPY_LIBRARY_ABI */
        __typeof__(&snappy_uncompressed_length) uncompressed_length;
        __typeof__(&snappy_uncompress) uncompress;
        __typeof__(&snappy_max_compressed_length) max_compressed_length;
        __typeof__(&snappy_compress) compress;
};

/* Loads the library. Returns 0, or -ENOTSUP with a message that names the missing module. Any thread. *@out is never
 * freed. */
int snappy_library_load(const struct snappy_library **out, struct fst_error *error);
