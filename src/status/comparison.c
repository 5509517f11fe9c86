/* See comparison.h. */
#include "status/comparison.h"

#include "base/mem.h"

#include <inttypes.h>

static const struct {
        const char *name;
        char unit; /* 't' a duration, 'b' bytes, 'n' a number */
} run_total_table[] = {
        [RUN_WALL_MS] = {"duration", 't'},
        [RUN_JOBS] = {"jobs", 'n'},
        [RUN_STAGES] = {"stages", 'n'},
        [RUN_TASKS] = {"tasks", 'n'},
        [RUN_FAILED_TASKS] = {"failed tasks", 'n'},
        [RUN_TASK_MS] = {"task time", 't'},
        [RUN_CPU_MS] = {"CPU time", 't'},
        [RUN_GC_MS] = {"GC time", 't'},
        [RUN_FETCH_WAIT_MS] = {"fetch wait", 't'},
        [RUN_INPUT] = {"input", 'b'},
        [RUN_OUTPUT] = {"output", 'b'},
        [RUN_SHUFFLE_READ] = {"shuffle read", 'b'},
        [RUN_SHUFFLE_WRITE] = {"shuffle write", 'b'},
        [RUN_SPILL] = {"spill", 'b'},
};

const char *run_total_name(enum run_total total)
{
        return run_total_table[total].name;
}

void run_total_put(struct buf *out, enum run_total total, int64_t value)
{
        switch (run_total_table[total].unit) {
        case 't':
                diagnosis_put_duration(out, value);
                break;
        case 'b':
                diagnosis_put_bytes(out, value);
                break;
        default:
                buf_printf(out, "%" PRId64, value);
                break;
        }
}

void run_total_put_change(struct buf *out, enum run_total total, int64_t a, int64_t b)
{
        if (a == b) {
                buf_puts(out, "=");
        } else if (a > 0) {
                buf_printf(out, "%+.0f %%", ((double)b - (double)a) / (double)a * 100);
        } else {
                buf_puts(out, "+");
                run_total_put(out, total, b);
        }
}

void run_pair_put_change(const struct run_pair *pair, struct buf *out)
{
        if (!pair->a)
                buf_puts(out, "new");
        else
                run_total_put_change(out, RUN_WALL_MS, pair->a->wall_ms, pair->b ? pair->b->wall_ms : 0);
}

/* ------------------------------------------------------------------------------------------------- summary */

static void run_summary_add(struct run_summary *run, const struct status_stage *stage)
{
        const struct task_metrics *m = &stage->metrics;
        run->totals[RUN_STAGES]++;
        run->totals[RUN_TASKS] += stage->completed_tasks;
        run->totals[RUN_FAILED_TASKS] += stage->failed_tasks;
        run->totals[RUN_CPU_MS] += m->executor_cpu_ns / 1000000;
        run->totals[RUN_GC_MS] += m->jvm_gc_ms;
        run->totals[RUN_FETCH_WAIT_MS] += m->shuffle_read.fetch_wait_ms;
        run->totals[RUN_INPUT] += m->input_bytes;
        run->totals[RUN_OUTPUT] += m->output_bytes;
        run->totals[RUN_SHUFFLE_READ] += m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes;
        run->totals[RUN_SHUFFLE_WRITE] += m->shuffle_write.bytes;
        run->totals[RUN_SPILL] += m->disk_bytes_spilled;
        for (size_t i = 0; i < stage->executors.len; i++)
                run->totals[RUN_TASK_MS] += stage->executors.data[i].task_ms;
}

void run_summary_init(struct run_summary *run, const struct status *s, int64_t now_ms, size_t max_rows)
{
        const struct status_application *a = &s->application;
        *run = (struct run_summary){.id = mem_strdup(a->id ? a->id : ""), .name = mem_strdup(a->name ? a->name : "")};
        if (a->start_ms > 0)
                run->totals[RUN_WALL_MS] = MAX((a->has_ended ? a->end_ms : now_ms) - a->start_ms, (int64_t)0);
        run->totals[RUN_JOBS] = (int64_t)s->jobs.len;
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *stage = s->stages.data[i];
                const struct task_metrics *m = &stage->metrics;
                struct buf line = BUF_INIT;
                if (stage->state == STATUS_STAGE_PENDING || stage->state == STATUS_STAGE_SKIPPED)
                        continue;
                run_summary_add(run, stage);
                struct run_stage mine = {.id = stage->id,
                                         .attempt = stage->attempt,
                                         .tasks = stage->tasks,
                                         .name = mem_strdup(stage->name),
                                         .read_bytes = m->input_bytes + m->shuffle_read.local_bytes +
                                                       m->shuffle_read.remote_bytes,
                                         .spilled_bytes = m->disk_bytes_spilled};
                for (size_t k = 0; k < run->stages.len; k++)
                        mine.nth += strcmp(run->stages.data[k].name, mine.name) == 0;
                int64_t end = status_stage_is_live(stage) ? now_ms : stage->completion_ms;
                mine.wall_ms = stage->submission_ms > 0 ? MAX(end - stage->submission_ms, (int64_t)0) : 0;
                if (stage->columns.n_retained <= max_rows) {
                        max_rows -= stage->columns.n_retained;
                        diagnose_stage(s, stage, now_ms, &mine.diagnosis);
                        stage_diagnosis_put(stage, &mine.diagnosis, &line);
                        mine.diagnosis.slow_host = NULL;
                }
                mine.line = buf_steal(&line);
                vec_push(&run->stages, mine);
        }
}

void run_summary_deinit(struct run_summary *run)
{
        for (size_t i = 0; i < run->stages.len; i++) {
                free(run->stages.data[i].name);
                free(run->stages.data[i].line);
        }
        vec_deinit(&run->stages);
        free(run->id);
        free(run->name);
}

/* -------------------------------------------------------------------------------------------------- stages */

static int64_t run_pair_change(const struct run_pair *pair)
{
        return (pair->b ? pair->b->wall_ms : 0) - (pair->a ? pair->a->wall_ms : 0);
}

/* Stages that became slower come first, then those that became faster. */
static int run_pair_compare(const void *x, const void *y)
{
        int64_t a = run_pair_change(x), b = run_pair_change(y);
        int64_t size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
        if (size_a != size_b)
                return size_a > size_b ? -1 : 1;
        return (a < b) - (a > b);
}

void run_compare(const struct run_summary *a, const struct run_summary *b, run_pairs *out)
{
        bool *is_paired = new_array(bool, b->stages.len);
        for (size_t i = 0; i < a->stages.len; i++) {
                const struct run_stage *mine = &a->stages.data[i];
                struct run_pair pair = {.a = mine};
                for (size_t k = 0; k < b->stages.len && !pair.b; k++) {
                        const struct run_stage *other = &b->stages.data[k];
                        if (is_paired[k] || other->nth != mine->nth || strcmp(other->name, mine->name) != 0)
                                continue;
                        pair.b = other;
                        is_paired[k] = true;
                }
                vec_push(out, pair);
        }
        for (size_t k = 0; k < b->stages.len; k++)
                if (!is_paired[k])
                        vec_push(out, (struct run_pair){.b = &b->stages.data[k]});
        free(is_paired);
        if (out->len)
                qsort(out->data, out->len, sizeof(*out->data), run_pair_compare);
}

static void run_put_separator(struct buf *out, size_t begin)
{
        if (out->len > begin)
                buf_puts(out, "; ");
}

/* True if @b differs from @a by more than a fifth. */
static bool run_is_changed(int64_t a, int64_t b)
{
        return (double)b > (double)a * 1.2 || (double)b < (double)a * 0.8;
}

void run_pair_put_reason(const struct run_pair *pair, struct buf *out)
{
        size_t begin = out->len;
        const struct run_stage *a = pair->a, *b = pair->b;
        if (!a || !b) {
                buf_puts(out, a ? "only in the first run" : "only in the second run");
                return;
        }
        if (a->tasks != b->tasks)
                buf_printf(out, "%d tasks, not %d", b->tasks, a->tasks);
        if (run_is_changed(a->read_bytes, b->read_bytes)) {
                run_put_separator(out, begin);
                buf_puts(out, "read ");
                diagnosis_put_bytes(out, b->read_bytes);
                buf_puts(out, ", not ");
                diagnosis_put_bytes(out, a->read_bytes);
        }
        if (run_is_changed(a->spilled_bytes, b->spilled_bytes)) {
                run_put_separator(out, begin);
                buf_puts(out, "spilled ");
                diagnosis_put_bytes(out, b->spilled_bytes);
                buf_puts(out, ", not ");
                diagnosis_put_bytes(out, a->spilled_bytes);
        }
        int64_t change = b->wall_ms - a->wall_ms, most = 0;
        int part = -1;
        for (int i = DIAGNOSIS_PARTS - 1; i >= 0; i--) {
                int64_t more = b->diagnosis.parts_ms[i] - a->diagnosis.parts_ms[i];
                /* A long task computes, too. What cost time is that the others do not. */
                int64_t least = i == DIAGNOSIS_COMPUTING ? most + most / 4 : most;
                if (change < 0 ? more < least : more > least) {
                        most = more;
                        part = i;
                }
        }
        if (part < 0 || !run_is_changed(a->wall_ms, b->wall_ms))
                return;
        run_put_separator(out, begin);
        buf_printf(out, "%s %s", diagnosis_part_name((enum diagnosis_part)part), most > 0 ? "+" : "-");
        diagnosis_put_duration(out, most > 0 ? most : -most);
        if (change > 0 && b->diagnosis.limit != a->diagnosis.limit && *b->line) {
                buf_puts(out, b->diagnosis.limit == LIMIT_FAILED ? "; it " : "; now limited by ");
                buf_puts(out, b->line);
        }
}
