/*
 * Tests the behaviours of Spark's UnifiedMemoryManagerSuite and MemoryManagerSuite (docs/suites.md) with their numbers,
 * and a model under threads. Two tests of Spark do not apply: a heap that is too small (our memory is not a virtual
 * machine's), and partial grants (a request is granted completely or not at all).
 */
#include "store/memory.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static void one_task_may_use_the_whole_pool(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 100), 0);
        assert_int_equal(memory_acquire(&c, 900), 0);
        assert_int_equal(memory_acquire(&c, 1), FST_MEMORY_E_DENIED);
        memory_release(&c, 500);
        assert_int_equal(memory_acquire(&c, 300), 0);
        assert_int_equal(c.held, 800);
        assert_int_equal(memory_manager_execution_used(m), 800);
        assert_int_equal(memory_task_peak(t), 1000);
        memory_consumer_deinit(&c);
        assert_int_equal(memory_manager_execution_used(m), 0);
        memory_task_free(t);
        memory_manager_free(m);
}

static void two_tasks_have_half_each_at_most(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t[2] = {memory_task_new(m), memory_task_new(m)};
        struct memory_consumer c[2];
        for (int i = 0; i < 2; i++) {
                memory_consumer_init(&c[i], t[i], "c", NULL);
                assert_int_equal(memory_acquire(&c[i], 250), 0);
        }
        for (int i = 0; i < 2; i++) {
                assert_int_equal(memory_acquire(&c[i], 251), FST_MEMORY_E_DENIED);
                assert_int_equal(memory_acquire(&c[i], 250), 0);
        }
        /* When a task ends the other gets all memory, including that of the ended task's consumer. */
        memory_task_free(t[0]);
        assert_null(c[0].task);
        memory_consumer_deinit(&c[0]);
        assert_int_equal(memory_acquire(&c[1], 500), 0);
        memory_task_free(t[1]);
        assert_int_equal(memory_manager_execution_used(m), 0);
        memory_manager_free(m);
}

struct memory_waiter {
        bool patient;
        struct memory_task *task;
        struct memory_consumer consumer;
        size_t size;
        const int *stopped;
        int64_t longest_wait;
        atomic_int done; /* 1 + the result */
        int64_t ended;   /* now_ns() at the end of the request */
};

static void *waiter_run(void *argument)
{
        struct memory_waiter *w = argument;
        int r = w->patient ? memory_acquire_wait(&w->consumer, w->size) : memory_acquire(&w->consumer, w->size);
        w->ended = now_ns();
        atomic_store(&w->done, 1 + r);
        return NULL;
}

static pthread_t waiter_start(struct memory_waiter *w, struct memory_manager *m, size_t size)
{
        pthread_t thread;
        w->task = memory_task_new(m);
        memory_task_set_stopped(w->task, w->stopped);
        memory_task_set_longest_wait(w->task, w->longest_wait);
        w->size = size;
        w->done = 0;
        memory_consumer_init(&w->consumer, w->task, "w", NULL);
        assert_int_equal(pthread_create(&thread, NULL, waiter_run, w), 0);
        return thread;
}

static void a_task_waits_for_its_minimum(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 1000), 0);
        struct memory_waiter w = {0};
        pthread_t thread = waiter_start(&w, m, 250);
        usleep(20000);
        assert_int_equal(atomic_load(&w.done), 0);
        memory_release(&c, 249);
        usleep(20000);
        assert_int_equal(atomic_load(&w.done), 0);
        memory_release(&c, 1);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1);
        /* The first task is above its share and is denied. The second, at its minimum, is denied without blocking. */
        assert_int_equal(memory_acquire(&c, 1), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire(&w.consumer, 1), FST_MEMORY_E_DENIED);
        memory_task_free(w.task);
        memory_task_free(t);
        memory_manager_free(m);
}

static void a_task_that_ends_wakes_the_waiting(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 1000), 0);
        struct memory_waiter w = {0};
        pthread_t thread = waiter_start(&w, m, 400);
        usleep(5000);
        memory_task_free(t);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1);
        memory_task_free(w.task);
        memory_manager_free(m);
}

static void wait_until_waiting(struct memory_manager *m, size_t tasks)
{
        while (memory_manager_waiting(m) < tasks)
                usleep(1000);
}

/* A patient task gets more than its share when the others have ended. */
static void a_patient_task_waits_for_others_to_end(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 300), 0);
        struct memory_waiter w = {.patient = true};
        pthread_t thread = waiter_start(&w, m, 600);
        wait_until_waiting(m, 1);
        assert_int_equal(atomic_load(&w.done), 0);
        memory_release(&c, 300);
        usleep(5000);
        assert_int_equal(atomic_load(&w.done), 0);
        memory_task_free(t);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1);
        assert_int_equal(memory_acquire_wait(&w.consumer, 401), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire_wait(&w.consumer, 400), 0);
        memory_task_free(w.task);
        memory_manager_free(m);
}

/* One of two patient tasks must be denied, also if the other rests or waits for memory. */
static void denies_a_patient_task_when_no_task_runs(void **state)
{
        for (int how = 0; how < 3; how++) {
                struct memory_manager *m = memory_manager_new(1000, 0.5);
                struct memory_task *t = memory_task_new(m);
                struct memory_consumer c;
                memory_consumer_init(&c, t, "c", NULL);
                assert_int_equal(memory_acquire(&c, 1), 0);
                struct memory_waiter w = {.patient = true};
                pthread_t thread = waiter_start(&w, m, 600);
                wait_until_waiting(m, 1);
                if (how == 0) {
                        assert_int_equal(memory_acquire_wait(&c, 600), FST_MEMORY_E_DENIED);
                        assert_int_equal(atomic_load(&w.done), 0);
                        memory_task_free(t);
                        pthread_join(thread, NULL);
                        assert_int_equal(atomic_load(&w.done), 1);
                } else if (how == 1) {
                        memory_task_rest(t, true);
                        pthread_join(thread, NULL);
                        assert_int_equal(atomic_load(&w.done), 1 + FST_MEMORY_E_DENIED);
                        memory_task_rest(t, false);
                        memory_task_free(t);
                } else {
                        memory_task_rest(t, true);
                        memory_task_free(t); /* while resting: it is not counted any more */
                        pthread_join(thread, NULL);
                        assert_int_equal(memory_manager_waiting(m), 0);
                }
                memory_task_free(w.task);
                memory_manager_free(m);
        }
}

/* No task would release memory: it is denied at once, or when the last running task rests. */
static void denies_a_task_when_the_others_rest(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 1000), 0);
        struct memory_waiter w = {0};
        pthread_t thread = waiter_start(&w, m, 200);
        wait_until_waiting(m, 1);
        assert_int_equal(atomic_load(&w.done), 0);
        memory_task_rest(t, true);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1 + FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire(&w.consumer, 200), FST_MEMORY_E_DENIED);
        memory_task_rest(t, false);
        memory_task_free(w.task);
        memory_task_free(t);
        memory_manager_free(m);
}

/* A request above the share is denied before a request for the minimum. */
static void denies_patient_tasks_before_tasks_below_their_minimum(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        struct memory_waiter w = {.patient = true};
        pthread_t thread = waiter_start(&w, m, 900);
        pthread_join(thread, NULL);
        assert_int_equal(memory_acquire(&c, 100), 0);
        w.size = 50;
        atomic_store(&w.done, 0);
        assert_int_equal(pthread_create(&thread, NULL, waiter_run, &w), 0);
        wait_until_waiting(m, 1);
        struct memory_waiter below = {.task = t, .size = 100};
        memory_consumer_init(&below.consumer, t, "below", NULL);
        pthread_t other;
        assert_int_equal(pthread_create(&other, NULL, waiter_run, &below), 0);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1 + FST_MEMORY_E_DENIED);
        assert_int_equal(atomic_load(&below.done), 0);
        memory_release(&w.consumer, 100);
        pthread_join(other, NULL);
        assert_int_equal(atomic_load(&below.done), 1);
        memory_task_free(w.task);
        memory_task_free(t);
        memory_manager_free(m);
}

/* Runs a wait with this limit beside a task that releases 100 of 250 bytes when three quarters of the limit are over.
 * Returns the time from the release to the end of the wait, in ns; below 0 if the wait ended before. */
static int64_t time_after_release(bool patient, int64_t limit)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 1000), 0);
        struct memory_waiter w = {.patient = patient, .longest_wait = limit};
        pthread_t thread = waiter_start(&w, m, 250);
        usleep((useconds_t)(limit / 1000 * 3 / 4));
        const int64_t released = now_ns();
        memory_release(&c, 100); /* the time begins anew */
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1 + FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire_wait(&w.consumer, 250), FST_MEMORY_E_DENIED); /* at once */
        assert_int_equal(memory_acquire_wait(&w.consumer, 100), 0);
        memory_task_free(w.task);
        memory_task_free(t);
        memory_manager_free(m);
        return w.ended - released;
}

/* The other task runs and releases nothing more: it may wait for this one. On a busy machine it may release too late, so
 * longer limits are tried, too. */
static void a_wait_with_a_limit_ends(void **state)
{
        for (int patient = 0; patient < 2; patient++) {
                int64_t limit = 200000000;
                while (time_after_release(patient, limit) < limit) {
                        limit *= 2;
                        assert_true(limit < INT64_C(10000000000));
                }
        }
}

static void a_killed_task_stops_waiting_for_memory(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        int flag = 0;
        memory_consumer_init(&c, t, "c", NULL);
        assert_int_equal(memory_acquire(&c, 1000), 0);
        assert_int_equal(memory_task_held(t), 1000);
        struct memory_waiter w = {.stopped = &flag};
        pthread_t thread = waiter_start(&w, m, 400);
        usleep(5000);
        assert_int_equal(atomic_load(&w.done), 0);
        __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.done), 1 - ECANCELED);
        memory_task_free(w.task);
        memory_task_free(t);
        memory_manager_free(m);
}

/* A consumer whose spill releases @gives bytes. */
struct spiller {
        struct memory_consumer consumer;
        size_t gives;
        int calls, fail;
};

static int spiller_spill(struct memory_consumer *c, size_t want, struct fst_error *error)
{
        struct spiller *s = container_of(c, struct spiller, consumer);
        s->calls++;
        if (s->fail)
                return error_set(error, s->fail, "/tmp/spill is full");
        memory_release(c, MIN(s->gives, c->held));
        return 0;
}

static void other_consumers_spill_the_largest_first(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct spiller s[3] = {{.gives = 1000}, {.gives = 1000}, {.gives = 1000}};
        for (int i = 0; i < 3; i++)
                memory_consumer_init(&s[i].consumer, t, "s", spiller_spill);
        assert_int_equal(memory_acquire(&s[0].consumer, 500), 0);
        assert_int_equal(memory_acquire(&s[1].consumer, 400), 0);
        assert_int_equal(memory_acquire(&s[2].consumer, 200), 0);
        assert_int_equal(s[0].calls, 1);
        assert_int_equal(s[1].calls, 0);
        assert_int_equal(memory_acquire(&s[2].consumer, 800), 0);
        assert_int_equal(s[1].calls, 1);
        assert_int_equal(s[2].calls, 0); /* the asking consumer does not spill */
        assert_int_equal(memory_acquire(&s[2].consumer, 1), FST_MEMORY_E_DENIED);
        memory_release(&s[2].consumer, 500);
        assert_int_equal(memory_acquire(&s[0].consumer, 500), 0);
        s[2].fail = -EIO;
        const char *why;
        assert_int_equal(memory_task_failure(t, &why), 0);
        assert_int_equal(memory_acquire(&s[0].consumer, 100), -EIO);
        assert_int_equal(memory_task_failure(t, &why), -EIO);
        assert_string_equal(why, "/tmp/spill is full");
        s[2].fail = 0;
        s[2].gives = 0; /* asked once only */
        s[2].calls = 0;
        assert_int_equal(memory_acquire(&s[0].consumer, 100), FST_MEMORY_E_DENIED);
        assert_int_equal(s[2].calls, 1);
        memory_task_free(t);
        memory_manager_free(m);
}

static void pressure_makes_consumers_spill_despite_free_memory(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct memory_task *t = memory_task_new(m);
        struct spiller s[2] = {{.gives = 1000}, {.gives = 1000}};
        memory_manager_set_pressure(m, 2);
        for (int i = 0; i < 2; i++)
                memory_consumer_init(&s[i].consumer, t, "s", spiller_spill);
        assert_int_equal(memory_acquire(&s[0].consumer, 100), 0);
        assert_int_equal(memory_acquire(&s[1].consumer, 100), 0); /* the second request */
        assert_int_equal(s[0].calls, 1);
        assert_int_equal(memory_acquire(&s[0].consumer, 100), 0);
        assert_int_equal(s[1].calls, 0);
        s[1].fail = -EIO;
        assert_int_equal(memory_acquire(&s[0].consumer, 100), -EIO);
        assert_int_equal(s[0].consumer.held, 100);
        memory_task_free(t);
        memory_manager_free(m);
}

/* A store that evicts exactly the requested bytes, up to its size. */
struct fake_store {
        struct memory_manager *m;
        size_t held, pinned;
        int calls;
        size_t wanted;
};

static size_t store_evict(void *owner, size_t want)
{
        struct fake_store *s = owner;
        s->calls++;
        s->wanted = want;
        size_t n = MIN(want, s->held - s->pinned);
        s->held -= n;
        memory_release_storage(s->m, n);
        return n;
}

static bool store_put(struct fake_store *s, size_t size)
{
        if (!memory_acquire_storage(s->m, size))
                return false;
        s->held += size;
        return true;
}

static void storage_uses_what_execution_leaves(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct fake_store s = {.m = m};
        memory_manager_set_evict(m, store_evict, &s);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_true(store_put(&s, 900));
        assert_int_equal(s.calls, 0);
        assert_false(store_put(&s, 1001)); /* larger than the pool: nothing is evicted */
        assert_int_equal(s.calls, 0);
        assert_true(store_put(&s, 200));
        assert_int_equal(s.wanted, 100);
        assert_int_equal(memory_manager_storage_used(m), 1000);

        /* Execution evicts down to the storage region, not below. */
        assert_int_equal(memory_acquire(&c, 200), 0);
        assert_int_equal(memory_manager_storage_used(m), 800);
        assert_int_equal(memory_acquire(&c, 300), 0);
        assert_int_equal(memory_manager_storage_used(m), 500);
        s.calls = 0;
        assert_int_equal(memory_acquire(&c, 1), FST_MEMORY_E_DENIED);
        assert_int_equal(s.calls, 0);

        /* Storage evicts storage, never execution. */
        assert_true(store_put(&s, 100));
        assert_int_equal(memory_manager_execution_used(m), 500);
        assert_int_equal(memory_manager_storage_used(m), 500);
        assert_false(store_put(&s, 501));

        memory_release(&c, 100);
        assert_true(store_put(&s, 100));
        memory_release_storage(m, s.held);
        memory_task_free(t);
        memory_manager_free(m);
}

/* One store and one task in a pool of 1,000. Storage is protected up to 500. */
struct store_and_task {
        struct memory_manager *m;
        struct fake_store s;
        struct memory_task *t;
        struct memory_consumer c;
};

static void pair_start(struct store_and_task *p, double fraction)
{
        p->m = memory_manager_new(1000, fraction);
        p->s = (struct fake_store){.m = p->m};
        memory_manager_set_evict(p->m, store_evict, &p->s);
        p->t = memory_task_new(p->m);
        memory_consumer_init(&p->c, p->t, "c", NULL);
}

static void pair_stop(struct store_and_task *p)
{
        memory_release_storage(p->m, p->s.held);
        memory_task_free(p->t);
        memory_manager_free(p->m);
}

static void assert_used(const struct store_and_task *p, size_t execution, size_t storage, int calls)
{
        assert_int_equal(memory_manager_execution_used(p->m), execution);
        assert_int_equal(memory_manager_storage_used(p->m), storage);
        assert_int_equal(p->s.calls, calls);
}

static void execution_evicts_no_more_than_it_needs(void **state)
{
        struct store_and_task p;
        pair_start(&p, 0.5);
        assert_true(store_put(&p.s, 750));
        assert_int_equal(memory_acquire(&p.c, 100), 0);
        assert_used(&p, 100, 750, 0);
        assert_int_equal(memory_acquire(&p.c, 200), 0); /* 150 are free */
        assert_used(&p, 300, 700, 1);
        assert_int_equal(p.s.wanted, 50);
        memory_release_storage(p.m, p.s.held);
        p.s.held = 0;
        assert_true(store_put(&p.s, 400)); /* within the protected part */
        assert_int_equal(memory_acquire(&p.c, 400), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire(&p.c, 300), 0);
        assert_used(&p, 600, 400, 1);
        pair_stop(&p);
}

static void execution_uses_free_memory_before_evicting(void **state)
{
        struct store_and_task p;
        pair_start(&p, 0.5);
        assert_true(store_put(&p.s, 700));
        assert_int_equal(memory_acquire(&p.c, 500), 0);
        assert_used(&p, 500, 500, 1);
        assert_int_equal(p.s.wanted, 200);
        pair_stop(&p);
}

static void storage_does_not_evict_execution(void **state)
{
        struct store_and_task p;
        pair_start(&p, 0.5);
        assert_int_equal(memory_acquire(&p.c, 800), 0);
        assert_true(store_put(&p.s, 100));
        assert_false(store_put(&p.s, 250)); /* evicting would not make enough room, so nothing is evicted */
        assert_used(&p, 800, 100, 0);
        memory_release(&p.c, 800);
        memory_release_storage(p.m, p.s.held);
        p.s.held = 0;
        assert_int_equal(memory_acquire(&p.c, 200), 0);
        assert_true(store_put(&p.s, 750));
        assert_false(store_put(&p.s, 850));
        assert_used(&p, 200, 750, 0);
        pair_stop(&p);
}

static void execution_evicts_while_other_tasks_run(void **state)
{
        struct store_and_task p;
        struct memory_consumer other;
        pair_start(&p, 0);
        struct memory_task *t = memory_task_new(p.m);
        memory_consumer_init(&other, t, "other", NULL);
        assert_int_equal(memory_acquire(&p.c, 100), 0);
        assert_int_equal(memory_acquire(&other, 100), 0);
        assert_true(store_put(&p.s, 800));
        assert_int_equal(memory_acquire(&p.c, 100), 0);
        assert_used(&p, 300, 700, 1);
        assert_int_equal(p.s.wanted, 100);
        memory_task_free(t);
        pair_stop(&p);
}

static void denies_if_blocks_cannot_be_evicted(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.1);
        struct fake_store s = {.m = m};
        memory_manager_set_evict(m, store_evict, &s);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_true(store_put(&s, 1000));
        s.pinned = 900;
        assert_int_equal(memory_acquire(&c, 500), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire(&c, 100), 0);
        assert_false(memory_acquire_storage(m, 50));
        memory_release_storage(m, s.held);
        memory_task_free(t);
        memory_manager_free(m);
}

/* A patient request evicts protected storage, as much as needed. */
static void a_patient_task_evicts_protected_storage(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        struct fake_store s = {.m = m};
        memory_manager_set_evict(m, store_evict, &s);
        struct memory_task *t = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, t, "c", NULL);
        assert_true(store_put(&s, 400));
        assert_int_equal(memory_acquire(&c, 650), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire_wait(&c, 1001), FST_MEMORY_E_DENIED);
        assert_int_equal(s.calls, 0);
        assert_int_equal(memory_acquire_wait(&c, 650), 0);
        assert_int_equal(s.wanted, 50);
        s.pinned = 300;
        assert_int_equal(memory_acquire_wait(&c, 100), FST_MEMORY_E_DENIED);
        assert_int_equal(memory_acquire_wait(&c, 50), 0);
        memory_release_storage(m, s.held);
        memory_task_free(t);
        memory_manager_free(m);
}

/* Beside a running task, too: storage is evicted before the request waits. */
static void a_patient_consumer_evicts_within_its_share(void **state)
{
        struct store_and_task p;
        pair_start(&p, 0.5);
        assert_true(store_put(&p.s, 400));
        struct memory_task *other = memory_task_new(p.m);
        struct memory_consumer c;
        memory_consumer_init(&c, other, "other", NULL);
        assert_int_equal(memory_acquire(&p.c, 400), 0);
        assert_int_equal(memory_acquire(&c, 250), FST_MEMORY_E_DENIED);
        assert_used(&p, 400, 400, 0);
        c.patient = true;
        assert_int_equal(memory_acquire(&c, 250), 0);
        assert_used(&p, 650, 350, 1);
        memory_task_free(other);
        pair_stop(&p);
}

/* Random tasks on threads. The memory held by them and storage together never exceeds the pool. */
struct memory_model {
        struct memory_manager *m;
        atomic_size_t execution, storage;
        atomic_uint seed;
};
enum { MODEL_POOL = 10000 };

static size_t model_evict(void *owner, size_t want)
{
        struct memory_model *model = owner;
        size_t have = atomic_load(&model->storage), n;
        do
                n = MIN(want, have);
        while (!atomic_compare_exchange_weak(&model->storage, &have, have - n));
        memory_release_storage(model->m, n);
        return n;
}

static void *model_run(void *argument)
{
        struct memory_model *model = argument;
        unsigned seed = atomic_fetch_add(&model->seed, 1);
        for (int round = 0; round < 60; round++) {
                struct memory_task *t = memory_task_new(model->m);
                struct memory_consumer c;
                memory_consumer_init(&c, t, "c", NULL);
                for (int i = 0; i < 60; i++) {
                        size_t size = 1 + (size_t)rand_r(&seed) % 600;
                        int r = 1;
                        if (rand_r(&seed) % 4 == 0) {
                                if (memory_acquire_storage(model->m, size))
                                        atomic_fetch_add(&model->storage, size);
                        } else if (rand_r(&seed) % 4 && (r = memory_acquire(&c, size)) == 0) {
                                if (atomic_fetch_add(&model->execution, size) + size > MODEL_POOL)
                                        abort();
                        } else if (r && c.held) {
                                size_t n = 1 + (size_t)rand_r(&seed) % c.held;
                                atomic_fetch_sub(&model->execution, n);
                                memory_release(&c, n);
                        }
                }
                atomic_fetch_sub(&model->execution, c.held);
                memory_task_free(t);
        }
        return NULL;
}

static void sums_hold_under_threads(void **state)
{
        struct memory_model model = {.m = memory_manager_new(MODEL_POOL, 0.3), .seed = 1};
        memory_manager_set_evict(model.m, model_evict, &model);
        pthread_t threads[6];
        for (int i = 0; i < 6; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, model_run, &model), 0);
        for (int i = 0; i < 6; i++)
                pthread_join(threads[i], NULL);
        assert_int_equal(memory_manager_execution_used(model.m), 0);
        assert_int_equal(model.execution, 0);
        assert_int_equal(memory_manager_storage_used(model.m), model.storage);
        memory_manager_free(model.m);
}

static void fixed_storage_leaves_execution_its_part(void **state)
{
        struct memory_manager *m = memory_manager_new(1000, 0.5);
        assert_true(memory_acquire_fixed_storage(m, 400));
        assert_false(memory_acquire_fixed_storage(m, 101));
        assert_true(memory_acquire_fixed_storage(m, 100));
        assert_true(memory_may_fix_storage(m));
        assert_true(memory_acquire_storage(m, 1));
        assert_false(memory_may_fix_storage(m));
        memory_release_storage(m, 1);
        struct memory_task *task = memory_task_new(m);
        struct memory_consumer consumer;
        memory_consumer_init(&consumer, task, "test", NULL);
        assert_int_equal(memory_acquire(&consumer, 500), 0);
        memory_release_storage(m, 500);
        assert_int_equal(memory_acquire(&consumer, 500), 0);
        assert_false(memory_acquire_fixed_storage(m, 1));
        memory_consumer_deinit(&consumer);
        memory_task_free(task);
        memory_manager_free(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fixed_storage_leaves_execution_its_part),
                cmocka_unit_test(one_task_may_use_the_whole_pool),
                cmocka_unit_test(two_tasks_have_half_each_at_most),
                cmocka_unit_test(a_task_waits_for_its_minimum),
                cmocka_unit_test(a_task_that_ends_wakes_the_waiting),
                cmocka_unit_test(a_patient_task_waits_for_others_to_end),
                cmocka_unit_test(denies_a_patient_task_when_no_task_runs),
                cmocka_unit_test(denies_a_task_when_the_others_rest),
                cmocka_unit_test(denies_patient_tasks_before_tasks_below_their_minimum),
                cmocka_unit_test(a_wait_with_a_limit_ends),
                cmocka_unit_test(a_killed_task_stops_waiting_for_memory),
                cmocka_unit_test(other_consumers_spill_the_largest_first),
                cmocka_unit_test(pressure_makes_consumers_spill_despite_free_memory),
                cmocka_unit_test(storage_uses_what_execution_leaves),
                cmocka_unit_test(execution_evicts_no_more_than_it_needs),
                cmocka_unit_test(execution_uses_free_memory_before_evicting),
                cmocka_unit_test(storage_does_not_evict_execution),
                cmocka_unit_test(execution_evicts_while_other_tasks_run),
                cmocka_unit_test(denies_if_blocks_cannot_be_evicted),
                cmocka_unit_test(a_patient_task_evicts_protected_storage),
                cmocka_unit_test(a_patient_consumer_evicts_within_its_share),
                cmocka_unit_test(sums_hold_under_threads),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
