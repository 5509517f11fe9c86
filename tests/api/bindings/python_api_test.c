/* Tests RDDs of Python through the public interface, with a package "pyspark" of our own: rows, the ends of answers,
 * failures, workers, broadcast variables, accumulators, barriers. */
#include "api/bindings/python_fixture.h"
#include "driver/accumulators.h"
#include "driver/context.h"
#include "rdd/aggregate/accumulator_updates.h"

static void computes_rows(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rows = frames_of_texts(sc, "a,bc,,-,def", 2);
        EXPECT_FRAMES(python_fixture_rdd(rows, "echo"), "[a] [bc] [] [-] [def] ");
        EXPECT_FRAMES(python_fixture_rdd(python_fixture_rdd(rows, "upper"), "echo"), "[A] [BC] [] [-] [DEF] ");
        EXPECT_FRAMES(python_fixture_rdd(frames_of_texts(sc, "", 3), "echo"), "");
}

static void tells_the_worker_about_its_task(void **state)
{
        fst_context *sc = *state;
        static const char *const includes[] = {"a.zip", "b.egg", NULL};
        struct fst_python_function f = python_fixture_function("split");
        f.includes = includes;
        fst_set_local_property(sc, "p", "v w");
        EXPECT_FRAMES(fst_python_rdd(frames_of_texts(sc, "a,b", 2), &f, false, false),
                      "[0 True a.zip,b.egg 1 v w] [1 True a.zip,b.egg 1 v w] ");
        fst_set_local_property(sc, "p", NULL);
}

/* Rows of @len bytes that a worker echoes. */
static fst_rdd *many_rows(fst_context *sc, int n, size_t len, int slices)
{
        fst_bytes *rows = new_array(fst_bytes, (size_t)n);
        _cleanup_free_ char *text = mem_zero(len + 1);
        memset(text, 'x', len);
        for (int i = 0; i < n; i++)
                rows[i] = (fst_bytes){text, len};
        fst_rdd *rdd = fst_frames_from_rows(fst_parallelize_n(sc, rows, (size_t)n, slices));
        free(rows);
        return rdd;
}

static int64_t count_of(fst_rdd *rdd)
{
        int64_t n;
        int r = fst_count(rdd, &n);
        return r ? r : n;
}

static void sends_and_receives_at_once(void **state)
{
        assert_int_equal(count_of(python_fixture_rdd(many_rows(*state, 50000, 100, 2), "echo")), 50000);
        assert_int_equal(count_of(python_fixture_rdd(many_rows(*state, 40, 1 << 20, 2), "echo")), 40);
        assert_int_equal(count_of(python_fixture_rdd(many_rows(*state, 4, 1, 2), "large")), 4);
}

static void ends_with_the_worker(void **state)
{
        EXPECT_FRAMES(python_fixture_rdd(frames_of_texts(*state, "a,b,c,d", 2), "first"), "[a] [c] ");
        assert_int_equal(count_of(python_fixture_rdd(many_rows(*state, 20000, 1000, 2), "first")), 2);
}

static int rows_seen; /* atomic: this process is the only executor */

static int see(fst_task *task, fst_bytes row, fst_out *out)
{
        __atomic_add_fetch(&rows_seen, 1, __ATOMIC_RELAXED);
        fst_emit(out, row);
        return 0;
}

/* As in Spark: a persisted RDD keeps what a worker leaves unread. */
static void keeps_persisted_rows_that_a_worker_leaves(void **state)
{
        for (int python = 0; python < 2; python++) {
                fst_rdd *rows = fst_map(many_rows(*state, 20000, 1000, 2), see, FST_BYTES);
                fst_rdd *kept = fst_cache(python ? python_fixture_rdd(rows, "echo") : rows);
                rows_seen = 0;
                for (int i = 0; i < 2; i++)
                        assert_int_equal(count_of(python_fixture_rdd(kept, "first")), 2);
                assert_int_equal(count_of(kept), 20000);
                assert_int_equal(__atomic_load_n(&rows_seen, __ATOMIC_RELAXED), 20000);
        }
}

static void needs_only_some_rows(void **state)
{
        fst_iter *rows;
        fst_bytes row;
        assert_int_equal(fst_take(python_fixture_rdd(many_rows(*state, 20000, 1000, 2), "echo"), 3, &rows), 0);
        for (int i = 0; i < 3; i++)
                assert_true(fst_next(rows, &row) && row.len == 1004);
        assert_false(fst_next(rows, &row));
}

static void reuses_workers(void **state)
{
        fst_rdd *pids = python_fixture_rdd(frames_of_texts(*state, "a", 1), "pid");
        char *first = frames_text(pids);
        EXPECT_FRAMES(pids, first);
        /* A worker that did not read its input to the end takes no other task. */
        assert_int_equal(count_of(python_fixture_rdd(frames_of_texts(*state, "a,b", 1), "first")), 1);
        char *second = frames_text(pids);
        assert_string_not_equal(first, second);
        free(first);
        free(second);
}

static void keeps_its_standard_output(void **state)
{
        int was = api_listen();
        int64_t n = count_of(python_fixture_rdd(frames_of_texts(*state, "a,b", 2), "noise"));
        for (int i = 0; i < 1000 && lseek(STDERR_FILENO, 0, SEEK_END) < 2 * 18; i++)
                usleep(10000); /* until the pool's thread has forwarded it */
        char *heard = api_heard(was);
        assert_non_null(strstr(heard, "noise of a worker"));
        assert_int_equal(n, 2);
        free(heard);
}

static void sends_broadcast_variables_as_files(void **state)
{
        fst_context *sc = *state;
        struct fst_python_function f = python_fixture_function("show");
        fst_rdd *rows = frames_of_texts(sc, "a", 1);
        char *path = frames_write("/tmp", "file");
        fst_broadcast both[] = {fst_broadcast_bytes(sc, "one", 3), fst_broadcast_file(sc, path)};
        unlink(path);
        free(path);
        f.broadcasts = both;
        f.n_broadcasts = 2;
        for (int i = 0; i < 2; i++) {
                fst_iter *out;
                fst_bytes row;
                assert_int_equal(fst_collect(fst_python_rdd(rows, &f, false, false), &out), 0);
                assert_true(fst_next(out, &row) && row.len == 4 + 3 && memcmp(row.data + 4, "one", 3) == 0);
                assert_true(fst_next(out, &row) && row.len == 4 + 8 && memcmp(row.data + 4, "\0\0\0\4file", 8) == 0);
        }
        f.n_broadcasts = 1;
        EXPECT_FRAMES(fst_python_rdd(rows, &f, false, false), "[one] ");
        f.n_broadcasts = 0;
        EXPECT_FRAMES(fst_python_rdd(rows, &f, false, false), "");
        f.n_broadcasts = 1; /* its worker had it */
        fst_broadcast_destroy(sc, both[0]);
        assert_refused((int)count_of(fst_python_rdd(rows, &f, false, false)), -EIO, "broadcast variable");
}

struct received {
        int calls;
        size_t blobs;
        char text[256];
};

static int receive(void *data, const fst_bytes *blobs, size_t n)
{
        struct received *r = data;
        r->calls++;
        r->blobs += n;
        for (size_t i = 0; i < n; i++)
                snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "%.*s ", (int)blobs[i].len,
                         blobs[i].data);
        return strstr(r->text, "refuse") ? -EIO : 0;
}

static void passes_updates_once_for_each_task(void **state)
{
        fst_context *sc = *state;
        struct received got = {0};
        struct fst_python_function f = python_fixture_function("add");
        f.accumulator = fst_accumulator_list(sc, "updates", receive, &got);
        assert_int_equal(count_of(fst_python_rdd(frames_of_texts(sc, "a,a,a,a,", 2), &f, false, false)), 0);
        assert_int_equal(got.calls, 2);
        assert_int_equal(got.blobs, 4);
        assert_string_equal(got.text, "a a a a ");
        fst_set_job_group(sc, "refused", "", false);
        assert_refused((int)count_of(fst_python_rdd(frames_of_texts(sc, "refuse", 1), &f, false, false)), -EIO,
                       "its updates were not received");
        int job;
        struct fst_job_info info = {.state = FST_JOB_RUNNING};
        while (fst_jobs_of_group(sc, "refused", &job, 1) != 1 || !fst_get_job_info(sc, job, &info) ||
               info.state == FST_JOB_RUNNING)
                usleep(500);
        assert_int_equal(info.state, FST_JOB_FAILED); /* although all of its tasks succeeded */
        fst_clear_job_group(sc);
}

static int may_receive, receiving; /* atomic */

static int receive_when_allowed(void *data, const fst_bytes *blobs, size_t n)
{
        __atomic_store_n(&receiving, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&may_receive, __ATOMIC_ACQUIRE))
                usleep(1000);
        return 0;
}

/* Neither the scheduler nor another job waits for a function that receives updates; its own job does. */
static void other_jobs_run_while_updates_are_received(void **state)
{
        fst_context *sc = *state;
        struct fst_python_function f = python_fixture_function("add");
        may_receive = receiving = 0;
        f.accumulator = fst_accumulator_list(sc, "slow", receive_when_allowed, NULL);
        fst_future *slow = fst_count_async(fst_python_rdd(frames_of_texts(sc, "a,b", 2), &f, false, false));
        while (!__atomic_load_n(&receiving, __ATOMIC_ACQUIRE))
                usleep(1000);
        for (int i = 0; i < 3; i++)
                assert_int_equal(count_of(fst_range_n(sc, 0, 10, 2)), 10);
        assert_false(fst_future_done(slow));
        __atomic_store_n(&may_receive, 1, __ATOMIC_RELEASE);
        int64_t n;
        assert_int_equal(fst_future_count(slow, &n), 0);
        assert_int_equal(n, 0);
}

static void on_delivered(void *owner, char *failure)
{
        assert_null(failure);
        __atomic_store_n((int *)owner, 1, __ATOMIC_RELEASE);
}

/* Merges an update of @size bytes, as of a task of job 7. */
static int merge_update(fst_context *sc, fst_accumulator to, size_t size, struct fst_error *error)
{
        static const char blob[4096];
        struct accumulator_update update = {.accumulator = to};
        struct accumulator_updates updates = {.data = &update, .n = 1};
        assert_int_equal(accumulator_add_blob(&update.list, (fst_bytes){blob, size}), 0);
        int r = accumulators_merge(sc->accumulators, 7, &updates, error);
        free(update.list.data);
        return r;
}

static void limits_the_bytes_of_updates_that_wait(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.maxResultSize", "2000", NULL);
        fst_accumulator to = fst_accumulator_list(sc, "slow", receive_when_allowed, NULL);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        for (int round = 0; round < 2; round++) {
                int delivered = 0;
                __atomic_store_n(&may_receive, 0, __ATOMIC_RELEASE);
                assert_int_equal(merge_update(sc, to, 900, &error), 0);
                assert_int_equal(merge_update(sc, to, 900, &error), 0);
                assert_int_equal(merge_update(sc, to, 900, &error), -EFBIG);
                assert_non_null(strstr(error_message(&error), "exceed spark.driver.maxResultSize (2000 bytes)"));
                assert_int_equal(merge_update(sc, to, 10, &error), 0);
                assert_true(accumulators_await(sc->accumulators, 7, on_delivered, &delivered));
                __atomic_store_n(&may_receive, 1, __ATOMIC_RELEASE);
                while (!__atomic_load_n(&delivered, __ATOMIC_ACQUIRE))
                        usleep(1000);
        }
        assert_int_equal(fst_context_stop(sc), 0);
}

static void synchronizes_barrier_tasks(void **state)
{
        struct fst_python_function f = python_fixture_function("barrier");
        EXPECT_FRAMES(fst_python_rdd(frames_of_texts(*state, "a,b", 2), &f, false, true), "[0,1] [2] [0,1] [2] ");
}

static void reports_failures(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *rows = frames_of_texts(sc, "a,b", 1);
        assert_refused(fst_count(python_fixture_rdd(rows, "fail"), &n), -EIO, "PythonException: Traceback: no a");
        assert_refused(fst_count(python_fixture_rdd(rows, "crash"), &n), -EIO,
                       "Python worker exited unexpectedly (crashed)");
        assert_refused(fst_count(python_fixture_rdd(rows, "odd"), &n), -EIO, "sent -77 instead of a row");
        EXPECT_FRAMES(python_fixture_rdd(rows, "echo"), "[a] [b] ");
        assert_refused(fst_count(python_fixture_rdd(rows, "orphan"), &n), -EIO, "(crashed)"); /* and no SIGPIPE */
        EXPECT_FRAMES(python_fixture_rdd(rows, "echo"), "[a] [b] ");
}

static void says_what_python_lacks(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        static const char *const stray[] = {"FIXTURE_STRAY=1", NULL};
        struct fst_python_function f = python_fixture_function("echo");
        fst_rdd *rows = frames_of_texts(sc, "a", 1);
        f.exec = "no-such-python";
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EIO,
                       "Cannot run program \"no-such-python\": No such file or directory. Set spark.pyspark.python");
        f = python_fixture_function("echo");
        f.environment = stray;
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EIO,
                       "Bad data in pyspark.daemon's standard output. Invalid port number: 1751477356 (0x68656c6c)");
}

static void refuses_wrong_functions(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *rows = frames_of_texts(sc, "a", 1);
        struct fst_python_function f = python_fixture_function("");
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EINVAL,
                       "has a command of 1 byte to 2 GiB");
        f = python_fixture_function("echo");
        f.exec = NULL;
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EINVAL,
                       "needs the name of the executors' Python");
        f = python_fixture_function("echo");
        f.version = "";
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EINVAL, "needs the version");
        f = python_fixture_function("echo");
        f.accumulator = fst_accumulator_i64(sc, "sum");
        assert_refused(fst_count(fst_python_rdd(rows, &f, false, false), &n), -EINVAL,
                       "not one of fst_accumulator_list");
        f = python_fixture_function("echo");
        assert_refused(fst_count(fst_python_rdd(fst_range_n(sc, 0, 2, 1), &f, false, false), &n), -EINVAL,
                       "needs rows of BYTES");
        assert_refused(fst_count(fst_python_rdd_at(rows, NULL, 0, false, false, FST_HERE("python")), &n), -EINVAL,
                       "python needs a function");
        assert_int_equal(fst_broadcast_file(sc, "/nonexistent/file").id, 0);
        assert_int_equal(fst_accumulator_list(sc, "none", NULL, NULL).id, 0);
}

static int single_setup(void **state)
{
        *state = api_context("local[2]", "spark.python.worker.reuse", "false", "spark.python.task.killTimeout", "10ms",
                             NULL);
        return 0;
}

static void kills_the_worker_of_a_stopped_task(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *rows = fst_union(python_fixture_rdd(frames_of_texts(sc, "a", 1), "hang"),
                                  python_fixture_rdd(frames_of_texts(sc, "a", 1), "fail"));
        assert_int_equal(fst_count(rows, &n), -EIO);
}

static int encrypted_setup(void **state)
{
        *state = api_context("local[2]", "spark.io.encryption.enabled", "true", NULL);
        return 0;
}

static void sends_values_over_a_socket_if_files_are_encrypted(void **state)
{
        fst_context *sc = *state;
        struct fst_python_function f = python_fixture_function("show");
        fst_rdd *rows = frames_of_texts(sc, "a", 1);
        fst_broadcast values[] = {fst_broadcast_bytes(sc, "one", 3), fst_broadcast_bytes(sc, "two", 3)};
        f.broadcasts = values;
        f.n_broadcasts = 1;
        EXPECT_FRAMES(fst_python_rdd(rows, &f, false, false), "[one] ");
        f.n_broadcasts = 2;
        EXPECT_FRAMES(fst_python_rdd(rows, &f, false, false), "[one] [two] ");
        f.broadcasts++;
        f.n_broadcasts = 1;
        EXPECT_FRAMES(fst_python_rdd(rows, &f, false, false), "[two] ");
}

static int idle_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", "spark.python.worker.idleTimeoutSeconds", "1s",
                             "spark.python.worker.killOnIdleTimeout", "true", NULL);
        return 0;
}

static void kills_a_worker_that_never_answers(void **state)
{
        int64_t n;
        assert_refused(fst_count(python_fixture_rdd(frames_of_texts(*state, "a", 1), "hang"), &n), -EIO,
                       "terminated due to idle timeout (timeout: 1 seconds)");
}

static void forks_a_worker_for_each_task_without_reuse(void **state)
{
        fst_rdd *pids = python_fixture_rdd(frames_of_texts(*state, "a", 1), "pid");
        char *first = frames_text(pids), *second = frames_text(pids);
        assert_string_not_equal(first, second);
        free(first);
        free(second);
}

int main(void)
{
        if (!python_fixture_make()) {
                fprintf(stderr, "skipped: there is no python3 of at least 3.8\n");
                return 77;
        }
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(computes_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(tells_the_worker_about_its_task, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(sends_broadcast_variables_as_files, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(passes_updates_once_for_each_task, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(other_jobs_run_while_updates_are_received, loud_setup, api_teardown),
                cmocka_unit_test(limits_the_bytes_of_updates_that_wait),
                cmocka_unit_test_setup_teardown(synchronizes_barrier_tasks, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_failures, loud_setup, api_teardown),
        };
        const struct CMUnitTest more[] = {
                cmocka_unit_test_setup_teardown(needs_only_some_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(ends_with_the_worker, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(keeps_persisted_rows_that_a_worker_leaves, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(sends_and_receives_at_once, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reuses_workers, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(keeps_its_standard_output, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(says_what_python_lacks, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(refuses_wrong_functions, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(sends_values_over_a_socket_if_files_are_encrypted, encrypted_setup,
                                                api_teardown),
                cmocka_unit_test_setup_teardown(kills_a_worker_that_never_answers, idle_setup, api_teardown),
                cmocka_unit_test_setup_teardown(kills_the_worker_of_a_stopped_task, single_setup, api_teardown),
                cmocka_unit_test_setup_teardown(forks_a_worker_for_each_task_without_reuse, single_setup, api_teardown),
        };
        int failed = pair_cases_run(cases, ARRAY_SIZE(cases), more, ARRAY_SIZE(more));
        python_fixture_remove();
        return failed;
}
