/* Links to durable logs, and the pages that show them. */
#include "ui/pages/pages.h"

#include "logs/log_store.h"
#include "io/fs/file_systems.h"
#include "ui/ui_fixture.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define LINK "href=\"/proxy/app-1/executors/logPage/?executorId="

static void put_piece(const char *process, uint64_t start, const char *text)
{
        char name[LOG_PIECE_NAME];
        const struct file_system *fs;
        _cleanup_free_ char *path = mem_printf("file:%s/app-1/%s", temp_dir, process);
        assert_int_equal(file_system_of(path, &fs, NULL), 0);
        log_piece_name("stdout", (struct piece_range){start, start + strlen(text)}, name);
        assert_int_equal(log_store_write(fs, path, name, text, strlen(text), NULL), 0);
}

/* A driver, executor 1 with a log of its worker, executor 2 without one, and executor 3, which is lost. */
static void begin(struct ui_fixture *f, bool is_live, const char *attempt)
{
        struct strmap spark = {0}, logs = {0};
        ui_fixture_begin(f, is_live);
        f->view.logs_dir = temp_dir;
        status_on_application_start(
                f->status,
                &(struct application_start){
                        .name = "count", .id = "app-1", .ms = 1500000000000, .user = "ann", .attempt_id = attempt});
        strmap_set(&spark, "spark.firesteel.logs.dir", "hdfs://elsewhere/logs");
        strmap_set(&logs, "stdout", "http://worker/log");
        status_on_environment_update(f->status, &(struct environment_update){.spark_properties = &spark});
        status_on_executor_added(f->status, &(struct executor_added){.id = "driver", .host = "h", .ms = 1500000000000});
        for (int i = 1; i <= 3; i++) {
                const char id[] = {(char)('0' + i), 0};
                status_on_executor_added(f->status, &(struct executor_added){.id = id,
                                                                             .host = "h",
                                                                             .ms = 1500000000000,
                                                                             .total_cores = 1,
                                                                             .log_urls = i == 2 ? NULL : &logs});
        }
        status_on_executor_removed(f->status,
                                   &(struct executor_removed){.id = "3", .ms = 1500000001000, .reason = "lost"});
        strmap_deinit(&spark);
        strmap_deinit(&logs);
}

static const char *open_page(struct ui_fixture *f, const char *path, const char *query, int status)
{
        ui_fixture_open_page(f, path, query, pages_serve);
        assert_int_equal(f->answer.status, status);
        return buf_text(&f->answer.body);
}

static void expect(struct ui_fixture *f, const char *query, int status, const char *says)
{
        const char *text = open_page(f, "/executors/logPage", query, status);
        if (!strstr(text, says))
                fail_msg("%s: no \"%s\" in\n%s", query, says, text);
}

static void links_lead_to_durable_logs_of_what_is_gone(void **state)
{
        struct ui_fixture f;
        begin(&f, true, NULL);
        const char *text = open_page(&f, "/executors", "", 200);
        assert_non_null(strstr(text, LINK "driver&amp;logType=stdout\">stdout</a>"));
        assert_non_null(strstr(text, LINK "2&amp;logType=stderr\">stderr</a>"));
        assert_non_null(strstr(text, LINK "3&amp;"));
        assert_null(strstr(text, LINK "1&amp;")); /* its worker has the log */
        assert_non_null(strstr(text, "http://worker/log"));
        f.view.logs_dir = NULL;
        assert_null(strstr(open_page(&f, "/executors", "", 200), LINK));
        ui_fixture_end(&f);
        begin(&f, false, NULL);
        assert_null(strstr(open_page(&f, "/executors", "", 200), LINK "1&amp;"));
        status_on_application_end(f.status, &(struct application_end){.ms = 1500000060000});
        text = open_page(&f, "/executors", "", 200);
        assert_non_null(strstr(text, LINK "1&amp;"));
        assert_null(strstr(text, "http://worker/log"));
        ui_fixture_end(&f);
}

static void pages_show_parts(void **state)
{
        struct ui_fixture f;
        put_piece("executor-2", 0, "0123456789");
        put_piece("executor-2", 10, "<b>");
        put_piece("executor-2-attempt-2", 0, "second");
        put_piece("driver", 100, "tail");
        begin(&f, true, NULL);
        expect(&f, "executorId=2&logType=stdout", 200, "Showing 13 Bytes: 0 - 13 of 13");
        expect(&f, "executorId=2&logType=stdout", 200, "<pre id=\"log\">0123456789&lt;b&gt;</pre>");
        expect(&f, "executorId=2&logType=stdout", 200, "<script");
        expect(&f, "executorId=2&logType=stdout&byteLength=4", 200, "<pre id=\"log\">9&lt;b&gt;</pre>");
        expect(&f, "executorId=2&logType=stdout&byteLength=4", 200, "offset=5&amp;byteLength=4\">Older");
        expect(&f, "executorId=2&logType=stdout&offset=4&byteLength=3", 200, "<pre id=\"log\">456</pre>");
        expect(&f, "executorId=2&logType=stdout&offset=4&byteLength=3", 200, "offset=7&amp;byteLength=3\">Newer");
        expect(&f, "executorId=2&logType=stdout&offset=99", 200, "Showing 0 Bytes: 13 - 13 of 13");
        expect(&f, "executorId=2&logType=stdout&offset=-7&byteLength=1", 200, "<pre id=\"log\">0</pre>");
        expect(&f, "executorId=2&logType=stdout&byteLength=0", 200, "Showing 0 Bytes: 13 - 13 of 13");
        expect(&f, "executorId=driver&logType=stdout", 200, "Showing 4 Bytes: 100 - 104 of 104"); /* older ones went */
        assert_string_equal(open_page(&f, "/executors/log", "executorId=2&logType=stdout&offset=10", 200),
                            "==== Bytes 10-13 of 13 of app-1/executor-2/stdout ====\n<b>");
        assert_string_equal(f.answer.type, "text/plain;charset=utf-8");
        ui_fixture_end(&f);
        begin(&f, false, "2");
        expect(&f, "executorId=2&logType=stdout", 200, "<pre id=\"log\">second</pre>");
        assert_null(strstr(buf_text(&f.answer.body), "<script"));
        ui_fixture_end(&f);
}

static void wrong_requests_are_refused(void **state)
{
        struct ui_fixture f;
        begin(&f, true, NULL);
        expect(&f, "logType=stdout", 400, "&#39;executorId&#39; is missing");
        expect(&f, "executorId=..&logType=stdout", 400, "not the id of an executor");
        expect(&f, "executorId=1/../../x&logType=stdout", 400, "not the id of an executor");
        expect(&f, "executorId=&logType=stdout", 400, "not the id of an executor");
        expect(&f, "executorId=2", 400, "Log type must be one of");
        expect(&f, "executorId=2&logType=index.json", 400, "Log type must be one of");
        expect(&f, "executorId=2&logType=stdout&offset=abc", 400, "must be numbers");
        expect(&f, "executorId=2&logType=stdout&byteLength=-5", 400, "must be numbers");
        expect(&f, "executorId=7&logType=stdout", 404, "Nothing is stored of stdout of executor 7");
        f.view.logs_dir = NULL;
        expect(&f, "executorId=2&logType=stdout", 404, "is not in the configuration of this server");
        f.view.logs_dir = "nowhere://x/";
        expect(&f, "executorId=2&logType=stdout", 500, "No FileSystem for scheme");
        ui_fixture_end(&f);
        ui_fixture_begin(&f, true);
        f.view.logs_dir = temp_dir;
        expect(&f, "executorId=2&logType=stdout", 404, "ran without spark.firesteel.logs.dir");
        ui_fixture_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(links_lead_to_durable_logs_of_what_is_gone),
                cmocka_unit_test(pages_show_parts),
                cmocka_unit_test(wrong_requests_are_refused),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
