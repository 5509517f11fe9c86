/*
 * See sample_job.h. A quick sample reads some blocks of each split, if rows come from text files or binary records
 * through element-wise operators only.
 */
#include "driver/actions/sample_job.h"

#include "driver/actions/actions.h"

#include "base/mem.h"
#include "rdd/rdd_class.h"

#define SAMPLE_BLOCKS ((size_t)1 << 20) /* bytes of a split for a quick sample */

struct sample_job_action {
        struct sample_action sample;
        struct sample_job *into;
};

static int sample_job_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct sample_job_action, sample.action)->into->drawn[output] = result->data;
        return 0;
}

static void sample_job_drop(struct sample_job *sample)
{
        for (int i = 0; i < sample->partitions; i++)
                sampled_keys_free(steal(sample->drawn[i]));
}

static void sample_job_reset(struct action *action)
{
        sample_job_drop(container_of(action, struct sample_job_action, sample.action)->into);
}

bool sample_job_can_be_quick(const fst_rdd *rdd)
{
        for (; rdd; rdd = rdd_parent(rdd)) {
                if (__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED))
                        return false;
                if (rdd->class->passes_samples)
                        continue;
                /* Small files are read completely anyway. */
                return (rdd->op == RDD_TEXT_FILE || rdd->op == RDD_BINARY_RECORDS) &&
                       rdd->text.splits.bytes > rdd->text.splits.len * SAMPLE_BLOCKS;
        }
        return false;
}

int sample_job_draw(struct sample_job *sample, fst_rdd *rdd, size_t per_partition, bool quick, fst_site site,
                    struct fst_error *error)
{
        struct sample_job_action job = {
                .sample = {{.class = &sample_action_class,
                            .type = rdd->type,
                            .sample_budget = quick ? SAMPLE_BLOCKS : 0,
                            .merge = sample_job_merge,
                            .reset = sample_job_reset},
                           per_partition},
                .into = sample,
        };
        sample->partitions = rdd->lineage.partitions;
        sample->drawn = new_array(struct sampled_keys *, (size_t)MAX(sample->partitions, 1));
        return action_run_job(rdd, &job.sample.action, NULL, 0, site, error);
}

void sample_job_deinit(struct sample_job *sample)
{
        sample_job_drop(sample);
        free(steal(sample->drawn));
        sample->partitions = 0;
}

size_t sample_job_count(const struct sample_job *sample)
{
        size_t n = 0;
        for (int i = 0; i < sample->partitions; i++)
                n += sample->drawn[i] ? sample->drawn[i]->n : 0;
        return n;
}
