/* See worker_context.h. */
#include "standalone/worker/worker_context.h"

#include "base/mem.h"

#define LEAST_OVERHEAD_MIB 384

int worker_context_group(const struct worker_context *c, const char *name, int64_t memory, int cores,
                         struct cgroup **out, struct fst_error *error)
{
        *out = NULL;
        if (!c->groups)
                return 0;
        int64_t overhead = MAX(memory / 10, (int64_t)LEAST_OVERHEAD_MIB);
        return cgroup_new(c->groups, name, (memory + overhead) << 20, cores, out, error);
}
