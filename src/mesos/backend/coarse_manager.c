/*
 * See coarse_manager.h. Events of the master go to the core, and its actions become calls of the master and reports to
 * the cluster backend. `coarse_perform` takes all actions after each event. Reports may call slots of this manager,
 * which pass their wishes to the core; the loop that is running takes the new actions, too.
 *
 * Executors are launched as soon as the framework is registered, before `start`: the driver's endpoint is there.
 */
#include "mesos/backend/coarse_manager.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "driver/resume/resume.h"
#include "exec/app/app_compiler.h"
#include "mesos/backend/executor_shortage.h"
#include "mesos/backend/mesos_application.h"
#include "mesos/backend/offer_calls.h"
#include "mesos/offers/coarse_offers.h"
#include "mesos/offers/offer_message.h"
#include "mesos/offers/offers_conf.h"
#include "mesos/tasks/executor_task.h"
#include "process/loop_wait.h"
#include "sched/allocation/executor_allocation.h"

#include <inttypes.h>
#include <stdio.h>

#define LOG "MesosCoarseGrainedSchedulerBackend"
#define ID_TEXT 24

struct coarse_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        struct mesos_application application;
        struct coarse_offers_config config;
        struct coarse_offers core;
        struct executor_shortage shortage;
        int64_t shutdown_timeout_ms;
        bool resuming; /* the framework of an earlier driver */
        bool performing;
        bool ended; /* the framework has ended, by the master or by this driver */
};

static struct coarse_manager *coarse_manager_of(struct executor_manager *manager)
{
        return container_of(manager, struct coarse_manager, manager);
}

/* Executor ids are the task ids that the core counts; -1 for other texts. */
static int64_t executor_number(const char *text)
{
        char *end;
        const long long id = strtoll(text, &end, 10);

        return *text >= '0' && *text <= '9' && !*end ? id : -1;
}

static const char *executor_text(int64_t executor, char text[static ID_TEXT])
{
        snprintf(text, ID_TEXT, "%" PRId64, executor);
        return text;
}

/* --------------------------------------------------------------------------------------------------------- actions */

/* The master did not get the launches, because no master is connected. */
static void coarse_lose_launches(struct coarse_manager *m, const struct mesos_launch *launches, size_t n,
                                 const char *agent)
{
        for (size_t i = 0; i < n; i++)
                coarse_offers_updated(&m->core, &(struct coarse_update){.executor = launches[i].task,
                                                                        .agent = agent,
                                                                        .state = MESOS_TASK_LOST,
                                                                        .invalid_offer = true,
                                                                        .message = "The master is disconnected"});
}

static void coarse_accept(struct coarse_manager *m, const struct offer_action *action)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        const struct mesos_offer *offer = action->accept.offers[0];
        const size_t n = action->accept.n_launches;
        Firesteel__Mesos__TaskInfo **tasks = arena_alloc(&arena, n * sizeof(*tasks));

        for (size_t i = 0; i < n; i++)
                tasks[i] = executor_task_new(&m->application.tasks, &arena, offer, &action->accept.launches[i]);
        executor_shortage_launched(&m->shortage, offer->agent, n);
        if (!offer_calls_accept(m->application.scheduler, action, tasks))
                coarse_lose_launches(m, action->accept.launches, n, offer->agent);
}

static void coarse_do(struct coarse_manager *m, const struct offer_action *action)
{
        struct mesos_scheduler *scheduler = m->application.scheduler;
        char id[ID_TEXT];

        switch (action->kind) {
        case OFFER_ACTION_ACCEPT:
                coarse_accept(m, action);
                break;
        case OFFER_ACTION_DECLINE:
                offer_calls_decline(scheduler, action);
                break;
        case OFFER_ACTION_REVIVE:
                mesos_scheduler_revive(scheduler);
                break;
        case OFFER_ACTION_SUPPRESS:
                mesos_scheduler_suppress(scheduler);
                break;
        case OFFER_ACTION_KILL:
                mesos_scheduler_kill(scheduler, executor_text(action->kill.task, id),
                                     *action->kill.agent ? action->kill.agent : NULL);
                break;
        case OFFER_ACTION_EXECUTOR_ENDED:
                executor_shortage_ended(&m->shortage, action->ended.agent, action->ended.reason);
                cluster_backend_executor_exited(m->backend, executor_text(action->ended.executor, id),
                                                action->ended.caused_by_app, action->ended.reason);
                break;
        case OFFER_ACTION_SHUFFLE_SERVICE:
                break; /* the driver reports its end to the services on executors' hosts (must_notify_…) */
        case OFFER_ACTION_LOG:
                log_write(action->log.level, LOG, "%s", action->log.line);
                break;
        }
}

/* Takes the core's actions, also those that they bring about. */
static void coarse_perform(struct coarse_manager *m)
{
        const struct offer_action *action;

        if (m->performing || !m->application.scheduler)
                return;
        m->performing = true;
        while ((action = coarse_offers_next_action(&m->core)))
                coarse_do(m, action);
        m->performing = false;
}

/* ---------------------------------------------------------------------------------------------- events of the master
 */

/* Not while the master is unknown: that has its own warnings. */
static bool coarse_wants_executors(void *owner)
{
        const struct coarse_manager *m = owner;

        return !m->core.stopped && m->core.limit != 0 && m->application.scheduler &&
               mesos_scheduler_master(m->application.scheduler);
}

static void coarse_watch_shortage(struct coarse_manager *m)
{
        const struct coarse_offers_config *config = &m->config;
        const struct executor_shortage_options options = {
                .loop = cluster_backend_loop(m->backend),
                .conf = m->sc->conf,
                .needs = {.cpus_milli = MAX(config->executor_cores, 1) * 1000,
                          .memory = config->executor_memory,
                          .port = config->port,
                          .constraints = &config->constraints,
                          .cpus_key = config->executor_cores ? "spark.executor.cores" : "an executor",
                          .memory_key = "spark.executor.memory with overhead",
                          .port_key = "spark.blockManager.port",
                          .constraints_key = "spark.mesos.constraints"},
                .driver_url = m->application.driver_url,
                .home = app_compiler_home(),
                .log_name = LOG,
                .excludes_agents = true,
                .wants_executors = coarse_wants_executors,
                .owner = m};

        executor_shortage_start(&m->shortage, &options);
}

static void coarse_on_reconcile(void *owner)
{
        struct coarse_manager *m = owner;
        offer_places places = {0};

        coarse_offers_each(&m->core, offer_places_add, &places);
        offer_calls_reconcile(m->application.scheduler, &places);
}

static void coarse_on_subscribed(void *owner, const char *framework_id, bool again)
{
        struct coarse_manager *m = owner;
        int r = mesos_application_subscribed(&m->application, framework_id);

        if (r < 0)
                coarse_offers_stop(&m->core);
        else if (r > 0)
                coarse_watch_shortage(m);
        if (m->resuming && r > 0)
                coarse_on_reconcile(m);
        coarse_offers_subscribed(&m->core);
        coarse_perform(m);
}

static void coarse_on_disconnected(void *owner, const char *why)
{
        log_warn(LOG, "Mesos is disconnected; executors go on, and none is started until a master is there");
}

static void coarse_on_offers(struct coarse_manager *m, const Firesteel__Mesos__SchedulerEvent__Offers *event)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        size_t n;
        const struct mesos_offer *offers = mesos_offers_of(&arena, event, &n);

        executor_shortage_offered(&m->shortage, offers, n);
        coarse_offers_received(&m->core, offers, n, now_ns());
        coarse_perform(m);
}

static void coarse_on_update(struct coarse_manager *m, const Firesteel__Mesos__TaskStatus *status)
{
        const struct coarse_update update = {
                .executor = executor_number(status->task_id->value),
                .agent = status->agent_id ? status->agent_id->value : "",
                .state = status->state,
                .invalid_offer = status->has_reason &&
                                 status->reason == FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_INVALID_OFFERS,
                .message = status->message};

        if (status->message && *status->message)
                log_info(LOG, "Mesos task %s: %s (%s)", status->task_id->value, status->message,
                         status->has_reason ? mesos_reason_name(status->reason) : mesos_state_name(update.state));
        coarse_offers_updated(&m->core, &update);
        coarse_perform(m);
}

static void coarse_on_failure(const Firesteel__Mesos__SchedulerEvent__Failure *failure)
{
        const char *agent = failure->agent_id ? failure->agent_id->value : "unknown";

        if (!failure->executor_id) {
                log_info(LOG, "Mesos agent %s is lost", agent);
                return;
        }
        _cleanup_free_ char *end = mesos_application_exit(failure->status);
        log_info(LOG, "Task %s on agent %s: %s", failure->executor_id->value, agent, end);
}

static void coarse_on_event(void *owner, const mesos_scheduler_event *event)
{
        struct coarse_manager *m = owner;

        switch (event->type) {
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS:
                coarse_on_offers(m, event->offers);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UPDATE:
                coarse_on_update(m, event->update->status);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__FAILURE:
                coarse_on_failure(event->failure);
                break;
        default:
                break; /* offers are answered at once, so none that is held can be rescinded */
        }
}

static const struct mesos_scheduler_ops coarse_ops;

/* The master has ended the framework of the earlier driver, with its executors: this driver has a new one. */
static int coarse_begin_anew(struct coarse_manager *m, const char *why)
{
        log_warn(LOG, "The framework of the earlier driver cannot go on, and its executors have ended: %s", why);
        m->resuming = false;
        coarse_offers_deinit(&m->core);
        coarse_offers_init(&m->core, &m->config);
        return mesos_application_announce_anew(&m->application, cluster_backend_loop(m->backend), &coarse_ops, m);
}

static void coarse_on_failed(void *owner, const char *message)
{
        struct coarse_manager *m = owner;

        if (m->application.announcing && m->resuming && coarse_begin_anew(m, message) == 0)
                return;
        _cleanup_free_ char *reason = mesos_application_failed(&m->application, message, LOG);
        m->ended = true;
        if (!reason)
                return;
        coarse_offers_stop(&m->core);
        cluster_backend_abort(m->backend, reason);
}

static const struct mesos_scheduler_ops coarse_ops = {
        .subscribed = coarse_on_subscribed,
        .disconnected = coarse_on_disconnected,
        .event = coarse_on_event,
        .reconcile = coarse_on_reconcile,
        .failed = coarse_on_failed,
};

/* ----------------------------------------------------------------------------------------------------------- slots */

/* Before the first offers, which come with the registration. */
static void coarse_expect_executors(struct coarse_manager *m)
{
        const struct driver_epoch epoch = resume_driver_epoch(m->sc->resume);
        struct coarse_adopted *adopted = new_array(struct coarse_adopted, (size_t)epoch.n_earlier);
        size_t n = 0;

        for (int i = 0; i < epoch.n_earlier; i++)
                if (executor_number(epoch.earlier[i].id) >= 0)
                        adopted[n++] = (struct coarse_adopted){.executor = executor_number(epoch.earlier[i].id),
                                                               .cores = epoch.earlier[i].cores,
                                                               .host = epoch.earlier[i].host};
        coarse_offers_adopt(&m->core, adopted, n, epoch.next_executor_id);
        free(adopted);
}

/* The core has those that run, since the framework was announced. */
static void coarse_adopt(struct executor_manager *manager, struct cluster_backend *backend,
                         const struct earlier_executor *executors, int n, int next_id)
{
        const struct coarse_manager *m = coarse_manager_of(manager);

        for (int i = 0; i < n; i++)
                if (!coarse_offers_knows(&m->core, executor_number(executors[i].id)))
                        cluster_backend_executor_exited(backend, executors[i].id, false,
                                                        "It has ended with its driver");
}

static int coarse_announce(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                           char **app_id, struct fst_error *error)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        m->backend = backend;
        int r = mesos_application_outlive(&m->application, &m->resuming, error);
        if (r < 0)
                return r;
        if (m->resuming)
                coarse_expect_executors(m);
        return mesos_application_announce(&m->application, cluster_backend_loop(backend), &coarse_ops, m, driver_url,
                                          app_id, error);
}

static int coarse_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                        struct fst_error *error)
{
        return 0; /* executors are launched since the registration */
}

static bool coarse_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct coarse_manager *m = container_of(manager, const struct coarse_manager, manager);

        return !coarse_offers_knows(&m->core, executor_number(executor_id));
}

static void coarse_registered(struct executor_manager *manager, const char *executor_id)
{
        executor_shortage_registered(&coarse_manager_of(manager)->shortage);
}

static void coarse_forgotten(struct executor_manager *manager, const char *executor_id)
{
        executor_shortage_forgotten(&coarse_manager_of(manager)->shortage);
}

static void coarse_decommissioned(struct executor_manager *manager, const char *executor_id)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_expect_end(&m->core, executor_number(executor_id));
}

/* Spark 3.5 knows only the default resource profile on Mesos. */
static bool coarse_request_executors(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        for (int i = 0; i < n; i++) {
                const struct executor_request *from = &requests[i];
                if (from->profile != 0)
                        continue;
                _cleanup_free_ const char **hosts = new_array(const char *, (size_t)from->n_hosts);
                for (int k = 0; k < from->n_hosts; k++)
                        hosts[k] = from->hosts[k].host;
                coarse_offers_set_limit(&m->core, from->target, hosts, (size_t)from->n_hosts, now_ns());
        }
        coarse_perform(m);
        return true;
}

static void coarse_set_excluded_hosts(struct executor_manager *manager, const char *const *hosts, size_t n)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_set_excluded(&m->core, hosts, n);
        coarse_perform(m);
}

static void coarse_kill(struct executor_manager *manager, const char *executor_id)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_kill(&m->core, executor_number(executor_id));
        coarse_perform(m);
}

static int64_t coarse_expected_cores(const struct executor_manager *manager, double *ratio)
{
        const struct coarse_manager *m = container_of(manager, const struct coarse_manager, manager);

        return conf_contains(m->sc->conf, "spark.cores.max") ? m->config.max_cores : 0;
}

static void coarse_ending(struct executor_manager *manager)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_stop(&m->core);
        coarse_perform(m);
}

static bool coarse_has_ended(void *owner)
{
        const struct coarse_manager *m = owner;

        return m->ended || !m->application.scheduler || !m->application.has_tasks || m->core.n_executors == 0;
}

static bool coarse_stopped(struct executor_manager *manager)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_ending(manager);
        return coarse_has_ended(m);
}

/* Also after a failed announcement. */
static void coarse_leave(struct executor_manager *manager)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_stop(&m->core);
        executor_shortage_stop(&m->shortage);
        if (m->backend)
                mesos_application_end(&m->application, cluster_backend_loop(m->backend));
        m->ended = true;
}

/* The backend has waited for the executors; spark.mesos.coarse.shutdownTimeout may be longer. */
static void coarse_stop(struct executor_manager *manager)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        if (m->backend && !coarse_has_ended(m) &&
            !loop_wait(cluster_backend_loop(m->backend), coarse_has_ended, m, m->shutdown_timeout_ms))
                log_warn(LOG,
                         "Timed out waiting for %" PRId64 " remaining executors to terminate within %" PRId64
                         " ms. This may leave temporary files on the Mesos nodes.",
                         m->core.n_executors, m->shutdown_timeout_ms);
        coarse_leave(manager);
}

static void coarse_free(struct executor_manager *manager)
{
        struct coarse_manager *m = coarse_manager_of(manager);

        coarse_offers_deinit(&m->core);
        executor_shortage_deinit(&m->shortage);
        mesos_constraints_deinit(&m->config.constraints);
        mesos_application_deinit(&m->application);
        free(m);
}

static const struct executor_manager_class coarse_class = {
        .name = "mesos",
        .outlives_driver = true,
        .must_notify_shuffle_services = true,
        .announce = coarse_announce,
        .start = coarse_start,
        .adopt = coarse_adopt,
        .refuses = coarse_refuses,
        .registered = coarse_registered,
        .forgotten = coarse_forgotten,
        .decommissioned = coarse_decommissioned,
        .request_executors = coarse_request_executors,
        .set_excluded_hosts = coarse_set_excluded_hosts,
        .kill = coarse_kill,
        .expected_cores = coarse_expected_cores,
        .ending = coarse_ending,
        .stopped = coarse_stopped,
        .leave = coarse_leave,
        .stop = coarse_stop,
        .free = coarse_free,
};

int coarse_manager_new(struct fst_context *sc, struct mesos_application *application, struct executor_manager **out,
                       struct fst_error *error)
{
        struct coarse_offers_config config;
        int64_t timeout;
        int r = conf_get_ms(sc->conf, "spark.mesos.coarse.shutdownTimeout", &timeout, error);

        if (r == 0 && timeout < 0)
                r = error_set(error, -EINVAL, "spark.mesos.coarse.shutdownTimeout must be >= 0");
        r = r < 0 ? r : coarse_offers_config_read(&config, sc->conf, error);
        if (r < 0)
                return r;
        struct coarse_manager *m = new0(struct coarse_manager);
        m->manager.class = &coarse_class;
        m->sc = sc;
        m->config = config;
        m->shutdown_timeout_ms = timeout;
        m->application = *application;
        *application = (struct mesos_application){0};
        coarse_offers_init(&m->core, &m->config);
        *out = &m->manager;
        return 0;
}
