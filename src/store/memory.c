/*
 * The unified memory manager.
 *
 * The rules are Spark's (UnifiedMemoryManager, ExecutionMemoryPool, TaskMemoryManager), with one difference: a request
 * is granted completely or not at all, because part of a page or table is useless. With pool P, storage S in use of
 * which R = P × storageFraction is protected from eviction, execution E in use, and N tasks:
 *
 *      free = P - S - E; a task may hold (P - min(S, R)) / N at most, and waits rather than be denied while what it
 *      holds and what is free are less than (P - S) / 2N.
 *
 * A patient request (memory_acquire_wait) also evicts R and waits for more than its minimum.
 *
 * A task waits only while another task runs, that is, neither waits nor rests. A task that waits for its minimum also
 * waits while patient tasks wait, which are denied first. A request is denied only after 20 ms without any change, so
 * that woken or resting tasks can continue. So some task always continues: if all N tasks waited for their minimum,
 * each would hold, with all free memory, less than (P - S) / 2N, but together they hold all of P - S that is not free.
 * A task that runs may still wait for the one that waits here: those of a barrier stage talk to each other. So their
 * waits have a limit (memory_task_set_longest_wait).
 *
 * One mutex protects all counts. It is taken for a page or a table's growth, not for a row. Eviction and spilling are
 * called without it, and everything is computed again afterwards. Free memory of the page pool that exceeds the slack
 * is returned here, when reservations grow, so that resident memory follows them.
 *
 * Invariants: S + E ≤ P; E is the sum of the tasks' held. A task's held is the sum of its consumers'.
 */
#include "store/memory.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "store/page_pool.h"
#include "store/range_cache.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

struct memory_manager {
        pthread_mutex_t lock;
        pthread_cond_t changed; /* memory was released, or a task was added or removed */
        size_t pool, region;    /* region: storage that execution may not evict */
        size_t storage, execution;
        size_t tasks;     /* N */
        size_t idle;      /* tasks that wait or rest */
        size_t patient;   /* idle tasks with patient requests */
        uint64_t changes; /* number of releases and of tasks added or removed */
        memory_evict_fn evict;
        void *owner;
        unsigned pressure, pressed; /* memory_manager_set_pressure; acquisitions so far (atomic) */
};

struct memory_task {
        struct memory_manager *manager;
        struct memory_consumer *consumers;
        size_t held, peak;
        size_t *gauge;        /* copy of `held` for other threads; NULL: none */
        bool counted;         /* counted in N */
        bool spilling;        /* one of its consumers spills: no further spill, no waiting */
        bool resting;         /* set by memory_task_rest */
        const int *stopped;   /* atomic; NULL: the task cannot be killed */
        int64_t longest_wait; /* ns without a release by any task; 0: no limit */
        bool gave_up;         /* a wait reached the limit: waits no more */
        int failed;           /* status of the first failed spill, and its message */
        struct fst_error error;
};

/* Free blocks that the page pool may keep beyond the reservations, so that its size does not change with each page. */
#define SLACK(m) MAX((m)->pool / 16, (size_t)8 << 20)

struct memory_manager *memory_manager_new(size_t pool_bytes, double storage_fraction)
{
        struct memory_manager *m = new0(struct memory_manager);
        pthread_mutex_init(&m->lock, NULL);
        cond_init_monotonic(&m->changed);
        m->pool = pool_bytes;
        m->region = (size_t)((double)pool_bytes * storage_fraction);
        return m;
}

void memory_manager_free(struct memory_manager *m)
{
        if (!m)
                return;
        assert(m->tasks == 0);
        pthread_cond_destroy(&m->changed);
        pthread_mutex_destroy(&m->lock);
        free(m);
}

void memory_manager_set_evict(struct memory_manager *m, memory_evict_fn evict, void *owner)
{
        m->evict = evict;
        m->owner = owner;
}

size_t memory_manager_pool(const struct memory_manager *m)
{
        return m->pool;
}

void memory_manager_set_pool(struct memory_manager *m, size_t bytes)
{
        m->pool = bytes;
}

static size_t locked_read(const struct memory_manager *m, const size_t *count)
{
        pthread_mutex_t *lock = (pthread_mutex_t *)&m->lock;
        pthread_mutex_lock(lock);
        size_t value = *count;
        pthread_mutex_unlock(lock);
        return value;
}

size_t memory_manager_execution_used(const struct memory_manager *m)
{
        return locked_read(m, &m->execution);
}

size_t memory_manager_storage_used(const struct memory_manager *m)
{
        return locked_read(m, &m->storage);
}

size_t memory_manager_waiting(const struct memory_manager *m)
{
        return locked_read(m, &m->idle);
}

struct memory_task *memory_task_new(struct memory_manager *m)
{
        struct memory_task *task = new0(struct memory_task);
        task->manager = m;
        return task;
}

/* Wakes waiting tasks. Lock held. */
static void wake_waiters(struct memory_manager *m)
{
        m->changes++;
        pthread_cond_broadcast(&m->changed);
}

static void update_gauge(const struct memory_task *task)
{
        if (task->gauge)
                __atomic_store_n(task->gauge, task->held, __ATOMIC_RELAXED);
}

void memory_task_free(struct memory_task *task)
{
        if (!task)
                return;
        for (struct memory_consumer *c = task->consumers, *next; c; c = next) {
                next = c->next;
                c->held = 0;
                c->task = NULL;
                c->next = NULL;
        }
        struct memory_manager *m = task->manager;
        pthread_mutex_lock(&m->lock);
        m->execution -= task->held;
        if (task->counted)
                m->tasks--;
        if (task->resting)
                m->idle--;
        wake_waiters(m);
        pthread_mutex_unlock(&m->lock);
        task->held = 0;
        update_gauge(task);
        error_deinit(&task->error);
        free(task);
}

void memory_task_set_gauge(struct memory_task *task, size_t *gauge)
{
        task->gauge = gauge;
        update_gauge(task);
}

void memory_task_set_stopped(struct memory_task *task, const int *stopped)
{
        task->stopped = stopped;
}

void memory_task_set_longest_wait(struct memory_task *task, int64_t ns)
{
        task->longest_wait = ns;
}

bool memory_task_evict(struct memory_task *task, size_t size)
{
        struct memory_manager *m = task->manager;
        bool freed = m->evict && m->evict(m->owner, size) > 0;
        range_cache_shed(0);
        page_pool_shed(0);
        return freed;
}

size_t memory_task_held(const struct memory_task *task)
{
        return task->held;
}

int memory_task_failure(const struct memory_task *task, const char **why)
{
        *why = task->error.message;
        return task->failed;
}

size_t memory_task_peak(const struct memory_task *task)
{
        return task->peak;
}

void memory_consumer_init(struct memory_consumer *c, struct memory_task *task, const char *name,
                          int (*spill)(struct memory_consumer *, size_t, struct fst_error *))
{
        *c = (struct memory_consumer){.name = name, .task = task, .next = task->consumers, .spill = spill};
        task->consumers = c;
}

void memory_consumer_deinit(struct memory_consumer *c)
{
        if (!c->task)
                return;
        if (c->held)
                memory_release(c, c->held);
        for (struct memory_consumer **at = &c->task->consumers; *at; at = &(*at)->next)
                if (*at == c) {
                        *at = c->next;
                        break;
                }
        c->task = NULL;
        c->next = NULL;
}

/* Makes the page pool and the cache of ranges return memory beyond reservations and slack. Called without the lock. */
static void shed_pool(struct memory_manager *m, size_t reserved)
{
        const size_t keep = m->pool - MIN(m->pool, reserved) + SLACK(m);
        range_cache_shed(keep / 2);
        page_pool_shed(keep - MIN(keep, range_cache_spare()));
}

/* True if another task runs, so that it may release memory. Lock held. */
static bool others_run(const struct memory_manager *m, bool patient)
{
        return m->idle - (patient ? 0 : m->patient) + 1 < m->tasks;
}

/*
 * Waits for a change. Returns false if the task was killed. If no other task runs, waits only briefly and sets
 * *@in_vain if nothing changed. Lock held.
 */
static bool wait_for_change(struct memory_task *task, bool patient, bool *in_vain)
{
        static const int never_stopped = 0; /* makes stop_wait poll */
        struct memory_manager *m = task->manager;
        const bool others = others_run(m, patient);
        const int *stopped = task->stopped || (others && !task->longest_wait) ? task->stopped : &never_stopped;
        uint64_t before = m->changes;
        if (!others) {
                bool goes_on = stop_wait(&m->changed, &m->lock, stopped);
                *in_vain = m->changes == before && !others_run(m, patient);
                return goes_on;
        }
        m->idle++;
        m->patient += patient;
        if (m->idle == m->tasks)
                pthread_cond_broadcast(&m->changed); /* wakes patient tasks: no task runs any more */
        bool goes_on = stop_wait(&m->changed, &m->lock, stopped);
        m->patient -= patient;
        m->idle--;
        return goes_on;
}

/* The wait of one request: since when no task has released memory. */
struct memory_wait {
        int64_t since; /* 0: it has not waited */
        uint64_t changes;
};

/* Returns whether the task reaches its limit now. It then waits no more. Lock held. */
static bool wait_is_over(struct memory_task *task, struct memory_wait *wait)
{
        const struct memory_manager *m = task->manager;
        const int64_t now = task->longest_wait ? now_ns() : 0;
        if (!task->longest_wait)
                return false;
        if (!wait->since || wait->changes != m->changes)
                *wait = (struct memory_wait){.since = now, .changes = m->changes};
        task->gave_up = now - wait->since >= task->longest_wait;
        if (task->gave_up)
                log_warn("TaskMemoryManager",
                         "No task has released memory for %lld s: this task continues without more memory, and spills "
                         "or fails, because other tasks of its barrier stage may wait for it",
                         (long long)(task->longest_wait / 1000000000));
        return task->gave_up;
}

/*
 * Returns the storage to evict, protected or not, so that a task with a patient request gets @size more within its
 * share; 0 if that does not help.
 */
static size_t storage_in_the_way(const struct memory_task *task, size_t size)
{
        const struct memory_manager *m = task->manager;
        if (task->spilling || size > m->pool || task->held + size > m->pool / m->tasks)
                return 0;
        size_t rest = m->pool - (task->held + size) * m->tasks;
        return m->storage - MIN(m->storage, rest);
}

void memory_task_rest(struct memory_task *task, bool rests)
{
        struct memory_manager *m = task->manager;
        pthread_mutex_lock(&m->lock);
        if (task->counted && task->resting != rests) {
                task->resting = rests;
                if (rests)
                        m->idle++;
                else
                        m->idle--;
                if (m->idle == m->tasks)
                        pthread_cond_broadcast(&m->changed); /* no task runs any more */
        }
        pthread_mutex_unlock(&m->lock);
}

/* Returns the maximum that a task may hold. Lock held. */
static size_t task_limit(const struct memory_manager *m)
{
        return (m->pool - MIN(m->storage, m->region)) / MAX(m->tasks, (size_t)1);
}

size_t memory_task_share(const struct memory_task *task)
{
        struct memory_manager *m = task->manager;
        pthread_mutex_lock(&m->lock);
        size_t most = task_limit(m);
        pthread_mutex_unlock(&m->lock);
        return most;
}

/*
 * Reserves memory for the task, waits for its minimum share and evicts storage: as memory_acquire without spilling;
 * with @patient, as memory_acquire_wait.
 */
static int reserve_for_task(struct memory_task *task, size_t size, bool patient)
{
        struct memory_manager *m = task->manager;
        bool may_evict = m->evict != NULL;
        pthread_mutex_lock(&m->lock);
        if (!task->counted) {
                task->counted = true;
                m->tasks++;
                wake_waiters(m); /* the shares of the other tasks are smaller now */
        }
        bool granted = false, stopped = false, in_vain = false;
        struct memory_wait wait = {0};
        while (!granted && !stopped && !in_vain) {
                size_t available = m->pool - m->storage - m->execution, in_the_way = 0;
                bool waits = m->tasks > 1 && !task->spilling && !task->gave_up;
                if (task->held + size > task_limit(m)) {
                        in_the_way = patient ? storage_in_the_way(task, size) : 0;
                        waits = waits && patient && task->held + size <= m->pool;
                } else if (size <= available) {
                        granted = true;
                        continue;
                } else {
                        size_t kept = patient ? 0 : MIN(m->storage, m->region);
                        in_the_way = MIN(size - available, m->storage - kept);
                        bool at_minimum = task->held + available >= (m->pool - m->storage) / (2 * m->tasks);
                        waits = waits && (patient || !at_minimum);
                }
                if (may_evict && in_the_way > 0) {
                        pthread_mutex_unlock(&m->lock);
                        may_evict = m->evict(m->owner, in_the_way) > 0;
                        pthread_mutex_lock(&m->lock);
                } else if (waits && !wait_is_over(task, &wait)) {
                        stopped = !wait_for_change(task, patient, &in_vain);
                        may_evict = m->evict != NULL;
                } else {
                        break;
                }
        }
        if (granted) {
                m->execution += size;
                task->held += size;
                task->peak = MAX(task->peak, task->held);
                update_gauge(task);
        }
        size_t reserved = m->execution + m->storage;
        pthread_mutex_unlock(&m->lock);
        if (granted)
                shed_pool(m, reserved);
        return granted ? 0 : stopped ? -ECANCELED : FST_MEMORY_E_DENIED;
}

/* Returns the largest consumer that can spill and was not asked yet. */
static struct memory_consumer *spill_candidate(struct memory_consumer *asking)
{
        struct memory_consumer *best = NULL;
        for (struct memory_consumer *c = asking->task->consumers; c; c = c->next)
                if (c != asking && c->spill && c->held && !c->asked && (!best || c->held > best->held))
                        best = c;
        return best;
}

/* Makes @victim spill: 0, or negative. The failure is recorded. */
static int spill_consumer(struct memory_consumer *victim, size_t size)
{
        struct memory_task *task = victim->task;
        struct fst_error error = FST_ERROR_INIT;
        victim->asked = true;
        task->spilling = true;
        int r = victim->spill(victim, size, &error);
        task->spilling = false;
        if (r < 0 && !task->failed) {
                task->failed = r;
                task->error = error;
        } else {
                error_deinit(&error);
        }
        return MIN(r, 0);
}

void memory_manager_set_pressure(struct memory_manager *m, unsigned every)
{
        m->pressure = every;
}

/* Resets `asked` of all the task's consumers. */
static void reset_asked(struct memory_task *task)
{
        for (struct memory_consumer *c = task->consumers; c; c = c->next)
                c->asked = false;
}

/* Acts as if there were no room for @c (memory_manager_set_pressure). */
static int apply_pressure(struct memory_consumer *c, size_t size)
{
        struct memory_manager *m = c->task->manager;
        int r = 0;
        if (c->task->spilling || __atomic_add_fetch(&m->pressed, 1, __ATOMIC_RELAXED) % m->pressure != 0)
                return 0;
        if (m->evict)
                m->evict(m->owner, size);
        reset_asked(c->task);
        for (struct memory_consumer *victim; r == 0 && (victim = spill_candidate(c));)
                r = spill_consumer(victim, size);
        return r;
}

static int acquire_for_consumer(struct memory_consumer *c, size_t size, bool patient)
{
        struct memory_task *task = c->task;
        int r = task->manager->pressure ? apply_pressure(c, size) : 0;
        r = r ? r : reserve_for_task(task, size, false);
        if (r == FST_MEMORY_E_DENIED && !task->spilling) {
                reset_asked(task);
                for (struct memory_consumer *victim; r > 0 && (victim = spill_candidate(c));) {
                        r = spill_consumer(victim, size);
                        if (r == 0)
                                r = reserve_for_task(task, size, false);
                }
        }
        if (r == FST_MEMORY_E_DENIED && patient)
                r = reserve_for_task(task, size, true);
        if (r == 0)
                c->held += size;
        return r;
}

int memory_acquire(struct memory_consumer *c, size_t size)
{
        return acquire_for_consumer(c, size, c->patient);
}

int memory_acquire_wait(struct memory_consumer *c, size_t size)
{
        return acquire_for_consumer(c, size, true);
}

void memory_release(struct memory_consumer *c, size_t size)
{
        struct memory_task *task = c->task;
        struct memory_manager *m = task->manager;
        assert(size <= c->held);
        c->held -= size;
        task->held -= size;
        update_gauge(task);
        pthread_mutex_lock(&m->lock);
        m->execution -= size;
        wake_waiters(m);
        pthread_mutex_unlock(&m->lock);
}

bool memory_acquire_storage(struct memory_manager *m, size_t size)
{
        bool may_evict = m->evict != NULL, granted = false;
        pthread_mutex_lock(&m->lock);
        for (;;) {
                if (size > m->pool - m->execution)
                        break; /* evicting all storage would not make enough room */
                size_t available = m->pool - m->storage - m->execution;
                if (size <= available) {
                        m->storage += size;
                        granted = true;
                        break;
                }
                if (!may_evict)
                        break;
                pthread_mutex_unlock(&m->lock);
                may_evict = m->evict(m->owner, size - available) > 0;
                pthread_mutex_lock(&m->lock);
        }
        size_t reserved = m->execution + m->storage;
        pthread_mutex_unlock(&m->lock);
        if (granted)
                shed_pool(m, reserved);
        return granted;
}

bool memory_acquire_fixed_storage(struct memory_manager *m, size_t size)
{
        pthread_mutex_lock(&m->lock);
        bool granted = m->storage <= m->region && size <= m->region - m->storage &&
                       size <= m->pool - m->storage - m->execution;
        if (granted)
                m->storage += size;
        pthread_mutex_unlock(&m->lock);
        return granted;
}

bool memory_may_fix_storage(const struct memory_manager *m)
{
        return locked_read(m, &m->storage) <= m->region;
}

void memory_release_storage(struct memory_manager *m, size_t size)
{
        pthread_mutex_lock(&m->lock);
        assert(size <= m->storage);
        m->storage -= size;
        wake_waiters(m);
        pthread_mutex_unlock(&m->lock);
}
