/* The content of an application's pages; see pages.h. */
#include "ui/pages/pages.h"

#include "ui/ui_fixture.h"
#include "ui/ui_world.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { PAGE_LIMIT = 60 * 1024 };
#define START (1500000100000 - WORLD_MS)

struct page_row {
        const char *label, *path, *query;
        int status;
        const char *says[5], *never;
};

static const struct page_row page_rows[] = {
        {"jobs",
         "/jobs",
         "",
         200,
         {"Active Jobs (1)", "Completed Jobs (2)", "Failed Jobs (1)", "3 (nightly)", "40/40 (40 skipped)"},
         "javascript:"},
        {"sorted by duration",
         "/jobs",
         "completedJob.sort=Duration&completedJob.desc=true",
         200,
         {"aria-sort=\"descending\"", "completedJob.sort=Duration&amp;completedJob.desc=false"},
         NULL},
        {"one row a page",
         "/jobs",
         "completedJob.pageSize=1&completedJob.page=2",
         200,
         {"rows 2 to 2 of 2", "completedJob.pageSize=1&amp;completedJob.page=1"},
         "rows 1"},
        {"a page behind the last",
         "/jobs",
         "completedJob.pageSize=1&completedJob.page=99",
         200,
         {"rows 2 to 2 of 2"},
         NULL},
        {"an unknown column",
         "/jobs",
         "completedJob.sort=Colour",
         400,
         {"cannot be sorted by the column &#39;Colour&#39;"},
         NULL},
        {"an unsorted column", "/jobs", "activeJob.sort=Stages: Succeeded/Total", 400, {"cannot be sorted"}, NULL},
        {"markup as a column", "/jobs", "activeJob.sort=<b>", 400, {"&lt;b&gt;"}, "<b>"},
        {"markup as another parameter", "/jobs", "x=\"><b>", 200, {"x=%22%3E%3Cb%3E"}, "<b>"},
        {"a kill button",
         "/jobs",
         "",
         200,
         {"action=\"/proxy/app-1/jobs/job/kill/\"", "value=\"token\"", "<button name=id value=3 form=kill"},
         NULL},
        {"job",
         "/jobs/job",
         "id=0",
         200,
         {"Details for Job 0", "Where the time went", "Without uneven tasks it would have taken",
          "Completed Stages (2)", "skew"},
         NULL},
        {"failed job", "/jobs/job", "id=2", 200, {"Job aborted due to stage failure", "Failed Stages (1)"}, NULL},
        {"job with a skipped stage", "/jobs/job", "id=1", 200, {"Skipped Stages (1)", "Stage 2, SKIPPED"}, NULL},
        {"unknown job", "/jobs/job", "id=99", 404, {"No information to display for job 99"}, NULL},
        {"unknown page", "/nothing<b>", "", 404, {"There is no page /nothing&lt;b&gt;", "Not found"}, "<b>"},
        {"job without an id", "/jobs/job", "", 400, {"The parameter &#39;id&#39; is missing"}, NULL},
        {"job with a wrong id", "/jobs/job", "id=-1", 400, {"not a valid number"}, NULL},
        {"stages",
         "/stages",
         "",
         200,
         {"Active Stages (1)", "Completed Stages (3)", "Failed Stages (1)", "Fair Scheduler Pools", "Limited By"},
         NULL},
        {"pool", "/stages/pool", "poolname=production", 200, {"group_by_key at words.c:22", "Pool Name"}, NULL},
        {"unknown pool", "/stages/pool", "poolname=x", 400, {"Unknown pool: x"}, NULL},
        {"pool without a name", "/stages/pool", "", 400, {"poolname"}, NULL},
        {"stage",
         "/stages/stage",
         "id=1&attempt=0",
         200,
         {"Limited by <strong>skew (73 %): partition 77 ran 31.0 s", "Summary Metrics for 120 Completed Tasks",
          "Aggregated Metrics by Executor (3)", "Tasks (121)", "reduce_by_key at words.c:14\nmain at words.c:20"},
         NULL},
        {"stage with scopes",
         "/stages/stage",
         "id=1&attempt=0",
         200,
         {"x=1 y=127 width=238 height=220 rx=8></rect><text class=tick x=8 y=140>count_words",
          "x=8 y=145 width=224 height=69 rx=8></rect><text class=tick x=15 y=158>map",
          "x=8 y=271 width=224 height=69 rx=8></rect><text class=tick x=15 y=284>reduce_by_key"},
         NULL},
        {"stage with its source",
         "/stages/stage",
         "id=1&attempt=0",
         200,
         {"reduce_by_key at <a href=\"/proxy/app-1/source/?file=words.c&amp;line=14#L14\">words.c:14</a>",
          "<mark id=L14><i>14</i>&lt;b&gt;line 14</mark>\n", "<span id=L9><i>9</i>", "<span id=L19><i>19</i>"},
         "id=L20>"},
        {"source",
         "/source",
         "file=words.c&line=14",
         200,
         {"<mark id=L14>", "<span id=L1>", "<span id=L40>"},
         "<b>line"},
        {"source without a line", "/source", "file=words.c", 200, {"<mark id=L1>"}, NULL},
        {"source behind the end", "/source", "file=words.c&line=999", 200, {"Source words.c"}, "<mark"},
        {"source with a wrong line", "/source", "file=words.c&line=x", 400, {"not a valid number"}, NULL},
        {"unknown source",
         "/source",
         "file=/etc/passwd<b>&line=1",
         200,
         {"The source of /etc/passwd&lt;b&gt; is unknown"},
         "root"},
        {"source without a file", "/source", "", 400, {"file"}, NULL},
        {"stage sorted by duration",
         "/stages/stage",
         "id=1&attempt=0&task.sort=Duration&task.desc=true",
         200,
         {"<tr><td>77<td>", "id=1&amp;attempt=0&amp;task.sort=Duration"},
         NULL},
        {"stage sorted by host", "/stages/stage", "id=1&attempt=0&task.sort=Host", 200, {"10.0.0.1"}, NULL},
        {"timeline of all tasks",
         "/stages/stage",
         "id=1&attempt=0&task.eventTimelinePageNumber=2&task.eventTimelinePageSize=50",
         200,
         {"Event Timeline of all Tasks", "page 2 of 3, by launch time",
          "task.eventTimelinePageNumber=3&amp;task.eventTimelinePageSize=50#task-timeline\">Next</a>",
          "task.eventTimelinePageNumber=1&amp;task.eventTimelinePageSize=50#task-timeline\">Previous</a>"},
         "these Tasks"},
        {"timeline behind the last page",
         "/stages/stage",
         "id=1&attempt=0&task.eventTimelinePageNumber=99&task.eventTimelinePageSize=-1",
         200,
         {"page 1 of 1, by launch time"},
         ">Next</a></nav>\n<div"},
        {"stage with failed tasks",
         "/stages/stage",
         "id=4&attempt=0",
         200,
         {"firesteel.UserError: line 17", "at parse (words.c:31)", "FAILED"},
         NULL},
        {"failed tasks by errors",
         "/stages/stage",
         "id=4&attempt=0&task.sort=Errors&task.desc=true",
         200,
         {"task.sort=Errors"},
         NULL},
        {"running stage", "/stages/stage", "id=5&attempt=0", 200, {"8 running"}, "/stages/stage/kill/"},
        {"pending stage", "/stages/stage", "id=2&attempt=0", 200, {"No task was started yet"}, NULL},
        {"unknown stage",
         "/stages/stage",
         "id=1&attempt=7",
         404,
         {"No information to display for Stage 1 (Attempt 7)"},
         NULL},
        {"stage without an attempt", "/stages/stage", "id=1", 400, {"attempt"}, NULL},
        {"storage", "/storage", "", 200, {"MapPartitionsRDD", "Fraction Cached"}, NULL},
        {"RDD", "/storage/rdd", "id=2", 200, {"rdd_2_0", "Data Distribution on Executors", "Partitions"}, NULL},
        {"unknown RDD", "/storage/rdd", "id=9", 404, {"No information to display for RDD 9"}, NULL},
        {"environment", "/environment", "", 200, {"spark.my.note", "*********(redacted)"}, "hidden-secret"},
        {"executors",
         "/executors",
         "",
         200,
         {"Active Executors (2)", "Dead Executors (1)", "Container killed by the node",
          "http://127.0.0.1:1/log?x=1&amp;y=&lt;2&gt;", "<td>10.0.0.1<"},
         "javascript:"},
        {"nodes of executors",
         "/executors",
         "",
         200,
         {"<h3>Executor 2 on 10.0.0.2</h3>", "Busy processors of the node, up to ", "Used memory of the node, up to ",
          "aria-label=\"Bytes a second\""},
         "<h3>Executor 3"},
        {"nodes of a stage",
         "/stages/stage",
         "id=1&attempt=0",
         200,
         {"Nodes during the Stage", "<h3>Executor 1 on 10.0.0.1</h3>", "Processors that the executor used"},
         "<h3>Executor 3"},
        {"threads", "/executors/threadDump", "executorId=1", 200, {"spark.ui.threadDumpsEnabled"}, NULL},
        {"driver", "/driver", "", 200, {"Memory for Tasks"}, NULL},
};

static void check_page(struct ui_fixture *f, const struct page_row *row)
{
        ui_fixture_open_page(f, row->path, row->query, pages_serve);
        const char *body = buf_text(&f->answer.body);
        CASE_LABEL("%s: status %d, %zu bytes", row->label, f->answer.status, f->answer.body.len);
        assert_int_equal(f->answer.status, row->status);
        for (size_t i = 0; i < ARRAY_SIZE(row->says) && row->says[i]; i++)
                if (!strstr(body, row->says[i]))
                        fail_msg("%s\nhas no \"%s\"", body, row->says[i]);
        if (row->never && strstr(body, row->never))
                fail_msg("%s\nhas \"%s\"", body, row->never);
        assert_null(strstr(body, WORLD_MARKUP));
        assert_true(f->answer.body.len <= PAGE_LIMIT);
}

static void pages_say_what_happened(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, true);
        world_fill(f.status, START);
        for (size_t i = 0; i < ARRAY_SIZE(page_rows); i++)
                check_page(&f, &page_rows[i]);
        ui_fixture_end(&f);
}

static void pages_of_nothing_say_so(void **state)
{
        static const struct page_row rows[] = {
                {"jobs", "/jobs", "", 200, {"No job was started yet"}, NULL},
                {"stages", "/stages", "", 200, {"No stage was started yet"}, NULL},
                {"storage", "/storage", "", 200, {"No RDD is stored now"}, NULL},
                {"environment", "/environment", "", 200, {"Nothing is known"}, NULL},
                {"executors", "/executors", "", 200, {"Summary"}, NULL},
                {"driver", "/driver", "", 200, {"Metrics of the driver are shown while it runs"}, NULL},
                {"unknown page", "/nothing", "", 404, {"There is no page /nothing"}, NULL},
        };
        for (int is_live = 0; is_live < 2; is_live++) {
                struct ui_fixture f;
                ui_fixture_begin(&f, is_live);
                for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                        check_page(&f, &rows[i]);
                ui_fixture_end(&f);
        }
}

/* The log of an ended application has the nodes of its executors, also of those that are gone. */
static void history_shows_nodes(void **state)
{
        static const struct page_row rows[] = {{"nodes of ended executors",
                                                "/executors",
                                                "",
                                                200,
                                                {"<h3>Executor 2 on 10.0.0.2</h3>"},
                                                "<h3>Executor 3"},
                                               {"nodes of an ended stage",
                                                "/stages/stage",
                                                "id=1&attempt=0",
                                                200,
                                                {"Nodes during the Stage", "<h3>Executor 1 on 10.0.0.1</h3>"},
                                                "<h3>Executor 3"}};
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        world_fill(f.status, START);
        status_on_executor_removed(f.status,
                                   &(struct executor_removed){.id = "2", .ms = START + 80000, .reason = "gone"});
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                check_page(&f, &rows[i]);
        ui_fixture_end(&f);
}

static void lost_events_are_noted(void **state)
{
        static const struct page_row row = {
                "jobs", "/jobs", "", 200, {"Events were lost: 1 tasks have no end and 0 no start"}, NULL};
        struct ui_fixture f;
        struct stage_info stage = world_stage(1, "a", 2, START, 0);
        ui_fixture_begin(&f, false);
        world_start(f.status, START);
        status_on_stage_submitted(f.status, &(struct stage_submitted){.stage = stage});
        world_task(f.status, 1, 0, START, -1, NULL);
        stage.completion_ms = START + 10;
        status_on_stage_completed(f.status, &(struct stage_completed){.stage = stage});
        status_on_application_end(f.status, &(struct application_end){.ms = START + 20});
        check_page(&f, &row);
        ui_fixture_end(&f);
}

/* Only who may modify gets buttons, and nobody in a history server. */
static void buttons_need_rights(void **state)
{
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        world_fill(f.status, START);
        ui_fixture_open_page(&f, "/jobs", "", pages_serve);
        assert_null(strstr(buf_text(&f.answer.body), "<form"));
        assert_null(strstr(buf_text(&f.answer.body), "<script"));
        ui_fixture_end(&f);
}

/* Every column sorts in both directions, and pages stay within their size, with many rows and long texts. */
static void large_tables_stay_small(void **state)
{
        static const char *const columns[] = {"Index",
                                              "ID",
                                              "Attempt",
                                              "Status",
                                              "Locality Level",
                                              "Executor ID",
                                              "Host",
                                              "Launch Time",
                                              "Duration",
                                              "Scheduler Delay",
                                              "Task Deserialization Time",
                                              "Peak Execution Memory",
                                              "Input Size / Records",
                                              "Shuffle Read Blocked Time",
                                              "Shuffle Read Size / Records",
                                              "Shuffle Remote Reads",
                                              "Write Time",
                                              "Shuffle Write Size / Records",
                                              "Errors",
                                              "Accumulators"};
        char trace[4000];
        struct accumulable rows = {.id = 1, .name = "an accumulator", .update = trace, .value = "9"};
        const struct task_detail failure = {.class_name = "E",
                                            .description = "d",
                                            .full_stack_trace = trace,
                                            .accumulables = &rows,
                                            .n_accumulables = 1};
        struct stage_info stage = world_stage(1, "a", 3000, START, 0);
        struct ui_fixture f;
        memset(trace, 'x', sizeof(trace) - 1);
        trace[sizeof(trace) - 1] = '\0';
        trace[50] = '\n';
        ui_fixture_begin(&f, true);
        world_start(f.status, START);
        for (int i = 0; i < 300; i++)
                world_job(f.status, i, START + i, "a group", "a description that is not short at all", &stage, 1);
        status_on_stage_submitted(f.status, &(struct stage_submitted){.stage = stage});
        for (int i = 0; i < 3000; i++)
                world_task(f.status, 1, i, START + i, 100 + i % 17, i % 3 ? NULL : &failure);
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
                for (int descending = 0; descending < 2; descending++) {
                        _cleanup_free_ char *query = mem_printf("id=1&attempt=0&task.sort=%s&task.desc=%s", columns[i],
                                                                descending ? "true" : "false");
                        const struct page_row row = {columns[i], "/stages/stage",           query,
                                                     200,        {"rows 1 to 100 of 3000"}, NULL};
                        check_page(&f, &row);
                }
        check_page(&f, &(struct page_row){"jobs", "/jobs", "", 200, {"rows 1 to 100 of 300"}, NULL});
        ui_fixture_end(&f);
}

/* Tasks without a text are first, in both directions in the order of their rows. */
static void tasks_sort_by_errors_and_accumulators(void **state)
{
        static const struct {
                const char *query;
                int first; /* of three tasks */
        } rows[] = {{"task.sort=Errors", 1},
                    {"task.sort=Errors&task.desc=true", 2},
                    {"task.sort=Accumulators", 1},
                    {"task.sort=Accumulators&task.desc=true", 0}};
        struct accumulable lines = {.id = 1, .name = "lines<b>", .update = "12", .value = "12"},
                           hidden = {.id = 2, .update = "7", .value = "7"},
                           bytes = {.id = 3, .name = "bytes", .update = "3"};
        struct accumulable first[] = {lines, hidden, bytes};
        const struct task_detail failures[] = {
                {.class_name = "A", .description = "d", .accumulables = first, .n_accumulables = 3},
                {.class_name = "B", .description = "d", .accumulables = &bytes, .n_accumulables = 1}};
        struct stage_info stage = world_stage(1, "a", 3, START, 0);
        struct ui_fixture f;
        ui_fixture_begin(&f, false);
        world_start(f.status, START);
        status_on_stage_submitted(f.status, &(struct stage_submitted){.stage = stage});
        world_task(f.status, 1, 0, START, 100, &failures[0]);
        world_task(f.status, 1, 1, START, 100, NULL);
        world_task(f.status, 1, 2, START, 100, &failures[1]);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_free_ char *query = mem_printf("id=1&attempt=0&%s", rows[i].query);
                ui_fixture_open_page(&f, "/stages/stage", query, pages_serve);
                const char *table = strstr(buf_text(&f.answer.body), "Tasks (3)");
                CASE_LABEL("%s", query);
                assert_non_null(table);
                const char *row = strstr(strstr(table, "<tbody"), "<tr><td>");
                assert_int_equal(row[strlen("<tr><td>")] - '0', rows[i].first);
        }
        assert_non_null(strstr(buf_text(&f.answer.body), "lines&lt;b&gt;: 12, bytes: 3"));
        ui_fixture_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pages_say_what_happened),
                cmocka_unit_test(pages_of_nothing_say_so),
                cmocka_unit_test(history_shows_nodes),
                cmocka_unit_test(lost_events_are_noted),
                cmocka_unit_test(buttons_need_rights),
                cmocka_unit_test(large_tables_stay_small),
                cmocka_unit_test(tasks_sort_by_errors_and_accumulators),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
