/* The list of jobs, and one job; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "status/diagnosis.h"

#include <stdio.h>

static int64_t job_duration(const struct ui_page *p, const struct status_job *job)
{
        if (job->submission_ms <= 0)
                return -1;
        int64_t end = job->state == STATUS_JOB_RUNNING ? p->now_ms : job->completion_ms;
        return MAX(end - job->submission_ms, (int64_t)0);
}

static const char *job_text(const struct status_job *job)
{
        return job->description ? job->description : job->name;
}

/* ------------------------------------------------------------------------------------------------------ list */

enum { JOB_ID, JOB_DESCRIPTION, JOB_SUBMITTED, JOB_DURATION, JOB_STAGES, JOB_TASKS, JOB_COLUMNS };

static struct page_key job_key(const struct ui_page *p, const struct status_job *job, size_t column)
{
        struct page_key key = {.number = job->id, .row = job};
        switch (column) {
        case JOB_DESCRIPTION:
                key.text = job_text(job);
                break;
        case JOB_SUBMITTED:
                key.number = job->submission_ms;
                break;
        case JOB_DURATION:
                key.number = job_duration(p, job);
                break;
        default:
                break;
        }
        return key;
}

static void job_put_row(struct ui_page *p, const struct status_job *job)
{
        html_put(p->b, "<tr><td class=n>%d", job->id);
        if (job->group)
                html_put(p->b, " (%s)", job->group);
        html_put(p->b, "<td class=text><a href=\"%s/jobs/job/?id=%d\">%s</a>", p->q->base, job->id,
                 *job_text(job) ? job_text(job) : "(no name)");
        if (job->state == STATUS_JOB_RUNNING)
                page_put_kill(p, "job", job->id);
        if (job->description)
                html_put(p->b, "<br><small>%s</small>", job->name);
        if (job->failure)
                html_put(p->b, "<br><small class=\"error\">%s</small>", job->failure);
        if (job->submission_ms > 0)
                html_put(p->b, "<td>%t", job->submission_ms);
        else
                buf_puts(p->b, "<td>-");
        page_put_duration_cell(p, job_duration(p, job));
        html_put(p->b, "<td>%d/%d", job->completed_stages, (int)job->stages.len - job->skipped_stages);
        if (job->failed_stages)
                html_put(p->b, " (%d failed)", job->failed_stages);
        if (job->skipped_stages)
                html_put(p->b, " (%d skipped)", job->skipped_stages);
        buf_puts(p->b, "<td>");
        page_put_progress(p, job->completed_indices, job->active_tasks, job->failed_tasks, job->skipped_tasks,
                          job->tasks - job->skipped_tasks);
        buf_puts(p->b, "\n");
}

static bool jobs_put_table(struct ui_page *p, enum status_job_state state, const char *tag, const char *heading)
{
        struct page_column columns[JOB_COLUMNS] = {{"Job Id", true},
                                                   {"Description"},
                                                   {"Submitted"},
                                                   {"Duration", true},
                                                   {"Stages: Succeeded/Total", false, true},
                                                   {"Tasks (for all stages): Succeeded/Total", false, true}};
        struct page_table t;
        size_t n = 0;
        for (size_t i = 0; i < p->s->jobs.len; i++) {
                n += p->s->jobs.data[i]->state == state;
                if (p->s->jobs.data[i]->group)
                        columns[JOB_ID].heading = "Job Id (Job Group)";
        }
        if (!n)
                return true;
        if (!page_table_init(p, &t, tag, columns, JOB_COLUMNS, JOB_ID, true, n))
                return false;
        struct page_key *keys = new_array(struct page_key, n);
        size_t at = 0;
        for (size_t i = 0; i < p->s->jobs.len; i++)
                if (p->s->jobs.data[i]->state == state)
                        keys[at++] = job_key(p, p->s->jobs.data[i], t.sort);
        page_table_sort(&t, keys);
        _cleanup_free_ char *whole = mem_printf("%s (%zu)", heading, n);
        page_begin_section(p, tag, whole, true);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++)
                job_put_row(p, keys[i].row);
        page_table_end(p);
        page_end_section(p);
        free(keys);
        return true;
}

static void jobs_put_timeline(struct ui_page *p)
{
        enum { DEFAULT_JOBS = 100, DEFAULT_EXECUTORS = 30 };
        const size_t max_jobs = p->q->timelines.jobs ? (size_t)p->q->timelines.jobs : DEFAULT_JOBS;
        const size_t max_executors = p->q->timelines.executors ? (size_t)p->q->timelines.executors : DEFAULT_EXECUTORS;
        page_spans spans = {0};
        size_t first = p->s->jobs.len > max_jobs ? p->s->jobs.len - max_jobs : 0;
        int64_t from = p->now_ms;
        for (size_t i = first; i < p->s->jobs.len; i++) {
                const struct status_job *job = p->s->jobs.data[i];
                if (job->submission_ms <= 0)
                        continue;
                from = MIN(from, job->submission_ms);
                struct page_span span = {.from_ms = job->submission_ms,
                                         .to_ms = job->submission_ms + job_duration(p, job),
                                         .label = job_text(job),
                                         .class = job->state == STATUS_JOB_RUNNING     ? "s-run"
                                                  : job->state == STATUS_JOB_SUCCEEDED ? "s-done"
                                                                                       : "s-failed"};
                span.href = mem_printf("/jobs/job/?id=%d", job->id);
                span.title = mem_printf("Job %d, %s: %s", job->id, page_job_state(job->state), job_text(job));
                vec_push(&spans, span);
        }
        for (size_t i = 0, n = 0; i < p->s->executors.len && n < max_executors; i++) {
                const struct status_executor *x = p->s->executors.data[i];
                if (!x->is_registered || strcmp(x->id, "driver") == 0 || (!x->is_active && x->removed_ms < from))
                        continue;
                struct page_span span = {.from_ms = MAX(x->added_ms, from),
                                         .to_ms = x->is_active ? p->now_ms : x->removed_ms,
                                         .class = x->is_active ? "s-exec" : "s-gone",
                                         .href = mem_strdup("/executors/")};
                span.title = mem_printf("Executor %s on %s%s%s", x->id, x->host, x->removed_reason ? ": " : "",
                                        x->removed_reason ? x->removed_reason : "");
                vec_push(&spans, span);
                n++;
        }
        page_begin_section(p, "timeline", "Event Timeline", false);
        page_put_timeline(p, &spans, from, p->now_ms);
        buf_puts(p->b, "<ul class=\"legend\"><li><i class=\"s-done\"></i>succeeded<li><i class=\"s-failed\"></i>failed"
                       "<li><i class=\"s-run\"></i>running<li><i class=\"s-exec\"></i>executor"
                       "<li><i class=\"s-gone\"></i>removed executor</ul>\n");
        page_end_section(p);
}

void page_serve_jobs(struct ui_page *p)
{
        const struct status_application *a = &p->s->application;
        const struct status_totals *t = &p->s->totals;
        const char *mode = strmap_get(&a->spark_properties, "spark.scheduler.mode");
        int64_t running = 0;
        for (size_t i = 0; i < p->s->jobs.len; i++)
                running += p->s->jobs.data[i]->state == STATUS_JOB_RUNNING;
        page_begin(p, TAB_JOBS, "Spark Jobs");
        buf_puts(p->b, "<dl class=\"facts\">\n");
        html_put_fact(p->b, "User", "%s", a->user);
        if (a->start_ms > 0) {
                html_put_fact(p->b, "Started At", "%t", a->start_ms);
                html_put_fact(p->b, "Total Uptime", "%u", (a->has_ended ? a->end_ms : p->now_ms) - a->start_ms);
        }
        html_put_fact(p->b, "Scheduling Mode", "%s", mode ? mode : "FIFO");
        html_put_fact(p->b, "Jobs", "%D active, %D completed, %D failed", running, t->succeeded_jobs, t->failed_jobs);
        if (a->exit_code >= 0)
                html_put_fact(p->b, "Exit Status", "%d", a->exit_code);
        buf_puts(p->b, "</dl>\n");
        if (!p->s->jobs.len)
                buf_puts(p->b, "<p class=\"nothing\">No job was started yet.</p>\n");
        else
                jobs_put_timeline(p);
        if (jobs_put_table(p, STATUS_JOB_RUNNING, "activeJob", "Active Jobs") &&
            jobs_put_table(p, STATUS_JOB_SUCCEEDED, "completedJob", "Completed Jobs") &&
            jobs_put_table(p, STATUS_JOB_FAILED, "failedJob", "Failed Jobs"))
                page_end(p);
}

/* ------------------------------------------------------------------------------------------------------- job */

static void job_put_facts(struct ui_page *p, const struct status_job *job)
{
        buf_puts(p->b, "<dl class=\"facts\">\n<dt>Status</dt><dd>");
        html_state(p->b, page_job_state(job->state));
        if (job->state == STATUS_JOB_RUNNING)
                page_put_kill(p, "job", job->id);
        buf_puts(p->b, "</dd>\n");
        if (job->submission_ms > 0)
                html_put_fact(p->b, "Submitted", "%t", job->submission_ms);
        if (job_duration(p, job) >= 0)
                html_put_fact(p->b, "Duration", "%u", job_duration(p, job));
        if (job->description)
                html_put_fact(p->b, "Description", "%s", job->description);
        if (job->group)
                html_put_fact(p->b, "Job Group", "%s", job->group);
        buf_puts(p->b, "<dt>Tasks</dt><dd>");
        page_put_progress(p, job->completed_indices, job->active_tasks, job->failed_tasks, job->skipped_tasks,
                          job->tasks - job->skipped_tasks);
        buf_puts(p->b, "</dd>\n");
        for (size_t i = 0; i < job->tags.len; i++)
                html_put_fact(p->b, i ? "" : "Tags", "%s", job->tags.data[i]);
        for (size_t i = 0; i < job->killed.len; i++)
                html_put_fact(p->b, i ? "" : "Killed Tasks", "%D: %s", job->killed.data[i].n,
                              job->killed.data[i].reason);
        if (job->failure)
                html_put_fact(p->b, "Failure", "<pre>%s</pre>", job->failure);
        buf_puts(p->b, "</dl>\n");
}

/* Where the wall-clock time went. */
static void job_put_diagnosis(struct ui_page *p, const struct status_job *job)
{
        enum { MAX_ROWS = 1000000 };
        struct job_diagnosis d;
        diagnose_job(p->s, job, p->now_ms, MAX_ROWS, &d);
        if (d.wall_ms <= 0)
                return;
        const struct page_part parts[] = {{"queued: no task had started", "p-wait", d.queued_ms},
                                          {"driver only", "p-driver", d.driver_ms},
                                          {"tasks", "p-cpu", d.busy_ms},
                                          {"idle cores while tasks ran", "p-idle", d.idle_ms}};
        page_put_parts(p, "Where the time went", parts, ARRAY_SIZE(parts));
        html_put(p->b, "<p class=\"limit\">Without uneven tasks it would have taken <strong>%u</strong>", d.ideal_ms);
        if (d.cores > 0)
                html_put(p->b, " on %D cores", d.cores);
        buf_puts(p->b,
                 d.shared ? ". Other jobs ran at the same time and may have used the idle cores.</p>\n" : ".</p>\n");
}

static void job_put_stage_timeline(struct ui_page *p, struct status_stage *const *stages, size_t n, int64_t from)
{
        enum { DEFAULT_STAGES = 500 };
        const size_t max_stages = p->q->timelines.stages ? (size_t)p->q->timelines.stages : DEFAULT_STAGES;
        page_spans spans = {0};
        int64_t to = from;
        for (size_t i = n > max_stages ? n - max_stages : 0; i < n; i++) {
                const struct status_stage *stage = stages[i];
                if (stage->submission_ms <= 0 || stage->state == STATUS_STAGE_SKIPPED)
                        continue;
                struct page_span span = {.from_ms = stage->submission_ms,
                                         .to_ms = status_stage_is_live(stage) ? p->now_ms : stage->completion_ms,
                                         .label = stage->name,
                                         .class = status_stage_is_live(stage)             ? "s-run"
                                                  : stage->state == STATUS_STAGE_COMPLETE ? "s-done"
                                                                                          : "s-failed"};
                span.href = mem_printf("/stages/stage/?id=%d&attempt=%d", stage->id, stage->attempt);
                span.title = mem_printf("Stage %d.%d, %s: %s", stage->id, stage->attempt,
                                        page_stage_state(stage->state), stage->name);
                to = MAX(to, span.to_ms);
                vec_push(&spans, span);
        }
        page_begin_section(p, "timeline", "Event Timeline", false);
        page_put_timeline(p, &spans, from, to);
        page_end_section(p);
}

void page_serve_job(struct ui_page *p)
{
        VEC(struct status_stage *) all = {0};
        int id;
        if (!page_get_id(p, "id", &id))
                return;
        const struct status_job *job = status_find_job(p->s, id);
        if (!job) {
                page_fail(p, 404, "No information to display for job %d", id);
                return;
        }
        for (size_t i = 0; i < p->s->stages.len; i++) {
                struct status_stage *stage = p->s->stages.data[i];
                for (size_t k = 0; k < stage->jobs.len; k++)
                        if (stage->jobs.data[k].job == job)
                                vec_push(&all, stage);
        }
        page_begin(p, TAB_JOBS, "Details for Job %d", id);
        job_put_facts(p, job);
        job_put_diagnosis(p, job);
        job_put_stage_timeline(p, all.data, all.len, job->submission_ms);
        page_begin_section(p, "graph", "DAG Visualization", job->stages.len <= 10);
        page_put_job_graph(p, job);
        page_end_section(p);
        if (page_put_stages_by_state(p, all.data, all.len, false))
                page_end(p);
        vec_deinit(&all);
}
