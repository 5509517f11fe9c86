/* Tests the life of Python workers between tasks, and the keys that rule it, with a package "pyspark" of our own. */
#include "api/bindings/python_fixture.h"
#include "driver/context.h"
#include "python/worker_pool.h"

#include <signal.h>

/* The process id that a worker answers. */
static pid_t pid_of_worker(fst_context *sc)
{
        _cleanup_free_ char *text = frames_text(python_fixture_rdd(frames_of_texts(sc, "a", 1), "pid"));
        int pid = 0;
        assert_int_equal(sscanf(text, "[%d]", &pid), 1);
        return pid;
}

/* The process ids of two workers that run at the same time, in the order of their partitions. */
static void pids_of_two_workers(fst_context *sc, pid_t pids[2])
{
        struct fst_python_function f = python_fixture_function("pids");
        _cleanup_free_ char *text = frames_text(fst_python_rdd(frames_of_texts(sc, "a,b", 2), &f, false, true));
        assert_int_equal(sscanf(text, "[%d,%d]", &pids[0], &pids[1]), 2);
        assert_int_not_equal(pids[0], pids[1]);
}

static bool lives(pid_t pid)
{
        return kill(pid, 0) == 0;
}

/* Waits until @pid has ended. */
static void wait_for_end(pid_t pid)
{
        for (int i = 0; i < 3000 && lives(pid); i++)
                usleep(10000);
        assert_false(lives(pid));
}

static char *environment_of_worker(fst_context *sc, const char *command)
{
        return frames_text(python_fixture_rdd(frames_of_texts(sc, "a", 1), command));
}

static void idle_workers_end_after_their_time(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        pid_t pids[2];
        python_pool_set_idle_times(sc->env.python, 300, 20);
        pids_of_two_workers(sc, pids);
        wait_for_end(pids[0]);
        wait_for_end(pids[1]);
        pid_t next = pid_of_worker(sc); /* the daemon forks another */
        assert_true(next != pids[0] && next != pids[1]);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* The minute begins anew with each task that ends, for all workers. */
static void idle_workers_stay_while_others_work(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        pid_t pids[2];
        python_pool_set_idle_times(sc->env.python, 60000, 1);
        pids_of_two_workers(sc, pids);
        for (int i = 0; i < 20; i++)
                pid_of_worker(sc);
        assert_true(lives(pids[0]) && lives(pids[1]));
        assert_int_equal(fst_context_stop(sc), 0);
        wait_for_end(pids[0]);
        wait_for_end(pids[1]);
}

static void the_oldest_idle_worker_ends_when_the_pool_is_full(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.python.factory.idleWorkerMaxPoolSize", "1", NULL);
        pid_t pids[2];
        pids_of_two_workers(sc, pids);
        for (int i = 0; i < 3000 && lives(pids[0]) && lives(pids[1]); i++)
                usleep(10000);
        assert_int_equal(lives(pids[0]) + lives(pids[1]), 1);
        assert_int_equal(pid_of_worker(sc), lives(pids[0]) ? pids[0] : pids[1]);
        assert_int_equal(fst_context_stop(sc), 0);
}

static pid_t parent_of(pid_t pid)
{
        char path[64];
        int parent = 0;
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "re");
        assert_non_null(f);
        assert_int_equal(fscanf(f, "%*d (%*[^)]) %*c %d", &parent), 1);
        fclose(f);
        return parent;
}

static void workers_of_a_killed_daemon_get_no_more_tasks(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        pid_t before = pid_of_worker(sc), daemon = parent_of(before);
        assert_int_equal(pid_of_worker(sc), before);
        assert_int_equal(kill(daemon, SIGKILL), 0);
        for (int i = 0; i < 3000 && parent_of(before) == daemon; i++)
                usleep(10000);
        pid_t after = pid_of_worker(sc);
        assert_int_not_equal(after, before);
        assert_int_not_equal(parent_of(after), daemon);
        wait_for_end(before);
        assert_int_equal(pid_of_worker(sc), after);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void replaces_a_worker_that_ends_before_it_is_known(void **state)
{
        char path[] = "/tmp/firesteel-leave-XXXXXX";
        close(mkstemp(path)); /* the first worker removes it and ends */
        _cleanup_free_ char *leave = mem_printf("FIXTURE_LEAVE=%s", path);
        const char *const environment[] = {leave, NULL};
        struct fst_python_function f = python_fixture_function("echo");
        f.environment = environment;
        fst_context *sc = api_context("local[1]", NULL);
        _cleanup_free_ char *text = frames_text(fst_python_rdd(frames_of_texts(sc, "a", 1), &f, false, false));
        assert_string_equal(text, "[a] ");
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void refuses_the_values_that_spark_refuses(void **state)
{
        static const struct {
                const char *key, *value, *message;
        } wrong[] = {
                {"spark.python.factory.idleWorkerMaxPoolSize", "0", "is 0: it must be a whole number, at least 1"},
                {"spark.python.factory.idleWorkerMaxPoolSize", "-1", "is -1: it must be a whole number, at least 1"},
                {"spark.python.factory.idleWorkerMaxPoolSize", "x", "should be int, but was x"},
                {"spark.python.worker.idleTimeoutSeconds", "-1", "is -1: it must be a time, or 0 for none"},
                {"spark.python.worker.idleTimeoutSeconds", "x", "Time must be specified as"},
                {"spark.python.worker.tracebackDumpIntervalSeconds", "-1", "is -1: it must be a time, or 0 for none"},
                {"spark.python.worker.killOnIdleTimeout", "maybe", "should be boolean, but was maybe"},
                {"spark.python.task.killTimeout", "x", "Time must be specified as"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                fst_context *sc;
                assert_refused(
                        (sc = api_context("local[2]", "spark.log.level", "ERROR", wrong[i].key, wrong[i].value, NULL),
                         fst_context_stop(sc)),
                        -EINVAL, wrong[i].message);
        }
}

/* The worker answers when it has read the warning in the captured standard error. */
static void warns_of_a_worker_that_does_not_answer(void **state)
{
        fst_context *sc =
                api_context("local[2]", "spark.log.level", "WARN", "spark.python.worker.idleTimeoutSeconds", "1", NULL);
        int was = api_listen();
        _cleanup_free_ char *rows = frames_text(python_fixture_rdd(frames_of_texts(sc, "a", 1), "slow"));
        _cleanup_free_ char *heard = api_heard(was);
        assert_non_null(strstr(heard, "Idle timeout reached for Python worker (timeout: 1 seconds)"));
        assert_string_equal(rows, "[a] ");
        assert_int_equal(fst_context_stop(sc), 0);
}

static void workers_get_what_pyspark_reads_from_the_environment(void **state)
{
        static const struct {
                const char *key, *value, *command, *found;
        } cases[] = {
                {"spark.python.daemon.killWorkerOnFlushFailure", "true",
                 "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE=", "[1] "},
                {"spark.python.daemon.killWorkerOnFlushFailure", "false",
                 "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE=", "[] "},
                {"spark.python.worker.tracebackDumpIntervalSeconds", "7",
                 "PYTHON_TRACEBACK_DUMP_INTERVAL_SECONDS=", "[7] "},
                {"spark.python.worker.tracebackDumpIntervalSeconds", "0",
                 "PYTHON_TRACEBACK_DUMP_INTERVAL_SECONDS=", "[] "},
                {"spark.executor.pyspark.memory", "300m", "PYSPARK_EXECUTOR_MEMORY_MB=", "[300] "},
                {"spark.buffer.size", "4096", "SPARK_BUFFER_SIZE=", "[4096] "},
                {"spark.python.worker.reuse", "false", "SPARK_REUSE_WORKER=", "[] "},
                {"spark.python.authenticate.socketTimeout", "9s", "SPARK_AUTH_SOCKET_TIMEOUT=", "[9] "},
                {"spark.task.cpus", "2", "OMP_NUM_THREADS=", "[2] "},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fst_context *sc = api_context("local[2]", cases[i].key, cases[i].value, NULL);
                _cleanup_free_ char *found = environment_of_worker(sc, cases[i].command);
                assert_string_equal(found, cases[i].found);
                assert_int_equal(fst_context_stop(sc), 0);
        }
}

int main(void)
{
        if (!python_fixture_make()) {
                fprintf(stderr, "skipped: there is no python3 of at least 3.8\n");
                return 77;
        }
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(idle_workers_end_after_their_time),
                cmocka_unit_test(idle_workers_stay_while_others_work),
                cmocka_unit_test(the_oldest_idle_worker_ends_when_the_pool_is_full),
                cmocka_unit_test(workers_of_a_killed_daemon_get_no_more_tasks),
                cmocka_unit_test(replaces_a_worker_that_ends_before_it_is_known),
                cmocka_unit_test(refuses_the_values_that_spark_refuses),
                cmocka_unit_test(warns_of_a_worker_that_does_not_answer),
                cmocka_unit_test(workers_get_what_pyspark_reads_from_the_environment),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        python_fixture_remove();
        return failed;
}
