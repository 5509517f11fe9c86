/* One stage attempt; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "status/diagnosis.h"

static int64_t stage_end(const struct ui_page *p, const struct status_stage *stage)
{
        return status_stage_is_live(stage) ? p->now_ms : stage->completion_ms;
}

static int64_t stage_task_ms(const struct status_stage *stage)
{
        int64_t sum = 0;
        for (size_t i = 0; i < stage->executors.len; i++)
                sum += stage->executors.data[i].task_ms;
        return sum;
}

static void stage_put_bytes_fact(struct ui_page *p, const char *name, int64_t bytes, int64_t records)
{
        if (!bytes && !records)
                return;
        html_put(p->b, "<dt>%s</dt><dd>", name);
        page_put_bytes_records(p, bytes, records);
        buf_puts(p->b, "</dd>\n");
}

static void stage_put_locality(struct ui_page *p, const struct status_stage *stage)
{
        const char *separator = "";
        buf_puts(p->b, "<dt>Locality Level Summary</dt><dd>");
        for (int i = 0; i < LOCALITY_LEVELS; i++) {
                if (!stage->locality[i])
                        continue;
                html_put(p->b, "%s%s: %D", separator, locality_name((enum task_locality)i), stage->locality[i]);
                separator = "; ";
        }
        buf_puts(p->b, "</dd>\n");
}

static void stage_put_jobs(struct ui_page *p, const struct status_stage *stage)
{
        enum { MAX_JOBS = 10 };
        if (!stage->jobs.len)
                return;
        buf_puts(p->b, "<dt>Associated Job Ids</dt><dd>");
        for (size_t i = 0; i < stage->jobs.len && i < MAX_JOBS; i++)
                html_put(p->b, "<a href=\"%s/jobs/job/?id=%d\">%d</a> ", p->q->base, stage->jobs.data[i].job->id,
                         stage->jobs.data[i].job->id);
        if (stage->jobs.len > MAX_JOBS)
                html_put(p->b, "and %D more", (int64_t)(stage->jobs.len - MAX_JOBS));
        buf_puts(p->b, "</dd>\n");
}

/* The attempts of the same stage. */
static void stage_put_attempts(struct ui_page *p, const struct status_stage *stage)
{
        size_t n = 0;
        for (size_t i = 0; i < p->s->stages.len; i++)
                n += p->s->stages.data[i]->id == stage->id;
        if (n < 2)
                return;
        buf_puts(p->b, "<dt>Attempts</dt><dd>");
        for (size_t i = 0; i < p->s->stages.len; i++)
                if (p->s->stages.data[i]->id == stage->id)
                        html_put(p->b, "<a href=\"%s/stages/stage/?id=%d&amp;attempt=%d\">%d</a> ", p->q->base,
                                 stage->id, p->s->stages.data[i]->attempt, p->s->stages.data[i]->attempt);
        buf_puts(p->b, "</dd>\n");
}

static void stage_put_facts(struct ui_page *p, const struct status_stage *stage)
{
        const struct task_metrics *m = &stage->metrics;
        buf_puts(p->b, "<dl class=\"facts\">\n<dt>Status</dt><dd>");
        html_state(p->b, page_stage_state(stage->state));
        if (stage->state == STATUS_STAGE_ACTIVE)
                page_put_kill(p, "stage", stage->id);
        buf_puts(p->b, "</dd>\n");
        buf_puts(p->b, "<dt>Created At</dt><dd>");
        page_put_call_site(p, stage->name);
        buf_puts(p->b, "</dd>\n");
        if (stage->description)
                html_put_fact(p->b, "Description", "%s", stage->description);
        stage_put_attempts(p, stage);
        stage_put_jobs(p, stage);
        if (stage->submission_ms > 0) {
                html_put_fact(p->b, "Submitted", "%t", stage->submission_ms);
                html_put_fact(p->b, "Duration", "%u", MAX(stage_end(p, stage) - stage->submission_ms, (int64_t)0));
        }
        buf_puts(p->b, "<dt>Tasks</dt><dd>");
        page_put_progress(p, stage->indices.n, stage->active_tasks, stage->failed_tasks, 0, stage->tasks);
        buf_puts(p->b, "</dd>\n");
        if (stage->lost_ends)
                html_put_fact(p->b, "Lost Events", "%D tasks have no end", stage->lost_ends);
        html_put_fact(p->b, "Total Time Across All Tasks", "%u", stage_task_ms(stage));
        stage_put_locality(p, stage);
        stage_put_bytes_fact(p, "Input Size / Records", m->input_bytes, m->input_records);
        stage_put_bytes_fact(p, "Output Size / Records", m->output_bytes, m->output_records);
        stage_put_bytes_fact(p, "Shuffle Read Size / Records",
                             m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes, m->shuffle_read.records);
        stage_put_bytes_fact(p, "Shuffle Write Size / Records", m->shuffle_write.bytes, m->shuffle_write.records);
        stage_put_bytes_fact(p, "Spill (Memory)", m->memory_bytes_spilled, 0);
        stage_put_bytes_fact(p, "Spill (Disk)", m->disk_bytes_spilled, 0);
        for (size_t i = 0; i < stage->killed.len; i++)
                html_put_fact(p->b, i ? "" : "Killed Tasks", "%D: %s", stage->killed.data[i].n,
                              stage->killed.data[i].reason);
        const struct status_speculation *v = &stage->speculation;
        if (v->tasks)
                html_put_fact(p->b, "Speculative Attempts", "%D started, %D active, %D succeeded, %D failed, %D killed",
                              v->tasks, v->active, v->completed, v->failed, v->killed);
        if (strcmp(stage->pool, "default") != 0)
                html_put_fact(p->b, "Pool", "%s", stage->pool);
        if (stage->resource_profile)
                html_put_fact(p->b, "Resource Profile Id", "%d", stage->resource_profile);
        if (stage->failure)
                html_put_fact(p->b, "Failure", "<pre>%s</pre>", stage->failure);
        buf_puts(p->b, "</dl>\n");
}

/* Writes what limited the stage, and how its wall-clock time is divided. */
static void stage_put_diagnosis(struct ui_page *p, const struct status_stage *stage)
{
        static const char *const classes[DIAGNOSIS_PARTS] = {
                [DIAGNOSIS_COMPUTING] = "p-cpu",
                [DIAGNOSIS_CORES] = "p-wait",
                [DIAGNOSIS_UNEVEN] = "p-idle",
                [DIAGNOSIS_ATTEMPTS] = "p-failed",
                [DIAGNOSIS_FETCH] = "p-fetch",
                [DIAGNOSIS_WRITE] = "p-write",
                [DIAGNOSIS_GC] = "p-gc",
                [DIAGNOSIS_OUTSIDE] = "p-outside",
                [DIAGNOSIS_DESERIALIZE] = "p-driver",
                [DIAGNOSIS_RESULTS] = "p-result",
                [DIAGNOSIS_SCHEDULER] = "p-delay",
        };
        struct stage_diagnosis d;
        struct page_part parts[DIAGNOSIS_PARTS];
        struct buf line = BUF_INIT;
        diagnose_stage(p->s, stage, p->now_ms, &d);
        stage_diagnosis_put(stage, &d, &line);
        if (line.len)
                html_put(p->b, "<p class=\"limit\" id=\"limit\">%s<strong>%s</strong></p>\n",
                         d.limit == LIMIT_FAILED ? "" : "Limited by ", buf_text(&line));
        for (int i = 0; i < DIAGNOSIS_PARTS; i++)
                parts[i] = (struct page_part){diagnosis_part_name((enum diagnosis_part)i), classes[i], d.parts_ms[i]};
        page_put_parts(p, "Where the time went", parts, DIAGNOSIS_PARTS);
        buf_deinit(&line);
}

/* ---------------------------------------------------------------------------------------------------- executors */

enum {
        EXECUTOR_ID,
        EXECUTOR_ADDRESS,
        EXECUTOR_TASK_TIME,
        EXECUTOR_TASKS,
        EXECUTOR_FAILED,
        EXECUTOR_KILLED,
        EXECUTOR_SUCCEEDED,
        EXECUTOR_INPUT,
        EXECUTOR_OUTPUT,
        EXECUTOR_SHUFFLE_READ,
        EXECUTOR_SHUFFLE_WRITE,
        EXECUTOR_SPILL,
        EXECUTOR_COLUMNS
};

static int64_t executor_stage_value(const struct status_executor_stage *x, size_t column)
{
        switch (column) {
        case EXECUTOR_TASK_TIME:
                return x->task_ms;
        case EXECUTOR_TASKS:
                return x->succeeded_tasks + x->failed_tasks + x->killed_tasks + x->active_tasks;
        case EXECUTOR_FAILED:
                return x->failed_tasks;
        case EXECUTOR_KILLED:
                return x->killed_tasks;
        case EXECUTOR_SUCCEEDED:
                return x->succeeded_tasks;
        case EXECUTOR_INPUT:
                return x->input_bytes;
        case EXECUTOR_OUTPUT:
                return x->output_bytes;
        case EXECUTOR_SHUFFLE_READ:
                return x->shuffle_read_bytes;
        case EXECUTOR_SHUFFLE_WRITE:
                return x->shuffle_write_bytes;
        case EXECUTOR_SPILL:
                return x->disk_bytes_spilled;
        default:
                return x->executor;
        }
}

static void stage_put_executor_row(struct ui_page *p, const struct status_executor_stage *x)
{
        const struct executor_ref *ref = &p->s->executor_names.data[x->executor];
        const struct status_executor *whole = status_find_executor(p->s, ref->id);
        html_put(p->b, "<tr><td>%s%s<td>%s", ref->id, x->excluded ? " (excluded)" : "",
                 whole && *whole->host_port ? whole->host_port : ref->host);
        if (whole) {
                buf_puts(p->b, " ");
                page_put_executor_logs(p, whole);
        }
        page_put_duration_cell(p, x->task_ms);
        for (size_t i = EXECUTOR_TASKS; i <= EXECUTOR_SUCCEEDED; i++)
                page_put_number_cell(p, executor_stage_value(x, i));
        for (size_t i = EXECUTOR_INPUT; i <= EXECUTOR_SPILL; i++)
                page_put_bytes_cell(p, executor_stage_value(x, i));
        buf_puts(p->b, "\n");
}

static bool stage_put_executors(struct ui_page *p, const struct status_stage *stage)
{
        static const struct page_column columns[EXECUTOR_COLUMNS] = {
                [EXECUTOR_ID] = {"Executor ID"},
                [EXECUTOR_ADDRESS] = {"Address"},
                [EXECUTOR_TASK_TIME] = {"Task Time", true},
                [EXECUTOR_TASKS] = {"Total Tasks", true},
                [EXECUTOR_FAILED] = {"Failed Tasks", true},
                [EXECUTOR_KILLED] = {"Killed Tasks", true},
                [EXECUTOR_SUCCEEDED] = {"Succeeded Tasks", true},
                [EXECUTOR_INPUT] = {"Input", true},
                [EXECUTOR_OUTPUT] = {"Output", true},
                [EXECUTOR_SHUFFLE_READ] = {"Shuffle Read", true},
                [EXECUTOR_SHUFFLE_WRITE] = {"Shuffle Write", true},
                [EXECUTOR_SPILL] = {"Spill (Disk)", true},
        };
        struct page_table t;
        size_t n = stage->executors.len;
        if (!n)
                return true;
        if (!page_table_init(p, &t, "executor", columns, EXECUTOR_COLUMNS, EXECUTOR_TASK_TIME, true, n))
                return false;
        struct page_key *keys = new_array(struct page_key, n);
        for (size_t i = 0; i < n; i++) {
                const struct status_executor_stage *x = &stage->executors.data[i];
                keys[i] = (struct page_key){.number = executor_stage_value(x, t.sort), .row = x};
                if (t.sort == EXECUTOR_ADDRESS)
                        keys[i].text = p->s->executor_names.data[x->executor].host;
        }
        page_table_sort(&t, keys);
        _cleanup_free_ char *heading = mem_printf("Aggregated Metrics by Executor (%zu)", n);
        page_begin_section(p, "executor", heading, n <= 20);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++)
                stage_put_executor_row(p, keys[i].row);
        page_table_end(p);
        page_end_section(p);
        free(keys);
        return true;
}

static void stage_put_accumulables(struct ui_page *p, const struct status_stage *stage)
{
        enum { MAX_ROWS = 100 };
        size_t n = 0;
        for (size_t i = 0; i < stage->accumulables.len; i++)
                n += stage->accumulables.data[i].name != NULL;
        if (!n)
                return;
        html_table_begin(p->b, "accumulables", "Accumulators", "Accumulable|Value", n, "");
        for (size_t i = 0, shown = 0; i < stage->accumulables.len && shown < MAX_ROWS; i++) {
                const struct accumulable *a = &stage->accumulables.data[i];
                if (!a->name)
                        continue;
                html_put(p->b, "<tr><td>%s<td>%s\n", a->name, a->value);
                shown++;
        }
        html_table_end(p->b, n);
}

/* --------------------------------------------------------------------------------------------------------- page */

/* Lets events in between two parts of a page. Returns the stage, or NULL if it was removed meanwhile. */
static const struct status_stage *stage_pause(struct ui_page *p, int id, int attempt)
{
        app_view_pause(p->view);
        p->s = p->view->status;
        return status_find_stage(p->s, id, attempt);
}

/* Writes the page but its end. Returns false after it answered with an error. */
static bool stage_put_page(struct ui_page *p, const struct status_stage *stage)
{
        const int id = stage->id, attempt = stage->attempt;
        stage_put_facts(p, stage);
        stage_put_diagnosis(p, stage);
        if (!(stage = stage_pause(p, id, attempt)))
                return true;
        page_put_stage_series(p, stage);
        page_begin_section(p, "graph", "DAG Visualization", stage->rdds.len > 0 && stage->rdds.len <= 6);
        page_put_stage_graph(p, stage);
        page_end_section(p);
        page_put_source(p, stage->name);
        if (stage->details && strcmp(stage->details, stage->name) != 0) {
                page_begin_section(p, "details", "Call Site", false);
                html_put(p->b, "<pre>%s</pre>\n", stage->details);
                page_end_section(p);
        }
        if (!(stage = stage_pause(p, id, attempt)))
                return true;
        page_put_summary(p, stage);
        if (!(stage = stage_pause(p, id, attempt)))
                return true;
        if (!stage_put_executors(p, stage))
                return false;
        page_put_stage_nodes(p, stage);
        stage_put_accumulables(p, stage);
        return page_put_tasks(p, stage);
}

void page_serve_stage(struct ui_page *p)
{
        int id, attempt;
        if (!page_get_id(p, "id", &id) || !page_get_id(p, "attempt", &attempt))
                return;
        const struct status_stage *stage = status_find_stage(p->s, id, attempt);
        if (!stage) {
                page_fail(p, 404, "No information to display for Stage %d (Attempt %d)", id, attempt);
                return;
        }
        page_begin(p, TAB_STAGES, "Details for Stage %d (Attempt %d)", id, attempt);
        if (stage_put_page(p, stage))
                page_end(p);
}
