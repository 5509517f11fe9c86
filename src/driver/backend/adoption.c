/*
 * Adopts the executors of an earlier driver (struct earlier_executor): waits for them before the first job, takes the map
 * outputs and cached blocks that they bring, and drops what no job asks for. Keeps the secret that they have.
 *
 * Invariant: all executors of the application have the same key of encrypted files. No driver writes it anywhere: the
 * first executor that returns brings it, and new ones get their configuration after that, or when none returns.
 */
#include "driver/backend/cluster_backend_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/backend/driver_transfer.h"
#include "driver/context.h"
#include "exec/task/task_batch_wire.h"
#include "rpc/wire_memory.h"
#include "shuffle/remote_shuffle.h"
#include "store/block_name.h"

#include <string.h>

#define LOG "CoarseGrainedSchedulerBackend"
#define CLAIM_TIMEOUT_MS 5000 /* until other jobs have adopted batches, once tasks wait for their cores */

static struct cluster_backend *adoption_backend(struct scheduler_backend *backend)
{
        return container_of(backend, struct cluster_backend, backend);
}

static bool earlier_executor_has_id(const void *x, const void *id)
{
        return strcmp(((const struct earlier_executor *)x)->id, id) == 0;
}

/* The position of an earlier executor that is awaited, or -1. */
static int adoption_find(const struct adoption *a, const char *id)
{
        const struct earlier_executor *x =
                a->n_awaited > 0 ? object_table_find(&a->by_id, object_hash_text(id), earlier_executor_has_id, id)
                                 : NULL;
        return x && a->awaited[x - a->earlier] ? (int)(x - a->earlier) : -1;
}

/* New executors may have the key that the driver has now. */
static void adoption_send_configs(struct cluster_backend *b)
{
        struct adoption *a = &b->adoption;
        for (size_t i = 0; i < a->configs.len; i++)
                cluster_send_config(b, a->configs.data[i].call, a->configs.data[i].resource_profile);
        a->configs.len = 0;
}

static void adoption_settle(struct cluster_backend *b, int at)
{
        struct adoption *a = &b->adoption;
        a->awaited[at] = false;
        if (--a->n_awaited > 0)
                return;
        uv_timer_stop(&a->timeout);
        adoption_send_configs(b);
}

bool cluster_adoption_defers_config(struct cluster_backend *b, struct rpc_message *m, int epoch, int resource_profile)
{
        struct adoption *a = &b->adoption;
        if (!b->io_secret_len || epoch || a->has_key || a->n_awaited == 0)
                return false;
        vec_push(&a->configs, (struct waiting_config){rpc_message_defer(m), resource_profile});
        return true;
}

void cluster_adoption_deinit(struct cluster_backend *b)
{
        struct adoption *a = &b->adoption;
        for (size_t i = 0; i < a->configs.len; i++)
                rpc_call_fail(a->configs.data[i].call, "the application is ending");
        vec_deinit(&a->configs);
        object_table_deinit(&a->by_id);
        free(a->awaited);
}

/* Gives up those that are awaited still: their manager ends them, and starts others. */
static void adoption_give_up(struct cluster_backend *b, const char *why)
{
        struct adoption *a = &b->adoption;
        a->over = true;
        for (int i = 0; i < a->n && a->n_awaited > 0; i++) {
                if (!a->awaited[i])
                        continue;
                log_warn(LOG, "Executor %s of the earlier driver is given up: %s", a->earlier[i].id, why);
                adoption_settle(b, i);
                job_runner_earlier_executor_lost(b->runner, a->earlier[i].id);
                b->manager->class->kill(b->manager, a->earlier[i].id);
        }
}

static void adoption_on_timeout(uv_timer_t *timer)
{
        adoption_give_up(timer->data, "it has not registered within spark.firesteel.resume.registrationTimeout");
}

void cluster_adopt(struct cluster_backend *b)
{
        const struct driver_epoch epoch = job_runner_epoch(b->runner);
        struct adoption *a = &b->adoption;
        b->epoch = epoch.epoch;
        if (epoch.n_earlier == 0 || !epoch.executors_wait || !b->manager->class->adopt) {
                a->over = true;
                if (b->manager->class->adopt && epoch.next_executor_id > 0) /* some may still be starting or ending */
                        b->manager->class->adopt(b->manager, b, NULL, 0, epoch.next_executor_id);
                return;
        }
        *a = (struct adoption){.earlier = epoch.earlier,
                               .awaited = new_array(bool, (size_t)epoch.n_earlier),
                               .n = epoch.n_earlier,
                               .n_awaited = epoch.n_earlier};
        memset(a->awaited, true, (size_t)a->n * sizeof(*a->awaited));
        for (int i = 0; i < a->n; i++)
                object_table_put(&a->by_id, object_hash_text(a->earlier[i].id), (void *)&a->earlier[i]);
        uv_timer_init(&b->loop, &a->timeout);
        a->timeout.data = b;
        uv_timer_start(&a->timeout, adoption_on_timeout, (uint64_t)epoch.registration_timeout_ms, 0);
        b->manager->class->adopt(b->manager, b, epoch.earlier, epoch.n_earlier, epoch.next_executor_id);
}

/* Refuses an executor whose files the others cannot read. */
static int adoption_check_key(const struct cluster_backend *b, const Firesteel__RegisterExecutor *r,
                              struct fst_error *error)
{
        const ProtobufCBinaryData key = r->holdings->io_encryption_key;
        if (key.len != b->io_secret_len)
                return error_set(error, -EINVAL,
                                 "the files of executor %s are encrypted with a key of %zu bits, and not of %zu: leave "
                                 "spark.io.encryption.* as it was",
                                 r->executor_id, 8 * key.len, 8 * b->io_secret_len);
        if (b->adoption.has_key && memcmp(b->io_secret, key.data, key.len) != 0)
                return error_set(error, -EINVAL, "the files of executor %s have another key", r->executor_id);
        return 0;
}

static void adoption_take_key(struct cluster_backend *b, ProtobufCBinaryData key)
{
        if (!key.len || b->adoption.has_key)
                return;
        memcpy(b->io_secret, key.data, key.len);
        b->adoption.has_key = true;
        job_runner_keep_io_key(b->runner);
        adoption_send_configs(b);
}

int cluster_adoption_check(struct cluster_backend *b, const Firesteel__RegisterExecutor *r, struct fst_error *error)
{
        const struct driver_epoch epoch = job_runner_epoch(b->runner);
        /* A stuck driver that wakes up finds its executors gone to the next one and starts others: they run nothing,
         * or, while the journal's thread looks in a remote place, tasks that cannot commit. */
        job_runner_check_epoch(b->runner);
        if (!r->holdings)
                return 0;
        if (strcmp(r->holdings->resume_application, epoch.journal) != 0)
                return error_set(error, -EINVAL, "executor '%s' belongs to the journal '%s', not to '%s'", r->executor_id,
                                 r->holdings->resume_application, epoch.journal);
        if (r->holdings->epoch >= epoch.epoch)
                return error_set(error, -ESTALE, "executor %s has seen driver %d of the application, and this is %d",
                                 r->executor_id, r->holdings->epoch, epoch.epoch);
        if (b->adoption.over || adoption_find(&b->adoption, r->executor_id) < 0)
                return error_set(error, -EACCES, "executor %s of an earlier driver comes too late, or is not known",
                                 r->executor_id);
        if (r->holdings->writer < 0 || r->holdings->writer >= REMOTE_WRITERS)
                return error_set(error, -EINVAL, "executor %s writes with the invalid number %d", r->executor_id,
                                 r->holdings->writer);
        return adoption_check_key(b, r, error);
}

static void adoption_take_outputs(struct cluster_backend *b, int executor, const Firesteel__HeldOutputs *held)
{
        for (size_t i = 0; i < MIN(held->n_map_partitions, held->n_task_ids); i++)
                if (!job_runner_hold_output(b->runner, held->shuffle, held->map_partitions[i], held->task_ids[i],
                                            executor))
                        cluster_remove_output(&b->backend, executor, held->shuffle, held->map_partitions[i],
                                              held->task_ids[i]);
}

bool cluster_adoption_ended(struct cluster_backend *b, const char *id)
{
        int at = adoption_find(&b->adoption, id);
        if (at < 0)
                return false;
        adoption_settle(b, at);
        job_runner_earlier_executor_lost(b->runner, id);
        return true;
}

/* ---------------------------------------------------------------------------------------------- running tasks */

/*
 * An executor that runs batches which nobody has adopted gets no tasks: their cores are taken, and the blocks that they
 * cache are of the earlier driver. Then the last of them has ended or was adopted.
 */
static void adoption_enable(struct cluster_backend *b, struct remote_executor *x)
{
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        if (x->held.len)
                return;
        removal.rdds = x->stale_rdds.data;
        removal.n_rdds = x->stale_rdds.len;
        if (removal.n_rdds && x->state == EXECUTOR_ALIVE)
                cluster_append_removal(b, x, &removal);
        x->stale_rdds.len = 0;
        if (x->state == EXECUTOR_ALIVE && !x->killed && !x->decommissioned)
                job_runner_executor_enabled(b->runner, x->index);
}

/* Returns false if the batch is not one of those. */
static bool adoption_forget_running(struct remote_executor *x, int64_t first_id)
{
        for (size_t i = 0; i < x->held.len; i++)
                if (x->held.data[i] == first_id) {
                        x->held.data[i] = x->held.data[--x->held.len];
                        return true;
                }
        return false;
}

static void adoption_abandon(struct cluster_backend *b, struct remote_executor *x, int64_t first_id)
{
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.n_held_runs = 1;
        removal.held_runs = &first_id;
        if (x->state == EXECUTOR_ALIVE && !b->stopping)
                cluster_append_removal(b, x, &removal);
}

static void adoption_take_run(struct cluster_backend *b, struct remote_executor *x, const Firesteel__HeldRun *run)
{
        const struct held_batch batch = {.executor = x->index,
                                         .slot = run->slot,
                                         .first_id = run->first_task_id,
                                         .job = run->job,
                                         .signature = run->signature,
                                         .shuffle = run->shuffle,
                                         .outputs = run->outputs,
                                         .n = (int)MIN(run->n_outputs, (size_t)MAX_TASK_BATCH),
                                         .takes_core = !run->computed}; /* an ended one until its outcome has come */
        const bool valid = run->n_outputs > 0 && run->n_outputs <= MAX_TASK_BATCH && run->slot >= 0 &&
                           run->slot < x->slots && run->first_task_id >= 0;
        if (!run->ended)
                vec_push(&x->held, run->first_task_id);
        if (!valid || !job_runner_hold_run(b->runner, &batch))
                adoption_abandon(b, x, run->first_task_id);
}

void cluster_settle_run(struct scheduler_backend *backend, const struct held_batch *run, bool adopted)
{
        struct cluster_backend *b = adoption_backend(backend);
        struct remote_executor *x = executor_table_at(&b->executors, run->executor);
        if (!adopted)
                adoption_abandon(b, x, run->first_id);
        else if (adoption_forget_running(x, run->first_id))
                adoption_enable(b, x);
}

void cluster_held_runs_ended(struct cluster_backend *b, struct remote_executor *x, const int64_t *first_ids, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (!adoption_forget_running(x, first_ids[i]))
                        continue;
                job_runner_held_run_ended(b->runner, first_ids[i]);
                adoption_enable(b, x);
        }
}

void cluster_held_runs_updated(struct cluster_backend *b, struct remote_executor *x, const struct rpc_message *m)
{
        Firesteel__BlockUpdates *updates = firesteel__block_updates__unpack(&wire_guarded, m->len, m->body);
        for (size_t i = 0; updates && i < updates->n_updates; i++) {
                struct block_name name;
                if (block_name_parse(updates->updates[i]->name, &name) && name.kind == BLOCK_RDD &&
                    updates->updates[i]->storage_level && !job_runner_hold_rdd(b->runner, (int)name.id))
                        vec_push(&x->stale_rdds, (int)name.id);
                else
                        driver_transfer_update(b->transfer, x, updates->updates[i]);
        }
        firesteel__block_updates__free_unpacked(updates, NULL);
}

static void adoption_on_claim_timeout(uv_timer_t *timer)
{
        const struct cluster_backend *b = timer->data;
        job_runner_abandon_runs(b->runner);
}

void cluster_job_submitted(struct scheduler_backend *backend)
{
        struct adoption *a = &adoption_backend(backend)->adoption;
        if (a->n && !uv_is_active((uv_handle_t *)&a->timeout))
                uv_timer_start(&a->timeout, adoption_on_claim_timeout, CLAIM_TIMEOUT_MS, 0);
}

void cluster_launch_held(struct cluster_backend *b, struct remote_executor *x, struct task_batch *run)
{
        if (executor_restore_slot(x, run)) {
                task_batch_append_launch(run, &x->launches);
                executor_table_mark_dirty(&b->executors, x);
                return;
        }
        adoption_abandon(b, x, run->tasks[0].info.id);
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].state = TASK_KILLED;
                run->tasks[i].message = mem_strdup("other tasks have taken the place of the one that an earlier driver launched");
                run->tasks[i].start_ms = run->tasks[i].finish_ms = time_of_day_ms();
        }
        job_runner_post_run_done(b->runner, run);
}

void cluster_adoption_registered(struct cluster_backend *b, struct remote_executor *x,
                                 const Firesteel__Holdings *holdings)
{
        size_t outputs = 0;
        if (!holdings)
                return;
        adoption_take_key(b, holdings->io_encryption_key);
        job_runner_keep_writer(b->runner, x->index, holdings->writer);
        adoption_settle(b, adoption_find(&b->adoption, x->id));
        for (size_t i = 0; i < holdings->n_outputs; i++) {
                outputs += holdings->outputs[i]->n_task_ids;
                adoption_take_outputs(b, x->index, holdings->outputs[i]);
        }
        for (size_t i = 0; i < holdings->n_blocks; i++) {
                int rdd = driver_transfer_update(b->transfer, x, holdings->blocks[i]);
                if (rdd >= 0)
                        job_runner_hold_rdd(b->runner, rdd);
        }
        for (size_t i = 0; i < holdings->n_runs; i++)
                adoption_take_run(b, x, holdings->runs[i]);
        if (x->held.len)
                job_runner_executor_disabled(b->runner, x->index);
        log_info(LOG, "Executor %s of the earlier driver is back with %zu map outputs, %zu cached blocks, and %zu batches of "
                      "tasks, of which %zu run", x->id, outputs, holdings->n_blocks, holdings->n_runs, x->held.len);
}

bool cluster_is_adopting(struct scheduler_backend *backend)
{
        return adoption_backend(backend)->adoption.n_awaited > 0;
}

/* Before any launch that is collected: it may be for a new RDD with such a number. */
void cluster_end_adoption(struct scheduler_backend *backend, const int *rdds, int n)
{
        struct cluster_backend *b = adoption_backend(backend);
        adoption_give_up(b, "the application has gone on without it");
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.rdds = (int32_t *)rdds;
        removal.n_rdds = (size_t)n;
        removal.all_broadcasts = true;
        for (int i = 0; i < n; i++)
                driver_transfer_forget_rdd(b->transfer, rdds[i]);
        for (int i = 0; i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (!x->adopted || x->state != EXECUTOR_ALIVE || b->stopping)
                        continue;
                cluster_flush(x);
                rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__REMOVE, &removal.base, NULL);
        }
}

/* The journal decides: no executor is believed. */
void cluster_refused(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__Epoch *latest = firesteel__epoch__unpack(&wire_guarded, m->len, m->body);
        if (latest && b->epoch && latest->epoch > b->epoch)
                job_runner_check_epoch(b->runner);
        firesteel__epoch__free_unpacked(latest, NULL);
}

int cluster_ensure_secret(struct cluster_backend *b, struct fst_error *error)
{
        const struct fst_conf *conf = b->sc->conf;
        bool wanted;
        int r = conf_get_bool(conf, "spark.authenticate", &wanted, error);
        if (r || !wanted || !b->manager->class->make_secret || getenv("_SPARK_AUTH_SECRET") ||
            conf_contains(conf, "spark.authenticate.secret") || conf_contains(conf, "spark.authenticate.secret.file") ||
            conf_contains(conf, "spark.authenticate.secret.driver.file"))
                return r;
        if (job_runner_take_secret(b->runner)) /* of an earlier driver, whose executors have it */
                return 0;
        r = b->manager->class->make_secret(b->manager, error);
        if (r)
                return r;
        b->made_secret = true;
        job_runner_keep_secret(b->runner);
        return 0;
}

void cluster_backend_reserve_executor_ids(struct cluster_backend *b, int next)
{
        job_runner_reserve_executor_ids(b->runner, next);
}
