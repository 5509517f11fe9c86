/* The index of a map output from another process: it is read safely, or refused. */
#include "base/error.h"
#include "shuffle/output_index.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        struct output_index head;
        struct shuffle_output *output = NULL;
        uint64_t end = 0, sum = 0;
        /* A million partitions take 16 MB each time, and fewer test the same. */
        if (output_index_parse(data, size, &head, &error) == 0 && head.partitions < 4096 &&
            output_index_take(data, size, NULL, &output, &end, &error) == 0) {
                for (int p = 0; p < output->partitions; p++)
                        for (uint32_t e = output->at[p].extents; e; e = output->extents[e - 1].next)
                                sum += output->extents[e - 1].length;
                if (sum != end)
                        abort();
        }
        shuffle_output_unref(output);
        error_deinit(&error);
        return 0;
}
