/* Output of a resource discovery script: it has the requested name, or is refused with a message. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "exec/resource_discovery.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct executor_resources resources = {0};
        Firesteel__Resource *resource = NULL;
        buf_append(&out, data, size);
        int r = resource_discovery_read("/opt/gpus", "gpu", &out, &resource, &error);
        if ((r == 0) != (resource != NULL) || (r < 0 && !*error_message(&error)))
                abort();
        if (r < 0)
                return 0;
        if (strcmp(resource->name, "gpu") != 0)
                abort();
        resources.list = malloc(sizeof(*resources.list));
        resources.list[resources.n++] = resource;
        executor_resources_deinit(&resources);
        return 0;
}
