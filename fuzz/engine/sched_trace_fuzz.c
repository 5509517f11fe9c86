/* A scheduler trace: the replay of any bytes ends, and passes only valid events to the scheduler. */
#include "base/error.h"
#include "base/log.h"
#include "sched/simulator/sched_replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sched_replay_report report;
        struct fst_error error = FST_ERROR_INIT;

        log_threshold = LOG_OFF;
        sched_replay((const char *)data, size, 4096, &report, &error);
        error_deinit(&error);
        return 0;
}
