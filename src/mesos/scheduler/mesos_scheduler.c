/*
 * See mesos_scheduler.h. When to subscribe is decided by subscription.h; this file is the shell: HTTP, timers, events.
 *
 * The http client has one connection for calls, so they arrive in order, and one for each stream. Without TLS it sends
 * a call before earlier ones are answered, as Mesos's own client does, so that a long way to the master does not delay
 * many ACCEPTs. With TLS libcurl waits for each answer. A call without an answer is repeated if that does no harm.
 * ACCEPT is not: a master that got it once answers the second one with TASK_LOST. The owner asks for its tasks instead.
 *
 * A callback may free the scheduler, and an event may end the stream that it came from. So after each callback the code
 * compares `stream` with the one it began with, and memory is released by the last closed handle.
 */
#include "mesos/scheduler/mesos_scheduler.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "mesos/conf/master_detector.h"
#include "mesos/conf/mesos_credentials.h"
#include "mesos/conf/mesos_master.h"
#include "mesos/protocol/recordio.h"
#include "mesos/scheduler/subscription.h"
#include "net/http/http_async.h"
#include "rpc/wire_memory.h"

#include <stdio.h>

#define LOG "MesosScheduler"
#define CONNECT_MS 10000
#define CALL_MS 60000
#define MAX_TRIES 3
#define MAX_CALLS 64        /* that are not answered yet */
#define RECONCILE_MS 120000 /* by then agents have registered with a new leader */
#define DEFERRED_MS 10000   /* before a call is made again that a master has not answered */

struct scheduler_call {
        struct mesos_scheduler *scheduler;
        struct scheduler_call *prev, *next;
        struct http_transfer *transfer;
        Firesteel__Mesos__SchedulerCall__Type type;
        struct buf body;
        int tries;
};

struct mesos_scheduler {
        uv_loop_t *loop;
        const struct mesos_credentials *credentials;
        const struct mesos_scheduler_ops *ops;
        void *owner;
        Firesteel__Mesos__FrameworkInfo *info; /* without id */
        char *framework_id;                    /* NULL: the master gives one */
        char *user_password;                   /* NULL: no authentication */
        char *principal;
        struct subscription subscription;
        struct master_detector *detector;
        struct http_async *http;
        struct http_transfer *stream; /* NULL: none */
        char *stream_id;
        char *master_id; /* of the last master that accepted the framework */
        struct recordio records;
        LIST(struct scheduler_call) calls;    /* on their way */
        LIST(struct scheduler_call) deferred; /* KILL and REVIVE, until the framework is subscribed */
        uv_timer_t timer;                     /* the subscription's deadline */
        uv_timer_t reconcile;                 /* when to ask for tasks */
        int handles;
        bool subscribed, accepted; /* now; ever */
        bool freed;
        void (*torn_down)(void *owner, void *context); /* reports the end of the teardown, once */
        void *torn_down_context;
        bool ending, torn; /* torn: the master has confirmed the teardown, or does not */
};

static void scheduler_run(struct mesos_scheduler *s);

/* -------------------------------------------------------------------------------------------------------- requests */

/* @headers has room for four. */
static struct http_request scheduler_request(const struct mesos_scheduler *s, const char *url, const char **headers,
                                             const struct buf *body)
{
        const struct mesos_credentials *c = s->credentials;

        headers[0] = "Content-Type: " MESOS_MEDIA_TYPE;
        headers[1] = "Accept: " MESOS_MEDIA_TYPE;
        return (struct http_request){.url = url,
                                     .method = "POST",
                                     .headers = headers,
                                     .body = body->data,
                                     .body_len = body->len,
                                     .connect_timeout_ms = CONNECT_MS,
                                     .stall_timeout_ms = -1,
                                     .user_password = s->user_password,
                                     .direct = true,
                                     .insecure = c->tls && !c->verify,
                                     .ca_file = c->ca_file,
                                     .ca_only = c->ca_file != NULL,
                                     .cert_file = c->cert_file,
                                     .key_file = c->key_file};
}

static char *scheduler_url(const struct mesos_scheduler *s)
{
        return mem_printf("%s://%s" MESOS_SCHEDULER_PATH, s->credentials->tls ? "https" : "http",
                          s->subscription.target);
}

static void scheduler_write(const struct mesos_scheduler *s, mesos_scheduler_call *call, struct buf *out)
{
        Firesteel__Mesos__FrameworkID id = FIRESTEEL__MESOS__FRAMEWORK_ID__INIT;

        id.value = s->framework_id;
        call->framework_id = s->framework_id ? &id : NULL;
        mesos_message_write(&call->base, out);
        call->framework_id = NULL;
}

static void call_free(struct scheduler_call *c)
{
        buf_deinit(&c->body);
        free(c);
}

/* Calls whose wish outlives a connection. */
static bool call_is_deferrable(Firesteel__Mesos__SchedulerCall__Type type)
{
        return type == FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__KILL ||
               type == FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__REVIVE;
}

static void scheduler_ask(struct mesos_scheduler *s)
{
        if (s->ops->reconcile && !s->ending && s->subscribed)
                s->ops->reconcile(s->owner);
}

static void scheduler_flush_deferred(struct mesos_scheduler *s);

static void scheduler_on_reconcile(uv_timer_t *timer)
{
        struct mesos_scheduler *s = timer->data;

        if (s->subscribed && !s->ending)
                scheduler_flush_deferred(s);
        scheduler_ask(s);
}

static void scheduler_ask_in(struct mesos_scheduler *s, uint64_t ms)
{
        if (!s->freed && !uv_is_active((uv_handle_t *)&s->reconcile))
                uv_timer_start(&s->reconcile, scheduler_on_reconcile, ms, 0);
}

/* Keeps a call until it can be made. One REVIVE serves for all. */
static void scheduler_defer(struct mesos_scheduler *s, struct scheduler_call *c)
{
        c->tries = 0;
        for (struct scheduler_call *d = s->deferred.first; d; d = d->next)
                if (c->type == FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__REVIVE && d->type == c->type) {
                        call_free(c);
                        return;
                }
        list_append(&s->deferred, c);
}

/* Reports the end of the teardown once the detector has closed, too. */
static void scheduler_end(struct mesos_scheduler *s)
{
        void (*done)(void *, void *) = s->torn_down;

        s->torn = true;
        if (!done || s->detector)
                return;
        s->torn_down = NULL;
        uv_timer_stop(&s->timer);
        done(s->owner, s->torn_down_context);
}

static void scheduler_send(struct scheduler_call *c);

static void scheduler_on_answer(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                                const struct fst_error *error)
{
        struct scheduler_call *c = owner;
        struct mesos_scheduler *s = c->scheduler;
        bool teardown = c->type == FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__TEARDOWN;

        list_remove(&s->calls, c);
        if (r == 0 && answer->status >= 300)
                log_warn(LOG, "The Mesos master answers a call (type %d) with HTTP status %d: %.500s", (int)c->type,
                         answer->status, buf_text(&answer->body));
        const bool is_cause = r != -ECONNABORTED; /* else an earlier call has ended the connection */
        const bool may_repeat =
                c->type != FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__ACCEPT || !http_async_was_sent(transfer);
        if (r < 0 && (is_cause || !may_repeat))
                log_warn(LOG, "A call to the Mesos master (type %d) got no answer: %s", (int)c->type,
                         error_message(error));
        c->tries += is_cause;
        if (r < 0 && s->subscribed && c->tries < MAX_TRIES && !teardown && may_repeat) {
                scheduler_send(c);
                return;
        }
        if (r < 0 && c->type == FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__ACCEPT)
                scheduler_ask_in(s, 0);
        if ((r < 0 || answer->status >= 300) && call_is_deferrable(c->type)) {
                scheduler_defer(s, c); /* this master gets it again, or the next leader */
                if (r < 0 && s->subscribed)
                        scheduler_ask_in(s, DEFERRED_MS);
                return;
        }
        call_free(c);
        if (teardown)
                scheduler_end(s);
}

static void scheduler_send(struct scheduler_call *c)
{
        struct mesos_scheduler *s = c->scheduler;
        _cleanup_free_ char *url = scheduler_url(s), *stream = mem_printf("Mesos-Stream-Id: %s", s->stream_id);
        const char *headers[4] = {[2] = stream};
        struct http_request request = scheduler_request(s, url, headers, &c->body);

        request.timeout_ms = CALL_MS;
        list_append(&s->calls, c);
        c->transfer = http_async_send(s->http, &request, scheduler_on_answer, c);
}

/* ---------------------------------------------------------------------------------------------------------- events */

static void scheduler_flush_deferred(struct mesos_scheduler *s)
{
        struct scheduler_call *c;

        while ((c = s->deferred.first)) {
                list_remove(&s->deferred, c);
                scheduler_send(c);
        }
}

static void scheduler_on_subscribed(struct mesos_scheduler *s, const mesos_scheduler_event *event)
{
        const Firesteel__Mesos__SchedulerEvent__Subscribed *e = event->subscribed;
        const char *master = e->master_info ? e->master_info->id : "";
        bool again = s->accepted, same = s->master_id && strcmp(s->master_id, master) == 0;

        if (!s->stream_id) {
                subscription_fail(&s->subscription,
                                  "The Mesos master answers without the header Mesos-Stream-Id: Firesteel needs Mesos "
                                  "1.0 or a newer version");
                return;
        }
        subscription_subscribed(&s->subscription, e->has_heartbeat_interval_seconds ? e->heartbeat_interval_seconds : 0,
                                now_ns());
        free(s->framework_id);
        s->framework_id = mem_strdup(e->framework_id->value);
        free(s->master_id);
        s->master_id = mem_strdup(master);
        s->subscribed = s->accepted = true;
        log_info(LOG, "%s with the Mesos master at %s as framework %s", again ? "Registered again" : "Registered",
                 s->subscription.target, s->framework_id);
        if (s->ending)
                return;
        scheduler_flush_deferred(s);
        s->ops->subscribed(s->owner, s->framework_id, again);
        if (again && !s->freed)
                scheduler_ask_in(s, same ? 0 : RECONCILE_MS);
}

static void scheduler_acknowledge(struct mesos_scheduler *s, const Firesteel__Mesos__TaskStatus *status)
{
        Firesteel__Mesos__SchedulerCall__Acknowledge acknowledge = FIRESTEEL__MESOS__SCHEDULER_CALL__ACKNOWLEDGE__INIT;
        mesos_scheduler_call call = FIRESTEEL__MESOS__SCHEDULER_CALL__INIT;

        if (!status->has_uuid || status->uuid.len == 0 || !status->agent_id)
                return;
        acknowledge.agent_id = status->agent_id;
        acknowledge.task_id = status->task_id;
        acknowledge.uuid = status->uuid;
        call.type = FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__ACKNOWLEDGE;
        call.acknowledge = &acknowledge;
        mesos_scheduler_call_send(s, &call);
}

static void scheduler_dispatch(struct mesos_scheduler *s, const mesos_scheduler_event *event)
{
        switch (event->type) {
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__SUBSCRIBED:
                scheduler_on_subscribed(s, event);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__ERROR:
                subscription_fail(&s->subscription, event->error->message);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__HEARTBEAT:
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UNKNOWN:
                break;
        default:
                if (!s->ending)
                        s->ops->event(s->owner, event);
                if (event->type == FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UPDATE && !s->freed)
                        scheduler_acknowledge(s, event->update->status);
        }
}

static int scheduler_on_record(void *owner, const uint8_t *record, size_t len)
{
        struct mesos_scheduler *s = owner;
        const struct http_transfer *stream = s->stream;
        struct wire_memory memory = wire_memory_for(len);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const mesos_scheduler_event *event;

        subscription_received(&s->subscription, now_ns());
        if (mesos_scheduler_event_read(&memory, record, len, &event, &error) < 0)
                log_warn(LOG, "Ignoring an event: %s", error_message(&error));
        else
                scheduler_dispatch(s, event);
        arena_deinit(&memory.arena);
        if (!s->freed)
                scheduler_run(s);
        return s->stream == stream ? 0 : -ECANCELED;
}

/* --------------------------------------------------------------------------------------------------------- streams */

static void scheduler_on_disconnected(struct mesos_scheduler *s, const char *why)
{
        bool was = s->subscribed;

        free(s->stream_id);
        s->stream_id = NULL;
        s->subscribed = false;
        recordio_reset(&s->records);
        if (!was || s->ending)
                return;
        log_warn(LOG, "The connection to the Mesos master at %s is lost: %s", s->subscription.target, why);
        s->ops->disconnected(s->owner, why);
}

static void scheduler_drop_stream(struct mesos_scheduler *s, const char *why)
{
        if (s->stream)
                http_async_cancel(s->stream);
        s->stream = NULL;
        scheduler_on_disconnected(s, why);
}

static int scheduler_on_data(void *context, const char *data, size_t n)
{
        struct mesos_scheduler *s = context;
        struct http_transfer *stream = s->stream;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;

        if (!s->stream_id)
                s->stream_id = http_answer_header(http_async_answer(stream), "Mesos-Stream-Id");
        int r = recordio_feed(&s->records, data, n, scheduler_on_record, s, &error);
        if (s->stream != stream)
                return -ECANCELED;
        if (r < 0) {
                subscription_broken(&s->subscription, error_message(&error), now_ns());
                scheduler_drop_stream(s, error_message(&error));
                if (!s->freed)
                        scheduler_run(s);
                return -ECANCELED;
        }
        return 0;
}

static void scheduler_on_stream_end(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                                    const struct fst_error *error)
{
        struct mesos_scheduler *s = owner;
        const char *why = r < 0 ? error_message(error) : "the master has ended the stream";
        int64_t now = now_ns();

        s->stream = NULL;
        if (r < 0) {
                subscription_broken(&s->subscription, why, now);
        } else {
                _cleanup_free_ char *location = http_answer_header(answer, "Location");
                subscription_answered(&s->subscription,
                                      &(struct subscription_answer){.status = answer->status,
                                                                    .location = location,
                                                                    .text = buf_text(&answer->body),
                                                                    .principal = s->principal,
                                                                    .has_secret = s->user_password != NULL},
                                      now);
        }
        scheduler_on_disconnected(s, why);
        if (!s->freed)
                scheduler_run(s);
}

static void scheduler_subscribe(struct mesos_scheduler *s)
{
        Firesteel__Mesos__FrameworkID id = FIRESTEEL__MESOS__FRAMEWORK_ID__INIT;
        Firesteel__Mesos__SchedulerCall__Subscribe subscribe = FIRESTEEL__MESOS__SCHEDULER_CALL__SUBSCRIBE__INIT;
        mesos_scheduler_call call = FIRESTEEL__MESOS__SCHEDULER_CALL__INIT;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        _cleanup_free_ char *url = scheduler_url(s);
        const char *headers[4] = {NULL};

        id.value = s->framework_id;
        s->info->id = s->framework_id ? &id : NULL;
        subscribe.framework_info = s->info;
        call.has_type = true;
        call.type = FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__SUBSCRIBE;
        call.subscribe = &subscribe;
        scheduler_write(s, &call, &body);
        s->info->id = NULL;

        struct http_request request = scheduler_request(s, url, headers, &body);
        request.sink = scheduler_on_data;
        request.context = s;
        recordio_reset(&s->records);
        s->stream = http_async_send(s->http, &request, scheduler_on_stream_end, s);
}

static void scheduler_on_timer(uv_timer_t *timer)
{
        struct mesos_scheduler *s = timer->data;

        if (s->ending && s->torn_down)
                scheduler_end(s);
        else
                scheduler_run(s);
}

/* Performs what the subscription decides. The scheduler may be freed afterwards. */
static void scheduler_run(struct mesos_scheduler *s)
{
        struct subscription *u = &s->subscription;

        for (;;) {
                enum subscription_action action = subscription_next(u, now_ns());
                if (action == SUBSCRIPTION_WAIT)
                        break;
                if (action == SUBSCRIPTION_SUBSCRIBE)
                        scheduler_subscribe(s);
                else if (action == SUBSCRIPTION_CLOSE)
                        scheduler_drop_stream(s, u->failure   ? u->failure
                                                 : u->trouble ? u->trouble
                                                              : "another master leads");
                else if (s->ending)
                        scheduler_end(s);
                else
                        s->ops->failed(s->owner, u->failure);
                if (s->freed)
                        return;
        }
        if (s->ending) /* the timer limits the teardown */
                return;
        if (u->state == SUBSCRIPTION_RESTING && u->trouble && u->attempts == (s->accepted ? 2 : 1))
                log_warn(LOG, "Cannot subscribe with the Mesos master at %s, trying again: %s", u->target, u->trouble);
        if (u->deadline == INT64_MAX) {
                uv_timer_stop(&s->timer);
                return;
        }
        int64_t left = u->deadline - now_ns();
        uv_update_time(s->loop);
        uv_timer_start(&s->timer, scheduler_on_timer, left <= 0 ? 0 : (uint64_t)(left / 1000000) + 1, 0);
}

/* ----------------------------------------------------------------------------------------------------------- calls */

bool mesos_scheduler_call_send(struct mesos_scheduler *s, mesos_scheduler_call *call)
{
        if (s->ending || (!s->subscribed && !(call_is_deferrable(call->type) && s->framework_id)))
                return false;
        struct scheduler_call *c = new0(struct scheduler_call);
        c->scheduler = s;
        c->type = call->type;
        call->has_type = true;
        scheduler_write(s, call, &c->body);
        if (s->subscribed)
                scheduler_send(c);
        else
                scheduler_defer(s, c);
        return s->subscribed;
}

static bool scheduler_call_plain(struct mesos_scheduler *s, Firesteel__Mesos__SchedulerCall__Type type)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        return mesos_scheduler_call_send(s, call_message_new(&arena, type));
}

bool mesos_scheduler_revive(struct mesos_scheduler *s)
{
        return scheduler_call_plain(s, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__REVIVE);
}

bool mesos_scheduler_suppress(struct mesos_scheduler *s)
{
        for (struct scheduler_call *c = s->deferred.first, *next; c; c = next) { /* it would undo this one */
                next = c->next;
                if (c->type != FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__REVIVE)
                        continue;
                list_remove(&s->deferred, c);
                call_free(c);
        }
        return scheduler_call_plain(s, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__SUPPRESS);
}

bool mesos_scheduler_kill(struct mesos_scheduler *s, const char *task, const char *agent)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        return mesos_scheduler_call_send(s, call_message_kill(&arena, task, agent));
}

bool mesos_scheduler_reconcile(struct mesos_scheduler *s, const struct mesos_task_place *tasks, size_t n)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        return n > 0 && mesos_scheduler_call_send(s, call_message_reconcile(&arena, tasks, n));
}

static void scheduler_release(struct mesos_scheduler *s);

static void scheduler_on_detector_closed(void *owner)
{
        struct mesos_scheduler *s = owner;

        s->detector = NULL;
        if (s->torn && !s->freed)
                scheduler_end(s);
        scheduler_release(s);
}

void mesos_scheduler_teardown(struct mesos_scheduler *s, int64_t timeout_ms, void (*done)(void *owner, void *context),
                              void *context)
{
        bool subscribed = s->subscribed && s->subscription.state != SUBSCRIPTION_ENDED;

        if (subscribed)
                scheduler_call_plain(s, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__TEARDOWN);
        s->ending = true;
        s->torn_down = done;
        s->torn_down_context = context;
        master_detector_free(s->detector, scheduler_on_detector_closed);
        uv_update_time(s->loop);
        uv_timer_start(&s->timer, scheduler_on_timer, subscribed ? (uint64_t)timeout_ms : 0, 0);
}

/* ------------------------------------------------------------------------------------------------- begin and end */

static void scheduler_on_leader(void *owner, const char *address)
{
        struct mesos_scheduler *s = owner;

        subscription_set_leader(&s->subscription, address, now_ns());
        scheduler_run(s);
}

static void scheduler_on_detector_failed(void *owner, const char *message)
{
        struct mesos_scheduler *s = owner;

        subscription_fail(&s->subscription, message);
        scheduler_run(s);
}

static Firesteel__Mesos__FrameworkInfo *framework_info_new(const struct mesos_framework *f)
{
        Firesteel__Mesos__FrameworkInfo *info = mem_alloc(sizeof(*info));

        firesteel__mesos__framework_info__init(info);
        info->user = mem_strdup(f->user);
        info->name = mem_strdup(f->name);
        info->role = mem_strdup_if(f->role);
        info->hostname = mem_strdup_if(f->hostname);
        info->webui_url = mem_strdup_if(f->webui_url);
        info->principal = mem_strdup_if(f->principal);
        info->has_failover_timeout = f->has_failover_timeout;
        info->failover_timeout = f->failover_timeout;
        info->has_checkpoint = f->checkpoint;
        info->checkpoint = f->checkpoint;
        if (f->gpus) {
                Firesteel__Mesos__FrameworkInfo__Capability *gpus = mem_alloc(sizeof(*gpus));
                firesteel__mesos__framework_info__capability__init(gpus);
                gpus->has_type = true;
                gpus->type = FIRESTEEL__MESOS__FRAMEWORK_INFO__CAPABILITY__TYPE__GPU_RESOURCES;
                info->capabilities = new_array(Firesteel__Mesos__FrameworkInfo__Capability *, 1);
                info->capabilities[info->n_capabilities++] = gpus;
        }
        return info;
}

static void scheduler_free_calls(struct scheduler_call **first)
{
        while (*first) {
                struct scheduler_call *c = *first;
                *first = c->next;
                call_free(c);
        }
}

static void scheduler_release(struct mesos_scheduler *s)
{
        if (--s->handles > 0)
                return;
        subscription_deinit(&s->subscription);
        recordio_deinit(&s->records);
        firesteel__mesos__framework_info__free_unpacked(s->info, NULL);
        scheduler_free_calls(&s->calls.first);
        scheduler_free_calls(&s->deferred.first);
        if (s->user_password)
                explicit_bzero(s->user_password, strlen(s->user_password));
        free(s->user_password);
        free(s->principal);
        free(s->framework_id);
        free(s->stream_id);
        free(s->master_id);
        free(s);
}

static void scheduler_on_closed(uv_handle_t *handle)
{
        scheduler_release(handle->data);
}

int mesos_scheduler_new(uv_loop_t *loop, const struct mesos_scheduler_options *options,
                        const struct mesos_scheduler_ops *ops, void *owner, struct mesos_scheduler **out,
                        struct fst_error *error)
{
        static const struct master_detector_ops detector_ops = {.leader = scheduler_on_leader,
                                                                .failed = scheduler_on_detector_failed};
        const struct mesos_credentials *c = options->credentials;
        struct http_async *http;
        const struct http_async_options with_tls = {.max_connections = 1, .http1 = true},
                                        without = {.plain = true, .pipeline = MAX_CALLS};
        int r = http_async_new(loop, c->tls ? &with_tls : &without, &http, error);

        if (r < 0)
                return r;
        struct mesos_scheduler *s = new0(struct mesos_scheduler);
        *s = (struct mesos_scheduler){.loop = loop,
                                      .credentials = c,
                                      .ops = ops,
                                      .owner = owner,
                                      .http = http,
                                      .info = framework_info_new(options->framework),
                                      .framework_id = mem_strdup_if(options->framework->id),
                                      .user_password = c->secret ? mem_printf("%s:%s", c->principal, c->secret) : NULL,
                                      .principal = mem_strdup_if(c->principal),
                                      .records = RECORDIO_INIT,
                                      .handles = 3};
        subscription_init(&s->subscription, (uint64_t)now_ns());
        uv_timer_init(loop, &s->timer);
        uv_timer_init(loop, &s->reconcile);
        s->timer.data = s->reconcile.data = s;
        s->detector = master_detector_new(loop, options->master, &detector_ops, s);
        *out = s;
        return 0;
}

void mesos_scheduler_free(struct mesos_scheduler *s)
{
        if (!s || s->freed)
                return;
        s->freed = true;
        s->stream = NULL;
        if (s->detector && !s->ending) /* the teardown closes it */
                master_detector_free(s->detector, scheduler_on_detector_closed);
        http_async_free(s->http);
        uv_close((uv_handle_t *)&s->timer, scheduler_on_closed);
        uv_close((uv_handle_t *)&s->reconcile, scheduler_on_closed);
}

const char *mesos_scheduler_master(const struct mesos_scheduler *s)
{
        return s->subscribed ? s->subscription.target : NULL;
}
