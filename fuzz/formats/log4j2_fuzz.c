/* Any bytes set levels or are an error. Warnings about the file are discarded. */
#include "base/error.h"
#include "base/log.h"
#include "conf/log4j2.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        log_reset_levels(LOG_OFF);
        log_set_logger_level("Log4j2", LOG_OFF);
        log4j2_apply("fuzz", (const char *)data, size, &error);
        log_reset_levels(LOG_WARN);
        error_deinit(&error);
        return 0;
}
