/* fairscheduler.xml: reading any bytes ends, and the result can be built into pools. */
#include "sched/tasks/pool_file.h"

#include "base/log.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct pool_file file = POOL_FILE_INIT;

        log_threshold = LOG_OFF;
        if (pool_file_parse(&file, (const char *)data, size, "fuzz", NULL) == 0)
                pool_free(pool_build(SCHEDULING_FAIR, file.pools, file.n_pools));
        pool_file_deinit(&file);
        return 0;
}
