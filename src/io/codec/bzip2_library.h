/*
 * libbz2, loaded by the first who reads or writes a .bz2 file: it is linked into a module of its own,
 * libfiresteel-bzip2.so. Its functions have their own names here.
 */
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

/* 0, or -ENOTSUP with a sentence that says what is missing. Any thread; *@out stays. */
int bzip2_library_load(const struct bzip2_library **out, struct fst_error *error);
