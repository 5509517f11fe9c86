/* Accumulator updates from an executor: any bytes are refused, or decode to updates that encode to the same bytes. */
#include "base/buf.h"
#include "base/error.h"
#include "rdd/aggregate/accumulator_updates.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct accumulator_updates *updates = NULL;
        struct fst_error error = FST_ERROR_INIT;
        struct buf again = BUF_INIT;
        if (accumulator_updates_decode(data, size, &updates, &error) == 0) {
                accumulator_updates_encode(updates, &again);
                if (again.len != size || memcmp(again.data, data, size) != 0)
                        abort();
        } else if (updates || !error.message) {
                abort();
        }
        accumulator_updates_free(updates);
        error_deinit(&error);
        buf_deinit(&again);
        return 0;
}
