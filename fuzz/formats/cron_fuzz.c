/* The first line is a schedule, the rest a TZif file. Both are read or rejected, and time goes forward. */
#include "base/error.h"
#include "base/mem.h"
#include "operator/schedule/cron.h"
#include "operator/schedule/time_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        _cleanup_free_ char *text = mem_strndup(size ? (const char *)data : "", n);
        struct cron *cron = NULL;
        struct time_zone *zone = NULL;
        int r = cron_parse(text, "Europe/Berlin", &cron, &error);
        if (r < 0 && (cron || !*error_message(&error)))
                abort();
        int64_t at = INT64_C(1774000000000);
        for (int i = 0; r == 0 && i < 20 && at != CRON_NEVER; i++) {
                int64_t next = cron_next(cron, at);
                if (next <= at)
                        abort();
                at = next;
        }
        cron_free(cron);
        r = end ? time_zone_parse(end + 1, size - n - 1, &zone, &error) : -EINVAL;
        at = -INT64_C(3000000000);
        for (int i = 0; r == 0 && i < 1000 && at != INT64_MAX; i++) {
                int64_t until;
                int offset = time_zone_at(zone, at, &until);
                if (until <= at || offset < -26 * 3600 || offset > 26 * 3600)
                        abort();
                at = until;
        }
        time_zone_free(zone);
        return 0;
}
