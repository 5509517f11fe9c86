/* The file of an executor's resources: it has names and addresses, or is refused with a message. */
#include "base/error.h"
#include "exec/executor_resources.h"
#include "fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct executor_resources resources;
        struct fst_error error = FST_ERROR_INIT;
        if (executor_resources_read(memory_file("", data, size), &resources, &error)) {
                if (!error.message || resources.list)
                        abort();
                error_deinit(&error);
                return 0;
        }
        for (size_t i = 0; i < resources.n; i++)
                for (size_t a = 0; a < resources.list[i]->n_addresses; a++)
                        if (!resources.list[i]->name || !resources.list[i]->addresses[a])
                                abort();
        executor_resources_deinit(&resources);
        return 0;
}
