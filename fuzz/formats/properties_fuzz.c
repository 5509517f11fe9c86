/* Any bytes are a properties file or an error that names the line. Accepted properties are text without NUL. */
#include "base/error.h"
#include "base/mem.h"
#include "conf/properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(strmap_deinit) struct strmap out = STRMAP_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = properties_parse(&out, "fuzz", (const char *)data, size, &error);
        if (r < 0 && (out.count || strncmp(error_message(&error), "fuzz: line ", 11) != 0))
                abort();
        return 0;
}
