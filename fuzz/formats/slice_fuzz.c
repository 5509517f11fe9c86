/* Rows of parallelize as a task receives them: the first byte chooses the type, the second the number. */
#include "base/error.h"
#include "rdd/slice.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const fst_type types[] = {FST_I64, FST_F64, FST_BYTES, FST_FIXED(3)};
        struct fst_error error = FST_ERROR_INIT;
        fst_bytes views[7];
        fst_column column;
        struct slice slice;
        uint64_t rows = 0;
        uint32_t n;
        if (size < 2)
                return 0;
        fst_type type = types[data[0] % 4];
        /* Aligned as by malloc, and of exact size, so that a sanitizer detects an over-read. */
        unsigned char *copy = malloc(size - 1);
        memcpy(copy, data + 2, size - 2);
        if (slice_open(&slice, type, data[1], copy, size - 2, &error) == 0) {
                uint64_t sum = 0;
                while ((n = slice_next(&slice, 7, views, &column)) > 0) {
                        for (uint32_t i = 0; i < n; i++) {
                                fst_bytes row = type.key == FST_KIND_BYTES
                                                        ? column.bytes[i]
                                                        : (fst_bytes){column.fixed + i * type.key_size, type.key_size};
                                for (size_t at = 0; at < row.len; at++)
                                        sum += (unsigned char)row.data[at];
                        }
                        rows += n;
                }
                if (rows != data[1] || sum > 255 * size)
                        abort();
        }
        error_deinit(&error);
        free(copy);
        return 0;
}
