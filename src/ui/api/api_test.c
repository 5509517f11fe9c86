/* The resources of /api/v1: paths, parameters, errors and JSON; see api.h. */
#include "ui/ui_fixture.h"
#include "base/string_prefix.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define APP "/api/v1/applications/app-1"

static struct executor_ref executors[] = {
        {.id = "1", .host = "h1"}, {.id = "2", .host = "h2"}, {.id = "10", .host = "h1"}};

static void add_executors(struct status *s)
{
        for (size_t i = 0; i < ARRAY_SIZE(executors); i++) {
                status_on_executor_added(s, &(struct executor_added){.id = executors[i].id,
                                                                     .host = executors[i].host,
                                                                     .ms = 1500000000000,
                                                                     .total_cores = 2});
                status_on_block_manager_added(
                        s, &(struct block_manager_added){
                                   .manager = {.executor_id = executors[i].id, .host = executors[i].host, .port = 7},
                                   .max_on_heap_memory = 1000});
        }
}

static void run_task(struct status *s, int64_t id, int index, int64_t run_ms, enum task_state state)
{
        struct task_end e = {.info = {.id = id,
                                      .launch_ms = 1500000001000,
                                      .executor = &executors[id % 3],
                                      .stage_id = 3,
                                      .index = index,
                                      .partition = index},
                             .finish_ms = 1500000001000 + run_ms + 5,
                             .state = (uint8_t)state,
                             .metrics = {.executor_run_ms = run_ms}};
        struct task_detail killed = {.message = "another attempt succeeded"};
        e.detail = state == TASK_KILLED ? &killed : NULL;
        status_on_task_start(s, &(struct task_start){.info = e.info});
        if (state != TASK_RUNNING)
                status_on_task_end(s, &e);
}

/* Job 7 with stages 2 (skipped) and 3: four tasks of which one failed, one was killed, and one runs. */
static void add_job(struct status *s)
{
        struct stage_info stages[] = {{.id = 2, .name = "map at a.c:1", .tasks = 4},
                                      {.id = 3, .name = "count at a.c:2", .tasks = 4}};
        struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.jobGroup.id", "nightly");
        status_on_job_start(
                s, &(struct job_start){
                           .id = 7, .ms = 1500000000500, .stages = stages, .n_stages = 2, .properties = &properties});
        strmap_deinit(&properties);
        stages[1].submission_ms = 1500000000600;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[1]});
        run_task(s, 0, 0, 300, TASK_SUCCEEDED);
        run_task(s, 1, 1, 100, TASK_SUCCEEDED);
        run_task(s, 2, 2, 200, TASK_FAILED);
        run_task(s, 3, 2, 50, TASK_KILLED);
        run_task(s, 4, 3, 0, TASK_RUNNING);
}

static void fill(struct ui_fixture *f)
{
        add_executors(f->status);
        add_job(f->status);
        struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.app.name", "count");
        strmap_set(&properties, "spark.my.password", "hidden");
        status_on_environment_update(f->status, &(struct environment_update){.spark_properties = &properties});
        strmap_deinit(&properties);
}

/* The start of a body, up to the length of @text. */
static void assert_begins(const struct ui_answer *a, const char *text)
{
        if (strncmp(buf_text(&a->body), text, strlen(text)) != 0)
                fail_msg("%s\ndoes not begin with\n%s", buf_text(&a->body), text);
}

static void answers_each_path_as_spark(void **state)
{
        static const struct {
                const char *label, *path, *query;
                int status;
                const char *begin; /* of the body */
        } rows[] = {
                {"version", "/api/v1/version", "", 200, "{\n  \"spark\" : \"4.3.0\"\n}"},
                {"applications", "/api/v1/applications", "", 200,
                 "[ {\n  \"id\" : \"app-1\",\n  \"name\" : \"count\","},
                {"no application passes", "/api/v1/applications", "status=completed", 200, "[ ]"},
                {"states in any case", "/api/v1/applications", "status=COMPLETED&status=Running", 200, "[ {"},
                {"limit", "/api/v1/applications", "limit=0", 200, "[ ]"},
                {"negative limit", "/api/v1/applications", "limit=-1", 200, "[ ]"},
                {"started too early", "/api/v1/applications", "minDate=2017-07-15", 200, "[ ]"},
                {"in time", "/api/v1/applications", "minDate=2017-07-14T02:40:00.000GMT", 200, "[ {"},
                {"one ms too late", "/api/v1/applications", "minDate=2017-07-14T02:40:00.001GMT", 200, "[ ]"},
                {"with a zone", "/api/v1/applications", "minDate=2017-07-13T21:40:00.001-0500", 200, "[ ]"},
                {"with a named zone", "/api/v1/applications", "minDate=2017-07-13T21:40:00.000EST", 200, "[ {"},
                {"a running one has no end", "/api/v1/applications", "maxEndDate=2017-07-14", 200, "[ ]"},
                {"a bad date", "/api/v1/applications", "maxDate=tomorrow", 400, "Couldn't parse date: tomorrow"},
                {"a bad limit", "/api/v1/applications", "limit=x", 404, "<html>"},
                {"a bad state", "/api/v1/applications", "status=x", 404, "<html>"},
                {"application", APP, "", 200, "{\n  \"id\" : \"app-1\","},
                {"unknown application", "/api/v1/applications/x", "", 404, "unknown app: x"},
                {"unknown attempt", APP "/2", "", 404, "unknown app app-1, attempt 2"},
                {"unknown application's jobs", "/api/v1/applications/x/jobs", "", 404, "no such app: x"},
                {"unknown attempt's jobs", APP "/2/jobs", "", 404, "no such app: app-1/2"},
                {"unknown resource of an attempt", APP "/2/nothing", "", 404, APP "/2/nothing"},
                {"a log that cannot be read", "/api/v1/applications/broken/jobs", "", 500, "the log cannot be read"},
                {"unknown resource", "/api/v1/nothing", "", 404, "<html>"},
                {"jobs", APP "/jobs", "", 200, "[ {\n  \"jobId\" : 7,\n  \"name\" : \"count at a.c:2\","},
                {"jobs of a state", APP "/jobs", "status=succeeded", 200, "[ ]"},
                {"job", APP "/jobs/7", "", 200, "{\n  \"jobId\" : 7,"},
                {"unknown job", APP "/jobs/8", "", 404, "unknown job: 8"},
                {"a job that is not a number", APP "/jobs/x", "", 404, APP "/jobs/x"},
                {"a job that is too large", APP "/jobs/99999999999", "", 404, "<html>"},
                {"below a job", APP "/jobs/7/x", "", 404, APP "/jobs/7/x"},
                {"stages", APP "/stages", "", 200, "[ {\n  \"status\" : \"ACTIVE\",\n  \"stageId\" : 3,"},
                {"stages of two states", APP "/stages", "status=pending&status=failed", 200,
                 "[ {\n  \"status\" : \"PENDING\",\n  \"stageId\" : 2,"},
                {"a bad state of stages", APP "/stages", "status=x", 404, "<html>"},
                {"attempts", APP "/stages/3", "", 200, "[ {\n  \"status\" : \"ACTIVE\","},
                {"unknown stage", APP "/stages/9", "", 404, "unknown stage: 9"},
                {"attempt", APP "/stages/3/0", "", 200, "{\n  \"status\" : \"ACTIVE\","},
                {"unknown attempt of a stage", APP "/stages/3/1", "", 404,
                 "unknown attempt for stage 3.  Found attempts: [0]"},
                {"attempt of an unknown stage", APP "/stages/9/0", "", 404, "unknown stage: 9"},
                {"an unknown root", "/api/v1", "", 404, "<html>"},
                {"below an attempt", APP "/stages/3/0/x", "", 404, "<html>"},
                {"summary", APP "/stages/3/0/taskSummary", "quantiles=1,0.5,0", 200,
                 "{\n  \"quantiles\" : [ 0.0, 0.5, 1.0 ],\n  \"duration\" : [ 105.0, 305.0, 305.0 ],"},
                {"a bad quantile", APP "/stages/3/0/taskSummary", "quantiles=0.5,foo", 400,
                 "Bad value for parameter \"quantiles\".  Expected a double, got \"foo\""},
                {"summary without tasks", APP "/stages/2/0/taskSummary", "", 404,
                 "No tasks reported metrics for 2 / 0 yet."},
                {"summary of an unknown stage", APP "/stages/9/0/taskSummary", "", 404,
                 "No tasks reported metrics for 9 / 0 yet."},
                {"tasks", APP "/stages/3/0/taskList", "", 200, "[ {\n  \"taskId\" : 0,"},
                {"tasks by time", APP "/stages/3/0/taskList", "sortBy=-runtime&length=1", 200,
                 "[ {\n  \"taskId\" : 0,"},
                {"tasks behind the end", APP "/stages/3/0/taskList", "offset=5", 200, "[ ]"},
                {"tasks of a state", APP "/stages/3/0/taskList", "status=killed", 200, "[ {\n  \"taskId\" : 3,"},
                {"tasks in a bad order", APP "/stages/3/0/taskList", "sortBy=x", 404, "<html>"},
                {"tasks from a bad offset", APP "/stages/3/0/taskList", "offset=9999999999", 404, "<html>"},
                {"tasks of an unknown stage", APP "/stages/9/0/taskList", "", 200, "[ ]"},
                {"table by host", APP "/stages/3/0/taskTable",
                 "numTasks=5&columnNameToSort=Host&order[0][dir]=desc&start=0&length=1", 200,
                 "{\n  \"recordsFiltered\" : \"5\",\n  \"aaData\" : [ {\n    \"taskId\" : 4,"},
                {"table by errors", APP "/stages/3/0/taskTable",
                 "numTasks=5&columnNameToSort=Errors&order[0][dir]=desc&start=0&length=1", 200,
                 "{\n  \"recordsFiltered\" : \"5\",\n  \"aaData\" : [ {\n    \"taskId\" : 2,"},
                {"table by an unknown column", APP "/stages/3/0/taskTable",
                 "numTasks=5&columnNameToSort=x&order[0][dir]=asc&start=0&length=1", 500, "The table of tasks"},
                {"search in the table", APP "/stages/3/0/taskTable",
                 "numTasks=5&columnNameToSort=Index&order[0][dir]=asc&start=0&length=9&search[value]=ANOTHER", 200,
                 "{\n  \"recordsFiltered\" : \"1\",\n  \"aaData\" : [ {\n    \"taskId\" : 3,"},
                {"executors", APP "/executors", "", 200, "[ {\n  \"id\" : \"2\",\n  \"hostPort\" : \"h2:7\","},
                {"all executors", APP "/allexecutors", "", 200, "[ {\n  \"id\" : \"1\","},
                {"threads of a bad executor", APP "/executors/x/threads", "", 400,
                 "Invalid executorId: neither 'driver' nor number."},
                {"threads of an unknown executor", APP "/executors/5/threads", "", 404, "Executor does not exist."},
                {"unknown threads", APP "/executors/1/threads", "", 404, "No thread dump is available."},
                {"threads of a task", APP "/threads", "taskId=3&executorId=1", 404,
                 "Task '3' is not running on Executor '1' right now"},
                {"processes", APP "/allmiscellaneousprocess", "", 200, "[ ]"},
                {"no RDDs", APP "/storage/rdd", "", 200, "[ ]"},
                {"unknown RDD", APP "/storage/rdd/4", "", 404, "no rdd found w/ id 4"},
                {"storage alone", APP "/storage", "", 404, "unknown app app-1, attempt storage"},
                {"nothing is found in the table", APP "/stages/3/0/taskTable",
                 "numTasks=5&columnNameToSort=Index&order[0][dir]=asc&start=0&length=9&search[value]=zzz", 200,
                 "{\n  \"recordsFiltered\" : \"0\",\n  \"aaData\" : [ ],"},
                {"no date", "/api/v1/applications", "maxDate=", 200, "[ {"},
                {"environment", APP "/environment", "", 200, "{\n  \"runtime\" : {\n    \"javaVersion\" : \"\","},
                {"streaming", APP "/streaming/statistics", "", 404, "no streaming listener attached to "},
                {"empty archive", APP "/logs", "", 200, "PK\005\006"},
        };
        struct ui_fixture f;
        ui_fixture_begin(&f, true);
        fill(&f);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                print_message("%s\n", rows[i].label);
                ui_fixture_ask(&f, rows[i].path, rows[i].query);
                assert_begins(&f.answer, rows[i].begin);
                if (strcmp(rows[i].path, "/api/v1/nothing") == 0)
                        assert_non_null(strstr(buf_text(&f.answer.body), "<p>/api/v1/nothing: unknown resource."));
                assert_int_equal(f.answer.status, rows[i].status);
                assert_int_equal(f.n_open, 0);
        }
        ui_fixture_end(&f);
}

static void hides_secrets_of_the_environment(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, true);
        fill(&f);
        ui_fixture_ask(&f, APP "/environment", "");
        assert_non_null(strstr(buf_text(&f.answer.body), "[ \"spark.my.password\", \"*********(redacted)\" ]"));
        assert_null(strstr(buf_text(&f.answer.body), "hidden"));
        ui_fixture_end(&f);
}

static void refuses_users_without_the_right(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        f.allowed_user = "ann";
        ui_fixture_ask_as(&f, "bob", APP "/jobs", "");
        assert_int_equal(f.answer.status, 403);
        assert_string_equal(buf_text(&f.answer.body), "user \"bob\" is not authorized");
        ui_fixture_ask_as(&f, "ann", APP "/jobs", "");
        assert_int_equal(f.answer.status, 200);
        assert_int_equal(f.n_open, 0);
        ui_fixture_end(&f);
}

static void history_has_no_threads(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        fill(&f);
        ui_fixture_ask(&f, APP "/executors/driver/threads", "");
        assert_int_equal(f.answer.status, 503);
        assert_string_equal(buf_text(&f.answer.body), "Thread dumps not available through the history server.");
        ui_fixture_end(&f);
}

/* A whole task, so that the order of keys is fixed. */
static void writes_tasks_as_spark(void **state)
{
        static const char expected[] =
                "[ {\n"
                "  \"taskId\" : 3,\n  \"index\" : 2,\n  \"attempt\" : 0,\n  \"partitionId\" : 2,\n"
                "  \"launchTime\" : \"2017-07-14T02:40:01.000GMT\",\n  \"duration\" : 55,\n"
                "  \"executorId\" : \"1\",\n  \"host\" : \"h1\",\n  \"status\" : \"KILLED\",\n"
                "  \"taskLocality\" : \"PROCESS_LOCAL\",\n  \"speculative\" : false,\n"
                "  \"accumulatorUpdates\" : [ ],\n  \"errorMessage\" : \"another attempt succeeded\",\n"
                "  \"taskMetrics\" : {\n    \"executorDeserializeTime\" : 0,\n";
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        fill(&f);
        ui_fixture_ask(&f, APP "/stages/3/0/taskList", "offset=3&length=1");
        assert_begins(&f.answer, expected);
        assert_non_null(
                strstr(buf_text(&f.answer.body),
                       "\n  \"executorLogs\" : { },\n  \"schedulerDelay\" : 5,\n  \"gettingResultTime\" : 0\n} ]"));
        ui_fixture_end(&f);
}

/* ---------------------------------------------------------------------------------------------- long answers */

enum { MANY_TASKS = 20000 };

/* Stage 3 with @n more tasks, whose run times go down as their ids go up. */
static void add_tasks(struct ui_fixture *f, int n)
{
        for (int i = 0; i < n; i++)
                run_task(f->status, 100 + i, 4 + i, n - i, TASK_SUCCEEDED);
}

/* Finds @text before @end. Sanitizers' strstr and memmem look at the whole rest for each call. */
static const char *find_text(const char *at, const char *end, const char *text)
{
        const size_t n = strlen(text);
        for (; (at = memchr(at, *text, (size_t)(end - at))); at++)
                if ((size_t)(end - at) >= n && memcmp(at, text, n) == 0)
                        return at;
        return NULL;
}

/* Returns how often @text is in the answer. */
static size_t count(const struct ui_fixture *f, const char *text)
{
        size_t n = 0;
        const char *at = buf_text(&f->answer.body), *end = at + f->answer.body.len;
        for (; (at = find_text(at, end, text)); at += strlen(text))
                n++;
        return n;
}

/* Checks that the numbers behind each @name change by @step. */
static void assert_numbers(const struct ui_fixture *f, const char *name, int64_t first, int64_t step, size_t n)
{
        const char *at = buf_text(&f->answer.body), *end = at + f->answer.body.len;
        for (size_t i = 0; i < n; i++, first += step) {
                at = find_text(at, end, name);
                assert_non_null(at);
                at += strlen(name);
                assert_int_equal(strtoll(at, NULL, 10), first);
        }
        assert_null(find_text(at, end, name));
}

static void long_answers_come_in_pieces(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        fill(&f);
        add_tasks(&f, MANY_TASKS);
        ui_fixture_ask(&f, APP "/stages/3/0", "details=true");
        assert_int_equal(f.answer.status, 200);
        assert_in_range(f.n_pieces, f.answer.body.len / UI_STREAM_PIECE / 2, f.answer.body.len / UI_STREAM_PIECE + 1);
        assert_int_equal(count(&f, "\"taskId\""), MANY_TASKS + 5);
        assert_int_equal(count(&f, "\"executorSummary\""), 1);
        assert_int_equal(f.n_open, 0);
        ui_fixture_ask(&f, APP "/stages", "details=true&taskStatus=failed");
        assert_int_equal(count(&f, "\"taskId\""), 1);
        assert_int_equal(count(&f, "\"stageId\""), 2);
        ui_fixture_ask(&f, APP "/stages/3/0/taskList", "offset=5&length=1000000");
        assert_numbers(&f, "\"taskId\" : ", 100, 1, MANY_TASKS);
        ui_fixture_ask(&f, APP "/stages/3/0/taskList", "length=1000000&sortBy=runtime&status=success");
        assert_int_equal(count(&f, "\"taskId\""), MANY_TASKS + 2);
        ui_fixture_ask(&f, APP "/stages/3/0/taskList", "offset=0&length=17000&sortBy=-runtime&status=success");
        assert_numbers(&f, "\"taskId\" : ", 100, 1, 17000);
        ui_fixture_ask(
                &f, APP "/stages/3/0/taskTable",
                "numTasks=20005&start=0&length=20000&columnNameToSort=Index&order[0][dir]=desc&search[value]=h1");
        assert_true(f.n_pieces > 1);
        assert_non_null(strstr(buf_text(&f.answer.body), "\"recordsTotal\" : \"20005\""));
        ui_fixture_end(&f);
}

static void lists_of_jobs_come_in_pieces(void **state)
{
        enum { JOBS = 500 };
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        for (int id = 0; id < JOBS; id++) {
                status_on_job_start(f.status, &(struct job_start){.id = id, .ms = 1500000000000});
                if (id % 2)
                        status_on_job_end(f.status, &(struct job_end){.id = id, .ms = 1500000001000});
        }
        ui_fixture_ask(&f, APP "/jobs", "");
        assert_int_equal(f.answer.status, 200);
        assert_in_range(f.n_pieces, 3, f.answer.body.len / UI_STREAM_PIECE + 1);
        assert_numbers(&f, "\"jobId\" : ", JOBS - 1, -1, JOBS);
        ui_fixture_ask(&f, APP "/jobs", "status=running");
        assert_numbers(&f, "\"jobId\" : ", JOBS - 2, -2, JOBS / 2);
        assert_int_equal(f.n_open, 0);
        ui_fixture_end(&f);
}

/* A history server with many applications. */
struct long_list {
        struct app_source source;
        uint64_t version;
        int n_lists;
};

enum { APPLICATIONS = 1000 };

static void long_list_list(struct app_source *source, const char *id, struct app_list *out)
{
        struct long_list *l = container_of(source, struct long_list, source);
        l->n_lists++;
        for (int i = 0; i < APPLICATIONS; i++) {
                char name[16];
                int n = snprintf(name, sizeof(name), "app-%d", i);
                struct app_attempt *attempt = arena_alloc(&out->texts, sizeof(*attempt));
                *attempt = (struct app_attempt){
                        .start_ms = 1500000000000, .end_ms = 1500000000001, .completed = i % 2, .exit_code = -1};
                vec_push(&out->apps, (struct app_summary){.id = arena_copy(&out->texts, name, (size_t)n),
                                                          .name = "count",
                                                          .attempts = attempt,
                                                          .n_attempts = 1});
        }
}

static uint64_t long_list_version(struct app_source *source)
{
        return container_of(source, struct long_list, source)->version;
}

/* Begins the list of applications. The caller reads on. */
static void long_list_begin(struct long_list *l, const char *query, struct ui_answer *a)
{
        struct form form = FORM_INIT;
        form_parse(&form, query, strlen(query));
        const struct ui_request q = {.method = "GET",
                                     .path = "/api/v1/applications",
                                     .raw_path = "/api/v1/applications",
                                     .query = &form,
                                     .source = &l->source};
        *a = (struct ui_answer){0};
        api_serve(&q, a);
        form_deinit(&form);
        assert_int_equal(a->status, 200);
}

/* Reads the rest. Returns the number of applications. */
static int long_list_end(struct ui_answer *a)
{
        int n = 0;
        while (a->rest) {
                struct buf piece = BUF_INIT;
                int r = a->rest->next(a->rest, &piece);
                assert_true(r >= 0);
                assert_true(piece.len < 2 * UI_STREAM_PIECE);
                buf_append(&a->body, piece.data, piece.len);
                buf_deinit(&piece);
                if (r == 0) {
                        a->rest->free(a->rest);
                        a->rest = NULL;
                }
        }
        for (const char *at = buf_text(&a->body); (at = strstr(at, "\"id\" : \"app-")); at++)
                n++;
        assert_true(text_ends_with(buf_text(&a->body), "]"));
        ui_answer_deinit(a);
        return n;
}

static void readers_share_the_list_of_applications(void **state)
{
        static const struct app_source_class class = {.list = long_list_list, .version = long_list_version};
        struct long_list l = {.source = {.class = &class, .is_history = true}, .version = 1};
        struct ui_answer first, second, third, limited;
        long_list_begin(&l, "", &first);
        long_list_begin(&l, "status=completed", &second);
        assert_int_equal(l.n_lists, 1);
        l.version++;
        long_list_begin(&l, "status=running", &third);
        long_list_begin(&l, "limit=700", &limited);
        assert_int_equal(l.n_lists, 2);
        assert_int_equal(long_list_end(&first), APPLICATIONS);
        assert_int_equal(long_list_end(&second), APPLICATIONS / 2);
        ui_answer_deinit(&third); /* its reader goes */
        assert_int_equal(long_list_end(&limited), 700);
        long_list_begin(&l, "limit=0", &first);
        assert_int_equal(long_list_end(&first), 0);
}

static void stream_ends_when_its_stage_is_removed(void **state)
{
        struct ui_fixture f;
        struct buf piece = BUF_INIT;
        struct form form = FORM_INIT;
        ui_fixture_begin(&f, false);
        fill(&f);
        add_tasks(&f, 1000);
        const size_t n_stages = f.status->stages.len;
        struct ui_request q = {.method = "GET",
                               .path = APP "/stages/3/0",
                               .raw_path = APP "/stages/3/0",
                               .query = &form,
                               .base = "",
                               .site = "",
                               .source = &f.source};
        struct ui_answer a = {0};
        api_serve(&q, &a);
        assert_non_null(a.rest);
        assert_int_equal(f.n_open, 1); /* the stream keeps the view */
        assert_int_equal(a.rest->next(a.rest, &piece), 1);
        buf_reset(&piece);
        f.status->stages.len = 0;
        f.status->last_stage = NULL;
        assert_true(a.rest->next(a.rest, &piece) < 0);
        f.status->stages.len = n_stages;
        ui_answer_deinit(&a);
        assert_int_equal(f.n_open, 0);
        buf_deinit(&piece);
        ui_fixture_end(&f);
}

/* As Spark's server, which sorts by partitions: a log of Spark before 3.3 names none, and all are -1. */
static void indices_without_partitions_sort_by_id(void **state)
{
        static const int indices[] = {2, 0, 1, 2};
        struct stage_info stage = {.id = 9, .name = "count at a.c:9", .tasks = 3, .submission_ms = 1500000000600};
        for (int partition = -1; partition <= 0; partition++) {
                struct ui_fixture f;
                ui_fixture_begin(&f, false);
                add_executors(f.status);
                status_on_stage_submitted(f.status, &(struct stage_submitted){.stage = stage});
                for (int i = 0; i < 4; i++)
                        status_on_task_start(f.status,
                                             &(struct task_start){.info = {.id = 20 + i,
                                                                           .launch_ms = 1500000001000,
                                                                           .executor = &executors[0],
                                                                           .stage_id = 9,
                                                                           .index = indices[i],
                                                                           .partition = partition ? -1 : indices[i]}});
                ui_fixture_ask(&f, APP "/stages/9/0/taskTable",
                               "numTasks=4&columnNameToSort=Index&order[0][dir]=asc&start=0&length=4");
                if (partition)
                        assert_numbers(&f, "\"taskId\" : ", 20, 1, 4);
                else
                        assert_non_null(strstr(strstr(buf_text(&f.answer.body), "\"taskId\" : 21"), "\"taskId\" : 22"));
                ui_fixture_end(&f);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(answers_each_path_as_spark),
                cmocka_unit_test(hides_secrets_of_the_environment),
                cmocka_unit_test(refuses_users_without_the_right),
                cmocka_unit_test(history_has_no_threads),
                cmocka_unit_test(writes_tasks_as_spark),
                cmocka_unit_test(long_answers_come_in_pieces),
                cmocka_unit_test(lists_of_jobs_come_in_pieces),
                cmocka_unit_test(readers_share_the_list_of_applications),
                cmocka_unit_test(stream_ends_when_its_stage_is_removed),
                cmocka_unit_test(indices_without_partitions_sort_by_id),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
