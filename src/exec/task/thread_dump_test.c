/* Tests which threads get a stack, and that a sleeping one is not woken. */
#include "exec/task/thread_dump.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct test_thread {
        pthread_t handle;
        const char *name;
        int id, stop; /* atomic */
        int slept;    /* atomic: result of the sleep, EINTR after a signal; 0: it sleeps */
        pthread_mutex_t lock;
        pthread_cond_t wake;
};

__attribute__((noinline)) static void test_thread_spin_in_a_function(struct test_thread *t)
{
        while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED))
                ;
}

static void test_thread_announce(struct test_thread *t)
{
        pthread_setname_np(pthread_self(), t->name);
        __atomic_store_n(&t->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static void *test_thread_spin(void *arg)
{
        test_thread_announce(arg);
        test_thread_spin_in_a_function(arg);
        return NULL;
}

static void *test_thread_sleep(void *arg)
{
        struct test_thread *t = arg;
        test_thread_announce(t);
        __atomic_store_n(&t->slept, clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){3600, 0}, NULL), __ATOMIC_RELAXED);
        return NULL;
}

static void *test_thread_wait(void *arg)
{
        struct test_thread *t = arg;
        pthread_mutex_lock(&t->lock);
        test_thread_announce(t);
        while (!t->stop)
                pthread_cond_wait(&t->wake, &t->lock);
        pthread_mutex_unlock(&t->lock);
        return NULL;
}

static void *test_thread_block_signals(void *arg)
{
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        return test_thread_spin(arg);
}

static void test_thread_start(struct test_thread *t, const char *name, void *(*run)(void *))
{
        *t = (struct test_thread){.name = name, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};
        assert_int_equal(pthread_create(&t->handle, NULL, run, t), 0);
        while (!__atomic_load_n(&t->id, __ATOMIC_ACQUIRE))
                sched_yield();
}

static void test_thread_end(struct test_thread *t)
{
        pthread_mutex_lock(&t->lock);
        __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
        pthread_cond_signal(&t->wake);
        pthread_mutex_unlock(&t->lock);
        assert_int_equal(pthread_join(t->handle, NULL), 0);
}

/* Returns the sample of a thread and its first frame in @symbols; it must be there. */
static const struct thread_sample *find_sample(const struct thread_sample *threads, size_t n, int id, size_t *frame)
{
        *frame = 0;
        for (size_t i = 0; i < n; i++) {
                if (threads[i].id == id)
                        return &threads[i];
                *frame += (size_t)threads[i].n_frames;
        }
        fail_msg("thread %d is missing", id);
        return NULL;
}

static bool has_function(const struct thread_sample *t, char **symbols, size_t from, const char *name)
{
        for (int i = 0; i < t->n_frames; i++)
                if (strncmp(symbols[from + (size_t)i], name, strlen(name)) == 0)
                        return true;
        return false;
}

static void finds_functions_of_running_and_waiting_threads(void **state)
{
        struct test_thread spins, waits, blocks;
        size_t n, at;
        test_thread_start(&spins, "spins", test_thread_spin);
        test_thread_start(&waits, "dag-scheduler", test_thread_wait);
        test_thread_start(&blocks, "blocks", test_thread_block_signals);
        bool spinning = false, waiting = false;
        for (int64_t end = now_ms() + 60000; !(spinning && waiting);) {
                assert_true(now_ms() < end);
                struct thread_sample *threads = thread_dump_take(NULL, 0, &n);
                char **symbols = thread_symbols_new(threads, n);
                const struct thread_sample *t = find_sample(threads, n, spins.id, &at);
                assert_string_equal(t->name, "spins");
                assert_int_equal(t->task_id, -1);
                assert_true(t->cpu_ms >= 0);
                spinning |= t->state == 'R' && has_function(t, symbols, at, "test_thread_spin_in_a_function+0x");
                t = find_sample(threads, n, waits.id, &at);
                waiting |= t->state == 'S' && has_function(t, symbols, at, "test_thread_wait+0x");
                t = find_sample(threads, n, blocks.id, &at);
                assert_int_equal(t->n_frames, 0);
                t = find_sample(threads, n, (int)syscall(SYS_gettid), &at);
                assert_true(has_function(t, symbols, at, "thread_dump_take+0x") ||
                            has_function(t, symbols, at, "thread_add_frames"));
                thread_symbols_free(symbols);
                free(threads);
        }
        test_thread_end(&spins);
        test_thread_end(&waits);
        test_thread_end(&blocks);
}

static void finds_functions_of_a_program_started_by_its_bare_name(void **state)
{
        int status;
        pid_t child = fork();
        if (child == 0) {
                freopen("/dev/null", "w", stdout);
                freopen("/dev/null", "w", stderr);
                execl("/proc/self/exe", "unit_tests", "exec_thread_dump", "finds_functions_of_running*", NULL);
                _exit(127);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
}

/* A dump taken before would interrupt the thread on its way to sleep. */
static void wait_until_asleep(const struct test_thread *t)
{
        char path[64], state = 'R';
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", t->id);
        while (state != 'S') {
                FILE *f = fopen(path, "re");
                assert_non_null(f);
                assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
                fclose(f);
        }
}

static void on_user_signal(int number)
{
}

static void wakes_no_sleeping_thread(void **state)
{
        struct sigaction action = {.sa_handler = on_user_signal}, before;
        struct test_thread sleeps;
        size_t n, at;
        test_thread_start(&sleeps, "sleeps", test_thread_sleep);
        wait_until_asleep(&sleeps);
        for (int i = 0; i < 20; i++) {
                struct thread_sample *threads = thread_dump_take(NULL, 0, &n);
                const struct thread_sample *t = find_sample(threads, n, sleeps.id, &at);
                assert_int_equal(t->state, 'S');
                assert_int_equal(t->n_frames, 0);
                free(threads);
        }
        usleep(5000); /* a thread that a dump has woken leaves its sleep */
        assert_int_equal(__atomic_load_n(&sleeps.slept, __ATOMIC_RELAXED), 0);
        sigaction(SIGUSR1, &action, &before);
        assert_int_equal(pthread_kill(sleeps.handle, SIGUSR1), 0);
        assert_int_equal(pthread_join(sleeps.handle, NULL), 0);
        sigaction(SIGUSR1, &before, NULL);
        assert_int_equal(sleeps.slept, EINTR);
}

static void names_system_calls(void **state)
{
        assert_string_equal(thread_system_call_name(SYS_futex), "futex");
        assert_null(thread_system_call_name(-1));
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(finds_functions_of_running_and_waiting_threads),
                                           cmocka_unit_test(finds_functions_of_a_program_started_by_its_bare_name),
                                           cmocka_unit_test(wakes_no_sleeping_thread),
                                           cmocka_unit_test(names_system_calls)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
