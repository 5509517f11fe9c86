/* The list of stages, and the stages of a pool; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "status/diagnosis.h"

enum {
        STAGE_ID,
        STAGE_DESCRIPTION,
        STAGE_SUBMITTED,
        STAGE_DURATION,
        STAGE_TASKS,
        STAGE_LIMIT,
        STAGE_INPUT,
        STAGE_OUTPUT,
        STAGE_SHUFFLE_READ,
        STAGE_SHUFFLE_WRITE,
        STAGE_POOL,
        STAGE_COLUMNS
};

/* Tasks that a list of stages reads to say what limited them. */
enum { LIST_MAX_ROWS = 400000 };

static int64_t stage_duration(const struct ui_page *p, const struct status_stage *stage)
{
        if (stage->submission_ms <= 0 || stage->state == STATUS_STAGE_PENDING || stage->state == STATUS_STAGE_SKIPPED)
                return -1;
        int64_t from = stage->first_launch_ms > 0 ? stage->first_launch_ms : stage->submission_ms;
        return MAX((status_stage_is_live(stage) ? p->now_ms : stage->completion_ms) - from, (int64_t)0);
}

static const char *stage_text(const struct status_stage *stage)
{
        return stage->description ? stage->description : stage->name;
}

static int64_t stage_shuffle_read(const struct status_stage *stage)
{
        return stage->metrics.shuffle_read.local_bytes + stage->metrics.shuffle_read.remote_bytes;
}

static struct page_key stage_key(const struct ui_page *p, const struct status_stage *stage, size_t column)
{
        struct page_key key = {.number = (int64_t)stage->id << 16 | (stage->attempt & 0xffff), .row = stage};
        const struct task_metrics *m = &stage->metrics;
        switch (column) {
        case STAGE_DESCRIPTION:
                key.text = stage_text(stage);
                break;
        case STAGE_SUBMITTED:
                key.number = stage->submission_ms;
                break;
        case STAGE_DURATION:
                key.number = stage_duration(p, stage);
                break;
        case STAGE_INPUT:
                key.number = m->input_bytes;
                break;
        case STAGE_OUTPUT:
                key.number = m->output_bytes;
                break;
        case STAGE_SHUFFLE_READ:
                key.number = stage_shuffle_read(stage);
                break;
        case STAGE_SHUFFLE_WRITE:
                key.number = m->shuffle_write.bytes;
                break;
        case STAGE_POOL:
                key.text = stage->pool;
                break;
        default:
                break;
        }
        return key;
}

/* In one or two words; the stage's page has the numbers. */
static void stage_put_limit_cell(struct ui_page *p, const struct status_stage *stage, size_t *max_rows)
{
        struct stage_diagnosis d = {.limit = LIMIT_UNKNOWN};
        struct buf line = BUF_INIT;
        if (stage->columns.n_retained <= *max_rows) {
                *max_rows -= stage->columns.n_retained;
                diagnose_stage(p->s, stage, p->now_ms, &d);
                stage_diagnosis_put(stage, &d, &line);
        }
        html_put(p->b, "<td title=\"%s\">%s", buf_text(&line), diagnosis_limit_name(d.limit));
        if (d.limit != LIMIT_UNKNOWN && d.limit != LIMIT_FAILED)
                html_put(p->b, " %d&nbsp;%%", (int)(d.share * 100 + 0.5));
        for (size_t i = 0; i < d.n_further; i++)
                html_put(p->b, ", %s %d&nbsp;%%", diagnosis_limit_name(d.further[i].limit),
                         (int)(d.further[i].share * 100 + 0.5));
        buf_deinit(&line);
}

static void stage_put_row(struct ui_page *p, const struct status_stage *stage, bool with_pool, size_t *max_rows)
{
        const struct task_metrics *m = &stage->metrics;
        html_put(p->b, "<tr><td class=n>");
        page_put_stage_link(p, stage);
        html_put(p->b, "<td class=text><a href=\"%s/stages/stage/?id=%d&amp;attempt=%d\">%s</a>", p->q->base, stage->id,
                 stage->attempt, *stage_text(stage) ? stage_text(stage) : "(no name)");
        if (stage->state == STATUS_STAGE_ACTIVE)
                page_put_kill(p, "stage", stage->id);
        if (stage->description)
                html_put(p->b, "<br><small>%s</small>", stage->name);
        if (stage->failure)
                html_put(p->b, "<details class=\"inner\"><summary>Failure</summary><pre>%s</pre></details>",
                         stage->failure);
        if (stage->submission_ms > 0)
                html_put(p->b, "<td>%t", stage->submission_ms);
        else
                buf_puts(p->b, "<td>-");
        page_put_duration_cell(p, stage_duration(p, stage));
        buf_puts(p->b, "<td>");
        page_put_progress(p, stage->indices.n, stage->active_tasks, stage->failed_tasks, 0, stage->tasks);
        stage_put_limit_cell(p, stage, max_rows);
        page_put_bytes_cell(p, m->input_bytes);
        page_put_bytes_cell(p, m->output_bytes);
        page_put_bytes_cell(p, stage_shuffle_read(stage));
        page_put_bytes_cell(p, m->shuffle_write.bytes);
        if (with_pool)
                html_put(p->b, "<td><a href=\"%s/stages/pool/?poolname=%q\">%s</a>", p->q->base, stage->pool,
                         stage->pool);
        buf_puts(p->b, "\n");
}

bool page_put_stages(struct ui_page *p, const char *tag, const char *heading, const struct status_stage **stages,
                     size_t n, bool with_pool)
{
        static const struct page_column columns[STAGE_COLUMNS] = {
                [STAGE_ID] = {"Stage Id", true},
                [STAGE_DESCRIPTION] = {"Description"},
                [STAGE_SUBMITTED] = {"Submitted"},
                [STAGE_DURATION] = {"Duration", true},
                [STAGE_TASKS] = {"Tasks: Succeeded/Total", false, true},
                [STAGE_INPUT] = {"Input", true},
                [STAGE_OUTPUT] = {"Output", true},
                [STAGE_SHUFFLE_READ] = {"Shuffle Read", true},
                [STAGE_SHUFFLE_WRITE] = {"Shuffle Write", true},
                [STAGE_LIMIT] = {"Limited By", false, true},
                [STAGE_POOL] = {"Pool Name"},
        };
        struct page_table t;
        size_t max_rows = LIST_MAX_ROWS;
        if (!n)
                return true;
        if (!page_table_init(p, &t, tag, columns, with_pool ? STAGE_COLUMNS : STAGE_POOL, STAGE_ID, true, n))
                return false;
        struct page_key *keys = new_array(struct page_key, n);
        for (size_t i = 0; i < n; i++)
                keys[i] = stage_key(p, stages[i], t.sort);
        page_table_sort(&t, keys);
        _cleanup_free_ char *whole = mem_printf("%s (%zu)", heading, n);
        page_begin_section(p, tag, whole, true);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++)
                stage_put_row(p, keys[i].row, with_pool, &max_rows);
        page_table_end(p);
        page_end_section(p);
        free(keys);
        return true;
}

bool page_put_stages_by_state(struct ui_page *p, struct status_stage *const *stages, size_t n, bool with_pool)
{
        static const struct {
                const char *tag, *heading;
                enum status_stage_state state;
        } sections[] = {{"activeStage", "Active Stages", STATUS_STAGE_ACTIVE},
                        {"pendingStage", "Pending Stages", STATUS_STAGE_PENDING},
                        {"completedStage", "Completed Stages", STATUS_STAGE_COMPLETE},
                        {"skippedStage", "Skipped Stages", STATUS_STAGE_SKIPPED},
                        {"failedStage", "Failed Stages", STATUS_STAGE_FAILED}};
        VEC(const struct status_stage *) some = {0};
        bool good = true;
        for (size_t i = 0; good && i < ARRAY_SIZE(sections); i++) {
                some.len = 0;
                for (size_t k = 0; k < n; k++)
                        if (stages[k]->state == sections[i].state)
                                vec_push(&some, stages[k]);
                good = page_put_stages(p, sections[i].tag, sections[i].heading, some.data, some.len, with_pool);
        }
        vec_deinit(&some);
        return good;
}

/* -------------------------------------------------------------------------------------------------------- pools */

static bool stages_are_fair(const struct ui_page *p)
{
        const char *mode = strmap_get(&p->s->application.spark_properties, "spark.scheduler.mode");
        return mode && strcmp(mode, "FAIR") == 0;
}

static void stages_put_pools(struct ui_page *p)
{
        html_table_begin(p->b, "pools", "Fair Scheduler Pools", "Pool Name|#Active Stages|#Running Tasks",
                         p->s->pools.len, "No pool was used yet.");
        for (size_t i = 0; i < p->s->pools.len; i++) {
                const struct status_pool *pool = &p->s->pools.data[i];
                int64_t running = 0;
                for (size_t k = 0; k < pool->stages.len; k++)
                        running += pool->stages.data[k]->active_tasks;
                html_put(p->b, "<tr><td><a href=\"%s/stages/pool/?poolname=%q\">%s</a>", p->q->base, pool->name,
                         pool->name);
                page_put_number_cell(p, (int64_t)pool->stages.len);
                page_put_number_cell(p, running);
                buf_puts(p->b, "\n");
        }
        html_table_end(p->b, p->s->pools.len);
}

void page_serve_pool(struct ui_page *p)
{
        const char *name = form_get(p->q->query, "poolname");
        const struct status_pool *pool = NULL;
        if (!name) {
                page_fail(p, 400, "The parameter 'poolname' is missing.");
                return;
        }
        for (size_t i = 0; i < p->s->pools.len && p->view->is_live && stages_are_fair(p); i++)
                if (strcmp(p->s->pools.data[i].name, name) == 0)
                        pool = &p->s->pools.data[i];
        if (!pool) {
                page_fail(p, 400, "Unknown pool: %.200s", name);
                return;
        }
        page_begin(p, TAB_STAGES, "Fair Scheduler Pool: %s", pool->name);
        if (!pool->stages.len)
                buf_puts(p->b, "<p class=\"nothing\">No stage of this pool is active.</p>\n");
        if (page_put_stages(p, "poolActiveStage", "Active Stages", (const struct status_stage **)pool->stages.data,
                            pool->stages.len, true))
                page_end(p);
}

/* --------------------------------------------------------------------------------------------------------- list */

void page_serve_stages(struct ui_page *p)
{
        bool fair = stages_are_fair(p);
        page_begin(p, TAB_STAGES, "Stages for All Jobs");
        if (!p->s->stages.len)
                buf_puts(p->b, "<p class=\"nothing\">No stage was started yet.</p>\n");
        if (fair && p->view->is_live)
                stages_put_pools(p);
        if (page_put_stages_by_state(p, p->s->stages.data, p->s->stages.len, fair))
                page_end(p);
}
