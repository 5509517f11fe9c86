/*
 * See event_filter.h. Two sets of live entities are kept: the jobs that have not ended, and the jobs of SQL executions
 * that have not ended. An event of a job, stage or task stays if one of the sets has it.
 */
#include "events/event_filter.h"

#include "base/mem.h"
#include "base/vec.h"

struct live_job {
        int id;
        int *stages; /* owned */
        size_t n_stages;
        int64_t execution; /* of SQL; -1: none */
};

struct live_stage {
        int id;
        VEC(int) rdds;
        VEC(int64_t) tasks;
};

struct live_set {
        VEC(struct live_job) jobs;
        VEC(struct live_stage) stages;
        size_t last;        /* the stage that was found last */
        VEC(int64_t) tasks; /* all of the stages, sorted; after event_filter_freeze */
};

struct event_filter {
        struct live_set basic, sql;
        VEC(int64_t) executions; /* live ones of SQL */
        struct strmap executors; /* live ones, by id */
        uint64_t n_tasks;
};

/* ------------------------------------------------------------------------------------------------- live entities */

static struct live_stage *live_set_find_stage(struct live_set *set, int id)
{
        if (set->last < set->stages.len && set->stages.data[set->last].id == id)
                return &set->stages.data[set->last];
        for (size_t i = 0; i < set->stages.len; i++)
                if (set->stages.data[i].id == id) {
                        set->last = i;
                        return &set->stages.data[i];
                }
        return NULL;
}

static bool live_set_has_stage(const struct live_set *set, int id)
{
        for (size_t i = 0; i < set->stages.len; i++)
                if (set->stages.data[i].id == id)
                        return true;
        return false;
}

static bool live_set_has_job(const struct live_set *set, int id)
{
        for (size_t i = 0; i < set->jobs.len; i++)
                if (set->jobs.data[i].id == id)
                        return true;
        return false;
}

static bool live_set_has_rdd(const struct live_set *set, int id)
{
        for (size_t i = 0; i < set->stages.len; i++)
                for (size_t k = 0; k < set->stages.data[i].rdds.len; k++)
                        if (set->stages.data[i].rdds.data[k] == id)
                                return true;
        return false;
}

static bool live_set_has_task(const struct live_set *set, int64_t id)
{
        size_t low = 0, high = set->tasks.len;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (set->tasks.data[middle] < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < set->tasks.len && set->tasks.data[low] == id;
}

static void live_stage_deinit(struct live_stage *stage)
{
        vec_deinit(&stage->rdds);
        vec_deinit(&stage->tasks);
}

static void live_set_drop_stage(struct live_set *set, int id)
{
        struct live_stage *stage = live_set_find_stage(set, id);
        if (!stage)
                return;
        live_stage_deinit(stage);
        *stage = set->stages.data[--set->stages.len];
}

static void live_set_drop_job(struct live_set *set, size_t at)
{
        struct live_job *job = &set->jobs.data[at];
        for (size_t i = 0; i < job->n_stages; i++)
                live_set_drop_stage(set, job->stages[i]);
        free(job->stages);
        *job = set->jobs.data[--set->jobs.len];
}

static void live_set_add_job(struct live_set *set, const struct job_start *e, int64_t execution)
{
        struct live_job job = {.id = e->id, .n_stages = e->n_stages, .execution = execution};
        job.stages = new_array(int, MAX(e->n_stages, (size_t)1));
        for (size_t i = 0; i < e->n_stages; i++)
                job.stages[i] = e->stages[i].id;
        vec_push(&set->jobs, job);
}

static void live_set_submit_stage(struct live_set *set, const struct stage_info *info)
{
        struct live_stage *stage = live_set_find_stage(set, info->id);
        if (!stage) {
                vec_push(&set->stages, (struct live_stage){.id = info->id});
                stage = &set->stages.data[set->stages.len - 1];
        }
        stage->rdds.len = 0;
        for (size_t i = 0; i < info->n_rdds; i++)
                vec_push(&stage->rdds, info->rdds[i].id);
}

static void live_set_start_task(struct live_set *set, const struct task_info *info)
{
        struct live_stage *stage = live_set_find_stage(set, info->stage_id);
        if (stage)
                vec_push(&stage->tasks, info->id);
}

static int live_task_compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
        return (x > y) - (x < y);
}

static void live_set_freeze(struct live_set *set)
{
        for (size_t i = 0; i < set->stages.len; i++)
                for (size_t k = 0; k < set->stages.data[i].tasks.len; k++)
                        vec_push(&set->tasks, set->stages.data[i].tasks.data[k]);
        if (set->tasks.len)
                qsort(set->tasks.data, set->tasks.len, sizeof(*set->tasks.data), live_task_compare);
}

static void live_set_deinit(struct live_set *set)
{
        for (size_t i = 0; i < set->jobs.len; i++)
                free(set->jobs.data[i].stages);
        for (size_t i = 0; i < set->stages.len; i++)
                live_stage_deinit(&set->stages.data[i]);
        vec_deinit(&set->jobs);
        vec_deinit(&set->stages);
        vec_deinit(&set->tasks);
}

/* ------------------------------------------------------------------------------------------------- SQL executions */

/* The number of the member @name in the text of an event, or -1. */
static int64_t event_line_number(const char *line, size_t length, const char *name)
{
        const char *at = memmem(line, length, name, strlen(name)), *end = line + length;
        int64_t number = 0;
        if (!at)
                return -1;
        at += strlen(name);
        if (at == end || *at < '0' || *at > '9')
                return -1;
        for (; at < end && *at >= '0' && *at <= '9' && number < INT64_MAX / 10 - 1; at++)
                number = number * 10 + (*at - '0');
        return number;
}

static bool event_line_is(const char *line, size_t length, const char *class_name)
{
        static const char head[] = "{\"Event\":\"";
        size_t n = sizeof(head) - 1, name = strlen(class_name);
        return length > n + name && memcmp(line, head, n) == 0 && memcmp(line + n, class_name, name) == 0 &&
               line[n + name] == '"';
}

#define SQL_EVENT "org.apache.spark.sql.execution.ui.SparkListener"
#define EXECUTION_ID "\"executionId\":"

/* The SQL execution that a line is about, or -1. */
static int64_t event_line_execution(const char *line, size_t length)
{
        static const char *const classes[] = {SQL_EVENT "SQLExecutionStart", SQL_EVENT "SQLExecutionEnd",
                                              SQL_EVENT "SQLAdaptiveExecutionUpdate", SQL_EVENT "DriverAccumUpdates"};
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
                if (event_line_is(line, length, classes[i]))
                        return event_line_number(line, length, EXECUTION_ID);
        return -1;
}

static ssize_t event_filter_find_execution(const struct event_filter *f, int64_t id)
{
        for (size_t i = 0; i < f->executions.len; i++)
                if (f->executions.data[i] == id)
                        return (ssize_t)i;
        return -1;
}

static void event_filter_start_execution(struct event_filter *f, int64_t id)
{
        if (event_filter_find_execution(f, id) < 0)
                vec_push(&f->executions, id);
}

static void event_filter_end_execution(struct event_filter *f, int64_t id)
{
        ssize_t at = event_filter_find_execution(f, id);
        if (at < 0)
                return;
        f->executions.data[at] = f->executions.data[--f->executions.len];
        for (size_t i = f->sql.jobs.len; i-- > 0;)
                if (f->sql.jobs.data[i].execution == id)
                        live_set_drop_job(&f->sql, i);
}

void event_filter_learn_line(struct event_filter *f, const char *line, size_t length)
{
        bool starts = event_line_is(line, length, SQL_EVENT "SQLExecutionStart");
        int64_t id = starts || event_line_is(line, length, SQL_EVENT "SQLExecutionEnd")
                             ? event_line_number(line, length, EXECUTION_ID)
                             : -1;
        if (id >= 0 && starts)
                event_filter_start_execution(f, id);
        else if (id >= 0)
                event_filter_end_execution(f, id);
}

bool event_filter_keeps_line(const struct event_filter *f, const char *line, size_t length)
{
        int64_t id = event_line_execution(line, length);
        return id < 0 || event_filter_find_execution(f, id) >= 0;
}

/* ------------------------------------------------------------------------------------------------- learning */

static void event_filter_start_job(struct event_filter *f, const struct job_start *e)
{
        const char *text = e->properties ? strmap_get(e->properties, "spark.sql.execution.id") : NULL;
        live_set_add_job(&f->basic, e, -1);
        if (!text || *text < '0' || *text > '9')
                return;
        int64_t execution = strtoll(text, NULL, 10);
        event_filter_start_execution(f, execution);
        live_set_add_job(&f->sql, e, execution);
}

static void event_filter_end_job(struct event_filter *f, int id)
{
        for (size_t i = f->basic.jobs.len; i-- > 0;)
                if (f->basic.jobs.data[i].id == id)
                        live_set_drop_job(&f->basic, i);
}

/* Whether a job of a live SQL execution lists the stage. */
static bool event_filter_sql_has_stage(const struct event_filter *f, int id)
{
        for (size_t i = 0; i < f->sql.jobs.len; i++)
                for (size_t k = 0; k < f->sql.jobs.data[i].n_stages; k++)
                        if (f->sql.jobs.data[i].stages[k] == id)
                                return true;
        return false;
}

void event_filter_learn(struct event_filter *f, const struct log_event *e)
{
        switch (e->type) {
        case EVENT_job_start:
                event_filter_start_job(f, &e->job_start);
                break;
        case EVENT_job_end:
                event_filter_end_job(f, e->job_end.id);
                break;
        case EVENT_stage_submitted:
                live_set_submit_stage(&f->basic, &e->stage_submitted.stage);
                if (event_filter_sql_has_stage(f, e->stage_submitted.stage.id))
                        live_set_submit_stage(&f->sql, &e->stage_submitted.stage);
                break;
        case EVENT_task_start:
                f->n_tasks++;
                live_set_start_task(&f->basic, &e->task_start.info);
                live_set_start_task(&f->sql, &e->task_start.info);
                break;
        case EVENT_executor_added:
                strmap_set(&f->executors, e->executor_added.id, "");
                break;
        case EVENT_executor_removed:
                strmap_remove(&f->executors, e->executor_removed.id);
                break;
        default:
                break;
        }
}

void event_filter_freeze(struct event_filter *f)
{
        live_set_freeze(&f->basic);
        live_set_freeze(&f->sql);
}

double event_filter_score(const struct event_filter *f)
{
        return ((double)f->n_tasks - (double)f->basic.tasks.len) / (double)f->n_tasks;
}

/* ------------------------------------------------------------------------------------------------- choosing */

static bool event_filter_has_executor(const struct event_filter *f, const char *id)
{
        return strmap_get(&f->executors, id) != NULL;
}

static bool event_filter_has_manager(const struct event_filter *f, const struct block_manager_ref *manager)
{
        return strcmp(manager->executor_id, "driver") == 0 || event_filter_has_executor(f, manager->executor_id);
}

static bool event_filter_has_task(const struct event_filter *f, int64_t id)
{
        return live_set_has_task(&f->basic, id) || live_set_has_task(&f->sql, id);
}

static bool event_filter_has_stage(const struct event_filter *f, int id)
{
        return live_set_has_stage(&f->basic, id) || live_set_has_stage(&f->sql, id);
}

static bool event_filter_has_job(const struct event_filter *f, int id)
{
        return live_set_has_job(&f->basic, id) || live_set_has_job(&f->sql, id);
}

bool event_filter_keeps(const struct event_filter *f, const struct log_event *e)
{
        switch (e->type) {
        case EVENT_job_start:
                return event_filter_has_job(f, e->job_start.id);
        case EVENT_job_end:
                return event_filter_has_job(f, e->job_end.id);
        case EVENT_stage_submitted:
                return event_filter_has_stage(f, e->stage_submitted.stage.id);
        case EVENT_stage_completed:
                return event_filter_has_stage(f, e->stage_completed.stage.id);
        case EVENT_task_start:
                return event_filter_has_task(f, e->task_start.info.id);
        case EVENT_task_getting_result:
                return event_filter_has_task(f, e->task_getting_result.info.id);
        case EVENT_task_end:
                return event_filter_has_task(f, e->task_end.info.id);
        case EVENT_unpersist_rdd:
                return live_set_has_rdd(&f->basic, e->unpersist_rdd.rdd_id) ||
                       live_set_has_rdd(&f->sql, e->unpersist_rdd.rdd_id);
        case EVENT_executor_added:
                return event_filter_has_executor(f, e->executor_added.id);
        case EVENT_executor_removed:
                return event_filter_has_executor(f, e->executor_removed.id);
        case EVENT_stage_executor_metrics:
                /* Those of no stage are updates, which stay only for tasks that no log names. */
                return e->stage_executor_metrics.stage_id >= 0 &&
                       event_filter_has_executor(f, e->stage_executor_metrics.executor_id);
        case EVENT_node_metrics:
                return event_filter_has_executor(f, e->node_metrics.executor_id);
        case EVENT_exclusion_changed:
                return e->exclusion_changed.is_host || event_filter_has_executor(f, e->exclusion_changed.id);
        case EVENT_block_manager_added:
                return event_filter_has_manager(f, &e->block_manager_added.manager);
        case EVENT_block_manager_removed:
                return event_filter_has_manager(f, &e->block_manager_removed.manager);
        case EVENT_block_updated:
                return event_filter_has_manager(f, &e->block_updated.block.manager);
        default:
                return true;
        }
}

struct event_filter *event_filter_new(void)
{
        return new0(struct event_filter);
}

void event_filter_free(struct event_filter *f)
{
        if (!f)
                return;
        live_set_deinit(&f->basic);
        live_set_deinit(&f->sql);
        vec_deinit(&f->executions);
        strmap_deinit(&f->executors);
        free(f);
}
