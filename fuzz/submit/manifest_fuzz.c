/* Any text is a manifest or an error with a message. */
#include "launch/jar_manifest.h"

#include "base/error.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *value = NULL;
        if (manifest_attribute((const char *)data, size, "Main-Class", &value, &error) < 0 && !error.message)
                abort();
        return 0;
}
