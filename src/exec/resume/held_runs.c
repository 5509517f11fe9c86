/* See held_runs.h. */
#include "exec/resume/held_runs.h"

#include "base/mem.h"

#include <string.h>

void held_run_deinit(struct held_run *run)
{
        free(steal(run->outputs));
        buf_deinit(&run->status);
}

void held_runs_deinit(struct held_runs *h)
{
        for (size_t i = 0; i < h->runs.len; i++)
                held_run_deinit(&h->runs.data[i]);
        vec_deinit(&h->runs);
        h->bytes = 0;
}

bool held_runs_add(struct held_runs *h, struct held_run *run)
{
        if (h->limit && run->status.len > h->limit - h->bytes) {
                held_run_deinit(run);
                return false;
        }
        h->bytes += run->status.len;
        vec_push(&h->runs, *run);
        *run = (struct held_run){0};
        return true;
}

bool held_runs_take(struct held_runs *h, int64_t first_id, struct held_run *run)
{
        for (size_t i = 0; i < h->runs.len; i++) {
                if (h->runs.data[i].first_id != first_id)
                        continue;
                *run = h->runs.data[i];
                h->bytes -= run->status.len;
                h->runs.len--;
                memmove(&h->runs.data[i], &h->runs.data[i + 1], (h->runs.len - i) * sizeof(*run));
                return true;
        }
        return false;
}

bool held_runs_has_task(const struct held_runs *h, int64_t task_id)
{
        for (size_t i = 0; i < h->runs.len; i++)
                if (task_id >= h->runs.data[i].first_id && task_id < h->runs.data[i].first_id + h->runs.data[i].n)
                        return true;
        return false;
}
