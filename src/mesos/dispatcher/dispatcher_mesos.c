/* A dispatcher's connection to Mesos: events go to the core, its actions become calls. See
 * dispatcher_server_internal.h.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "mesos/dispatcher/dispatcher_pages.h"
#include "mesos/dispatcher/dispatcher_server_internal.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/driver_task.h"
#include "mesos/offers/offer_actions.h"
#include "mesos/offers/offer_message.h"
#include "mesos/scheduler/mesos_scheduler.h"
#include "process/os_user.h"
#include "rest/rest_request.h"
#include "rpc/wire_memory.h"

#define FAILOVER_TIMEOUT 2147483647.0 /* seconds, as Spark's dispatcher */
#define FRAMEWORK_REMOVED "Framework has been removed"

/* ------------------------------------------------------------------------------------------------- calls */

static void dispatcher_mesos_push(struct dispatcher_server *s, const mesos_scheduler_call *call, char *task_ids)
{
        struct buf bytes = BUF_INIT;
        mesos_message_write(&call->base, &bytes);
        const size_t size = bytes.len;
        dispatcher_server_call(s, buf_steal(&bytes), size, task_ids);
}

/* Makes the task of a launch from the record of its driver, which @request receives. */
static int dispatcher_mesos_task(struct dispatcher_server *s, const struct dispatcher_launch *launch,
                                 const struct mesos_offer *offer, struct rest_request *request,
                                 struct driver_task *task)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const struct mesos_driver *driver = launch->driver;
        struct driver_command command;
        int r = driver_description_unpack(request, driver->body, driver->body_size, &error);
        if (r == 0) {
                dispatcher_server_command(s, request, driver->task_id, driver->cpus_milli, &command);
                r = driver_task_init(task, &command, launch, offer->agent, &error);
        }
        if (r < 0)
                log_error(DISPATCHER_LOG_NAME, "Driver %s cannot be launched: %s", driver->id, error_message(&error));
        return r;
}

/* Launches the tasks of one offer. Submissions exclude tasks that cannot be made, but records may hold them. */
static void dispatcher_mesos_accept(struct dispatcher_server *s, const struct dispatcher_action *a)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        const size_t n = a->accept.n_launches;
        struct driver_task *tasks = new_array(struct driver_task, n);
        struct rest_request *requests = new_array(struct rest_request, n);
        Firesteel__Mesos__TaskInfo **infos = arena_alloc(&arena, n * sizeof(*infos));
        size_t n_infos = 0;
        struct buf names = BUF_INIT;
        for (size_t i = 0; i < n; i++) {
                const struct dispatcher_launch *l = &a->accept.launches[i];
                if (dispatcher_mesos_task(s, l, a->accept.offer, &requests[i], &tasks[i]) < 0) {
                        vec_push(&s->failed, mem_strdup(l->driver->task_id));
                        continue;
                }
                infos[n_infos++] = tasks[i].info;
                buf_printf(&names, "%s%s", names.len ? " " : "", l->driver->task_id);
        }
        dispatcher_mesos_push(s, call_message_accept(&arena, &a->accept.offer, 1, infos, n_infos, MESOS_REFUSE_DEFAULT),
                              buf_steal(&names));
        for (size_t i = 0; i < n; i++) {
                driver_task_deinit(&tasks[i]);
                rest_request_deinit(&requests[i]);
        }
        free(tasks);
        free(requests);
}

static void dispatcher_mesos_reconcile(struct dispatcher_server *s, const struct dispatcher_action *a)
{
        const size_t n = a->reconcile.n_drivers;
        struct mesos_task_place *places = new_array(struct mesos_task_place, n);
        for (size_t i = 0; i < n; i++)
                places[i] = (struct mesos_task_place){a->reconcile.drivers[i]->task_id, a->reconcile.drivers[i]->agent};
        mesos_scheduler_reconcile(s->scheduler, places, n);
        free(places);
}

void dispatcher_mesos_act(struct dispatcher_server *s, const struct dispatcher_action *a)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        switch (a->kind) {
        case DISPATCHER_ACCEPT:
                return dispatcher_mesos_accept(s, a);
        case DISPATCHER_DECLINE:
                return dispatcher_mesos_push(
                        s, call_message_decline(&arena, a->decline.offers, a->decline.n_offers, a->decline.refuse_ms),
                        NULL);
        case DISPATCHER_KILL:
                return dispatcher_mesos_push(s, call_message_kill(&arena, a->driver->task_id, NULL), NULL);
        case DISPATCHER_RECONCILE:
                return dispatcher_mesos_reconcile(s, a);
        case DISPATCHER_REVIVE:
                return dispatcher_mesos_push(
                        s, call_message_new(&arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__REVIVE), NULL);
        default:
                return;
        }
}

/* The tasks of an ACCEPT that could not be made were never launched. */
static void dispatcher_mesos_return(struct dispatcher_server *s, const char *task_ids)
{
        _cleanup_free_ char *copy = mem_strdup(task_ids);
        for (char *at = *copy ? copy : NULL, *id; (id = strsep(&at, " "));) {
                dispatcher_updated(
                        &s->core,
                        &(struct dispatcher_update){.task_id = id, .state = MESOS_TASK_LOST, .invalid_offer = true},
                        dispatcher_server_now());
                dispatcher_server_run(s);
        }
}

void dispatcher_mesos_send(struct dispatcher_server *s, const struct dispatcher_message *m)
{
        struct wire_memory memory = wire_memory_for(m->call_size);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        mesos_scheduler_call *call = firesteel__mesos__scheduler_call__unpack(&allocator, m->call_size, m->call);
        if (call && s->scheduler && !mesos_scheduler_call_send(s->scheduler, call) && m->task_ids)
                dispatcher_mesos_return(s, m->task_ids);
        arena_deinit(&memory.arena);
}

/* ------------------------------------------------------------------------------------------------- events */

static void dispatcher_mesos_on_subscribed(void *owner, const char *framework_id, bool again)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct dispatcher_server *s = owner;
        log_info(DISPATCHER_LOG_NAME, "Registered as framework ID %s with the master %s", framework_id,
                 mesos_scheduler_master(s->scheduler));
        dispatcher_subscribed(&s->core, framework_id, dispatcher_server_now());
        dispatcher_server_run(s);
        dispatcher_server_flush(s);
        if (dispatcher_rest_start(s, &error) < 0)
                dispatcher_server_fail(s, error_message(&error));
}

static void dispatcher_mesos_on_disconnected(void *owner, const char *why)
{
        log_warn(DISPATCHER_LOG_NAME, "Disconnected from Mesos: %s. Drivers go on", why);
}

static void dispatcher_mesos_on_offers(struct dispatcher_server *s, const mesos_scheduler_event *event)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        size_t n = 0;
        const struct mesos_offer *offers = mesos_offers_of(&arena, event->offers, &n);
        agent_offers_add(&s->offers, offers, n, 0, dispatcher_server_now());
        dispatcher_received(&s->core, offers, n, dispatcher_server_now());
        dispatcher_server_run(s);
}

static void dispatcher_mesos_on_update(struct dispatcher_server *s, const Firesteel__Mesos__TaskStatus *status)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        mesos_message_write(&status->base, &bytes);
        struct dispatcher_update update = {
                .task_id = status->task_id->value,
                .state = status->state,
                .reconciliation = status->has_reason &&
                                  status->reason == FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_RECONCILIATION,
                .invalid_offer = status->has_reason &&
                                 status->reason == FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_INVALID_OFFERS,
                .status = bytes.data,
                .status_size = bytes.len,
        };
        log_info(DISPATCHER_LOG_NAME, "Received status update: taskId=%s state=%s message=%s", update.task_id,
                 mesos_state_name(update.state), status->message ? status->message : "");
        dispatcher_updated(&s->core, &update, dispatcher_server_now());
        dispatcher_server_run(s);
}

static void dispatcher_mesos_on_event(void *owner, const mesos_scheduler_event *event)
{
        struct dispatcher_server *s = owner;
        if (event->type == FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS)
                dispatcher_mesos_on_offers(s, event);
        else if (event->type == FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UPDATE)
                dispatcher_mesos_on_update(s, event->update->status);
        dispatcher_server_flush(s);
}

static void dispatcher_mesos_on_reconcile(void *owner)
{
        struct dispatcher_server *s = owner;
        dispatcher_ask_states(&s->core);
        dispatcher_server_run(s);
        dispatcher_server_flush(s);
}

static void dispatcher_mesos_on_failed(void *owner, const char *message)
{
        struct dispatcher_server *s = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!s->core.framework_id || !strstr(message, FRAMEWORK_REMOVED))
                return dispatcher_server_fail(s, message);
        dispatcher_framework_removed(&s->core, dispatcher_server_now());
        dispatcher_server_run(s);
        dispatcher_mesos_stop(s);
        dispatcher_server_flush(s);
        if (dispatcher_mesos_start(s, &error) < 0)
                dispatcher_server_fail(s, error_message(&error));
}

/* ------------------------------------------------------------------------------------------------- lifetime */

static const struct mesos_scheduler_ops dispatcher_mesos_ops = {
        .subscribed = dispatcher_mesos_on_subscribed,
        .disconnected = dispatcher_mesos_on_disconnected,
        .event = dispatcher_mesos_on_event,
        .reconcile = dispatcher_mesos_on_reconcile,
        .failed = dispatcher_mesos_on_failed,
};

int dispatcher_mesos_start(struct dispatcher_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        const char *shown = conf_get_raw(conf, "spark.mesos.dispatcher.webui.url"),
                   *user = getenv("SPARK_USER") ? getenv("SPARK_USER") : os_user_name();
        const struct mesos_framework framework = {
                .user = user ? user : "",
                .name = s->conf->name,
                .id = s->core.framework_id,
                .role = conf_get_raw(conf, "spark.mesos.role"),
                .hostname = s->conf->public_host,
                .webui_url = shown ? shown : dispatcher_pages_url(s->pages),
                .principal = s->credentials.principal,
                .failover_timeout = FAILOVER_TIMEOUT,
                .has_failover_timeout = true,
                .checkpoint = true,
        };
        const struct mesos_scheduler_options options = {
                .master = &s->master, .credentials = &s->credentials, .framework = &framework};
        return mesos_scheduler_new(s->loop, &options, &dispatcher_mesos_ops, s, &s->scheduler, error);
}

void dispatcher_mesos_stop(struct dispatcher_server *s)
{
        mesos_scheduler_free(steal(s->scheduler));
}
