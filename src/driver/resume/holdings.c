/* See holdings.h. */
#include "driver/resume/holdings.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void holdings_deinit(struct holdings *h)
{
        vec_deinit(&h->outputs);
        vec_deinit(&h->rdds);
        for (size_t i = 0; i < h->runs.len; i++)
                free(h->runs.data[i].outputs);
        vec_deinit(&h->runs);
        vec_deinit(&h->writers);
        vec_deinit(&h->writer_of);
}

bool holdings_add_output(struct holdings *h, int shuffle, int partition, int64_t task_id, int executor)
{
        if (h->closed)
                return false;
        vec_push(&h->outputs, (struct held_output){shuffle, partition, task_id, executor, false});
        return true;
}

bool holdings_add_rdd(struct holdings *h, int rdd)
{
        if (h->closed)
                return false;
        for (size_t i = 0; i < h->rdds.len; i++)
                if (h->rdds.data[i].rdd == rdd)
                        return true;
        vec_push(&h->rdds, (struct held_rdd){rdd, false});
        return true;
}

static int held_output_compare(const void *x, const void *y)
{
        const struct held_output *a = x, *b = y;
        if (a->shuffle != b->shuffle)
                return a->shuffle < b->shuffle ? -1 : 1;
        if (a->partition != b->partition)
                return a->partition < b->partition ? -1 : 1;
        if (a->task_id != b->task_id)
                return a->task_id < b->task_id ? -1 : 1;
        return (a->executor > b->executor) - (a->executor < b->executor);
}

static void holdings_sort(struct holdings *h)
{
        if (h->sorted < h->outputs.len)
                qsort(h->outputs.data, h->outputs.len, sizeof(*h->outputs.data), held_output_compare);
        h->sorted = h->outputs.len;
}

int holdings_take_output(struct holdings *h, int shuffle, int partition, int64_t task_id)
{
        const struct held_output wanted = {shuffle, partition, task_id, INT32_MIN, false};
        holdings_sort(h);
        size_t low = 0, high = h->outputs.len;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (held_output_compare(&h->outputs.data[middle], &wanted) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < h->outputs.len; low++) {
                struct held_output *o = &h->outputs.data[low];
                if (o->shuffle != shuffle || o->partition != partition || o->task_id != task_id)
                        break;
                if (o->executor >= 0 && !o->taken) {
                        o->taken = true;
                        return o->executor;
                }
        }
        return -1;
}

bool holdings_add_run(struct holdings *h, const struct held_batch *run)
{
        if (h->closed)
                return false;
        struct held_batch copy = *run;
        copy.outputs = new_array(int32_t, (size_t)run->n);
        memcpy(copy.outputs, run->outputs, (size_t)run->n * sizeof(*copy.outputs));
        vec_push(&h->runs, copy);
        return true;
}

bool holdings_take_run(struct holdings *h, uint64_t job, struct held_batch *run)
{
        for (size_t i = 0; i < h->runs.len; i++) {
                if (job && h->runs.data[i].job != job)
                        continue;
                *run = h->runs.data[i];
                h->runs.len--;
                memmove(&h->runs.data[i], &h->runs.data[i + 1], (h->runs.len - i) * sizeof(*run));
                return true;
        }
        return false;
}

void holdings_end_run(struct holdings *h, int64_t first_id)
{
        for (size_t i = 0; i < h->runs.len; i++)
                if (h->runs.data[i].first_id == first_id)
                        h->runs.data[i].takes_core = true;
}

void holdings_validate_rdd(struct holdings *h, int rdd)
{
        for (size_t i = 0; i < h->rdds.len; i++)
                if (h->rdds.data[i].rdd == rdd) {
                        h->rdds.data[i].valid = true;
                        return;
                }
        vec_push(&h->rdds, (struct held_rdd){rdd, true}); /* tasks that still run may cache blocks of it */
}

void holdings_drop_executor(struct holdings *h, int executor)
{
        size_t n = 0, sorted = 0;
        for (size_t i = 0; i < h->outputs.len; i++) {
                if (h->outputs.data[i].executor == executor)
                        continue;
                h->outputs.data[n++] = h->outputs.data[i];
                sorted += i < h->sorted;
        }
        h->outputs.len = n;
        h->sorted = sorted; /* the rest keep their order */
        for (size_t i = n = 0; i < h->runs.len; i++)
                if (h->runs.data[i].executor == executor)
                        free(h->runs.data[i].outputs);
                else
                        h->runs.data[n++] = h->runs.data[i];
        h->runs.len = n;
}

void holdings_close(struct holdings *h)
{
        size_t n = 0;
        for (size_t i = 0; i < h->outputs.len; i++)
                if (!h->outputs.data[i].taken)
                        h->outputs.data[n++] = h->outputs.data[i];
        h->outputs.len = n;
        for (size_t i = n = 0; i < h->rdds.len; i++)
                if (!h->rdds.data[i].valid)
                        h->rdds.data[n++] = h->rdds.data[i];
        h->rdds.len = n;
        h->closed = true;
}

void holdings_keep_writer(struct holdings *h, int executor, int32_t writer)
{
        vec_insert(&h->writers, vec_place(&h->writers, writer, writer), (struct kept_writer){writer, executor});
        while (h->writer_of.len <= (size_t)executor)
                vec_push(&h->writer_of, -1);
        h->writer_of.data[executor] = writer;
}

int32_t holdings_writer(const struct holdings *h, int executor)
{
        return (size_t)executor < h->writer_of.len ? h->writer_of.data[executor] : -1;
}

int holdings_executor_of_writer(const struct holdings *h, int32_t writer)
{
        const size_t at = vec_place(&h->writers, writer, writer);
        return at < h->writers.len && h->writers.data[at].writer == writer ? h->writers.data[at].executor : -1;
}
