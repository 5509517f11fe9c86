/* Any text is a master URL with valid numbers, or an error that shows the format. */
#include "base/error.h"
#include "base/mem.h"
#include "driver/backend/cluster_manager.h"
#include "conf/master_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const struct cluster_manager_class *manager = NULL;
        struct master_url url = {.threads = -7};
        if (cluster_manager_read(text, COMPAT_4_3, 4, &manager, &url, &error) < 0) {
                if (manager || url.threads != -7 || !error.message)
                        abort();
                return 0;
        }
        if (manager->in_process && (url.threads < 1 || url.max_failures < 1))
                abort();
        if (manager->total_cores && (url.executors < 1 || url.cores < 1 || url.memory_mib < 1))
                abort();
        return 0;
}
