/* See stage_context.h. */
#include "exec/actions/stage_context.h"

#include "base/mem.h"
#include "exec/actions/action.h"

struct stage_context *stage_context_ref(struct stage_context *work)
{
        __atomic_add_fetch(&work->refs, 1, __ATOMIC_RELAXED);
        return work;
}

void stage_context_unref(struct stage_context *work)
{
        if (!work || __atomic_sub_fetch(&work->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        shuffle_reader_env_deinit(&work->inputs);
        buf_deinit(&work->encoded);
        strmap_deinit(&work->properties);
        if (work->memory.chunks && work->action && work->action->class->release)
                work->action->class->release(work->action);
        arena_deinit(&work->memory);
        free(work);
}
