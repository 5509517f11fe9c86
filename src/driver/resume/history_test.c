/*
 * The records and the history: rebuilt from every prefix of a journal, matched in order and without order, cut where
 * main takes another way.
 */
#include "base/error.h"
#include "base/mem.h"
#include "driver/resume/history.h"
#include "journal/fields.h"
#include "journal/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define JOBS 4
#define OUTPUTS 3

static struct resume_job_record job_record(uint64_t number, uint64_t what, bool alone)
{
        return (struct resume_job_record){.job = number,
                                          .signature = {{what, ~what}, (uint32_t)what, 7},
                                          .outputs = OUTPUTS,
                                          .alone = alone,
                                          .call_site = {"count at a.c:1", 14}};
}

/* A record's bytes at the end of @body. */
#define put_record(body, kind, ...)                                                                                    \
        do {                                                                                                           \
                size_t place_ = journal_record_begin((body), (kind));                                                  \
                __VA_ARGS__;                                                                                           \
                journal_record_end((body), place_);                                                                    \
        } while (0)

static void put_job(struct buf *body, uint64_t number, uint64_t what, bool alone)
{
        struct resume_job_record record = job_record(number, what, alone);
        put_record(body, RESUME_JOB, resume_job_put(body, &record));
}

static void put_result(struct buf *body, uint64_t job, uint64_t output)
{
        char text[32];
        snprintf(text, sizeof(text), "%d/%d", (int)job, (int)output);
        put_record(body, RESUME_RESULTS, fields_put_number(body, job), fields_put_number(body, output),
                   fields_put_text(body, text), fields_put_bytes(body, "u", 1));
}

static void put_numbers(struct buf *body, enum resume_record kind, uint64_t a, uint64_t b)
{
        put_record(body, (uint8_t)kind, fields_put_number(body, a), fields_put_number(body, b));
}

struct replayed {
        struct history history;
        int records;
};

static int replay_record(void *context, uint8_t kind, const void *content, size_t size)
{
        struct replayed *r = context;
        r->records++;
        return history_add(&r->history, kind, content, size);
}

/* Wraps each record of @body in a frame of its own: a writer may write them one by one. */
static int frame_record(void *context, uint8_t kind, const void *content, size_t size)
{
        struct buf *file = context;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        unsigned char header[JOURNAL_FRAME_HEADER];
        put_record(&body, kind, buf_append(&body, content, size));
        journal_frame_header(body.data, body.len, header);
        buf_append(file, header, sizeof(header));
        buf_append(file, body.data, body.len);
        return 0;
}

static void make_file(const struct buf *body, struct buf *file)
{
        _cleanup_(buf_deinit) struct buf whole = BUF_INIT;
        struct journal_extent extent;
        unsigned char header[JOURNAL_FRAME_HEADER];
        buf_puts(&whole, JOURNAL_FIRST_LINE);
        journal_frame_header(body->data, body->len, header);
        buf_append(&whole, header, sizeof(header));
        buf_append(&whole, body->data, body->len);
        buf_puts(file, JOURNAL_FIRST_LINE);
        assert_int_equal(journal_read_frames(whole.data, whole.len, "j", frame_record, file, &extent, NULL), 0);
        assert_int_equal(extent.end, JOURNAL_COMPLETE);
}

static void replay(const void *bytes, size_t size, struct replayed *r)
{
        struct journal_extent extent;
        *r = (struct replayed){0};
        history_init(&r->history);
        assert_int_equal(journal_read_frames(bytes, size, "j", replay_record, r, &extent, NULL), 0);
        assert_int_not_equal(extent.end, JOURNAL_DAMAGED);
}

/* Jobs 0 … JOBS - 1, each with all of its results and its end. */
static void put_run(struct buf *body)
{
        struct resume_application app = {.id = (char *)"app-1",
                                         .started_ms = 42,
                                         .token = (char *)"t",
                                         .program = (char *)"/bin/x",
                                         .directory = (char *)"/d"};
        char *words[] = {(char *)"x", (char *)"y z"};
        app.words.data = words;
        app.words.len = 2;
        put_record(body, RESUME_APPLICATION, resume_application_put(body, &app));
        put_record(body, RESUME_TASKS, fields_put_number(body, 1000));
        for (uint64_t job = 0; job < JOBS; job++) {
                put_job(body, job, 100 + job, true);
                for (uint64_t output = OUTPUTS; output-- > 0;)
                        put_result(body, job, output);
                put_numbers(body, RESUME_JOB_ENDED, job, 1);
        }
}

static void every_prefix_is_the_history_at_that_time(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT;
        put_run(&body);
        make_file(&body, &file);
        for (size_t size = 0; size <= file.len; size++) {
                struct replayed r;
                uint64_t jobs, results;
                char *copy = mem_alloc(size + 1);
                memcpy(copy, file.data, size);
                replay(copy, size, &r);
                int after = MAX(r.records - 2, 0), job = after / (OUTPUTS + 2), within = after % (OUTPUTS + 2);
                history_count(&r.history, &jobs, &results);
                assert_int_equal(jobs, job + (within > 0));
                assert_int_equal(results, job * OUTPUTS + (within > OUTPUTS ? OUTPUTS : within ? within - 1 : 0));
                assert_int_equal(r.history.last_task_id, r.records > 1 ? 1000 : -1);
                for (uint64_t k = 0; k < JOBS; k++) { /* main runs again */
                        struct resume_job_record record = job_record(0, 100 + k, true);
                        struct past_job *past = NULL;
                        bool known = k < jobs;
                        assert_int_equal(history_find(&r.history, &record) != NULL, known);
                        assert_int_equal(history_take_job(&r.history, &record, &past, NULL),
                                         known ? HISTORY_TAKEN : HISTORY_NEW);
                        assert_int_equal(record.job, k);
                        for (size_t i = 0; known && i < past->results.len; i++) {
                                assert_int_equal(past->results.data[i].output, OUTPUTS - 1 - i);
                                assert_int_equal(past->results.data[i].result.len, 3);
                                assert_int_equal(past->results.data[i].result.data[2], '0' + OUTPUTS - 1 - (int)i);
                        }
                }
                history_deinit(&r.history);
                free(copy);
        }
}

static void the_application_is_read_as_written(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT;
        struct replayed r;
        put_run(&body);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        assert_string_equal(r.history.application.id, "app-1");
        assert_string_equal(r.history.application.words.data[1], "y z");
        assert_int_equal(r.history.application.started_ms, 42);
        history_deinit(&r.history);
}

static void put_executor(struct buf *body, int id, bool lost)
{
        char text[16];
        snprintf(text, sizeof(text), "%d", id);
        if (lost)
                put_record(body, RESUME_EXECUTOR_LOST, fields_put_text(body, text));
        else
                put_record(body, RESUME_EXECUTOR, fields_put_text(body, text), fields_put_text(body, "h"),
                           fields_put_number(body, 1), fields_put_number(body, 0), fields_put_number(body, 5),
                           fields_put_number(body, 6));
}

static void many_executors_come_and_go(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT;
        struct replayed r;
        for (int i = 0; i < 50000; i++)
                put_executor(&body, i, false);
        for (int i = 0; i < 50000; i += 2)
                put_executor(&body, i, true);
        put_executor(&body, 7, true);
        put_executor(&body, 3, false); /* again */
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        char *found = mem_zero(50000);
        for (size_t i = 0; i < r.history.executors.len; i++)
                found[atoi(r.history.executors.data[i].id)]++;
        for (int i = 0; i < 50000; i++)
                assert_int_equal(found[i], i % 2 && i != 7);
        assert_int_equal(r.history.next_executor_id, 50000);
        free(found);
        history_deinit(&r.history);
}

static void executors_are_read_with_or_without_a_container(void **state)
{
        struct history h;
        history_init(&h);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "\1" "4" "\1h\2\0\7\1", 8), 0); /* version 3 */
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "\1" "6" "\1h\2\0\7\1\2c6", 11), 0);
        assert_int_equal(h.executors.len, 2);
        assert_string_equal(h.executors.data[0].container, "");
        assert_string_equal(h.executors.data[1].container, "c6");
        assert_int_equal(h.next_executor_id, 7);
        history_deinit(&h);
}

static void executor_ids_that_were_given_are_not_given_again(void **state)
{
        struct history h;
        history_init(&h);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_IDS, "\5", 1), 0);
        assert_int_equal(h.next_executor_id, 5);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR,
                                     "\1"
                                     "3"
                                     "\1h\1\0\7\1",
                                     8),
                         0);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_LOST,
                                     "\1"
                                     "3",
                                     2),
                         0);
        assert_int_equal(h.next_executor_id, 5);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR,
                                     "\1"
                                     "8"
                                     "\1h\1\0\7\1",
                                     8),
                         0);
        assert_int_equal(h.next_executor_id, 9);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_IDS, "\7", 1), 0);
        assert_int_equal(h.next_executor_id, 9);
        history_deinit(&h);
}

static void a_job_that_differs_makes_the_rest_void(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, why = BUF_INIT, second = BUF_INIT;
        struct replayed r;
        struct past_job *past;
        put_run(&body);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        struct resume_job_record same = job_record(0, 100, true), other = job_record(0, 55, true),
                                 later = job_record(0, 102, true);
        assert_false(history_jobs_taken(&r.history));
        assert_int_equal(history_take_job(&r.history, &same, &past, &why), HISTORY_TAKEN);
        assert_false(history_jobs_taken(&r.history));
        assert_int_equal(history_take_job(&r.history, &other, &past, &why), HISTORY_DIFFERS);
        assert_true(history_jobs_taken(&r.history));
        assert_int_equal(other.job, 1);
        assert_string_equal(buf_text(&why), "job 1 (count at a.c:1) has functions of another build of the application");
        assert_int_equal(history_take_job(&r.history, &later, &past, &why), HISTORY_NEW); /* it was job 2 */
        assert_int_equal(later.job, 2);
        history_deinit(&r.history);
        /* A third driver, which reads what the second one has written. */
        put_numbers(&body, RESUME_VOID, 1, 0);
        put_job(&body, 1, 55, true);
        put_result(&body, 1, 2);
        make_file(&body, &second);
        replay(second.data, second.len, &r);
        assert_int_equal(history_take_job(&r.history, &same, &past, &why), HISTORY_TAKEN);
        assert_int_equal(past->results.len, OUTPUTS);
        assert_int_equal(history_take_job(&r.history, &other, &past, &why), HISTORY_TAKEN);
        assert_int_equal(past->results.len, 1);
        assert_int_equal(history_take_job(&r.history, &later, &past, &why), HISTORY_NEW);
        history_deinit(&r.history);
}

static void the_reason_names_what_differs(void **state)
{
        static const struct {
                const char *site;
                uint32_t modules, inputs;
                const char *why;
        } cases[] = {
                {"save at b.c:2", 100, 7, "job 0 was \"count at a.c:1\" and is now \"save at b.c:2\""},
                {"count at a.c:1", 100, 8, "the input files of job 0 (count at a.c:1) have changed"},
                {"count at a.c:1", 100, 7,
                 "the operators, captured values or settings of job 0 (count at a.c:1) have changed"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, why = BUF_INIT;
                struct replayed r;
                struct past_job *past;
                put_run(&body);
                make_file(&body, &file);
                replay(file.data, file.len, &r);
                struct resume_job_record record = job_record(0, 1, true);
                record.call_site = (fst_bytes){cases[i].site, strlen(cases[i].site)};
                record.signature.modules = cases[i].modules;
                record.signature.inputs = cases[i].inputs;
                assert_int_equal(history_take_job(&r.history, &record, &past, &why), HISTORY_DIFFERS);
                assert_string_equal(buf_text(&why), cases[i].why);
                history_deinit(&r.history);
        }
}

static void overlapping_jobs_match_in_any_order_and_once(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, why = BUF_INIT;
        static const uint64_t order[] = {3, 0, 9, 1, 3, 2};
        static const enum history_answer answers[] = {HISTORY_TAKEN, HISTORY_TAKEN, HISTORY_NEW,
                                                      HISTORY_TAKEN, HISTORY_NEW,   HISTORY_TAKEN};
        struct replayed r;
        struct past_job *past;
        put_run(&body);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        uint64_t fresh = JOBS;
        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                struct resume_job_record record = job_record(0, 100 + order[i], false);
                assert_int_equal(history_take_job(&r.history, &record, &past, &why), answers[i]);
                assert_int_equal(record.job, answers[i] == HISTORY_TAKEN ? order[i] : fresh++);
        }
        history_deinit(&r.history);
}

static void results_that_were_reset_do_not_count(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, why = BUF_INIT;
        struct replayed r;
        struct past_job *past;
        put_job(&body, 0, 100, true);
        put_result(&body, 0, 0);
        put_result(&body, 0, 1);
        put_record(&body, RESUME_RESET, fields_put_number(&body, 0));
        put_result(&body, 0, 1);
        put_result(&body, 0, 1); /* an output counts once */
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        struct resume_job_record record = job_record(0, 100, true);
        assert_int_equal(history_take_job(&r.history, &record, &past, &why), HISTORY_TAKEN);
        assert_int_equal(past->results.len, 1);
        assert_int_equal(past->done[0], 0);
        assert_int_equal(past->done[1], 1);
        history_deinit(&r.history);
}

static void put_commit(struct buf *body, uint64_t job, uint64_t output, uint64_t task_id)
{
        put_record(body, RESUME_COMMIT, fields_put_number(body, job), fields_put_number(body, output),
                   fields_put_number(body, task_id), fields_put_number(body, 0));
}

static void permissions_to_commit_are_kept_and_results_added_once(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT;
        struct replayed r;
        put_job(&body, 0, 100, true);
        put_commit(&body, 0, 2, 17);
        put_record(&body, RESUME_RESET, fields_put_number(&body, 0));
        put_commit(&body, 0, 1, 18);
        put_result(&body, 0, 1);
        put_commit(&body, 0, 0, 19);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        struct resume_job_record record = job_record(0, 100, true);
        struct past_job *past = history_find(&r.history, &record);
        assert_non_null(past);
        assert_int_equal(past->commits.len, 3);
        assert_true(past->commits.data[0].reset && !past->commits.data[1].reset);
        assert_int_equal(past->commits.data[0].task_id, 17);
        assert_int_equal(past->commits.data[2].output, 0);
        past_job_add_result(past, 0, (fst_bytes){"x", 1});
        past_job_add_result(past, 0, (fst_bytes){"y", 1});
        past_job_add_result(past, 1, (fst_bytes){"y", 1});
        past_job_add_result(past, OUTPUTS, (fst_bytes){"y", 1});
        assert_int_equal(past->results.len, 2);
        assert_int_equal(past->results.data[1].output, 0);
        assert_int_equal(past->results.data[1].result.data[0], 'x');
        history_deinit(&r.history);
}

static void outputs_are_taken_by_path_and_in_order(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT;
        struct replayed r;
        uint64_t number;
        for (uint64_t i = 0; i < 3; i++) {
                char path[16];
                snprintf(path, sizeof(path), "file:/o%d", (int)i);
                put_record(&body, RESUME_OUTPUT, fields_put_number(&body, i), fields_put_text(&body, path),
                           fields_put_text(&body, "123"), fields_put_number(&body, 1));
        }
        put_numbers(&body, RESUME_OUTPUT_STATE, 0, RESUME_OUTPUT_COMMITTED);
        put_numbers(&body, RESUME_OUTPUT_STATE, 1, RESUME_OUTPUT_ABORTED);
        put_record(&body, RESUME_OUTPUT, fields_put_number(&body, 1), fields_put_text(&body, "file:/o1"),
                   fields_put_text(&body, "456"), fields_put_number(&body, 0)); /* begun again */
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        struct past_output *past = history_take_output(&r.history, "file:/o0", &number);
        assert_non_null(past);
        assert_int_equal(number, 0);
        assert_int_equal(past->state, RESUME_OUTPUT_COMMITTED);
        past = history_take_output(&r.history, "file:/o1", &number);
        assert_non_null(past);
        assert_int_equal(number, 1);
        assert_string_equal(past->tracker, "456");
        assert_int_equal(past->state, RESUME_OUTPUT_BEGUN);
        assert_false(past->made);
        bool differs = true;
        past = history_take_output(&r.history, "file:/o2", &number);
        assert_false(past->abandoned);
        assert_null(history_take_output(&r.history, "file:/o3", &number));
        assert_int_equal(history_number_output(&r.history, &differs), 3);
        assert_false(differs);
        history_deinit(&r.history);
}

static void put_output(struct buf *body, uint64_t number, const char *path, bool made)
{
        put_record(body, RESUME_OUTPUT, fields_put_number(body, number), fields_put_text(body, path),
                   fields_put_text(body, "123"), fields_put_number(body, made));
}

/* The directory of an output that is void, once. */
static void assert_abandoned(struct history *h, const char *path)
{
        uint64_t number = 77;
        const struct past_output *past = history_take_output(h, path, &number);
        assert_non_null(past);
        assert_string_equal(past->path, path);
        assert_true(past->abandoned && past->made);
        assert_int_equal(number, 77);
        assert_null(history_take_output(h, path, &number));
}

static void a_save_before_its_turn_makes_outputs_void(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, later = BUF_INIT;
        struct replayed r;
        uint64_t number;
        bool differs = false;
        put_job(&body, 0, 100, true);
        put_output(&body, 0, "file:/a", true);
        put_output(&body, 1, "file:/b", true);
        put_output(&body, 2, "file:/c", false);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        assert_abandoned(&r.history, "file:/b");
        assert_null(history_take_output(&r.history, "file:/c", &number)); /* it existed before */
        assert_int_equal(history_number_output(&r.history, &differs), 0);
        assert_true(differs);
        assert_abandoned(&r.history, "file:/a"); /* main comes to it after all */
        assert_int_equal(history_number_output(&r.history, &differs), 1);
        assert_false(differs);
        history_deinit(&r.history);

        /* The records of that driver lead the next one to the same. */
        put_numbers(&body, RESUME_VOID, 1, 0);
        put_output(&body, 0, "file:/b", true);
        put_numbers(&body, RESUME_OUTPUT_STATE, 0, RESUME_OUTPUT_COMMITTED);
        make_file(&body, &later);
        replay(later.data, later.len, &r);
        assert_int_equal(r.history.jobs.len, 1);
        const struct past_output *past = history_take_output(&r.history, "file:/b", &number);
        assert_int_equal(number, 0);
        assert_true(past->state == RESUME_OUTPUT_COMMITTED && !past->abandoned);
        assert_abandoned(&r.history, "file:/a");
        assert_null(history_take_output(&r.history, "file:/c", &number));
        history_deinit(&r.history);
}

static void outputs_of_jobs_that_differ_are_written_again(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, why = BUF_INIT;
        struct replayed r;
        struct past_job *past;
        struct resume_job_record other = job_record(0, 101, true);
        put_job(&body, 0, 100, true);
        put_output(&body, 0, "file:/a", true);
        put_output(&body, 1, "file:/old", false);
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        assert_int_equal(history_take_job(&r.history, &other, &past, &why), HISTORY_DIFFERS);
        assert_int_equal(r.history.outputs.len, 0);
        assert_abandoned(&r.history, "file:/a");
        uint64_t number;
        assert_null(history_take_output(&r.history, "file:/old", &number));
        history_deinit(&r.history);
}

static void put_map_output(struct buf *body, uint64_t job, uint64_t shuffle, uint64_t partition, uint64_t task)
{
        put_record(body, RESUME_MAP_OUTPUTS, fields_put_number(body, job), fields_put_number(body, shuffle),
                   fields_put_number(body, 9), fields_put_number(body, partition), fields_put_number(body, task),
                   fields_put_number(body, task + 1));
}

static void put_map_lost(struct buf *body, uint64_t shuffle, uint64_t partition, uint64_t task)
{
        put_record(body, RESUME_MAP_LOST, fields_put_number(body, shuffle), fields_put_number(body, partition),
                   fields_put_number(body, task));
}

/* The outputs of a job as "shuffle.partition=task ". */
static void assert_map_outputs(struct history *h, uint64_t job, const char *expected)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        size_t n;
        const struct past_map_output *outputs = history_map_outputs(h, job, &n);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(outputs[i].writer, 9);
                assert_int_equal(outputs[i].place, outputs[i].task_id + 1);
                buf_printf(&text, "%d.%d=%d ", outputs[i].shuffle, outputs[i].partition, (int)outputs[i].task_id);
        }
        assert_string_equal(buf_text(&text), expected);
}

static void the_last_map_output_counts_unless_it_was_lost(void **state)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, file = BUF_INIT, second = BUF_INIT;
        struct replayed r;
        put_record(&body, RESUME_STORE, fields_put_text(&body, "file:/s/a"));
        put_job(&body, 0, 100, true);
        put_map_output(&body, 0, 3, 1, 10);
        put_map_output(&body, 0, 3, 0, 11);
        put_map_output(&body, 0, 2, 0, 12);
        put_map_output(&body, 0, 3, 2, 13);
        put_map_lost(&body, 3, 1, 10);
        put_map_lost(&body, 3, 0, 99); /* a later attempt, which did not count */
        put_map_lost(&body, 2, 0, 12);
        put_job(&body, 1, 101, true);
        put_map_output(&body, 1, 2, 0, 14); /* computed again, for another job */
        make_file(&body, &file);
        replay(file.data, file.len, &r);
        assert_string_equal(r.history.store, "file:/s/a");
        assert_map_outputs(&r.history, 0, "3.0=11 3.2=13 ");
        assert_map_outputs(&r.history, 1, "2.0=14 ");
        assert_map_outputs(&r.history, 2, "");
        history_deinit(&r.history);
        put_numbers(&body, RESUME_VOID, 1, 0);
        put_record(&body, RESUME_STORE, fields_put_text(&body, "file:/s/b"));
        put_job(&body, 1, 55, true);
        make_file(&body, &second);
        replay(second.data, second.len, &r);
        assert_string_equal(r.history.store, "file:/s/b");
        assert_map_outputs(&r.history, 0, "3.0=11 3.2=13 ");
        assert_map_outputs(&r.history, 1, "");
        history_deinit(&r.history);
}

static void rejects_records_that_contradict(void **state)
{
        static const struct {
                uint8_t kind;
                const char *content;
                size_t size;
        } cases[] = {
                {0, "", 0},
                {99, "", 0},
                {RESUME_RESULTS, "\x00\x00\x00\x00", 4}, /* of an unknown job */
                {RESUME_RESET, "\x05", 1},
                {RESUME_VOID, "\x07\x00", 2},
                {RESUME_OUTPUT, "\x02\x00\x00\x00", 4}, /* numbers are dense */
                {RESUME_OUTPUT_STATE, "\x00\x00", 2},
                {RESUME_JOB, "\x01", 1},
                {RESUME_APPLICATION, "\x09", 1}, /* of a newer version */
                {RESUME_TASKS, "", 0},
                {RESUME_STORE, "", 0},
                {RESUME_MAP_OUTPUTS, "\x00\x00\x00", 3}, /* of an unknown job */
                {RESUME_MAP_LOST, "\x00\x00", 2},
                {RESUME_COMMIT, "\x00\x00\x01\x00", 4}, /* of an unknown job */
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct history h;
                history_init(&h);
                assert_true(history_add(&h, cases[i].kind, cases[i].content, cases[i].size) < 0);
                history_deinit(&h);
        }
        struct history h;
        _cleanup_(buf_deinit) struct buf job = BUF_INIT, result = BUF_INIT;
        struct resume_job_record record = job_record(0, 1, true);
        history_init(&h);
        resume_job_put(&job, &record);
        assert_int_equal(history_add(&h, RESUME_JOB, job.data, job.len), 0);
        assert_int_equal(history_add(&h, RESUME_JOB, job.data, job.len), -EBADMSG); /* twice */
        fields_put_number(&result, 0);
        fields_put_number(&result, OUTPUTS); /* an output that the job does not have */
        fields_put_bytes(&result, NULL, 0);
        fields_put_bytes(&result, NULL, 0);
        assert_int_equal(history_add(&h, RESUME_RESULTS, result.data, result.len), -EBADMSG);
        assert_int_equal(history_add(&h, RESUME_MAP_OUTPUTS, "\0\0\0\0\0\1\0\0", 8), -EBADMSG); /* half an output */
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "", 0), -EBADMSG);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "\1" "0" "\1h\0\0\1\1", 8), -EBADMSG); /* no cores */
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "\1" "0" "\1h\1\0\1", 7), -EBADMSG);    /* no start */
        assert_int_equal(history_add(&h, RESUME_EXECUTOR, "\1" "0" "\1h\1\0\1\0\2c", 10), -EBADMSG); /* half a container */
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_LOST, "\2" "0", 2), -EBADMSG);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_IDS, "", 0), -EBADMSG);
        assert_int_equal(history_add(&h, RESUME_EXECUTOR_IDS, "\xff\xff\xff\xff\x7f", 5), -EBADMSG); /* too large */
        assert_int_equal(h.maps.len, 0);
        history_deinit(&h);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_prefix_is_the_history_at_that_time),
                cmocka_unit_test(the_application_is_read_as_written),
                cmocka_unit_test(executors_are_read_with_or_without_a_container),
                cmocka_unit_test(many_executors_come_and_go),
                cmocka_unit_test(executor_ids_that_were_given_are_not_given_again),
                cmocka_unit_test(a_job_that_differs_makes_the_rest_void),
                cmocka_unit_test(the_reason_names_what_differs),
                cmocka_unit_test(overlapping_jobs_match_in_any_order_and_once),
                cmocka_unit_test(results_that_were_reset_do_not_count),
                cmocka_unit_test(permissions_to_commit_are_kept_and_results_added_once),
                cmocka_unit_test(outputs_are_taken_by_path_and_in_order),
                cmocka_unit_test(a_save_before_its_turn_makes_outputs_void),
                cmocka_unit_test(outputs_of_jobs_that_differ_are_written_again),
                cmocka_unit_test(the_last_map_output_counts_unless_it_was_lost),
                cmocka_unit_test(rejects_records_that_contradict),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
