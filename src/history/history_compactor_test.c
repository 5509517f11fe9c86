/* Compacts rolling logs on the local disk, plain and compressed, and reads them again. */
#include "history/history_compactor.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "events/event_reader.h"
#include "io/codec/codec.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct file_system *test_fs;
static char *test_log;

static void test_write(const char *name, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", test_log, name);
        struct open_file file = OPEN_FILE_INIT;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(test_fs->create(test_fs, path, &file, &error), 0);
        if (strstr(name, ".zstd")) {
                struct encoder *e = encoder_new();
                assert_int_equal(encoder_start(e, CODEC_ZSTD, &file, &error), 0);
                assert_int_equal(encoder_write(e, text, strlen(text), &error), 0);
                assert_int_equal(encoder_end(e, &error), 0);
                encoder_free(e);
        } else {
                assert_int_equal(test_fs->write(&file, text, strlen(text), &error), 0);
        }
        assert_int_equal(test_fs->close(&file, &error), 0);
}

/* A log with @n files of one job each; the last job has not ended. */
static void test_write_log(int n, const char *suffix)
{
        for (int i = 1; i <= n; i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                _cleanup_free_ char *name = mem_printf("events_%d_app-1%s", i, suffix);
                if (i == 1)
                        buf_puts(&text, "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":"
                                        "\"app-1\",\"Timestamp\":1,\"User\":\"u\"}\n");
                buf_printf(&text,
                           "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":1,\"Stage Infos\":"
                           "[{\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":1}],"
                           "\"Stage IDs\":[%d]}\n",
                           i, i, i);
                buf_printf(&text,
                           "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":%d,"
                           "\"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":1}}\n",
                           i);
                buf_printf(&text,
                           "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Task Info\":"
                           "{\"Task ID\":%d,\"Index\":0,\"Attempt\":0,\"Launch Time\":1,\"Executor ID\":\"1\","
                           "\"Host\":\"h\"}}\n",
                           i, i);
                if (i < n)
                        buf_printf(&text, "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":2}\n",
                                   i);
                test_write(name, buf_text(&text));
        }
        test_write("appstatus_app-1.inprogress", "");
}

static void test_look_up(struct event_log_info *log)
{
        struct fst_error error = FST_ERROR_INIT;
        if (event_log_look_up(test_fs, test_log, log, &error) < 0)
                fail_msg("%s", error_message(&error));
}

/* The files as text: "2c 3 4". The caller owns it. */
static char *test_files(void)
{
        struct event_log_info log;
        struct buf text = BUF_INIT;
        test_look_up(&log);
        for (size_t i = 0; i < log.files.len; i++)
                buf_printf(&text, "%s%ld%s", i ? " " : "", log.files.data[i].number,
                           log.files.data[i].is_compacted ? "c" : "");
        event_log_deinit(&log);
        return buf_steal(&text);
}

static void test_count_jobs(void *owner, const struct log_event *e)
{
        int *jobs = owner;
        if (e->type == EVENT_job_start)
                jobs[e->job_start.id]++;
        if (e->type == EVENT_application_start)
                jobs[0]++;
}

/* Checks that the log holds the start of the application and exactly the jobs from @first to @last. */
static void assert_jobs(int first, int last)
{
        int jobs[100] = {0};
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        bool ended = false;
        test_look_up(&log);
        struct event_reader *reader =
                event_reader_new(&(struct event_reader_options){.on_event = test_count_jobs, .owner = jobs});
        struct event_log_stream *stream = event_log_stream_new(test_fs, reader);
        while (!ended)
                assert_int_equal(event_log_stream_read(stream, &log, 1 << 20, &ended, &error), 0);
        event_log_stream_free(stream);
        event_reader_free(reader);
        event_log_deinit(&log);
        assert_int_equal(jobs[0], 1);
        for (int i = 1; i < 100; i++)
                assert_int_equal(jobs[i], i >= first && i <= last);
}

static enum history_compaction test_compact(size_t max_files, double threshold)
{
        const struct history_compactor_options options = {.max_files = max_files, .threshold = threshold};
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        enum history_compaction result;
        test_look_up(&log);
        int r = history_compactor_run(&options, test_fs, &log, &result, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        event_log_deinit(&log);
        return result;
}

static int test_begin(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *text = mem_printf("%s/eventlog_v2_app-1", temp_dir);
        assert_int_equal(file_system_resolve(text, &test_log, &test_fs, &error), 0);
        assert_int_equal(test_fs->mkdirs(test_fs, test_log, &error), 0);
        return 0;
}

static int test_end(void **state)
{
        test_fs->remove(test_fs, test_log, NULL);
        free(test_log);
        return 0;
}

static void assert_files(const char *expected)
{
        _cleanup_free_ char *files = test_files();
        assert_string_equal(files, expected);
}

static void compacts_older_files(void **state)
{
        test_write_log(5, "");
        assert_int_equal(test_compact(3, 0.7), HISTORY_COMPACTION_DONE);
        assert_files("2c 3 4 5");
        assert_jobs(3, 5);
        assert_int_equal(test_compact(3, 0.7), HISTORY_COMPACTION_FEW_FILES);
}

static void compacts_a_compacted_log_again(void **state)
{
        test_write_log(5, ".zstd");
        assert_int_equal(test_compact(3, 0.7), HISTORY_COMPACTION_DONE);
        assert_files("2c 3 4 5");
        test_write("events_6_app-1.zstd", "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":6,\"Submission Time\":1,"
                                          "\"Stage Infos\":[],\"Stage IDs\":[]}\n");
        assert_int_equal(test_compact(3, 0.7), HISTORY_COMPACTION_DONE);
        assert_files("3c 4 5 6");
        assert_jobs(4, 6);
        struct stat status;
        _cleanup_free_ char *path = mem_printf("%s/events_3_app-1.zstd.compact", path_local(test_log));
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0660);
}

static void leaves_logs_with_low_score(void **state)
{
        test_write_log(3, "");
        test_write("events_4_app-1", "{}\n");
        /* Files 1 to 3: job 3 is alive, two of three tasks have ended. */
        assert_int_equal(test_compact(1, 0.7), HISTORY_COMPACTION_LOW_SCORE);
        assert_files("1 2 3 4");
        assert_int_equal(test_compact(1, 0.6), HISTORY_COMPACTION_DONE);
        assert_files("3c 4");
        assert_jobs(3, 3);
}

static void leaves_short_and_single_logs(void **state)
{
        test_write_log(3, "");
        assert_int_equal(test_compact(3, 0), HISTORY_COMPACTION_FEW_FILES);
        assert_int_equal(test_compact(0, 0), HISTORY_COMPACTION_FEW_FILES);
        assert_files("1 2 3");
}

static void failure_leaves_the_log(void **state)
{
        const struct history_compactor_options options = {.max_files = 1, .threshold = 0};
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        enum history_compaction result;
        test_write_log(4, ".zstd");
        _cleanup_free_ char *path = mem_printf("%s/events_2_app-1.zstd", path_local(test_log));
        FILE *file = fopen(path, "w");
        fputs("not zstd", file);
        fclose(file);
        test_look_up(&log);
        assert_true(history_compactor_run(&options, test_fs, &log, &result, &error) < 0);
        assert_non_null(strstr(error_message(&error), "events_2_app-1.zstd"));
        error_deinit(&error);
        event_log_deinit(&log);
        assert_files("1 2 3 4");
        _cleanup_free_ char *hidden = mem_printf("%s/.events_3_app-1.zstd.compact", path_local(test_log));
        assert_int_not_equal(access(hidden, F_OK), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, test_begin, test_end)
        const struct CMUnitTest tests[] = {
                CASE(compacts_older_files),       CASE(compacts_a_compacted_log_again),
                CASE(leaves_logs_with_low_score), CASE(leaves_short_and_single_logs),
                CASE(failure_leaves_the_log),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
