/* The loss of map outputs: with an executor, with a host, or seen by a failed fetch. */
#include "sched/dag.h"

#include "base/log.h"

#define LOG "DAGScheduler"

void dag_unregister_outputs(struct sched *s, int executor, bool stored)
{
        int count = 0;

        for (size_t i = 0; i < s->shuffles.len; i++)
                if (s->shuffles.data[i].outputs)
                        count += map_outputs_remove_executor(s->shuffles.data[i].outputs, executor, stored,
                                                             s->ops->map_output_removed, s->owner);
        if (count > 0)
                log_info(LOG, "Shuffle outputs lost with executor %s: %d", sched_executor_id(s, executor), count);
        s->epoch++;
}

void dag_lose_host(struct sched *s, const char *host, const char *message)
{
        const struct executors *x = &s->tasks.executors;
        int index = name_index_find(&x->host_names, host);

        if (index < 0)
                return;
        log_info(LOG, "Shuffle files lost for host: %s (%s)", host, message ? message : "unknown");
        for (size_t e = 0; e < x->at.len; e++)
                if (x->at.data[e].host == index)
                        dag_unregister_outputs(s, (int)e, false);
}

void dag_keep_stored(struct sched *s, const struct job_spec *spec)
{
        for (int i = 0; i < spec->n_stored; i++) {
                const struct earlier_output *output = &spec->stored[i];
                struct shuffle *shuffle = dag_shuffle(s, output->shuffle_id);

                if (shuffle && output->map_partition >= 0 && output->map_partition < shuffle->outputs->n)
                        map_outputs_add(shuffle->outputs, output->map_partition, output->executor, output->handle);
        }
}

/* A store holds stored outputs, and their writer is not to blame. Of several reports only the first finds the output. */
bool dag_executor_lacked_output(struct sched *s, const struct task_fetch *fetch)
{
        const struct shuffle *shuffle = dag_shuffle(s, fetch->shuffle_id);

        if (!executors_known(&s->tasks.executors, fetch->executor))
                return false;
        if (!shuffle)
                return true;
        for (int m = 0; m < shuffle->outputs->n; m++) {
                const struct map_output *output = &shuffle->outputs->at[m];

                if (output->executor == fetch->executor && (fetch->map_partition < 0 || fetch->map_partition == m))
                        return !map_output_is_stored(output);
        }
        return false;
}

void dag_unregister_missing_output(struct sched *s, const struct task_set *set, const struct task_fetch *fetch)
{
        struct shuffle *shuffle = dag_shuffle(s, fetch->shuffle_id);
        struct sched_executor *e = NULL;
        bool stored = false;

        /* a late failure of a set from before the last loss does not concern newer outputs */
        if (fetch->executor >= 0 && (size_t)fetch->executor < s->tasks.executors.at.len)
                e = &s->tasks.executors.at.data[fetch->executor];
        if (e && e->loss_epoch > set->epoch)
                return;
        if (shuffle && fetch->map_partition >= 0 && fetch->map_partition < shuffle->outputs->n) {
                stored = map_output_is_stored(&shuffle->outputs->at[fetch->map_partition]);
                map_outputs_remove(shuffle->outputs, fetch->map_partition, fetch->executor, s->ops->map_output_removed,
                                   s->owner);
                s->epoch++;
        }
        if (!e) { /* of an earlier driver, which writes no more */
                if (stored && fetch->executor >= 0)
                        dag_unregister_outputs(s, fetch->executor, true);
                return;
        }
        if (!stored && s->config.outputs_outlive_executors && s->config.unregister_outputs_on_host)
                dag_lose_host(s, executors_host(&s->tasks.executors, fetch->executor), "fetch failed");
        else
                dag_unregister_outputs(s, fetch->executor, stored);
        e->loss_epoch = s->epoch;
}
