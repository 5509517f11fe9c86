/*
 * A fold has the same answers as the journal that it replaces, also after further records, in random journals; and a
 * driver that is killed while it folds leaves a journal with the same answers.
 */
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "driver/resume/journal_epochs.h"
#include "journal/fields.h"
#include "journal/frame.h"
#include "journal/place.h"
#include "net/byte_order.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORLDS = 400, ALL_WORLDS = 20000, MAX_RECORDS = 60, MAX_OUTPUTS = 9, SHUFFLES = 3, MAPS = 4 };

/* ------------------------------------------------------------------------------------------------ random journals */

struct random_journal {
        uint64_t random;
        struct buf records;    /* bodies, one after another */
        VEC(size_t) ends;      /* of each record */
        VEC(uint32_t) outputs; /* of each job */
        size_t n_outputs;      /* saved ones */
        int64_t task_id;
};

static uint64_t random_journal_below(struct random_journal *w, uint64_t n)
{
        w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (w->random >> 33) % n;
}

static size_t random_journal_begin(struct random_journal *w, enum resume_record kind)
{
        return journal_record_begin(&w->records, (uint8_t)kind);
}

static void random_journal_end(struct random_journal *w, size_t place)
{
        journal_record_end(&w->records, place);
        vec_push(&w->ends, w->records.len);
}

static void random_journal_put(struct random_journal *w, enum resume_record kind, int n, const uint64_t *numbers)
{
        size_t place = random_journal_begin(w, kind);
        for (int i = 0; i < n; i++)
                fields_put_number(&w->records, numbers[i]);
        random_journal_end(w, place);
}
#define random_journal_put_numbers(w, kind, ...)                                                                       \
        random_journal_put((w), (kind), (int)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)),                   \
                           (uint64_t[]){__VA_ARGS__})

static void random_journal_put_application(struct random_journal *w)
{
        struct resume_application app = {.id = (char *)"app",
                                         .started_ms = 7,
                                         .token = (char *)"t",
                                         .program = (char *)"p",
                                         .directory = (char *)"d"};
        size_t place = random_journal_begin(w, RESUME_APPLICATION);
        resume_application_put(&w->records, &app);
        random_journal_end(w, place);
}

static void random_journal_put_job(struct random_journal *w)
{
        struct resume_job_record job = {
                .job = w->outputs.len,
                .signature = {.whole = {random_journal_below(w, 3), 1}, .modules = 5, .inputs = 6},
                .outputs = (uint32_t)random_journal_below(w, MAX_OUTPUTS) + 1,
                .alone = random_journal_below(w, 10) > 0,
                .call_site = {"site", 4}};
        size_t place = random_journal_begin(w, RESUME_JOB);
        resume_job_put(&w->records, &job);
        random_journal_end(w, place);
        vec_push(&w->outputs, job.outputs);
}

static void random_journal_put_results(struct random_journal *w, uint64_t job)
{
        uint64_t from = random_journal_below(w, w->outputs.data[job]),
                 n = random_journal_below(w, w->outputs.data[job] - from) + 1;
        const bool equal = random_journal_below(w, 2);
        size_t place = random_journal_begin(w, RESUME_RESULTS);
        fields_put_number(&w->records, job);
        for (uint64_t i = from; i < from + n; i++) {
                fields_put_number(&w->records, i);
                fields_put_bytes(&w->records, equal ? "same" : "abcdefghi" + i, equal ? 4 : 1);
                fields_put_bytes(&w->records, "u", random_journal_below(w, 8) == 0);
        }
        random_journal_end(w, place);
}

static void random_journal_put_map_outputs(struct random_journal *w, uint64_t job)
{
        size_t place = random_journal_begin(w, RESUME_MAP_OUTPUTS);
        fields_put_number(&w->records, job);
        fields_put_number(&w->records, random_journal_below(w, SHUFFLES));
        fields_put_number(&w->records, random_journal_below(w, 2));
        for (uint64_t n = random_journal_below(w, MAPS); n-- > 0;) {
                fields_put_number(&w->records, random_journal_below(w, MAPS));
                fields_put_number(&w->records, (uint64_t)w->task_id++);
                fields_put_number(&w->records, 1 + random_journal_below(w, 5));
        }
        random_journal_end(w, place);
}

static void random_journal_put_output(struct random_journal *w)
{
        char path[16];
        size_t place = random_journal_begin(w, RESUME_OUTPUT);
        uint64_t number = random_journal_below(w, w->n_outputs + 1);
        snprintf(path, sizeof(path), "/o%d", (int)random_journal_below(w, 100));
        fields_put_number(&w->records, number);
        fields_put_text(&w->records, path);
        fields_put_text(&w->records, "42");
        fields_put_number(&w->records, random_journal_below(w, 2));
        random_journal_end(w, place);
        w->n_outputs = MAX(w->n_outputs, number + 1);
}

static void random_journal_put_executor(struct random_journal *w)
{
        char id[16];
        const bool lost = random_journal_below(w, 2);
        size_t place = random_journal_begin(w, lost ? RESUME_EXECUTOR_LOST : RESUME_EXECUTOR);
        snprintf(id, sizeof(id), random_journal_below(w, 3) ? "%d" : "x%d", (int)random_journal_below(w, 6));
        fields_put_text(&w->records, id);
        if (!lost) {
                fields_put_text(&w->records, "host");
                for (uint64_t i = 0; i < 4; i++)
                        fields_put_number(&w->records, i + 1);
                if (random_journal_below(w, 2)) /* version 3 has no container */
                        fields_put_text(&w->records, "container");
        }
        random_journal_end(w, place);
}

static void random_journal_put_void(struct random_journal *w)
{
        uint64_t jobs = random_journal_below(w, w->outputs.len + 1),
                 outputs = random_journal_below(w, w->n_outputs + 1);
        random_journal_put_numbers(w, RESUME_VOID, jobs, outputs);
        w->outputs.len = jobs;
        w->n_outputs = outputs;
}

/* A record that a driver might write. */
static void random_journal_step(struct random_journal *w)
{
        const uint64_t jobs = w->outputs.len, job = jobs ? random_journal_below(w, jobs) : 0;
        const uint64_t kind = random_journal_below(w, jobs ? 16 : 4);
        size_t place;
        if (kind == 0)
                random_journal_put_job(w);
        else if (kind == 1)
                random_journal_put_numbers(w, RESUME_TASKS, (uint64_t)w->task_id);
        else if (kind == 2)
                random_journal_put_output(w);
        else if (kind == 3 && random_journal_below(w, 4) == 0)
                random_journal_put_void(w);
        else if (kind == 4)
                random_journal_put_numbers(w, RESUME_JOB_ENDED, job, 1);
        else if (kind == 5 && w->n_outputs)
                random_journal_put_numbers(w, RESUME_OUTPUT_STATE, random_journal_below(w, w->n_outputs),
                                           random_journal_below(w, 4));
        else if (kind == 6)
                random_journal_put_numbers(w, RESUME_RESET, job);
        else if (kind == 7)
                random_journal_put_numbers(w, RESUME_MAP_LOST, random_journal_below(w, SHUFFLES),
                                           random_journal_below(w, MAPS),
                                           random_journal_below(w, (uint64_t)w->task_id + 1));
        else if (kind == 8 && random_journal_below(w, 3) == 0)
                random_journal_put_numbers(w, RESUME_SHUFFLE_REMOVED, random_journal_below(w, SHUFFLES));
        else if (kind == 9)
                random_journal_put_numbers(w, RESUME_COMMIT, job, random_journal_below(w, w->outputs.data[job]),
                                           (uint64_t)w->task_id++, random_journal_below(w, 2));
        else if (kind == 10) {
                place = random_journal_begin(w, RESUME_MAP_UPDATES);
                fields_put_number(&w->records, job);
                fields_put_number(&w->records, random_journal_below(w, SHUFFLES));
                fields_put_number(&w->records, random_journal_below(w, MAPS));
                fields_put_bytes(&w->records, "map", 3);
                random_journal_end(w, place);
        } else if (kind == 11)
                random_journal_put_map_outputs(w, job);
        else if (kind == 14)
                random_journal_put_executor(w);
        else if (kind == 15)
                random_journal_put_numbers(w, RESUME_EXECUTOR_IDS, random_journal_below(w, 12));
        else if (jobs)
                random_journal_put_results(w, job);
}

static void random_journal_deinit(struct random_journal *w)
{
        buf_deinit(&w->records);
        vec_deinit(&w->ends);
        vec_deinit(&w->outputs);
}

/* ------------------------------------------------------------------------------------------------ what a history says
 */

static void describe_job(struct past_job *job, struct buf *text)
{
        past_job_prune_commits(job);
        buf_printf(text, "job %d %d %d %d %s\n", (int)job->signature.whole[0], (int)job->signature.modules,
                   (int)job->signature.inputs, (int)job->outputs, job->call_site);
        for (size_t i = 0; i < job->results.len; i++)
                for (uint32_t k = 0; k < job->results.data[i].count; k++)
                        buf_printf(text, "%d=%.*s,%d ", (int)(job->results.data[i].output + k),
                                   (int)job->results.data[i].result.len, job->results.data[i].result.data,
                                   (int)job->results.data[i].updates.len);
        for (uint32_t i = 0; i < job->outputs; i++)
                buf_putc(text, job->done && job->done[i] ? '1' : '0');
        for (size_t i = 0; i < job->maps.len; i++)
                buf_printf(text, " u%d.%d", job->maps.data[i].shuffle, job->maps.data[i].partition);
        for (int64_t id = 0; id < MAX_RECORDS * MAPS; id++) /* their order has no meaning */
                for (size_t i = 0; i < job->commits.len; i++)
                        if (job->commits.data[i].task_id == id)
                                buf_printf(text, " c%d.%d.%d.%d", (int)job->commits.data[i].output, (int)id,
                                           job->commits.data[i].updates, job->commits.data[i].reset);
        buf_puts(text, "\n");
}

static void describe(struct history *h, struct buf *text)
{
        buf_printf(text, "%s %d %s %d\n", h->application.id ? h->application.id : "", (int)h->last_task_id,
                   h->store ? h->store : "", h->ordered);
        for (size_t i = 0; i < h->jobs.len; i++) {
                size_t n;
                describe_job(h->jobs.data[i], text);
                const struct past_map_output *maps = history_map_outputs(h, i, &n);
                for (size_t m = 0; m < n; m++)
                        buf_printf(text, "m%d.%d at %d.%d by %d\n", maps[m].shuffle, maps[m].partition, maps[m].writer,
                                   (int)maps[m].place, (int)maps[m].task_id);
        }
        buf_printf(text, "next executor %d:", h->next_executor_id);
        for (int c = 0; c < 12; c++) /* their order has no meaning */
                for (size_t i = 0; i < h->executors.len; i++) {
                        const struct earlier_executor *x = &h->executors.data[i];
                        if (atoi(x->id + (x->id[0] == 'x')) + (x->id[0] == 'x' ? 6 : 0) == c)
                                buf_printf(text, " %s %s %d %d %d %d %s", x->id, x->host, x->cores, x->profile,
                                           (int)x->pid, (int)x->started, x->container);
                }
        buf_puts(text, "\n");
        for (size_t i = 0; i < h->abandoned.len; i++)
                buf_printf(text, "directory %s\n", h->abandoned.data[i]->path);
        for (size_t i = 0; i < h->outputs.len; i++)
                buf_printf(text, "output %s %s %d %d\n", h->outputs.data[i]->path, h->outputs.data[i]->tracker,
                           h->outputs.data[i]->made, h->outputs.data[i]->state);
}

static void add_records(struct history *h, const char *at, const char *end)
{
        while (at < end) {
                uint32_t size = get_le32((const unsigned char *)at + 1);
                assert_int_equal(history_add(h, (uint8_t)at[0], at + JOURNAL_RECORD_HEADER, size), 0);
                at += JOURNAL_RECORD_HEADER + size;
        }
        assert_ptr_equal(at, end);
}

/* The history of the records up to @cut, folded @folds times there, and then of those after it. */
static char *answers(const struct random_journal *w, size_t cut, int folds)
{
        struct buf body[2] = {BUF_INIT, BUF_INIT}, text = BUF_INIT;
        struct history h;
        const char *at = w->records.data;
        history_init(&h);
        add_records(&h, at, at + cut);
        for (int i = 0; i < folds; i++) {
                struct buf *to = &body[i % 2];
                buf_reset(to);
                history_put(&h, to);
                history_deinit(&h);
                history_init(&h);
                add_records(&h, to->data, to->data + to->len);
        }
        add_records(&h, at + cut, at + w->records.len);
        describe(&h, &text);
        history_deinit(&h);
        buf_deinit(&body[0]);
        buf_deinit(&body[1]);
        return buf_steal(&text);
}

static void a_fold_has_the_same_answers(void **state)
{
        const int worlds = getenv("FIRESTEEL_FULL_NUMBER") ? ALL_WORLDS : WORLDS;
        for (int seed = 0; seed < worlds; seed++) {
                struct random_journal w = {.random = (uint64_t)seed};
                random_journal_put_application(&w);
                for (uint64_t n = random_journal_below(&w, MAX_RECORDS); n-- > 0;)
                        random_journal_step(&w);
                _cleanup_free_ char *expected = answers(&w, w.records.len, 0);
                size_t cut = w.ends.data[random_journal_below(&w, w.ends.len)];
                for (int folds = 1; folds <= 2; folds++) {
                        _cleanup_free_ char *found = answers(&w, cut, folds);
                        if (strcmp(expected, found) != 0)
                                fail_msg("seed %d, cut at %zu of %zu, %d folds:\n%s\n---\n%s", seed, cut, w.records.len,
                                         folds, expected, found);
                }
                random_journal_deinit(&w);
        }
}

static void a_million_equal_results_are_one_record(void **state)
{
        struct random_journal w = {0};
        struct buf body = BUF_INIT;
        struct history h;
        random_journal_put_application(&w);
        struct resume_job_record job = {.outputs = 1000000, .call_site = {"site", 4}};
        size_t place = random_journal_begin(&w, RESUME_JOB);
        resume_job_put(&w.records, &job);
        random_journal_end(&w, place);
        place = random_journal_begin(&w, RESUME_RESULTS);
        fields_put_number(&w.records, 0);
        for (uint64_t i = 0; i < 1000000; i++) {
                fields_put_number(&w.records, i);
                fields_put_bytes(&w.records, "\1", 1);
                fields_put_bytes(&w.records, "", 0);
        }
        random_journal_end(&w, place);
        history_init(&h);
        add_records(&h, w.records.data, w.records.data + w.records.len);
        history_put(&h, &body);
        assert_true(w.records.len > 4000000 && body.len < 200);
        history_deinit(&h);
        buf_deinit(&body);
        random_journal_deinit(&w);
}

/* ------------------------------------------------------------------------------------------------------- torn folds */

static void write_file(const char *id, int epoch, const void *bytes, size_t size)
{
        _cleanup_free_ char *path = mem_printf("%s/%s/epoch-%06d", temp_dir, id, epoch);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        fclose(f);
}

static char *read_answers(const char *id, int newest)
{
        struct journal_place *place;
        struct journal_epochs epochs = {0};
        struct buf text = BUF_INIT;
        struct history h;
        assert_int_equal(journal_place_find(temp_dir, id, &place, NULL), 0);
        history_init(&h);
        assert_int_equal(journal_epochs_read(place, newest, &epochs, &h, NULL), 0);
        describe(&h, &text);
        history_deinit(&h);
        journal_epochs_deinit(&epochs);
        journal_place_free(place);
        return buf_steal(&text);
}

static void append_frame(struct buf *file, const struct buf *body)
{
        unsigned char header[JOURNAL_FRAME_HEADER];
        if (!file->len)
                buf_puts(file, JOURNAL_FIRST_LINE);
        journal_frame_header(body->data, body->len, header);
        buf_append(file, header, sizeof(header));
        buf_append(file, body->data, body->len);
}

/* A driver is killed after any byte of a fold that it writes; and before or after it removes the earlier epoch. */
static void a_torn_fold_changes_nothing(void **state)
{
        struct random_journal w = {0};
        struct buf first = BUF_INIT, fold = BUF_INIT, body = BUF_INIT, earlier = BUF_INIT, third = BUF_INIT;
        struct journal_place *place;
        struct history h;
        w.random = 11;
        random_journal_put_application(&w);
        while (w.ends.len < 50)
                random_journal_step(&w);
        append_frame(&first, &w.records);
        history_init(&h);
        add_records(&h, w.records.data, w.records.data + w.records.len);
        history_put(&h, &body);
        history_deinit(&h);
        append_frame(&fold, &body);
        assert_int_equal(journal_place_open(temp_dir, "torn", &place, NULL), 0);
        write_file("torn", 1, first.data, first.len);
        _cleanup_free_ char *expected = read_answers("torn", 1);
        for (size_t size = 0; size <= fold.len; size++) {
                write_file("torn", 2, fold.data, size);
                _cleanup_free_ char *found = read_answers("torn", 2);
                assert_string_equal(found, expected);
        }
        _cleanup_free_ char *path = mem_printf("%s/torn/epoch-000001", temp_dir);
        assert_int_equal(unlink(path), 0);
        _cleanup_free_ char *alone = read_answers("torn", 2);
        assert_string_equal(alone, expected);

        /* Another driver took epoch 3 while the fold was torn: what its writer, which wakes up, adds does not count. */
        write_file("torn", 1, first.data, first.len);
        for (uint64_t epoch = 1; epoch <= 2; epoch++) {
                size_t at = journal_record_begin(&earlier, RESUME_EARLIER);
                fields_put_number(&earlier, epoch);
                fields_put_number(&earlier, epoch == 1 ? first.len : sizeof(JOURNAL_FIRST_LINE) - 1);
                journal_record_end(&earlier, at);
        }
        append_frame(&third, &earlier);
        write_file("torn", 3, third.data, third.len);
        _cleanup_free_ char *later = read_answers("torn", 3);
        assert_string_equal(later, expected);
        journal_place_free(place);
        buf_deinit(&first);
        buf_deinit(&fold);
        buf_deinit(&body);
        buf_deinit(&earlier);
        buf_deinit(&third);
        random_journal_deinit(&w);
}

static void a_driver_that_was_superseded_does_not_fold(void **state)
{
        struct journal_place *old, *new;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct stat st;
        assert_int_equal(journal_place_open(temp_dir, "two", &old, NULL), 0);
        assert_int_equal(journal_place_open(temp_dir, "two", &new, NULL), 0);
        assert_int_equal(journal_place_take(old, 1, NULL), 0);
        assert_int_equal(journal_place_fold(old, "x", 1, NULL), 0);
        assert_int_equal(journal_place_epoch(old), 2);
        assert_false(journal_place_is_superseded(old));
        _cleanup_free_ char *first = mem_printf("%s/two/epoch-000001", temp_dir);
        assert_int_equal(stat(first, &st), -1);
        assert_int_equal(journal_place_append(old, "h", 1, "b", 1, NULL), 0); /* goes on in the new file */
        assert_int_equal(journal_place_take(new, 3, NULL), 0);
        assert_true(journal_place_is_superseded(old));
        assert_int_equal(journal_place_fold(old, "x", 1, &error), -EEXIST);
        assert_int_equal(journal_place_fold(new, "y", 1, NULL), 0);
        assert_int_equal(journal_place_fold(new, "y", 1, NULL), 0);
        assert_true(journal_place_is_superseded(old));
        assert_int_equal(journal_place_fold(old, "x", 1, &error), -EEXIST);
        assert_int_equal(journal_place_newest(new, NULL), 5);
        assert_false(journal_place_is_superseded(new));
        journal_place_free(old);
        journal_place_free(new);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_fold_has_the_same_answers),
                cmocka_unit_test(a_million_equal_results_are_one_record),
                cmocka_unit_test(a_torn_fold_changes_nothing),
                cmocka_unit_test(a_driver_that_was_superseded_does_not_fold),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
