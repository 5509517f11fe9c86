/* libfiresteel-bzip2.so: a table of libbz2's functions; see io/codec/bzip2_library.h. */
#include "io/codec/bzip2_library.h"

__attribute__((visibility("default"))) const void *firesteel_bzip2_module(void);

const void *firesteel_bzip2_module(void)
{
        static const struct bzip2_library table = {.abi = BZIP2_LIBRARY_ABI,
                                                   .compress_init = BZ2_bzCompressInit,
                                                   .compress = BZ2_bzCompress,
                                                   .compress_end = BZ2_bzCompressEnd,
                                                   .decompress_init = BZ2_bzDecompressInit,
                                                   .decompress = BZ2_bzDecompress,
                                                   .decompress_end = BZ2_bzDecompressEnd};
        return &table;
}
