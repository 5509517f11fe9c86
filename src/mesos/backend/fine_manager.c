/*
 * See fine_manager.h. Offers go to the core, which keeps those of use; the scheduler places its tasks on them from
 * within cluster_backend_offer, and `launching` hands each to the core. Then the core answers.
 *
 * The scheduler places tasks only on executors that it knows. So an agent without one first gets a starter, a Mesos
 * task of its own with a negative number: it brings the executor up, and ends when the executor has registered. New
 * offers follow at once.
 *
 * An executor that the core gives up is shut down, since its process may live on, and a later task would go to it.
 *
 * Differs from Spark: starters; the driver sends the task itself to the executor, and gets its result from there, so
 * neither is limited by Mesos.
 */
#include "mesos/backend/fine_manager.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "exec/app/app_compiler.h"
#include "exec/slot.h"
#include "mesos/backend/executor_shortage.h"
#include "mesos/backend/mesos_application.h"
#include "mesos/backend/offer_calls.h"
#include "mesos/tasks/executor_data.h"
#include "mesos/offers/fine_offers.h"
#include "mesos/offers/offer_message.h"
#include "mesos/offers/offers_conf.h"
#include "mesos/tasks/executor_task.h"
#include "process/loop_wait.h"

#include <inttypes.h>
#include <stdio.h>

#define LOG "MesosFineGrainedSchedulerBackend"
#define NAME_TEXT 96

/* A task that goes out with the next answer. */
struct fine_launching {
        int64_t task;
        char name[NAME_TEXT];
};

struct fine_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        struct mesos_application application;
        struct fine_offers_config config;
        struct fine_offers core;
        struct executor_shortage shortage;
        struct strmap registered; /* executors that the driver knows, by agent */
        VEC(struct fine_launching) launching;
        int64_t starters; /* so far */
        int waiting;      /* tasks without a core */
        bool offering;    /* within cluster_backend_offer */
        bool performing;
};

static struct fine_manager *fine_manager_of(struct executor_manager *manager)
{
        return container_of(manager, struct fine_manager, manager);
}

/* The number of a task; INT64_MIN for other texts. */
static int64_t fine_task_number(const char *text)
{
        char *end;
        const long long id = strtoll(text, &end, 10);

        return *text && !*end ? id : INT64_MIN;
}

/* --------------------------------------------------------------------------------------------------------- actions */

static int fine_launching_compare(const void *a, const void *b)
{
        const struct fine_launching *x = a, *y = b;

        return (x->task > y->task) - (x->task < y->task);
}

/* The launching tasks are sorted by then. */
static const char *fine_name_of(const struct fine_manager *m, int64_t task)
{
        const struct fine_launching wanted = {.task = task}, *found = NULL;

        if (m->launching.len)
                found = bsearch(&wanted, m->launching.data, m->launching.len, sizeof(wanted), fine_launching_compare);
        return found ? found->name : "executor";
}

/* The master did not get the launches, because no master is connected. */
static void fine_lose_launches(struct fine_manager *m, const struct mesos_launch *launches, size_t n, const char *agent)
{
        for (size_t i = 0; i < n; i++) {
                const struct fine_update update = {.task = launches[i].task,
                                                   .state = MESOS_TASK_LOST,
                                                   .by_executor = !launches[i].starts_executor,
                                                   .not_launched = true};
                fine_offers_updated(&m->core, &update);
                cluster_backend_task_ended(m->backend, agent, launches[i].task, "the Mesos master is disconnected");
        }
}

static void fine_accept(struct fine_manager *m, const struct offer_action *action)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        const size_t n = action->accept.n_launches;
        Firesteel__Mesos__TaskInfo **tasks = arena_alloc(&arena, n * sizeof(*tasks));

        for (size_t i = 0; i < n; i++) {
                const struct mesos_launch *launch = &action->accept.launches[i];
                tasks[i] = fine_task_new(&m->application.tasks, &arena, action->accept.offers[0], launch,
                                         fine_name_of(m, launch->task), NULL, 0);
        }
        if (!offer_calls_accept(m->application.scheduler, action, tasks))
                fine_lose_launches(m, action->accept.launches, n, action->accept.offers[0]->agent);
}

static void fine_end_executor(struct fine_manager *m, const struct offer_action *action)
{
        _cleanup_free_ char *agent = mem_strdup(action->ended.agent), *reason = mem_strdup(action->ended.reason);

        log_info(LOG, "Executor on Mesos agent %s is lost: %s", agent, reason);
        executor_shortage_ended(&m->shortage, agent, reason);
        offer_calls_shutdown(m->application.scheduler, agent, agent);
        cluster_backend_executor_exited(m->backend, agent, action->ended.caused_by_app, reason);
}

static void fine_do(struct fine_manager *m, const struct offer_action *action)
{
        switch (action->kind) {
        case OFFER_ACTION_ACCEPT:
                fine_accept(m, action);
                break;
        case OFFER_ACTION_DECLINE:
                offer_calls_decline(m->application.scheduler, action);
                break;
        case OFFER_ACTION_REVIVE:
                mesos_scheduler_revive(m->application.scheduler);
                break;
        case OFFER_ACTION_EXECUTOR_ENDED:
                fine_end_executor(m, action);
                break;
        case OFFER_ACTION_LOG:
                log_write(action->log.level, LOG, "%s", action->log.line);
                break;
        default: /* the core of this mode has no others */
                break;
        }
}

static void fine_perform(struct fine_manager *m)
{
        const struct offer_action *action;

        if (m->performing || m->offering || !m->application.scheduler)
                return;
        m->performing = true;
        while ((action = fine_offers_next_action(&m->core)))
                fine_do(m, action);
        m->performing = false;
}

/* ---------------------------------------------------------------------------------------------------------- offers */

static void fine_add_launching(struct fine_manager *m, int64_t task, const char *name)
{
        struct fine_launching entry = {.task = task};

        snprintf(entry.name, sizeof(entry.name), "%s", name);
        vec_push(&m->launching, entry);
}

static void fine_add_starter(struct fine_manager *m, size_t index)
{
        const int64_t number = -++m->starters;
        char name[NAME_TEXT];

        snprintf(name, sizeof(name), "executor on %.70s", m->core.usable[index].offers[0]->hostname);
        if (!fine_offers_add_task(&m->core, index, number))
                return;
        fine_add_launching(m, number, name);
        executor_shortage_launched(&m->shortage, m->core.usable[index].offers[0]->agent, 1);
}

struct fine_task_counts {
        int64_t starters, tasks; /* that have not ended */
};

static void fine_count_one(void *context, int64_t task, const char *agent)
{
        struct fine_task_counts *counts = context;

        *(task < 0 ? &counts->starters : &counts->tasks) += 1;
}

static struct fine_task_counts fine_count(const struct fine_manager *m)
{
        struct fine_task_counts counts = {0};

        fine_offers_each(&m->core, fine_count_one, &counts);
        return counts;
}

static void fine_on_offers(struct fine_manager *m, const Firesteel__Mesos__SchedulerEvent__Offers *event)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        size_t n, known = 0;
        const struct mesos_offer *offers = mesos_offers_of(&arena, event, &n);

        m->launching.len = 0;
        executor_shortage_offered(&m->shortage, offers, n);
        fine_offers_received(&m->core, offers, n);
        const char **ids = arena_alloc(&arena, m->core.n_usable * sizeof(*ids));
        int *cores = arena_alloc(&arena, m->core.n_usable * sizeof(*cores));
        int64_t starters = m->waiting - fine_count(m).starters; /* each of these will run one or more */
        for (size_t i = 0; i < m->core.n_usable; i++) {
                const char *agent = m->core.usable[i].offers[0]->agent;
                if (strmap_get(&m->registered, agent)) {
                        ids[known] = agent;
                        cores[known++] = (int)MIN(m->core.usable[i].cores, INT32_MAX);
                } else if (!fine_offers_has_executor(&m->core, agent) && starters > 0) {
                        fine_add_starter(m, i);
                        starters--;
                }
        }
        m->offering = true;
        if (known > 0)
                cluster_backend_offer(m->backend, ids, cores, (int)known);
        m->offering = false;
        if (m->launching.len > 1)
                qsort(m->launching.data, m->launching.len, sizeof(*m->launching.data), fine_launching_compare);
        fine_offers_answer(&m->core);
        fine_perform(m);
}

static void fine_launch(struct executor_manager *manager, const char *executor_id, const struct task_batch *run)
{
        struct fine_manager *m = fine_manager_of(manager);
        const struct slot_task *task = &run->tasks[0];
        char name[NAME_TEXT];

        snprintf(name, sizeof(name), "task %d.%d in stage %d.%d (TID %" PRId64 ")", task->index, task->info.attempt,
                 task->info.stage, task->info.stage_attempt, task->info.id);
        if (m->offering && fine_offers_add_task_on(&m->core, executor_id, task->info.id))
                fine_add_launching(m, task->info.id, name);
        else
                log_warn(LOG, "No offer of agent %s has room for %s", executor_id, name);
}

static void fine_waiting(struct executor_manager *manager, int n)
{
        struct fine_manager *m = fine_manager_of(manager);
        const bool begins = m->waiting == 0 && n > 0;

        m->waiting = n;
        if (begins) {
                fine_offers_revive(&m->core);
                fine_perform(m);
        }
}

/* --------------------------------------------------------------------------------------------- events of the master */

/* Not while the master is unknown: that has its own warnings. */
static bool fine_wants_executors(void *owner)
{
        const struct fine_manager *m = owner;

        return !m->core.stopped && m->waiting > 0 && m->application.scheduler &&
               mesos_scheduler_master(m->application.scheduler);
}

static void fine_watch_shortage(struct fine_manager *m)
{
        const struct fine_offers_config *config = &m->config;
        const struct executor_shortage_options options = {
                .loop = cluster_backend_loop(m->backend),
                .conf = m->sc->conf,
                .needs = {.cpus_milli = config->executor_cores_milli + config->task_cores * 1000,
                          .memory = config->executor_memory,
                          .constraints = &config->constraints,
                          .cpus_key = "spark.mesos.mesosExecutor.cores and spark.task.cpus",
                          .memory_key = "spark.executor.memory with overhead",
                          .port_key = "spark.blockManager.port",
                          .constraints_key = "spark.mesos.constraints"},
                .driver_url = m->application.driver_url,
                .home = app_compiler_home(),
                .excludes_agents = true,
                .log_name = LOG,
                .wants_executors = fine_wants_executors,
                .owner = m};

        executor_shortage_start(&m->shortage, &options);
}

static void fine_on_subscribed(void *owner, const char *framework_id, bool again)
{
        struct fine_manager *m = owner;
        int r = mesos_application_subscribed(&m->application, framework_id);

        if (r < 0)
                fine_offers_stop(&m->core);
        else if (r > 0)
                fine_watch_shortage(m);
}

static void fine_on_disconnected(void *owner, const char *why)
{
        log_warn(LOG, "Mesos is disconnected; running tasks go on, and none is started until a master is there");
}

static void fine_on_update(struct fine_manager *m, const Firesteel__Mesos__TaskStatus *status)
{
        const bool invalid_offer =
                status->has_reason && status->reason == FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_INVALID_OFFERS;
        const int64_t number = fine_task_number(status->task_id->value);
        const struct fine_update update = {
                .task = number,
                .state = status->state,
                /* the executor of a task without an offer goes on, that of a starter does not exist */
                .by_executor = (invalid_offer && number >= 0) ||
                               (status->has_source &&
                                status->source == FIRESTEEL__MESOS__TASK_STATUS__SOURCE__SOURCE_EXECUTOR),
                .not_launched = invalid_offer,
                .message = status->message};
        const bool known = fine_offers_updated(&m->core, &update);

        log_debug(LOG, "Mesos task %s is now %s: %s", status->task_id->value, mesos_state_name(update.state),
                  status->message ? status->message : "");
        fine_perform(m);
        if (known && number >= 0 && status->agent_id && task_outcome_is_failure(task_outcome_of(update.state)) &&
            invalid_offer)
                cluster_backend_task_ended(m->backend, status->agent_id->value, number, "its offer was withdrawn");
}

static void fine_on_failure(struct fine_manager *m, const Firesteel__Mesos__SchedulerEvent__Failure *failure)
{
        _cleanup_free_ char *reason = NULL;

        if (!failure->agent_id)
                return;
        if (failure->executor_id)
                reason = mesos_application_exit(failure->status);
        fine_offers_executor_lost(&m->core, failure->agent_id->value, failure->executor_id != NULL,
                                  reason ? reason : "the Mesos agent is lost");
        fine_perform(m);
}

static void fine_on_event(void *owner, const mesos_scheduler_event *event)
{
        struct fine_manager *m = owner;

        switch (event->type) {
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS:
                fine_on_offers(m, event->offers);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UPDATE:
                fine_on_update(m, event->update->status);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__FAILURE:
                fine_on_failure(m, event->failure);
                break;
        default:
                break; /* offers are answered at once, so none that is held can be rescinded */
        }
}

static void fine_on_reconcile(void *owner)
{
        struct fine_manager *m = owner;
        offer_places places = {0};

        fine_offers_each(&m->core, offer_places_add, &places);
        offer_calls_reconcile(m->application.scheduler, &places);
}

static void fine_on_failed(void *owner, const char *message)
{
        struct fine_manager *m = owner;
        _cleanup_free_ char *reason = mesos_application_failed(&m->application, message, LOG);

        if (!reason)
                return;
        fine_offers_stop(&m->core);
        cluster_backend_abort(m->backend, reason);
}

static const struct mesos_scheduler_ops fine_ops = {
        .subscribed = fine_on_subscribed,
        .disconnected = fine_on_disconnected,
        .event = fine_on_event,
        .reconcile = fine_on_reconcile,
        .failed = fine_on_failed,
};

/* ----------------------------------------------------------------------------------------------------------- slots */

static int fine_announce(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                         char **app_id, struct fst_error *error)
{
        struct fine_manager *m = fine_manager_of(manager);

        m->backend = backend;
        return mesos_application_announce(&m->application, cluster_backend_loop(backend), &fine_ops, m, driver_url,
                                          app_id, error);
}

static int fine_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                      struct fst_error *error)
{
        return 0; /* executors start when tasks wait */
}

static bool fine_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct fine_manager *m = container_of(manager, const struct fine_manager, manager);

        return !fine_offers_has_executor(&m->core, executor_id);
}

static void fine_registered(struct executor_manager *manager, const char *executor_id)
{
        struct fine_manager *m = fine_manager_of(manager);
        const int none = 0;

        if (!strmap_get(&m->registered, executor_id))
                executor_shortage_registered(&m->shortage);
        strmap_set(&m->registered, executor_id, "");
        fine_offers_registered(&m->core, executor_id);
        cluster_backend_offer(m->backend, &executor_id, &none, 1); /* its cores come with offers only */
        fine_offers_revive(&m->core);
        fine_perform(m);
}

static void fine_forgotten(struct executor_manager *manager, const char *executor_id)
{
        struct fine_manager *m = fine_manager_of(manager);

        if (strmap_get(&m->registered, executor_id))
                executor_shortage_forgotten(&m->shortage);
        strmap_remove(&m->registered, executor_id);
}

/* The number of executors follows the tasks. */
static bool fine_request_executors(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        return true;
}

static void fine_kill(struct executor_manager *manager, const char *executor_id)
{
        struct fine_manager *m = fine_manager_of(manager);

        fine_offers_executor_lost(&m->core, executor_id, false, "the driver has killed it");
        fine_perform(m);
}

static void fine_ending(struct executor_manager *manager)
{
        fine_offers_stop(&fine_manager_of(manager)->core);
}

/* The end of the framework ends its executors, and no update follows it. */
static bool fine_stopped(struct executor_manager *manager)
{
        const struct fine_manager *m = fine_manager_of(manager);

        fine_ending(manager);
        return !m->application.scheduler || fine_count(m).tasks == 0;
}

/* Also after a failed announcement. */
static void fine_leave(struct executor_manager *manager)
{
        struct fine_manager *m = fine_manager_of(manager);

        fine_offers_stop(&m->core);
        executor_shortage_stop(&m->shortage);
        if (m->backend)
                mesos_application_end(&m->application, cluster_backend_loop(m->backend));
}

static void fine_free(struct executor_manager *manager)
{
        struct fine_manager *m = fine_manager_of(manager);

        fine_offers_deinit(&m->core);
        executor_shortage_deinit(&m->shortage);
        mesos_constraints_deinit(&m->config.constraints);
        mesos_application_deinit(&m->application);
        strmap_deinit(&m->registered);
        vec_deinit(&m->launching);
        free(m);
}

static const struct executor_manager_class fine_class = {
        .name = "mesos",
        .outlives_driver = true,
        .must_notify_shuffle_services = true,
        .announce = fine_announce,
        .start = fine_start,
        .refuses = fine_refuses,
        .registered = fine_registered,
        .launching = fine_launch,
        .waiting = fine_waiting,
        .forgotten = fine_forgotten,
        .request_executors = fine_request_executors,
        .kill = fine_kill,
        .ending = fine_ending,
        .stopped = fine_stopped,
        .leave = fine_leave,
        .stop = fine_leave,
        .free = fine_free,
};

static void fine_warn_of_allocation(const struct fst_conf *conf)
{
        bool enabled = false;

        if (conf_get_bool(conf, "spark.dynamicAllocation.enabled", &enabled, NULL) == 0 && enabled)
                log_warn(LOG,
                         "spark.dynamicAllocation.enabled=true has no effect with spark.mesos.coarse=false, where "
                         "an agent has one executor and each task takes its own cores. Set spark.mesos.coarse=true "
                         "for dynamic allocation");
}

int fine_manager_new(struct fst_context *sc, struct mesos_application *application, struct executor_manager **out,
                     struct fst_error *error)
{
        struct fine_offers_config config;
        int r = fine_offers_config_read(&config, sc->conf, error);

        if (r < 0)
                return r;
        fine_warn_of_allocation(sc->conf);
        struct fine_manager *m = new0(struct fine_manager);
        m->manager.class = &fine_class;
        m->sc = sc;
        m->config = config;
        m->application = *application;
        *application = (struct mesos_application){0};
        fine_offers_init(&m->core, &m->config);
        *out = &m->manager;
        return 0;
}
