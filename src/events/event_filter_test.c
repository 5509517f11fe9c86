/* Which events compaction keeps: small logs as text, and the names of the events that are kept. */
#include "events/event_filter.h"

#include "base/buf.h"
#include "unit/cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define STAGE(id, rdd)                                                                                                 \
        "{\"Stage ID\":" #id ",\"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":2,\"RDD Info\":"        \
        "[{\"RDD ID\":" #rdd ",\"Name\":\"r\"}],\"Parent IDs\":[],\"Details\":\"\"}"
#define JOB(id, stage, properties)                                                                                     \
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" #id                                                         \
        ",\"Submission Time\":1,\"Stage Infos\":[" STAGE(stage, stage) "],\"Stage IDs\":[" #stage                      \
                                                                       "],\"Properties\":{" properties "}}\n"
#define JOB_END(id)                                                                                                    \
        "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":" #id ",\"Completion Time\":2,\"Job Result\":"                  \
        "{\"Result\":\"JobSucceeded\"}}\n"
#define SUBMITTED(id, rdd) "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" STAGE(id, rdd) "}\n"
#define COMPLETED(id, rdd) "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" STAGE(id, rdd) "}\n"
#define INFO(id)                                                                                                       \
        "{\"Task ID\":" #id ",\"Index\":0,\"Attempt\":0,\"Launch Time\":1,\"Executor ID\":\"1\",\"Host\":\"h\"}"
#define TASK(id, stage)                                                                                                  \
        "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":" #stage ",\"Stage Attempt ID\":0,\"Task Info\":" INFO(      \
                id) "}\n"                                                                                                \
                    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":" #stage                                           \
                    ",\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":{\"Reason\":\"Success\"}," \
                    "\"Task Info\":" INFO(id) "}\n"
#define EXECUTOR(id)                                                                                                   \
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1,\"Executor ID\":\"" #id                             \
        "\",\"Executor Info\":{\"Host\":\"h\",\"Total Cores\":1,\"Log Urls\":{}}}\n"                                   \
        "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"" #id                   \
        "\",\"Host\":\"h\",\"Port\":1},\"Maximum Memory\":1,\"Timestamp\":1}\n"
#define EXECUTOR_GONE(id)                                                                                              \
        "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":1,\"Executor ID\":\"" #id                           \
        "\",\"Removed Reason\":\"r\"}\n"
#define NODE(id) "{\"Event\":\"firesteel.NodeMetrics\",\"Executor ID\":\"" #id "\",\"Timestamp\":5,\"Heartbeats\":1}\n"
#define SQL "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
#define SQL_START(id) "{\"Event\":\"" SQL "Start\",\"executionId\":" #id ",\"description\":\"d\"}\n"
#define SQL_END(id) "{\"Event\":\"" SQL "End\",\"executionId\":" #id ",\"time\":2}\n"
#define UNPERSIST(id) "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":" #id "}\n"
#define APPLICATION                                                                                                    \
        "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.3.0\"}\n"                                          \
        "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"app\",\"Timestamp\":1,"          \
        "\"User\":\"u\"}\n"

struct filter_world {
        struct event_filter *filter;
        bool learns, has_event, keeps;
        struct buf kept;
};

static void test_filter_on_event(void *owner, const struct log_event *e)
{
        struct filter_world *w = owner;
        w->has_event = true;
        if (w->learns)
                event_filter_learn(w->filter, e);
        else
                w->keeps = event_filter_keeps(w->filter, e);
}

static void test_filter_on_line(void *owner, const char *line, size_t length)
{
        struct filter_world *w = owner;
        if (w->learns && !w->has_event)
                event_filter_learn_line(w->filter, line, length);
        if (!w->learns && (w->has_event ? w->keeps : event_filter_keeps_line(w->filter, line, length))) {
                buf_append(&w->kept, line, length);
                buf_putc(&w->kept, '\n');
        }
        w->has_event = false;
}

static void test_filter_read(struct filter_world *w, const char *log)
{
        struct event_reader *r = event_reader_new(&(struct event_reader_options){
                .on_event = test_filter_on_event, .on_line = test_filter_on_line, .owner = w});
        size_t room, left = strlen(log);
        while (left > 0) {
                char *to = event_reader_room(r, &room);
                size_t n = MIN(left, room);
                memcpy(to, log, n);
                event_reader_filled(r, n);
                log += n;
                left -= n;
        }
        event_reader_end(r, false);
        event_reader_free(r);
}

/* Checks what is kept of @log, and the score in percent (-1: not a number). */
static void assert_kept(const char *log, const char *kept, int score)
{
        struct filter_world w = {.filter = event_filter_new(), .learns = true};
        test_filter_read(&w, log);
        event_filter_freeze(w.filter);
        double found = event_filter_score(w.filter);
        assert_int_equal(isnan(found) ? -1 : (int)(found * 100), score);
        w.learns = false;
        test_filter_read(&w, log);
        assert_string_equal(buf_text(&w.kept), kept);
        buf_deinit(&w.kept);
        event_filter_free(w.filter);
}

static void drops_finished_jobs(void **state)
{
        assert_kept(APPLICATION JOB(0, 0, "") SUBMITTED(0, 0) TASK(0, 0) TASK(1, 0) COMPLETED(0, 0) JOB_END(0),
                    APPLICATION, 100);
}

static void keeps_live_jobs(void **state)
{
        assert_kept(APPLICATION JOB(0, 0, "") SUBMITTED(0, 0) TASK(0, 0) TASK(1, 0) TASK(2, 0) COMPLETED(0, 0)
                            JOB_END(0) JOB(1, 1, "") SUBMITTED(1, 7) TASK(3, 1) UNPERSIST(0) UNPERSIST(7),
                    APPLICATION JOB(1, 1, "") SUBMITTED(1, 7) TASK(3, 1) UNPERSIST(7), 75);
}

static void forgets_tasks_of_stage_that_ended_with_another_job(void **state)
{
        /* Stage 0 runs again for job 1: the tasks that ran for job 0 have ended with it. */
        assert_kept(JOB(0, 0, "") SUBMITTED(0, 0) TASK(0, 0) JOB_END(0) JOB(1, 0, "") SUBMITTED(0, 0) TASK(1, 0),
                    SUBMITTED(0, 0) JOB(1, 0, "") SUBMITTED(0, 0) TASK(1, 0), 50);
}

static void drops_dead_executors(void **state)
{
        assert_kept(APPLICATION EXECUTOR(1) EXECUTOR(2) NODE(1) NODE(2) EXECUTOR_GONE(1) EXECUTOR(driver) NODE(driver),
                    APPLICATION EXECUTOR(2) NODE(2) EXECUTOR(driver) NODE(driver), -1);
}

static void keeps_jobs_of_live_sql_executions(void **state)
{
        assert_kept(SQL_START(4) SQL_START(5) JOB(0, 0, "\"spark.sql.execution.id\":\"4\"") SUBMITTED(0, 0) TASK(0, 0)
                            JOB_END(0) JOB(1, 1, "\"spark.sql.execution.id\":\"5\"") SUBMITTED(1, 1) TASK(1, 1)
                                    JOB_END(1) SQL_END(5),
                    SQL_START(4) JOB(0, 0, "\"spark.sql.execution.id\":\"4\"") SUBMITTED(0, 0) TASK(0, 0) JOB_END(0),
                    100);
}

static void keeps_what_it_does_not_know(void **state)
{
        static const char other[] = "{\"Event\":\"SparkListenerOther\",\"x\":1}\nnot an event\n"
                                    "{\"Event\":\"org.apache.spark.sql.Other\",\"executionId\":9}\n";
        assert_kept(other, other, -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(drops_finished_jobs),
                cmocka_unit_test(keeps_live_jobs),
                cmocka_unit_test(forgets_tasks_of_stage_that_ended_with_another_job),
                cmocka_unit_test(drops_dead_executors),
                cmocka_unit_test(keeps_jobs_of_live_sql_executions),
                cmocka_unit_test(keeps_what_it_does_not_know),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
