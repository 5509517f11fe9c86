/*
 * See job_runner.h.
 *
 * The loop takes all posted messages, passes them to the scheduler, and then makes one round of offers. So a burst of
 * outcomes costs one round. Each waiting thread has a condition of its own.
 *
 * The backend (scheduler_backend.h) starts and commands executors. The loop waits in it.
 */
#include "driver/job_runner_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/accumulators.h"
#include "driver/allocation.h"
#include "driver/driver_metrics.h"
#include "driver/backend/cluster_manager.h"
#include "driver/resources/custom_resources.h"
#include "driver/local_properties.h"
#include "driver/pools.h"
#include "driver/events/scheduler_trace.h"
#include "driver/events/task_events.h"
#include "rdd/barrier_chain.h"
#include "sched/commit_coordinator.h"
#include "sched/sched_conf.h"
#include "text/json_string.h"
#include "shuffle/remote_shuffle.h"

/* ------------------------------------------------------------------------------------------ messages and waiting */

void job_runner_post(struct job_runner *r, struct runner_message message)
{
        struct runner_message *m = mem_alloc(sizeof(*m));
        *m = message;
        m->next = NULL;
        pthread_mutex_lock(&r->lock);
        *r->last = m;
        r->last = &m->next;
        pthread_mutex_unlock(&r->lock);
        r->backend->class->wake(r->backend);
}

/* Returns the job's result: 0, or a negative status with @error. */
static int job_runner_outcome(struct job_waiter *wait, struct fst_error *error)
{
        if (wait->result == JOB_SUCCEEDED)
                return 0;
        int status = wait->status ? wait->status : wait->result == JOB_CANCELLED ? -ECANCELED : -EIO;
        error_set(error, status, "%s", wait->message ? wait->message : strerror(-status));
        free(steal(wait->message));
        return status;
}

/* Wakes the waiting thread, which takes the job's action back, or calls `then`. */
static void job_waiter_finish(struct job_runner *r, struct job_waiter *wait)
{
        if (wait->announces_end)
                task_events_job_ended(r->events, wait->job_id, wait->message);
        if (wait->then) {
                struct fst_error error = FST_ERROR_INIT;
                wait->then(wait->owner, job_runner_outcome(wait, &error), &error);
                error_deinit(&error);
                strmap_deinit(&wait->properties);
                free(wait);
                return;
        }
        pthread_mutex_lock(&r->lock);
        wait->ended = true;
        pthread_cond_signal(&wait->done);
        pthread_mutex_unlock(&r->lock);
}

/* On the thread that delivers. @failure, which becomes the job's, says that updates were refused. */
static void job_waiter_delivered(void *owner, char *failure)
{
        struct job_waiter *wait = owner;
        if (failure && wait->result == JOB_SUCCEEDED) {
                wait->result = JOB_FAILED;
                wait->message = mem_printf("Job aborted: %s", failure);
        }
        free(failure);
        job_runner_post(wait->runner, (struct runner_message){.kind = MESSAGE_DELIVERED, .job = wait});
}

void job_runner_end_wait(struct job_runner *r, struct job_waiter *wait)
{
        wait->runner = r;
        if (!accumulators_await(r->sc->accumulators, wait->job_id, job_waiter_delivered, wait))
                job_waiter_finish(r, wait);
}

void job_runner_post_run_done(struct job_runner *r, struct task_batch *run)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_RUN_DONE, .run = run});
}

static bool job_runner_group_is_cancelled(const struct job_runner *r, const char *group)
{
        for (size_t i = 0; i < r->cancelled_groups.len; i++)
                if (strcmp(r->cancelled_groups.data[i], group) == 0)
                        return true;
        return false;
}

static int job_runner_refuse(struct job_runner *r, const struct job_request *request, const struct strmap *properties,
                             struct fst_error *error)
{
        if (r->stopping)
                return error_set(error, -ESHUTDOWN, "%s", r->abort_reason ? r->abort_reason : "the context is stopped");
        const char *group = strmap_get(properties, "spark.jobGroup.id");
        if (group && job_runner_group_is_cancelled(r, group))
                return error_set(error, -ECANCELED, "Job cancelled part of cancelled job group %s", group);
        const char *refusal = barrier_chain_refusal(request->rdd, request->n, r->allocation != NULL);
        return refusal ? error_set(error, -EINVAL, "%s", refusal) : 0;
}

void job_runner_barrier_request(struct job_runner *r, const void *request, size_t len,
                                const struct barrier_requester *asker)
{
        barrier_sync_request(r->barriers, request, len, asker, now_ns());
}

/* A request of a task in this process, on its thread. */
static int barrier_request_from_thread(void *owner, const uint8_t *request, size_t len, const int *stopped,
                                       uint8_t **answer, size_t *answer_len, struct fst_error *error)
{
        struct runner_message m = {.kind = MESSAGE_BARRIER};
        struct barrier_waiter *wait = barrier_waiter_new(&m.asker);
        if (len)
                buf_append(&m.request, request, len);
        job_runner_post(owner, m);
        return barrier_waiter_wait(wait, stopped, answer, answer_len, error);
}

static void job_runner_submit_message(struct job_runner *r, struct job_waiter *wait)
{
        struct fst_error error = FST_ERROR_INIT;
        const char *call = strmap_get(&wait->properties, "callSite.short");
        struct job_spec spec = {
                .final = &wait->request->rdd->lineage,
                .partitions = wait->request->partitions,
                .n_partitions = wait->request->n,
                .call_site = call ? call : wait->request->call_site,
                .properties = &wait->properties,
                .user = wait,
        };
        int id = job_runner_refuse(r, wait->request, &wait->properties, &error);
        if (id == 0)
                id = resume_job_submit(r->sc->resume, wait->request, &wait->resume, &error);
        if (id == 0)
                resume_use_holdings(r->sc->resume, wait->request, &wait->resume, r->backend);
        spec.done = wait->resume.done;
        spec.stored = wait->resume.stored;
        spec.n_stored = wait->resume.n_stored;
        const struct resume_job launched = wait->resume; /* the application goes on, without @wait, once the job has ended */
        if (id == 0)
                id = sched_submit_job(r->sched, &spec, now_ns(), &error);
        const struct job *job = id >= 0 ? sched_job(r->sched, id) : NULL;
        if (job && !job->ended && wait->resume_status)
                sched_cancel_job(r->sched, id, NULL, now_ns());
        resume_job_launched(r->sc->resume, &launched, job, r);
        if (id >= 0)
                return;
        resume_job_ended(r->sc->resume, &wait->resume, false);
        wait->result = JOB_FAILED;
        wait->message = error.message ? steal(error.message) : NULL;
        wait->status = id;
        job_runner_end_wait(r, wait);
}

/* Spark: DAGScheduler.cancelledJobGroups. */
static void job_runner_remember_group(struct job_runner *r, const char *group)
{
        struct string_list *list = &r->cancelled_groups;
        if (job_runner_group_is_cancelled(r, group) || r->max_cancelled_groups <= 0)
                return;
        if (list->len == (size_t)r->max_cancelled_groups) {
                free(list->data[0]);
                memmove(&list->data[0], &list->data[1], (list->len - 1) * sizeof(*list->data));
                list->len--;
        }
        string_list_add(list, group);
}

/* Jobs wait until the executors of an earlier driver are back with what they hold. */
static bool job_runner_is_adopting(const struct job_runner *r)
{
        return r->backend->class->is_adopting && r->backend->class->is_adopting(r->backend);
}

static void job_runner_submit_held(struct job_runner *r)
{
        if (!r->held.len || (job_runner_is_adopting(r) && !r->stopping))
                return;
        for (size_t i = 0; i < r->held.len; i++)
                job_runner_submit_message(r, r->held.data[i]);
        r->held.len = 0;
}

static void job_runner_receive(struct job_runner *r, struct runner_message *m)
{
        switch (m->kind) {
        case MESSAGE_SUBMIT:
                if (job_runner_is_adopting(r) && !r->stopping)
                        vec_push(&r->held, m->job);
                else
                        job_runner_submit_message(r, m->job);
                break;
        case MESSAGE_RUN_DONE:
                job_runner_run_done(r, m->run);
                break;
        case MESSAGE_CANCEL:
                if (m->tag)
                        sched_cancel_tag(r->sched, m->tag, NULL, now_ns());
                else if (m->group && m->for_good)
                        job_runner_remember_group(r, m->group);
                if (!m->tag && m->group)
                        sched_cancel_group(r->sched, m->group, NULL, now_ns());
                else if (!m->tag)
                        sched_cancel_all(r->sched, now_ns());
                free(m->group);
                free(m->tag);
                break;
        case MESSAGE_CANCEL_JOB:
                sched_cancel_job(r->sched, m->job_id_slot ? __atomic_load_n(m->job_id_slot, __ATOMIC_RELAXED) : m->id,
                                 NULL, now_ns());
                break;
        case MESSAGE_CANCEL_STAGE:
                sched_cancel_stage(r->sched, m->id, NULL, now_ns());
                break;
        case MESSAGE_BARRIER:
                barrier_sync_request(r->barriers, (const uint8_t *)m->request.data, m->request.len, &m->asker,
                                     now_ns());
                buf_deinit(&m->request);
                break;
        case MESSAGE_CALL:
                m->call->call(m->call->owner, r->backend, r->allocation != NULL);
                pthread_mutex_lock(&r->lock);
                m->call->ended = true;
                pthread_cond_signal(&m->call->done);
                pthread_mutex_unlock(&r->lock);
                break;
        case MESSAGE_DELIVERED:
                job_waiter_finish(r, m->job);
                break;
        case MESSAGE_JOURNALED:
                commit_replies_send(&r->commit_replies, m->position);
                break;
        case MESSAGE_QUIT:
                r->quitting = true;
                __attribute__((fallthrough));
        case MESSAGE_STOP:
                r->stopping = true;
                sched_cancel_all(r->sched, now_ns());
                break;
        }
        free(m);
}

/* Wait for messages, or until the scheduler's deadline. */
static struct runner_message *job_runner_take_messages(struct job_runner *r)
{
        int64_t deadline = sched_deadline(r->sched), enough = registered_resources_deadline(&r->registered);
        deadline = MIN(deadline, barrier_sync_deadline(r->barriers));
        deadline = MIN(deadline, r->starvation.next);
        if (!r->stopping)
                deadline = MIN(deadline, allocation_deadline(r->allocation));
        r->backend->class->wait(r->backend, MIN(deadline, enough));
        pthread_mutex_lock(&r->lock);
        struct runner_message *all = r->first;
        r->first = NULL;
        r->last = &r->first;
        pthread_mutex_unlock(&r->lock);
        return all;
}

static bool job_runner_enough_registered(struct job_runner *r, int64_t now)
{
        double ratio;
        if (r->registered.ready)
                return true;
        return registered_resources_ready(&r->registered, r->cores,
                                          r->backend->class->expected_cores(r->backend, &ratio), now);
}

void job_runner_offer(struct job_runner *r, const int *executors, const int *cores, int n)
{
        int64_t now = now_ns();
        for (int i = 0; i < n; i++)
                sched_lend_cores(r->sched, executors[i], cores[i]);
        if (!r->stopping && job_runner_enough_registered(r, now))
                sched_revive(r->sched, now);
        for (int i = 0; i < n; i++)
                sched_lend_cores(r->sched, executors[i], 0);
}

int job_runner_waiting_tasks(const struct job_runner *r)
{
        struct sched_demand demand = sched_demand(r->sched, -1);
        return r->stopping ? 0 : demand.pending + demand.speculative;
}

/* Kill the executors that the scheduler excludes. Their loss may be the scheduler's next event. */
static void job_runner_kill_executors(struct job_runner *r)
{
        for (struct executor_kill kill; sched_next_kill(r->sched, &kill);) {
                if (r->backend->class->kill_executor)
                        r->backend->class->kill_executor(r->backend, kill.executor, kill.decommission, kill.reason);
                free(kill.reason);
        }
}

static void job_runner_publish_counts(const struct job_runner *r)
{
        const struct sched_stages stages = sched_count_stages(r->sched);
        struct scheduler_counts counts = {.waiting_stages = stages.waiting, .failed_stages = stages.failed};
        allocation_count(r->allocation, &counts);
        driver_metrics_set_scheduler(r->sc->metrics, &counts);
}

static void *job_runner_main(void *arg)
{
        struct job_runner *r = arg;
        pthread_setname_np(pthread_self(), "dag-scheduler");
        log_set_context(r->sc->app_id, -1, -1);
        while (!r->quitting || !r->backend->class->idle(r->backend)) {
                struct runner_message *m = job_runner_take_messages(r);
                while (m) {
                        struct runner_message *next = m->next;
                        int64_t began = now_ns();
                        bool is_run = m->kind == MESSAGE_RUN_DONE;
                        job_runner_receive(r, m);
                        if (!is_run) /* job_runner_run_done counts itself */
                                driver_metrics_message_done(r->sc->metrics, began);
                        m = next;
                }
                commit_replies_request(&r->commit_replies, r->sc->resume);
                job_runner_submit_held(r);
                int64_t now = now_ns();
                if (sched_deadline(r->sched) <= now)
                        sched_tick(r->sched, now);
                if (barrier_sync_deadline(r->barriers) <= now)
                        barrier_sync_tick(r->barriers, now);
                job_runner_kill_executors(r);
                if (!r->stopping && job_runner_enough_registered(r, now))
                        sched_revive(r->sched, now);
                if (!r->stopping && allocation_deadline(r->allocation) <= now)
                        allocation_tick(r->allocation, now);
                if (r->starvation.next <= now)
                        starvation_tick(&r->starvation, now);
                job_runner_publish_counts(r);
        }
        return NULL;
}

/* ------------------------------------------------------------------------------------------- start, end and jobs */

static int job_runner_read_config(struct fst_context *sc, struct sched_config *config, struct pool_file *pools,
                                  struct fst_error *error)
{
        _cleanup_free_ char *file = NULL;
        int e;
        if ((e = sched_config_read(sc->conf, config, error)) ||
            (e = conf_get_string(sc->conf, "spark.scheduler.allocation.file", &file, error)))
                return e;
        int cores = context_cores_of_one(sc);
        if (!sc->manager->in_process &&
            (e = conf_get_bool(sc->conf, "spark.shuffle.service.enabled", &config->outputs_outlive_executors, error)))
                return e;
        if (sc->manager->in_process)
                config->max_failures = sc->master.max_failures;
        if (config->task_cpus > cores)
                return error_set(
                        error, -EINVAL,
                        "spark.task.cpus is %d, but %s %d cores: no task could ever run; make it at most that, or ask for more "
                        "cores",
                        config->task_cpus, sc->manager->in_process ? "the master has" : "an executor has", cores);
        if ((e = custom_resources_check(sc->conf, config, sc->manager->in_process, error)))
                return e;
        if (config->mode == SCHEDULING_FIFO)
                return 0;
        if ((e = pools_read(file, pools, error)))
                return e;
        config->pools = pools->pools;
        config->n_pools = pools->n_pools;
        return 0;
}

static int job_runner_wait_for_registration(struct job_runner *r, struct fst_error *error)
{
        const struct fst_conf *conf = r->sc->conf;
        double ratio = 0;
        int64_t waiting_ms, starvation_ms;
        int e = 0;
        if (r->backend->class->expected_cores)
                r->backend->class->expected_cores(r->backend, &ratio);
        if (conf_contains(conf, "spark.scheduler.minRegisteredResourcesRatio"))
                e = conf_get_double(conf, "spark.scheduler.minRegisteredResourcesRatio", &ratio, error);
        if (e == 0)
                e = conf_get_ms(conf, "spark.scheduler.maxRegisteredResourcesWaitingTime", &waiting_ms, error);
        if (e == 0)
                e = conf_get_ms(conf, "spark.starvation.timeout", &starvation_ms, error);
        if (e)
                return e;
        starvation_init(&r->starvation, MAX(starvation_ms, 1) * 1000000);
        if (!r->backend->class->expected_cores)
                ratio = 0;
        registered_resources_init(&r->registered, ratio, waiting_ms * 1000000, now_ns());
        return 0;
}

int job_runner_new(struct fst_context *sc, struct scheduler_backend *backend, struct job_runner **runner,
                   struct fst_error *error)
{
        struct job_runner *r = new0(struct job_runner);
        _cleanup_(sched_config_deinit) struct sched_config config = SCHED_CONFIG_DEFAULT;
        _cleanup_(pool_file_deinit) struct pool_file pools = POOL_FILE_INIT;
        r->sc = sc;
        r->backend = backend;
        r->commits = commit_coordinator_new();
        r->last = &r->first;
        pthread_mutex_init(&r->lock, NULL);

        int64_t groups = 0;
        int e = job_runner_read_config(sc, &config, &pools, error);
        if (e == 0)
                e = conf_get_int(sc->conf, "spark.scheduler.numCancelledJobGroupsToTrack", &groups, error);
        r->max_cancelled_groups = (int)MIN(MAX(groups, (int64_t)0), (int64_t)INT32_MAX);
        if (e == 0)
                e = allocation_new(sc, backend, &r->allocation, error);
        if (e) {
                job_runner_free(r);
                return e;
        }
        config.first_task_id = resume_first_task_id(sc->resume);
        config.dynamic_allocation = r->allocation != NULL;
        config.lends_cores = backend->class->lends_cores && backend->class->lends_cores(backend);
        r->sched = sched_new(&config, &scheduler_ops, r);
        if ((e = scheduler_trace_start(r->sched, sc->conf, error))) {
                job_runner_free(r);
                return e;
        }
        r->events = task_events_new(sc);
        sc->env.barrier = barrier_request_from_thread;
        sc->env.barrier_owner = r;
        if ((e = barrier_sync_new(sc->conf, &r->barriers, error)) == 0)
                e = job_runner_wait_for_registration(r, error);
        allocation_start(r->allocation);
        if (e == 0)
                e = backend->class->start(backend, r, error);
        if (e == 0 && (e = -pthread_create(&r->thread, NULL, job_runner_main, r)))
                error_set(error, e, "cannot start the scheduler's thread: %s", strerror(-e));
        if (e) {
                r->thread = 0;
                job_runner_free(r);
                return e;
        }
        *runner = r;
        return 0;
}

void job_runner_stop(struct job_runner *r)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_STOP});
}

void job_runner_free(struct job_runner *r)
{
        if (!r)
                return;
        if (r->thread) {
                job_runner_post(r, (struct runner_message){.kind = MESSAGE_QUIT});
                pthread_join(r->thread, NULL);
                resume_sync(r->sc->resume); /* later, it calls job_runner_journaled no more */
        }
        commit_replies_deinit(&r->commit_replies);
        accumulators_stop(r->sc->accumulators);                         /* it may post messages */
        for (struct runner_message *m = r->first, *next; m; m = next) { /* posted in the thread's last iteration */
                next = m->next;
                if ((m->kind == MESSAGE_SUBMIT || m->kind == MESSAGE_DELIVERED) && m->job->then) {
                        strmap_deinit(&m->job->properties);
                        free(m->job->message);
                        free(m->job);
                }
                buf_deinit(&m->request);
                free(m->group);
                free(m->tag);
                free(m);
        }
        if (r->sched)
                sched_free(steal(r->sched));
        string_list_deinit(&r->cancelled_groups);
        vec_deinit(&r->held);
        barrier_sync_free(r->barriers);
        r->backend->class->free(r->backend);
        task_events_free(r->events);
        allocation_free(r->allocation);
        commit_coordinator_free(r->commits);
        free(r->abort_reason);
        task_batches_deinit(&r->batches);
        pthread_mutex_destroy(&r->lock);
        free(r);
}

/* Whether Spark runs the jobs of @action outside of a scope. */
static bool job_has_no_scope(const char *action)
{
        static const char *const without[] = {"count", "runJob", "toLocalIterator", "run_job", "to_local_iterator"};
        for (size_t i = 0; i < ARRAY_SIZE(without); i++)
                if (strcmp(action, without[i]) == 0)
                        return true;
        return false;
}

/*
 * Sets the properties that most of Spark's actions set: the scope of the RDDs that they create. Spark numbers its
 * scopes. Here the id has the RDD on which the action runs.
 */
static void job_waiter_set_scope(struct job_waiter *wait)
{
        const char *name = wait->request->scope;
        if (!name || job_has_no_scope(name))
                return;
        _cleanup_(buf_deinit) struct buf scope = BUF_INIT, id = BUF_INIT;
        buf_printf(&id, "%d.%s", wait->request->rdd->lineage.id, name);
        buf_puts(&scope, "{\"id\":");
        json_put_string(&scope, buf_text(&id));
        buf_puts(&scope, ",\"name\":");
        json_put_string(&scope, name);
        buf_puts(&scope, "}");
        strmap_set(&wait->properties, "spark.rdd.scope", buf_text(&scope));
        strmap_set(&wait->properties, "spark.rdd.scope.noOverride", "true");
}

int job_runner_run(struct job_runner *r, const struct job_request *request, struct fst_error *error)
{
        struct job_waiter wait = {.request = request, .job_id = -1};
        struct strmap *local = local_properties(r->sc, false);
        if (local)
                strmap_merge(&wait.properties, local);
        job_waiter_set_scope(&wait);
        resume_job_prepare(r->sc->resume, request, &wait.resume);
        pthread_cond_init(&wait.done, NULL);
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_SUBMIT, .job = &wait});
        pthread_mutex_lock(&r->lock);
        while (!wait.ended)
                pthread_cond_wait(&wait.done, &r->lock);
        pthread_mutex_unlock(&r->lock);
        pthread_cond_destroy(&wait.done);
        strmap_deinit(&wait.properties);
        resume_sync(r->sc->resume);
        return job_runner_outcome(&wait, error);
}

void job_runner_submit(struct job_runner *r, const struct job_request *request, const struct strmap *properties,
                       void (*ended)(void *owner, int status, struct fst_error *error), void *owner)
{
        struct job_waiter *wait = new0(struct job_waiter);
        *wait = (struct job_waiter){.request = request, .job_id = -1, .then = ended, .owner = owner};
        strmap_merge(&wait->properties, properties);
        job_waiter_set_scope(wait);
        resume_job_prepare(r->sc->resume, request, &wait->resume);
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_SUBMIT, .job = wait});
}

void job_runner_cancel_submitted(struct job_runner *r, const int *job)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CANCEL_JOB, .job_id_slot = job});
}

void job_runner_cancel_job(struct job_runner *r, int job)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CANCEL_JOB, .id = job});
}

void job_runner_cancel_stage(struct job_runner *r, int stage)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CANCEL_STAGE, .id = stage});
}

void job_runner_call(struct job_runner *r, void (*call)(void *owner, struct scheduler_backend *backend, bool allocates),
                     void *owner)
{
        struct call_wait wait = {.call = call, .owner = owner};
        pthread_cond_init(&wait.done, NULL);
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CALL, .call = &wait});
        pthread_mutex_lock(&r->lock);
        while (!wait.ended)
                pthread_cond_wait(&wait.done, &r->lock);
        pthread_mutex_unlock(&r->lock);
        pthread_cond_destroy(&wait.done);
}

struct shuffle_removal {
        struct job_runner *runner;
        const int *shuffles;
        int n;
};

static void shuffle_removal_run(void *owner, struct scheduler_backend *backend, bool allocates)
{
        const struct shuffle_removal *removal = owner;
        removal->runner->removes_shuffles = true;
        for (int i = 0; i < removal->n; i++) {
                sched_unregister_shuffle(removal->runner->sched, removal->shuffles[i]);
                allocation_shuffle_removed(removal->runner->allocation, removal->shuffles[i]);
                resume_shuffle_removed(removal->runner->sc->resume, removal->shuffles[i]);
                struct remote_shuffle_driver *remote = removal->runner->sc->remote_shuffle;
                if (remote)
                        remote->class->remove_shuffle(remote, removal->shuffles[i]);
        }
        removal->runner->removes_shuffles = false;
}

void job_runner_remove_shuffles(struct job_runner *r, const int *shuffles, int n)
{
        struct shuffle_removal removal = {r, shuffles, n};
        job_runner_call(r, shuffle_removal_run, &removal);
}

void job_runner_cancel(struct job_runner *r, const char *group)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CANCEL, .group = group ? mem_strdup(group) : NULL});
}

void job_runner_cancel_for_good(struct job_runner *r, const char *group)
{
        job_runner_post(r,
                        (struct runner_message){.kind = MESSAGE_CANCEL, .group = mem_strdup(group), .for_good = true});
}

void job_runner_journaled(struct job_runner *r, uint64_t position)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_JOURNALED, .position = position});
}

void job_runner_cancel_tag(struct job_runner *r, const char *tag)
{
        job_runner_post(r, (struct runner_message){.kind = MESSAGE_CANCEL, .tag = mem_strdup(tag)});
}
