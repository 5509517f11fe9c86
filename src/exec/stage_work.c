/* Shared by the tasks of a stage attempt; see stage_work.h. */
#include "exec/stage_work.h"

#include "base/mem.h"

struct stage_work *stage_work_ref(struct stage_work *work)
{
        __atomic_add_fetch(&work->refs, 1, __ATOMIC_RELAXED);
        return work;
}

void stage_work_unref(struct stage_work *work)
{
        if (!work || __atomic_sub_fetch(&work->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        for (int i = 0; i < work->inputs.n_inputs; i++) {
                const struct shuffle_inputs *in = &work->inputs.inputs[i];
                for (int j = 0; j < in->n; j++)
                        shuffle_output_unref(in->outputs[j]);
                free(in->outputs);
        }
        free((void *)work->inputs.inputs);
        free(work);
}
