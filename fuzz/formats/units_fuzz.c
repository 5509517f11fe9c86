/* Any text is a size or time within 64 bits, or an error that shows the format. */
#include "base/error.h"
#include "base/mem.h"
#include "conf/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int64_t value = 42, finer = 42;
        if (units_parse_bytes(text, UNIT_KIB, UNIT_KIB, &value, &error) < 0 && (value != 42 || !error.message))
                abort();
        if (units_parse_bytes(text, UNIT_KIB, UNIT_B, &finer, NULL) == 0 && finer / 1024 != value)
                abort();
        units_parse_time(text, UNIT_S, UNIT_MS, &value, &error);
        units_parse_time(text, UNIT_D, UNIT_NS, &value, &error);
        return 0;
}
