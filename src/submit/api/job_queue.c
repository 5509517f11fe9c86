/* See job_queue.h. Parents stand before their children, (i - 1) / 2 before i. */
#include "submit/api/job_queue.h"

static bool queued_job_is_before(const struct queued_job *a, const struct queued_job *b)
{
        return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->number < b->number;
}

static void queued_jobs_swap(struct queued_job *a, struct queued_job *b)
{
        const struct queued_job other = *a;
        *a = *b;
        *b = other;
}

void job_queue_add(struct job_queue *q, fst_submission *app, enum submit_job kind, int64_t due_ms)
{
        vec_push(&q->heap, (struct queued_job){.app = app, .kind = kind, .due_ms = due_ms, .number = ++q->last_number});
        q->starts += kind == JOB_START;
        struct queued_job *jobs = q->heap.data;
        for (size_t i = q->heap.len - 1; i > 0 && queued_job_is_before(&jobs[i], &jobs[(i - 1) / 2]); i = (i - 1) / 2)
                queued_jobs_swap(&jobs[i], &jobs[(i - 1) / 2]);
}

const struct queued_job *job_queue_first(const struct job_queue *q)
{
        return q->heap.len ? &q->heap.data[0] : NULL;
}

struct queued_job job_queue_take(struct job_queue *q)
{
        struct queued_job *jobs = q->heap.data;
        const struct queued_job taken = jobs[0];
        const size_t n = --q->heap.len;
        q->starts -= taken.kind == JOB_START;
        jobs[0] = jobs[n];
        for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
                child += child + 1 < n && queued_job_is_before(&jobs[child + 1], &jobs[child]);
                if (!queued_job_is_before(&jobs[child], &jobs[i]))
                        break;
                queued_jobs_swap(&jobs[child], &jobs[i]);
        }
        return taken;
}

void job_queue_deinit(struct job_queue *q)
{
        vec_deinit(&q->heap);
}
