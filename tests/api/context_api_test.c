/* Tests queries and settings of a context: job groups, cancelling by job and stage, status (cases of
 * StatusTrackerSuite), default numbers of partitions, and parallelize of every type. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "api/gate_fixture.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static int64_t held(fst_task *task, int64_t x)
{
        gate_pass(task);
        return x;
}

static fst_future *held_count(fst_context *sc)
{
        return fst_count_async(fst_map(fst_range_n(sc, 0, 1, 1), held, FST_I64));
}

/* -------------------------------------------------------------------------------------------- groups and cancelling */

static void sets_and_clears_job_group(void **state)
{
        fst_context *sc = *state;
        assert_null(fst_local_property(sc, "spark.jobGroup.id"));
        fst_set_job_group(sc, "nightly", "what runs at night", true);
        assert_string_equal(fst_local_property(sc, "spark.jobGroup.id"), "nightly");
        assert_string_equal(fst_local_property(sc, "spark.job.description"), "what runs at night");
        assert_string_equal(fst_local_property(sc, "spark.job.interruptOnCancel"), "true");
        fst_set_job_description(sc, "another one");
        assert_string_equal(fst_local_property(sc, "spark.job.description"), "another one");
        fst_clear_job_group(sc);
        assert_null(fst_local_property(sc, "spark.jobGroup.id"));
        assert_null(fst_local_property(sc, "spark.job.description"));
        assert_null(fst_local_property(sc, "spark.job.interruptOnCancel"));
}

static int job_of(fst_future *f)
{
        while (fst_future_job(f) < 0)
                usleep(500);
        return fst_future_job(f);
}

static void cancels_jobs_by_id(void **state)
{
        int64_t n;
        gate_close();
        fst_future *a = held_count(*state), *b = held_count(*state);
        gate_await(2);
        fst_cancel_job(*state, 1 << 20); /* no such job */
        fst_cancel_job(*state, job_of(a));
        assert_int_equal(fst_future_wait(a), -ECANCELED);
        assert_false(fst_future_done(b));
        gate_open();
        assert_int_equal(fst_future_count(b, &n), 0);
}

static void cancels_jobs_by_stage(void **state)
{
        int stage;
        gate_close();
        fst_future *a = held_count(*state);
        gate_await(1);
        while (fst_stages_of_job(*state, job_of(a), &stage, 1) != 1)
                usleep(500);
        fst_cancel_stage(*state, 1 << 20);
        fst_cancel_stage(*state, stage);
        assert_int_equal(fst_future_wait(a), -ECANCELED);
}

/* --------------------------------------------------------------------------------------------------------- status */

static void reports_status_of_running_job(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        struct fst_job_info job;
        struct fst_stage_info stage;
        int ids[8], id;
        assert_int_equal(fst_active_jobs(sc, ids, 8), 0);
        assert_int_equal(fst_active_stages(sc, ids, 8), 0);
        assert_false(fst_get_job_info(sc, 0, &job));
        assert_int_equal(fst_stages_of_job(sc, 0, ids, 8), -ENOENT);
        gate_close();
        fst_future *f = held_count(sc);
        id = job_of(f);
        while (fst_active_jobs(sc, ids, 8) != 1 || fst_active_stages(sc, ids + 1, 7) != 1)
                usleep(500);
        assert_int_equal(ids[0], id);
        assert_true(fst_get_job_info(sc, id, &job));
        assert_true(job.state == FST_JOB_RUNNING && job.stages == 1 && job.tasks == 1 && job.completed_tasks == 0);
        while (!fst_get_stage_info(sc, ids[1], &stage) || stage.active_tasks != 1)
                usleep(500);
        assert_true(stage.attempt == 0 && stage.tasks == 1 && stage.submission_ms > 0);
        gate_open();
        assert_int_equal(fst_future_wait(f), 0);
        while (!fst_get_job_info(sc, id, &job) || job.state != FST_JOB_SUCCEEDED)
                usleep(500);
        assert_int_equal(job.completed_tasks, 1);
        assert_int_equal(fst_active_jobs(sc, ids, 8), 0);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* "getJobIdsForGroup()" of StatusTrackerSuite. */
static void finds_jobs_by_group(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        int ids[8];
        int64_t n;
        assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 1), &n), 0);
        while (fst_jobs_of_group(sc, NULL, ids, 8) != 1)
                usleep(500);
        assert_int_equal(ids[0], 0);
        fst_set_job_group(sc, "group", NULL, false);
        assert_int_equal(fst_jobs_of_group(sc, "group", ids, 8), 0);
        for (int i = 1; i <= 3; i++) {
                assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 1), &n), 0);
                while (fst_jobs_of_group(sc, "group", ids, 8) != i)
                        usleep(500);
                assert_int_equal(ids[i - 1], i);
        }
        assert_int_equal(fst_jobs_of_group(sc, "group", ids, 1), 3);
        assert_int_equal(fst_jobs_of_group(sc, "another", ids, 8), 0);
        assert_int_equal(fst_jobs_of_group(sc, NULL, ids, 8), 1);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* ---------------------------------------------------------------------------------------------------- partitions */

static void chooses_numbers_of_partitions(void **state)
{
        assert_int_equal(fst_context_default_parallelism(*state), 2);
        assert_int_equal(fst_context_default_min_partitions(*state), 2);
}

static void takes_numbers_of_partitions_from_configuration(void **state)
{
        fst_context *sc = api_context("local[4]", "spark.default.parallelism", "1", NULL);
        assert_int_equal(fst_context_default_parallelism(sc), 1);
        assert_int_equal(fst_context_default_min_partitions(sc), 1);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* Other processes have the ids of this and of the next milliseconds (process/unique_ms.h). */
static void takes_no_id_of_a_running_application(void **state)
{
        int fds[500];
        long long id = 0;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        long long first = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
        for (int i = 0; i < 500; i++) {
                struct sockaddr_un address = {.sun_family = AF_UNIX};
                int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "firesteel/local-%lld", first + i);
                fds[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                int r = bind(fds[i], (struct sockaddr *)&address,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
                if (r < 0)
                        assert_int_equal(errno, EADDRINUSE); /* an application that began just now has it */
        }
        fst_context *sc = api_context("local[1]", NULL);
        assert_int_equal(strlen(fst_context_app_id(sc)), strlen("local-1700000000000"));
        assert_int_equal(sscanf(fst_context_app_id(sc), "local-%lld", &id), 1);
        assert_true(id >= first + 500);
        assert_int_equal(fst_context_stop(sc), 0);
        for (int i = 0; i < 500; i++)
                close(fds[i]);
}

struct point {
        double x, y;
        int64_t color; /* without padding, which would be undefined */
};

static void parallelizes_arrays_of_every_type(void **state)
{
        int64_t numbers[] = {3, 1, 2}, n;
        fst_bytes words[] = {{"a", 1}, {"", 0}, {"ccc", 3}}, word;
        struct point points[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
        double x;
        const void *p;
        fst_iter *rows;
        assert_int_equal(fst_collect(fst_parallelize_n(*state, points, 3, 2), &rows), 0);
        for (int i = 0; i < 3; i++) {
                assert_true(fst_next(rows, &p));
                assert_memory_equal(p, &points[i], sizeof(points[i]));
        }
        fst_rdd *pairs = fst_parallelize_pairs_n(*state, words, numbers, 3, 2);
        assert_int_equal(fst_rdd_partitions(pairs), 2);
        assert_int_equal(fst_collect(pairs, &rows), 0);
        for (int i = 0; i < 3; i++)
                assert_true(fst_next(rows, &word, &n) && n == numbers[i] && fst_bytes_equal(word, words[i]));
        double halves[] = {0.5, 1.5, 2.5};
        assert_int_equal(fst_collect(fst_parallelize_pairs(*state, points, halves, 3), &rows), 0);
        for (int i = 0; i < 3; i++)
                assert_true(fst_next(rows, &p, &x) && x == halves[i] && memcmp(p, &points[i], sizeof(points[i])) == 0);
        assert_int_equal(fst_collect(fst_parallelize_pairs(*state, halves, points, 3), &rows), 0);
        assert_true(fst_next(rows, &x, &p) && x == 0.5);
        assert_int_equal(fst_count(fst_parallelize_pairs(*state, halves, points, 0), &n), 0);
        assert_int_equal(n, 0);
        /* several batches, and partitions that do not match batches */
        int64_t *many = new_array(int64_t, 100000), key, value;
        for (int i = 0; i < 100000; i++)
                many[i] = i;
        assert_int_equal(fst_collect(fst_parallelize_pairs_n(*state, many, many, 100000, 7), &rows), 0);
        for (int i = 0; i < 100000; i++)
                assert_true(fst_next(rows, &key, &value) && key == i && value == i);
        assert_false(fst_next(rows, &key, &value));
        free(many);
}

/* --------------------------------------------------------------------------------------------------- take_sample */

/* sc.parallelize(1 to 100, 2).takeSample(false, 10, 1L), and with replacement */
static void take_sample_equals_spark(void **state)
{
        static const int64_t once[] = {91, 90, 6, 39, 26, 35, 53, 7, 47, 32},
                             replaced[] = {51, 99, 71, 33, 16, 56, 47, 8, 44, 45};
        fst_rdd *rdd = fst_range_n(*state, 1, 101, 2);
        fst_iter *rows;
        int64_t x;
        assert_int_equal(fst_take_sample(rdd, false, 10, 1, &rows), 0);
        for (int i = 0; i < 10; i++) {
                assert_true(fst_next(rows, &x));
                assert_int_equal(x, once[i]);
        }
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_take_sample(rdd, true, 10, 1, &rows), 0);
        for (int i = 0; i < 10; i++) {
                assert_true(fst_next(rows, &x));
                assert_int_equal(x, replaced[i]);
        }
        assert_false(fst_next(rows, &x));
}

static int rows_in(fst_iter *rows, int64_t *sum)
{
        int64_t x;
        int n = 0;
        for (*sum = 0; fst_next(rows, &x); n++)
                *sum += x;
        return n;
}

/* "takeSample" of RDDSuite. */
static void take_sample_has_requested_size(void **state)
{
        fst_rdd *rdd = fst_range_n(*state, 0, 1000, 3), *few = fst_range_n(*state, 0, 5, 2);
        fst_iter *rows;
        int64_t sum;
        for (int64_t seed = 1; seed <= 5; seed++) {
                assert_int_equal(fst_take_sample(rdd, false, 20, seed, &rows), 0);
                assert_int_equal(rows_in(rows, &sum), 20);
                assert_int_equal(fst_take_sample(rdd, true, 20, seed, &rows), 0);
                assert_int_equal(rows_in(rows, &sum), 20);
                assert_int_equal(fst_take_sample(rdd, true, 2000, seed, &rows), 0);
                assert_int_equal(rows_in(rows, &sum), 2000);
                assert_int_equal(fst_take_sample(rdd, false, 2000, seed, &rows), 0);
                assert_int_equal(rows_in(rows, &sum), 1000);
                assert_int_equal(sum, 499500);
                assert_int_equal(fst_take_sample(few, true, 100, seed, &rows), 0);
                assert_int_equal(rows_in(rows, &sum), 100);
        }
        assert_int_equal(fst_take_sample(rdd, false, 0, 1, &rows), 0);
        assert_int_equal(rows_in(rows, &sum), 0);
        assert_int_equal(fst_take_sample(fst_range_n(*state, 0, 0, 3), true, 10, 1, &rows), 0);
        assert_int_equal(rows_in(rows, &sum), 0);
        assert_refused(fst_take_sample(rdd, false, -1, 1, &rows), -EINVAL, "Negative number of elements requested");
        assert_refused(fst_take_sample(rdd, false, 1ll << 40, 1, &rows), -EINVAL, "Cannot support a sample size");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets_and_clears_job_group),
                cmocka_unit_test(chooses_numbers_of_partitions),
                cmocka_unit_test(parallelizes_arrays_of_every_type),
                cmocka_unit_test(take_sample_equals_spark),
                cmocka_unit_test(take_sample_has_requested_size),
                cmocka_unit_test(cancels_jobs_by_id),
                cmocka_unit_test(cancels_jobs_by_stage),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(takes_no_id_of_a_running_application),
                cmocka_unit_test(takes_numbers_of_partitions_from_configuration),
                cmocka_unit_test(reports_status_of_running_job),
                cmocka_unit_test(finds_jobs_by_group),
        };
        int failed = cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
