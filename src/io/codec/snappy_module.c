/* libfiresteel-snappy.so: a table of libsnappy's functions; see io/codec/snappy_library.h. */
#include "io/codec/snappy_library.h"

__attribute__((visibility("default"))) const void *firesteel_snappy_module(void);

const void *firesteel_snappy_module(void)
{
        static const struct snappy_library table = {.abi = SNAPPY_LIBRARY_ABI,
                                                    .uncompressed_length = snappy_uncompressed_length,
                                                    .uncompress = snappy_uncompress,
                                                    .max_compressed_length = snappy_max_compressed_length,
                                                    .compress = snappy_compress};
        return &table;
}
