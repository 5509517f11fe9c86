/* libbz2 as a table of functions, loaded when the first .bz2 file is read or written. It is linked into a module of its
 * own, libfiresteel-bzip2.so. */
#pragma once

#include <bzlib.h>
#include <stdint.h>

struct fst_error;

#define BZIP2_LIBRARY_ABI 1
#define BZIP2_MODULE_SYMBOL "firesteel_bzip2_module" /* const struct bzip2_library *f(void) */

struct bzip2_library {
        uint32_t abi; /* BZIP2_LIBRARY_ABI */
        __typeof__(&BZ2_bzCompressInit) compress_init;
        __typeof__(&BZ2_bzCompress) compress;
        __typeof__(&BZ2_bzCompressEnd) compress_end;
        __typeof__(&BZ2_bzDecompressInit) decompress_init;
        __typeof__(&BZ2_bzDecompress) decompress;
        __typeof__(&BZ2_bzDecompressEnd) decompress_end;
};

/* Loads the library. Returns 0, or -ENOTSUP with a message that names the missing module. Any thread. *@out is never
 * freed. */
int bzip2_library_load(const struct bzip2_library **out, struct fst_error *error);
