/*
 * See accumulators.h.
 *
 * Ids are indexes of a table that only grows, because functions may capture handles. For shuffles whose tasks add
 * something, a bit map records the counted map tasks.
 *
 * The deliverer starts with the first byte strings. Once a delivery of a job has failed, the rest of that job's are
 * dropped: the job fails anyway, and a hung peer must not take its time limit for each task.
 */
#include "driver/accumulators.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "process/failure_reason.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rdd/pipeline/task_run.h"

#include <firesteel/python.h>

#include <inttypes.h>
#include <signal.h>

struct accumulator {
        fst_accumulator handle;
        char *name;
        union {
                fst_totals_i64 i64;
                fst_totals_f64 f64;
                struct {
                        void *state, *zero;
                        void *captured;
                        fst_fn merge;
                } own;
                struct {
                        int (*receive)(void *data, const fst_bytes *blobs, size_t n);
                        void *data;
                } list;
        };
};

struct counted_maps {
        int shuffle_id;
        uint64_t *bits;
        size_t words;
};

/* The byte strings of a task, or a callback that waits for those before it. */
struct delivery {
        struct delivery *next;
        int job;
        struct accumulator *to; /* NULL: a callback */
        struct accumulator_list list;
        void (*delivered)(void *owner, char *failure);
        void *owner;
};

struct failed_delivery {
        int job;
        char *message;
};

/*
 * Ids are unique in the process, so that a handle of a stopped context is invalid in the next one. Only one context
 * runs at a time, so its ids are consecutive.
 */
static int64_t last_id; /* atomic */

struct accumulators {
        int64_t first; /* id of all.data[0] */
        pthread_mutex_t lock;
        VEC(struct accumulator *) all; /* index: id - first */
        VEC(struct counted_maps) counted;

        struct delivery *deliveries, **last_delivery;
        VEC(struct failed_delivery) failed; /* until their job ends */
        pthread_cond_t queued;
        pthread_t deliverer;
        int64_t undelivered, max_undelivered; /* bytes of strings; 0: no limit */
        bool has_deliverer, delivering, stopping;
        bool keeps_updates; /* their lists are copied */
        int delivering_job; /* of the strings that are being delivered */
};

struct accumulators *accumulators_new(int64_t max_undelivered)
{
        struct accumulators *a = new0(struct accumulators);
        a->max_undelivered = max_undelivered;
        pthread_mutex_init(&a->lock, NULL);
        pthread_cond_init(&a->queued, NULL);
        a->last_delivery = &a->deliveries;
        return a;
}

void accumulators_free(struct accumulators *a)
{
        if (!a)
                return;
        accumulators_stop(a);
        for (size_t i = 0; i < a->failed.len; i++)
                free(a->failed.data[i].message);
        vec_deinit(&a->failed);
        for (size_t i = 0; i < a->all.len; i++) {
                struct accumulator *one = a->all.data[i];
                if (one->handle.kind == FST_ACCUMULATOR_OWN) {
                        free(one->own.state);
                        free(one->own.zero);
                        free(one->own.captured);
                }
                free(one->name);
                free(one);
        }
        for (size_t i = 0; i < a->counted.len; i++)
                free(a->counted.data[i].bits);
        vec_deinit(&a->all);
        vec_deinit(&a->counted);
        pthread_cond_destroy(&a->queued);
        pthread_mutex_destroy(&a->lock);
        free(a);
}

static fst_accumulator accumulators_add(struct accumulators *a, struct accumulator *one, const char *name,
                                        uint32_t kind, size_t size)
{
        one->name = name ? mem_strdup(name) : NULL;
        pthread_mutex_lock(&a->lock);
        int64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
        if (a->all.len == 0)
                a->first = id;
        one->handle = (fst_accumulator){.id = id, .kind = kind, .size = (uint32_t)size};
        vec_push(&a->all, one);
        pthread_mutex_unlock(&a->lock);
        return one->handle;
}

/* Returns NULL for an invalid handle or one of another context. Under the lock. */
bool accumulators_exist(struct accumulators *a)
{
        pthread_mutex_lock(&a->lock);
        bool exist = a->all.len > 0;
        pthread_mutex_unlock(&a->lock);
        return exist;
}

static struct accumulator *accumulators_find(struct accumulators *a, fst_accumulator handle)
{
        if (handle.id < a->first || (uint64_t)(handle.id - a->first) >= a->all.len)
                return NULL;
        struct accumulator *one = a->all.data[handle.id - a->first];
        return one->handle.kind == handle.kind && one->handle.size == handle.size ? one : NULL;
}

static bool accumulator_is_number(const struct accumulator *one)
{
        return one->handle.kind == FST_ACCUMULATOR_I64 || one->handle.kind == FST_ACCUMULATOR_F64;
}

/* --------------------------------------------------------------------------------------------------- delivering */

/* Passes the byte strings of a task to the application. Returns why it did not take them, or NULL. */
static char *accumulator_deliver(const struct accumulator *one, const struct accumulator_list *list)
{
        _cleanup_free_ fst_bytes *blobs = accumulator_list_blobs(list);
        failure_reason_set_thread("");
        int r = one->list.receive(one->list.data, blobs, list->n);
        if (r == 0)
                return NULL;
        const char *reason = failure_reason_of_thread();
        return mem_printf("accumulator %" PRId64 "%s%s: its updates were not received: %s", one->handle.id,
                          one->name ? " " : "", one->name ? one->name : "",
                          *reason ? reason : strerror(r < 0 ? -r : EIO));
}

/* Under the lock. */
static struct failed_delivery *accumulators_find_failed(struct accumulators *a, int job)
{
        for (size_t i = 0; i < a->failed.len; i++)
                if (a->failed.data[i].job == job)
                        return &a->failed.data[i];
        return NULL;
}

/* Takes the message of a failed job. Under the lock. */
static char *accumulators_take_failure(struct accumulators *a, int job)
{
        struct failed_delivery *failed = accumulators_find_failed(a, job);
        if (!failed)
                return NULL;
        char *message = failed->message;
        *failed = a->failed.data[--a->failed.len];
        return message;
}

/* Handles @d, which it frees. Called under the lock, which it gives up for the application's function. */
static void accumulators_handle(struct accumulators *a, struct delivery *d)
{
        char *failure = d->to ? NULL : accumulators_take_failure(a, d->job);
        bool dropped = d->to && (a->stopping || accumulators_find_failed(a, d->job));
        pthread_mutex_unlock(&a->lock);
        if (!d->to)
                d->delivered(d->owner, failure);
        else if (!dropped && (failure = accumulator_deliver(d->to, &d->list)))
                log_error("DAGScheduler", "Failed to update %s", failure);
        free(d->list.data);
        pthread_mutex_lock(&a->lock);
        a->undelivered -= (int64_t)d->list.len;
        if (d->to && failure)
                vec_push(&a->failed, (struct failed_delivery){d->job, failure});
        free(d);
}

static void *accumulators_deliverer(void *owner)
{
        struct accumulators *a = owner;
        pthread_setname_np(pthread_self(), "accumulators");
        pthread_mutex_lock(&a->lock);
        for (;;) {
                struct delivery *d = a->deliveries;
                if (d) {
                        a->deliveries = d->next;
                        if (!a->deliveries)
                                a->last_delivery = &a->deliveries;
                        a->delivering = true;
                        a->delivering_job = d->job;
                        accumulators_handle(a, d);
                        a->delivering = false;
                } else if (a->stopping) {
                        break;
                } else {
                        pthread_cond_wait(&a->queued, &a->lock);
                }
        }
        pthread_mutex_unlock(&a->lock);
        return NULL;
}

/* Starts the deliverer if need be. Under the lock. */
static int accumulators_start(struct accumulators *a, struct fst_error *error)
{
        sigset_t all, before;
        if (a->has_deliverer)
                return 0;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = -pthread_create(&a->deliverer, NULL, accumulators_deliverer, a);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        a->has_deliverer = r == 0;
        return r ? error_set(error, r, "cannot start the thread that delivers accumulator updates: %s", strerror(-r))
                 : 0;
}

/* Queues a copy of @delivery. Under the lock. */
static int accumulators_queue(struct accumulators *a, struct delivery delivery, struct fst_error *error)
{
        int r = accumulators_start(a, error);
        if (r)
                return r;
        if (a->max_undelivered > 0 && (int64_t)delivery.list.len > a->max_undelivered - a->undelivered)
                return error_set(error, -EFBIG,
                                 "accumulator updates of %" PRId64 " bytes wait for the program, and %zu more exceed "
                                 "spark.driver.maxResultSize (%" PRId64 " bytes): raise it, or add less in each task",
                                 a->undelivered, delivery.list.len, a->max_undelivered);
        struct delivery *d = new0(struct delivery);
        *d = delivery;
        a->undelivered += (int64_t)d->list.len;
        *a->last_delivery = d;
        a->last_delivery = &d->next;
        pthread_cond_signal(&a->queued);
        return 0;
}

/* Under the lock. */
static bool accumulators_has_undelivered(const struct accumulators *a, int job)
{
        if (a->delivering && a->delivering_job == job)
                return true;
        for (const struct delivery *d = a->deliveries; d; d = d->next)
                if (d->job == job)
                        return true;
        return false;
}

bool accumulators_are_undelivered(struct accumulators *a, int job)
{
        pthread_mutex_lock(&a->lock);
        bool undelivered = accumulators_has_undelivered(a, job) || accumulators_find_failed(a, job);
        pthread_mutex_unlock(&a->lock);
        return undelivered;
}

bool accumulators_await(struct accumulators *a, int job, void (*delivered)(void *owner, char *failure), void *owner)
{
        pthread_mutex_lock(&a->lock);
        bool waits = accumulators_has_undelivered(a, job) || accumulators_find_failed(a, job);
        if (waits) /* the deliverer runs: nothing can fail */
                accumulators_queue(a, (struct delivery){.job = job, .delivered = delivered, .owner = owner}, NULL);
        pthread_mutex_unlock(&a->lock);
        return waits;
}

void accumulators_stop(struct accumulators *a)
{
        pthread_mutex_lock(&a->lock);
        bool joins = a->has_deliverer && !a->stopping;
        a->stopping = true;
        pthread_cond_signal(&a->queued);
        pthread_mutex_unlock(&a->lock);
        if (joins)
                pthread_join(a->deliverer, NULL);
}

/* ----------------------------------------------------------------------------------------------------- merging */

/* Calls the application's function, which may call fst_fail only. */
static int accumulator_merge_own(struct accumulator *one, const void *from, struct fst_error *error)
{
        struct task_run run;
        task_run_init(&run, NULL, NULL);
        run.function = one->own.merge.name;
        run.task.captured = one->own.captured;
        int (*merge)(fst_task *, void *, const void *) = (int (*)(fst_task *, void *, const void *))one->own.merge.code;
        int r = merge(&run.task, one->own.state, from);
        if (r || run.status) {
                task_run_fail_by(&run, r < 0 ? r : -EIO, one->own.merge.name);
                r = run.status;
                error_set(error, r, "accumulator %" PRId64 "%s%s: %s", one->handle.id, one->name ? " " : "",
                          one->name ? one->name : "", error_message(&run.error));
        }
        task_run_deinit(&run);
        return r;
}

void accumulators_keep_updates(struct accumulators *a)
{
        a->keeps_updates = true;
}

/* Queues the byte strings of a task: the list itself, or a copy. Under the lock. */
static int accumulators_queue_list(struct accumulators *a, int job, struct accumulator *to,
                                   struct accumulator_list *list, struct fst_error *error)
{
        struct delivery d = {.job = job, .to = to, .list = *list};
        if (a->keeps_updates) {
                d.list.data = mem_try(MAX(list->len, (size_t)1));
                if (!d.list.data)
                        return error_set(error, -ENOMEM, "no memory for %zu bytes of accumulator updates", list->len);
                memcpy(d.list.data, list->data, list->len);
        }
        int r = accumulators_queue(a, d, error);
        if (r && a->keeps_updates)
                free(d.list.data);
        else if (r == 0 && !a->keeps_updates)
                *list = (struct accumulator_list){0};
        return r;
}

static int accumulators_merge_updates(struct accumulators *a, int job, struct accumulator_updates *updates,
                                      struct fst_error *error)
{
        for (uint32_t i = 0; i < updates->n; i++)
                if (!accumulators_find(a, updates->data[i].accumulator))
                        return error_set(error, -EINVAL,
                                         "a task added to accumulator %" PRId64 ", which this application does not "
                                         "have: a handle is made by fst_accumulator_… in the same context",
                                         updates->data[i].accumulator.id);
        for (uint32_t i = 0; i < updates->n; i++) {
                struct accumulator_update *u = &updates->data[i];
                struct accumulator *one = accumulators_find(a, u->accumulator);
                int r = 0;
                if (one->handle.kind == FST_ACCUMULATOR_I64)
                        accumulator_merge_i64(&one->i64, &u->i64);
                else if (one->handle.kind == FST_ACCUMULATOR_F64)
                        accumulator_merge_f64(&one->f64, &u->f64);
                else if (one->handle.kind == FST_ACCUMULATOR_LIST)
                        r = accumulators_queue_list(a, job, one, &u->list, error);
                else
                        r = accumulator_merge_own(one, u->own, error);
                if (r)
                        return r;
        }
        return 0;
}

int accumulators_merge(struct accumulators *a, int job, struct accumulator_updates *updates, struct fst_error *error)
{
        if (!updates)
                return 0;
        pthread_mutex_lock(&a->lock);
        int r = accumulators_merge_updates(a, job, updates, error);
        pthread_mutex_unlock(&a->lock);
        return r;
}

/* Record a map task as counted. Returns false if it already was. Under the lock. */
static bool accumulators_count_map(struct accumulators *a, int shuffle_id, int partition)
{
        size_t word = (size_t)partition / 64, i = a->counted.len;
        while (i > 0 && a->counted.data[i - 1].shuffle_id != shuffle_id) /* usually the newest */
                i--;
        if (i == 0) {
                vec_push(&a->counted, (struct counted_maps){.shuffle_id = shuffle_id});
                i = a->counted.len;
        }
        struct counted_maps *maps = &a->counted.data[i - 1];
        if (word >= maps->words) {
                size_t words = MAX(word + 1, maps->words * 2);
                maps->bits = mem_grow(maps->bits, words * sizeof(*maps->bits));
                memset(maps->bits + maps->words, 0, (words - maps->words) * sizeof(*maps->bits));
                maps->words = words;
        }
        uint64_t bit = (uint64_t)1 << (partition % 64);
        bool first = !(maps->bits[word] & bit);
        maps->bits[word] |= bit;
        return first;
}

int accumulators_merge_map(struct accumulators *a, int job, int shuffle_id, int partition,
                           struct accumulator_updates *updates, struct fst_error *error)
{
        if (!updates)
                return 0;
        pthread_mutex_lock(&a->lock);
        int r = accumulators_count_map(a, shuffle_id, partition) ? accumulators_merge_updates(a, job, updates, error)
                                                                 : 0;
        pthread_mutex_unlock(&a->lock);
        return r;
}

/* ------------------------------------------------------------------------------------------------- the interface */

static void accumulator_misused(const fst_context *sc, const char *kind, fst_accumulator handle)
{
        if (!sc->status) /* otherwise the failed start was already reported */
                context_misused("this context has no accumulator of %s with id %" PRId64
                                ": the handle was never made, or "
                                "in another context",
                                kind, handle.id);
}

FST_API fst_accumulator fst_accumulator_i64(fst_context *sc, const char *name)
{
        sc = context_given(sc, rdd_site("accumulator_i64"));
        if (sc->status)
                return (fst_accumulator){0};
        return accumulators_add(sc->accumulators, new0(struct accumulator), name, FST_ACCUMULATOR_I64,
                                sizeof(fst_totals_i64));
}

FST_API fst_accumulator fst_accumulator_f64(fst_context *sc, const char *name)
{
        sc = context_given(sc, rdd_site("accumulator_f64"));
        if (sc->status)
                return (fst_accumulator){0};
        return accumulators_add(sc->accumulators, new0(struct accumulator), name, FST_ACCUMULATOR_F64,
                                sizeof(fst_totals_f64));
}

FST_API fst_accumulator fst_accumulator_own_of(fst_context *sc, const char *name, const void *zero, size_t size,
                                               fst_fn merge)
{
        sc = context_given(sc, rdd_site("accumulator_own"));
        if (sc->status)
                return (fst_accumulator){0};
        struct fst_error error = FST_ERROR_INIT;
        int r = 0;
        if (size < 1 || size > FST_ACCUMULATOR_MAX)
                r = error_set(&error, -EINVAL, "the state of an accumulator has 1 to %d bytes, not %zu",
                              FST_ACCUMULATOR_MAX, size);
        else if (!zero)
                r = error_set(&error, -EINVAL, "it was given NULL instead of an initial state");
        else if (!merge.code || merge.shape != FST_SHAPE(FST_FORM_INTO, FST_KIND_FIXED, FST_KIND_NONE))
                r = error_set(&error, -EINVAL,
                              "%s does not combine states: it must be int f(fst_task *, void *into, "
                              "const void *from)",
                              merge.name ? merge.name : "the function");
        if (r) {
                context_action_failed(sc, "fst_accumulator_own", r, &error);
                return (fst_accumulator){0};
        }
        struct accumulator *one = new0(struct accumulator);
        one->own.state = mem_alloc(size);
        one->own.zero = mem_alloc(size);
        memcpy(one->own.state, zero, size);
        memcpy(one->own.zero, zero, size);
        if (merge.captured_size) {
                one->own.captured = mem_alloc(merge.captured_size);
                memcpy(one->own.captured, merge.captured, merge.captured_size);
        }
        one->own.merge = merge;
        return accumulators_add(sc->accumulators, one, name, FST_ACCUMULATOR_OWN, size);
}

FST_API fst_accumulator fst_accumulator_list(fst_context *sc, const char *name,
                                             int (*receive)(void *data, const fst_bytes *blobs, size_t n), void *data)
{
        sc = context_given(sc, rdd_site("accumulator_list"));
        if (sc->status ||
            context_missing((const void *)receive, "accumulator_list", "a function that receives updates"))
                return (fst_accumulator){0};
        struct accumulator *one = new0(struct accumulator);
        one->list.receive = receive;
        one->list.data = data;
        return accumulators_add(sc->accumulators, one, name, FST_ACCUMULATOR_LIST, 0);
}

FST_API fst_totals_i64 fst_accumulator_totals_i64(fst_context *sc, fst_accumulator handle)
{
        sc = context_given(sc, rdd_site("accumulator_totals_i64"));
        fst_totals_i64 totals = {0};
        pthread_mutex_lock(&sc->accumulators->lock);
        const struct accumulator *one = accumulators_find(sc->accumulators, handle);
        bool right = one && one->handle.kind == FST_ACCUMULATOR_I64;
        if (right)
                totals = one->i64;
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!right)
                accumulator_misused(sc, "integers", handle);
        return totals;
}

FST_API fst_totals_f64 fst_accumulator_totals_f64(fst_context *sc, fst_accumulator handle)
{
        sc = context_given(sc, rdd_site("accumulator_totals_f64"));
        fst_totals_f64 totals = {0};
        pthread_mutex_lock(&sc->accumulators->lock);
        const struct accumulator *one = accumulators_find(sc->accumulators, handle);
        bool right = one && accumulator_is_number(one);
        if (right && one->handle.kind == FST_ACCUMULATOR_F64)
                totals = one->f64;
        else if (right)
                totals = (fst_totals_f64){one->i64.count, (double)one->i64.sum, (double)one->i64.min,
                                          (double)one->i64.max};
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!right)
                accumulator_misused(sc, "numbers", handle);
        return totals;
}

FST_API void fst_accumulator_set_i64(fst_context *sc, fst_accumulator handle, int64_t x)
{
        sc = context_given(sc, rdd_site("accumulator_set_i64"));
        pthread_mutex_lock(&sc->accumulators->lock);
        struct accumulator *one = accumulators_find(sc->accumulators, handle);
        bool right = one && accumulator_is_number(one);
        if (right && one->handle.kind == FST_ACCUMULATOR_F64)
                one->f64.sum = (double)x;
        else if (right)
                one->i64.sum = x;
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!right)
                accumulator_misused(sc, "numbers", handle);
}

FST_API void fst_accumulator_set_f64(fst_context *sc, fst_accumulator handle, double x)
{
        sc = context_given(sc, rdd_site("accumulator_set_f64"));
        pthread_mutex_lock(&sc->accumulators->lock);
        struct accumulator *one = accumulators_find(sc->accumulators, handle);
        bool right = one && one->handle.kind == FST_ACCUMULATOR_F64;
        if (right)
                one->f64.sum = x;
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!right)
                accumulator_misused(sc, "floats", handle);
}

FST_API const char *fst_accumulator_name(fst_context *sc, fst_accumulator handle)
{
        sc = context_given(sc, rdd_site("accumulator_name"));
        pthread_mutex_lock(&sc->accumulators->lock);
        const struct accumulator *one = accumulators_find(sc->accumulators, handle);
        const char *name = one ? one->name : NULL;
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!one)
                accumulator_misused(sc, "any kind", handle);
        return name;
}

FST_API int fst_accumulator_read(fst_context *sc, fst_accumulator handle, void *state)
{
        sc = context_given(sc, rdd_site("accumulator_read"));
        pthread_mutex_lock(&sc->accumulators->lock);
        const struct accumulator *one = accumulators_find(sc->accumulators, handle);
        bool right = one && one->handle.kind == FST_ACCUMULATOR_OWN;
        if (right && state)
                memcpy(state, one->own.state, handle.size);
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!right)
                accumulator_misused(sc, "your own", handle);
        return right && !context_missing(state, "accumulator_read", "a place for the state") ? 0 : -EINVAL;
}

FST_API void fst_accumulator_reset(fst_context *sc, fst_accumulator handle)
{
        sc = context_given(sc, rdd_site("accumulator_reset"));
        pthread_mutex_lock(&sc->accumulators->lock);
        struct accumulator *one = accumulators_find(sc->accumulators, handle);
        if (one && one->handle.kind == FST_ACCUMULATOR_OWN)
                memcpy(one->own.state, one->own.zero, one->handle.size);
        else if (one && accumulator_is_number(one))
                one->f64 = (fst_totals_f64){0}; /* of either kind: all zero bytes */
        pthread_mutex_unlock(&sc->accumulators->lock);
        if (!one)
                accumulator_misused(sc, "any kind", handle);
}
