/*
 * See agent_gate.h. The subscription is one connection, and calls go over another, one after the other. Only an
 * executor with checkpointing outlives its agent.
 */
#include "mesos/executor/agent_gate.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "exec/executor.h"
#include "exec/task_gate.h"
#include "mesos/tasks/executor_data.h"
#include "mesos/executor/executor_session.h"
#include "mesos/protocol/mesos_messages.h"
#include "mesos/protocol/recordio.h"
#include "net/http/http_async.h"
#include "process/loop_wait.h"
#include "rpc/wire_memory.h"

#include <inttypes.h>

#define LOG "MesosExecutor"
#define SUBSCRIBE_TIMEOUT_MS 60000 /* the agent kills executors that have not subscribed by then */
#define CALL_MS 10000
#define RETRY_CALL_MS 1000
#define FLUSH_MS 1000  /* for the last updates */
#define MAX_REFUSALS 3 /* of updates, one after the other: the agent does not know the executor or the task */
#define MAX_CORES 4096
#define ID_TEXT 24

struct agent_gate {
        struct task_gate gate;
        struct executor_options *options;
        struct fst_conf *conf;
        struct executor *executor;
        const char *framework_id, *executor_id, *token;
        const char *socket; /* of the agent with --domain_socket_location; NULL: its address */
        char *url, *hostname, *driver_url;
        struct executor_session session;
        struct recordio records;
        uv_loop_t *loop;
        struct http_async *http;
        struct http_transfer *stream; /* NULL: none */
        uv_timer_t timer;             /* the next subscription, or the next try of updates */
        struct fst_error *starting;   /* until the first subscription */
        int started;                  /* 1: subscribed; negative: failed */
        int calls;                    /* on their way */
        int refusals;                 /* of updates by HTTP statuses 400 to 499, since the last success */
        bool registered;              /* with the driver */
        bool stopped;
};

static struct agent_gate *agent_gate_of(struct task_gate *gate)
{
        return container_of(gate, struct agent_gate, gate);
}

int64_t mesos_duration_ms(const char *text)
{
        static const struct {
                const char *unit;
                double ms;
        } units[] = {{"ns", 1e-6},   {"us", 1e-3},    {"ms", 1},         {"secs", 1e3},
                     {"mins", 60e3}, {"hrs", 3600e3}, {"days", 86400e3}, {"weeks", 604800e3}};
        char *end;
        const double value = strtod(text, &end);

        for (size_t i = 0; i < ARRAY_SIZE(units) && end > text && value >= 0 && value < 1e9; i++)
                if (strcmp(end, units[i].unit) == 0)
                        return (int64_t)(value * units[i].ms);
        return -1;
}

/* ----------------------------------------------------------------------------------------------------------- calls */

static void gate_init_ids(const struct agent_gate *g, mesos_executor_call *call, Firesteel__Mesos__ExecutorID *executor,
                          Firesteel__Mesos__FrameworkID *framework)
{
        firesteel__mesos__executor_id__init(executor);
        firesteel__mesos__framework_id__init(framework);
        executor->value = (char *)g->executor_id;
        framework->value = (char *)g->framework_id;
        call->executor_id = executor;
        call->framework_id = framework;
        call->has_type = true;
}

static struct http_transfer *gate_post(struct agent_gate *g, const mesos_executor_call *call, bool is_stream,
                                       http_async_done *done, void *owner);

struct update_call {
        struct agent_gate *gate;
        uint8_t uuid[EXECUTOR_UUID_LEN];
};

static void gate_send_updates(struct agent_gate *g);

static void gate_on_retry(uv_timer_t *timer)
{
        gate_send_updates(timer->data);
}

static void gate_on_updated(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                            const struct fst_error *error)
{
        struct update_call *c = owner;
        struct agent_gate *g = c->gate;

        const bool refused = r == 0 && answer->status >= 400 && answer->status < 500;

        g->calls--;
        g->refusals = refused ? g->refusals + 1 : r == 0 && answer->status < 300 ? 0 : g->refusals;
        if (g->refusals >= MAX_REFUSALS && !g->stopped) {
                log_error(LOG, "The Mesos agent refuses status updates with HTTP status %d, so the executor ends: %s",
                          answer->status, buf_text(&answer->body));
                task_gate_end_executor(g->executor, EXECUTOR_EXIT_FAILED);
        } else if (r < 0 || answer->status >= 300) {
                log_warn(LOG, "The Mesos agent did not take a status update, which is sent again: %s",
                         r < 0 ? error_message(error) : buf_text(&answer->body));
                executor_session_unsent(&g->session, c->uuid);
                if (g->session.subscribed && !g->stopped)
                        uv_timer_start(&g->timer, gate_on_retry, RETRY_CALL_MS, 0);
        }
        free(c);
}

static void gate_fill_status(const struct agent_gate *g, const struct session_update *u,
                             Firesteel__Mesos__TaskStatus *status, Firesteel__Mesos__TaskID *task,
                             Firesteel__Mesos__ExecutorID *executor)
{
        firesteel__mesos__task_status__init(status);
        firesteel__mesos__task_id__init(task);
        firesteel__mesos__executor_id__init(executor);
        task->value = u->task->id;
        executor->value = (char *)g->executor_id;
        status->task_id = task;
        status->executor_id = executor;
        status->state = (Firesteel__Mesos__TaskState)u->state;
        status->message = u->message;
        status->has_source = true;
        status->source = FIRESTEEL__MESOS__TASK_STATUS__SOURCE__SOURCE_EXECUTOR;
        status->has_timestamp = true;
        status->timestamp = u->timestamp;
        status->has_uuid = true;
        status->uuid = (ProtobufCBinaryData){.data = (uint8_t *)u->uuid, .len = EXECUTOR_UUID_LEN};
}

static void gate_send_update(struct agent_gate *g, const struct session_update *u)
{
        mesos_executor_call call = FIRESTEEL__MESOS__EXECUTOR_CALL__INIT;
        Firesteel__Mesos__ExecutorCall__Update update = FIRESTEEL__MESOS__EXECUTOR_CALL__UPDATE__INIT;
        Firesteel__Mesos__TaskStatus status;
        Firesteel__Mesos__TaskID task;
        Firesteel__Mesos__ExecutorID executor, of_status;
        Firesteel__Mesos__FrameworkID framework;
        struct update_call *c = new0(struct update_call);

        gate_init_ids(g, &call, &executor, &framework);
        gate_fill_status(g, u, &status, &task, &of_status);
        update.status = &status;
        call.type = FIRESTEEL__MESOS__EXECUTOR_CALL__TYPE__UPDATE;
        call.update = &update;
        c->gate = g;
        memcpy(c->uuid, u->uuid, sizeof(c->uuid));
        g->calls++;
        gate_post(g, &call, false, gate_on_updated, c);
}

static void gate_send_updates(struct agent_gate *g)
{
        const struct session_update *u;

        while (g->http && (u = executor_session_next(&g->session)))
                gate_send_update(g, u);
}

/* ---------------------------------------------------------------------------------------------------------- events */

static double gate_now(void)
{
        return (double)time_of_day_ms() / 1000;
}

/* A starter has a negative number, and no task of Spark. */
static int64_t gate_task_number(const char *id)
{
        char *end;
        const long long number = strtoll(id, &end, 10);

        return *id && !*end ? number : -1;
}

static void gate_end_starters(struct agent_gate *g)
{
        for (const struct session_task *t = g->session.tasks.first; t && g->registered; t = t->next)
                if (!t->ended && gate_task_number(t->id) < 0)
                        executor_session_ended(&g->session, t->id, MESOS_TASK_FINISHED, NULL, gate_now());
        gate_send_updates(g);
}

static double gate_cpus(Firesteel__Mesos__Resource *const *resources, size_t n)
{
        double cpus = 0;

        for (size_t i = 0; i < n; i++)
                if (strcmp(resources[i]->name, "cpus") == 0 && resources[i]->scalar)
                        cpus += resources[i]->scalar->value;
        return cpus;
}

static void gate_on_subscribed(struct agent_gate *g, const Firesteel__Mesos__ExecutorEvent__Subscribed *e)
{
        const Firesteel__Mesos__ExecutorInfo *info = e->executor_info;
        const char *url;

        executor_session_subscribed(&g->session);
        g->refusals = 0;
        uv_timer_stop(&g->timer);
        if (g->starting) {
                double cores = gate_cpus(e->agent_info->resources, e->agent_info->n_resources) -
                               gate_cpus(info->resources, info->n_resources);
                g->started = executor_data_read(info->data.data, info->data.len, &url, g->conf, g->starting);
                g->starting = NULL;
                if (g->started < 0)
                        return;
                g->started = 1;
                g->driver_url = mem_strdup(url);
                g->hostname = mem_strdup(e->agent_info->hostname);
                g->options->driver_url = g->driver_url;
                g->options->hostname = g->hostname;
                g->options->cores = (int)MAX(MIN(cores + 1e-6, MAX_CORES), 1);
        }
        log_info(LOG, "Subscribed with the Mesos agent as executor %s of framework %s", g->executor_id,
                 g->framework_id);
        gate_end_starters(g);
}

static void gate_on_launch(struct agent_gate *g, const Firesteel__Mesos__TaskInfo *task)
{
        _cleanup_(buf_deinit) struct buf info = BUF_INIT;
        const char *id = task->task_id->value;
        const int64_t number = gate_task_number(id);

        mesos_message_write(&task->base, &info);
        if (!executor_session_launched(&g->session, id, (const uint8_t *)info.data, info.len, gate_now()))
                return;
        if (number >= 0)
                task_gate_open(g->executor, number);
        gate_end_starters(g);
}

static void gate_dispatch(struct agent_gate *g, const mesos_executor_event *event)
{
        switch (event->type) {
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__SUBSCRIBED:
                gate_on_subscribed(g, event->subscribed);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__LAUNCH:
                gate_on_launch(g, event->launch->task);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__KILL:
                if (gate_task_number(event->kill->task_id->value) >= 0)
                        task_gate_kill(g->executor, gate_task_number(event->kill->task_id->value));
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__ACKNOWLEDGED:
                executor_session_acknowledged(&g->session, event->acknowledged->task_id->value,
                                              event->acknowledged->uuid.data, event->acknowledged->uuid.len);
                gate_send_updates(g);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__SHUTDOWN:
                log_info(LOG, "The Mesos agent ends the executor");
                task_gate_end_executor(g->executor, EXECUTOR_EXIT_OK);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__ERROR:
                log_error(LOG, "The Mesos agent reports: %s", event->error->message);
                break;
        default:
                break;
        }
}

static int gate_on_record(void *owner, const uint8_t *record, size_t len)
{
        struct agent_gate *g = owner;
        struct wire_memory memory = wire_memory_for(len);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const mesos_executor_event *event;

        if (mesos_executor_event_read(&memory, record, len, &event, &error) < 0)
                log_warn(LOG, "Ignoring an event of the Mesos agent: %s", error_message(&error));
        else
                gate_dispatch(g, event);
        arena_deinit(&memory.arena);
        return g->stopped ? -ECANCELED : 0;
}

/* ---------------------------------------------------------------------------------------------------- subscription */

static void gate_subscribe(struct agent_gate *g);

static void gate_on_time_to_subscribe(uv_timer_t *timer)
{
        gate_subscribe(timer->data);
}

static void gate_lose(struct agent_gate *g, const char *why)
{
        const int64_t now = now_ns() / 1000000;

        recordio_reset(&g->records);
        g->stream = NULL;
        if (g->stopped)
                return;
        if (g->starting) {
                g->started = error_set(g->starting, -ECONNREFUSED, "the Mesos agent at %s: %s",
                                       g->socket ? g->socket : g->url, why);
                g->starting = NULL;
                return;
        }
        if (!executor_session_broken(&g->session, now)) {
                log_error(LOG, "The connection to the Mesos agent has ended, and the executor ends with it: %s", why);
                task_gate_end_executor(g->executor, EXECUTOR_EXIT_FAILED);
                return;
        }
        log_warn(LOG, "The connection to the Mesos agent has ended, subscribing again: %s", why);
        uv_timer_start(&g->timer, gate_on_time_to_subscribe, (uint64_t)MAX(g->session.retry_at - now, 1), 0);
}

static int gate_on_data(void *context, const char *data, size_t n)
{
        struct agent_gate *g = context;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = recordio_feed(&g->records, data, n, gate_on_record, g, &error);

        if (r < 0 && !g->stopped)
                log_error(LOG, "The stream of the Mesos agent is damaged: %s", error_message(&error));
        return r;
}

static void gate_on_stream_end(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                               const struct fst_error *error)
{
        struct agent_gate *g = owner;

        g->stream = NULL;
        gate_lose(g, r < 0                   ? error_message(error)
                     : answer->status >= 300 ? buf_text(&answer->body)
                                             : "the agent has ended the stream");
}

static struct http_transfer *gate_post(struct agent_gate *g, const mesos_executor_call *call, bool is_stream,
                                       http_async_done *done, void *owner)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        const char *headers[] = {"Content-Type: " MESOS_MEDIA_TYPE, "Accept: " MESOS_MEDIA_TYPE, NULL};

        mesos_message_write(&call->base, &body);
        struct http_request request = {.url = g->url,
                                       .method = "POST",
                                       .headers = headers,
                                       .body = body.data,
                                       .body_len = body.len,
                                       .connect_timeout_ms = CALL_MS,
                                       .timeout_ms = is_stream ? 0 : CALL_MS,
                                       .stall_timeout_ms = -1,
                                       .bearer = g->token,
                                       .unix_socket = g->socket,
                                       .sink = is_stream ? gate_on_data : NULL,
                                       .context = g};
        return http_async_send(g->http, &request, done, owner);
}

/* An agent that accepts the connection and does not answer must not keep the executor for ever. */
static void gate_limit_subscription(struct agent_gate *g)
{
        const int64_t deadline = executor_session_deadline(&g->session), now = now_ns() / 1000000;

        if (deadline != INT64_MAX)
                uv_timer_start(&g->timer, gate_on_time_to_subscribe, (uint64_t)MAX(deadline - now, 1), 0);
}

/* Hands over what the agent has not acknowledged. */
static void gate_subscribe(struct agent_gate *g)
{
        struct entry {
                Firesteel__Mesos__TaskStatus status;
                Firesteel__Mesos__TaskID task;
                Firesteel__Mesos__ExecutorID executor;
                Firesteel__Mesos__ExecutorCall__Update update;
        };
        mesos_executor_call call = FIRESTEEL__MESOS__EXECUTOR_CALL__INIT;
        Firesteel__Mesos__ExecutorCall__Subscribe subscribe = FIRESTEEL__MESOS__EXECUTOR_CALL__SUBSCRIBE__INIT;
        Firesteel__Mesos__ExecutorID executor;
        Firesteel__Mesos__FrameworkID framework;
        size_t n_updates = 0, n_tasks = 0;

        if (executor_session_gave_up(&g->session, now_ns() / 1000000)) {
                log_error(LOG, "The Mesos agent did not come back within %" PRId64 " ms: the executor ends",
                          g->session.recovery_ms);
                task_gate_end_executor(g->executor, EXECUTOR_EXIT_FAILED);
                return;
        }
        for (const struct session_update *u = g->session.updates.first; u; u = u->next)
                n_updates++;
        for (const struct session_task *t = g->session.tasks.first; t; t = t->next)
                n_tasks++;
        struct entry *entries = new_array(struct entry, n_updates);
        Firesteel__Mesos__ExecutorCall__Update **updates =
                new_array(Firesteel__Mesos__ExecutorCall__Update *, n_updates);
        Firesteel__Mesos__TaskInfo **tasks = new_array(Firesteel__Mesos__TaskInfo *, n_tasks);
        for (const struct session_update *u = g->session.updates.first; u; u = u->next) {
                struct entry *e = &entries[subscribe.n_unacknowledged_updates];
                gate_fill_status(g, u, &e->status, &e->task, &e->executor);
                firesteel__mesos__executor_call__update__init(&e->update);
                e->update.status = &e->status;
                updates[subscribe.n_unacknowledged_updates++] = &e->update;
        }
        for (const struct session_task *t = g->session.tasks.first; t; t = t->next) {
                tasks[subscribe.n_unacknowledged_tasks] =
                        firesteel__mesos__task_info__unpack(NULL, t->info_len, t->info);
                subscribe.n_unacknowledged_tasks += tasks[subscribe.n_unacknowledged_tasks] != NULL;
        }
        subscribe.unacknowledged_updates = updates;
        subscribe.unacknowledged_tasks = tasks;
        gate_init_ids(g, &call, &executor, &framework);
        call.type = FIRESTEEL__MESOS__EXECUTOR_CALL__TYPE__SUBSCRIBE;
        call.subscribe = &subscribe;
        recordio_reset(&g->records);
        g->stream = gate_post(g, &call, true, gate_on_stream_end, g);
        gate_limit_subscription(g);
        for (size_t i = 0; i < subscribe.n_unacknowledged_tasks; i++)
                firesteel__mesos__task_info__free_unpacked(tasks[i], NULL);
        free(tasks);
        free(updates);
        free(entries);
}

/* ----------------------------------------------------------------------------------------------------------- slots */

static bool gate_has_started(void *owner)
{
        return ((const struct agent_gate *)owner)->started != 0;
}

static int agent_gate_start(struct task_gate *gate, uv_loop_t *loop, struct executor *executor, struct fst_error *error)
{
        struct agent_gate *g = agent_gate_of(gate);
        int r = http_async_new(loop, &(struct http_async_options){.plain = true, .max_connections = 1}, &g->http,
                               error);

        if (r < 0)
                return r;
        g->loop = loop;
        g->executor = executor;
        uv_timer_init(loop, &g->timer);
        g->timer.data = g;
        g->starting = error;
        gate_subscribe(g);
        if (!loop_wait(loop, gate_has_started, g, SUBSCRIBE_TIMEOUT_MS) && g->started == 0) {
                g->starting = NULL;
                return error_set(error, -ETIMEDOUT, "the Mesos agent at %s does not answer",
                                 g->socket ? g->socket : g->url);
        }
        return g->started < 0 ? g->started : 0;
}

static void agent_gate_registered(struct task_gate *gate)
{
        struct agent_gate *g = agent_gate_of(gate);

        g->registered = true;
        gate_end_starters(g);
}

static void agent_gate_ended(struct task_gate *gate, int64_t task_id, enum task_gate_end how)
{
        struct agent_gate *g = agent_gate_of(gate);
        char id[ID_TEXT];

        snprintf(id, sizeof(id), "%" PRId64, task_id);
        executor_session_ended(&g->session, id,
                               how == TASK_GATE_SUCCEEDED ? MESOS_TASK_FINISHED
                               : how == TASK_GATE_KILLED  ? MESOS_TASK_KILLED
                                                          : MESOS_TASK_FAILED,
                               NULL, gate_now());
        gate_send_updates(g);
}

static bool gate_is_settled(void *owner)
{
        const struct agent_gate *g = owner;

        return !g->session.subscribed || executor_session_is_settled(&g->session);
}

static void agent_gate_stop(struct task_gate *gate)
{
        struct agent_gate *g = agent_gate_of(gate);

        if (!g->http || g->stopped)
                return;
        for (const struct session_task *t = g->session.tasks.first; t; t = t->next)
                if (!t->ended)
                        executor_session_ended(&g->session, t->id, MESOS_TASK_KILLED, "the executor ends", gate_now());
        gate_send_updates(g);
        loop_wait(g->loop, gate_is_settled, g, FLUSH_MS);
        g->stopped = true;
        http_async_free(steal(g->http));
        uv_close((uv_handle_t *)&g->timer, NULL);
}

static const struct task_gate_class agent_gate_class = {
        .start = agent_gate_start,
        .registered = agent_gate_registered,
        .ended = agent_gate_ended,
        .stop = agent_gate_stop,
};

/* --------------------------------------------------------------------------------------------------- begin and end */

static int gate_variable(const char *name, const char **out, struct fst_error *error)
{
        *out = getenv(name);
        if (*out && **out)
                return 0;
        return error_set(error, -EINVAL, "%s is not set: a Mesos agent starts `firesteel mesos-executor`", name);
}

/* How long the agent may be gone. */
static int64_t gate_recovery_ms(void)
{
        const char *checkpoint = getenv("MESOS_CHECKPOINT"), *timeout = getenv("MESOS_RECOVERY_TIMEOUT");

        if (!checkpoint || strcmp(checkpoint, "1") != 0)
                return 0;
        return MAX(mesos_duration_ms(timeout ? timeout : "15mins"), 0);
}

int agent_gate_new(struct executor_options *options, struct fst_conf *conf, struct agent_gate **out,
                   struct fst_error *error)
{
        const char *endpoint, *framework, *executor, *backoff = getenv("MESOS_SUBSCRIPTION_BACKOFF_MAX");
        const char *socket = getenv("MESOS_DOMAIN_SOCKET");
        int r = gate_variable("MESOS_AGENT_ENDPOINT", &endpoint, error);

        r = r < 0 ? r : gate_variable("MESOS_FRAMEWORK_ID", &framework, error);
        r = r < 0 ? r : gate_variable("MESOS_EXECUTOR_ID", &executor, error);
        if (r < 0)
                return r;
        struct agent_gate *g = new0(struct agent_gate);
        *g = (struct agent_gate){.gate.class = &agent_gate_class,
                                 .options = options,
                                 .conf = conf,
                                 .framework_id = framework,
                                 .executor_id = executor,
                                 .token = getenv("MESOS_EXECUTOR_AUTHENTICATION_TOKEN"),
                                 .socket = socket && *socket ? socket : NULL,
                                 .url = mem_printf("http://%s" MESOS_EXECUTOR_PATH, endpoint),
                                 .records = RECORDIO_INIT};
        executor_session_init(&g->session, gate_recovery_ms(), backoff ? mesos_duration_ms(backoff) : 2000,
                              (uint64_t)now_ns() ^ (uint64_t)getpid() << 32);
        options->executor_id = executor;
        options->app_id = framework;
        options->gate = &g->gate;
        *out = g;
        return 0;
}

void agent_gate_free(struct agent_gate *g)
{
        if (!g)
                return;
        executor_session_deinit(&g->session);
        recordio_deinit(&g->records);
        free(g->url);
        free(g->hostname);
        free(g->driver_url);
        free(g);
}
