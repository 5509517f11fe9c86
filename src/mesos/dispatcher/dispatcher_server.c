/* Lifetime of a dispatcher, its records, and what waits for them. See dispatcher_server_internal.h. */
#include "mesos/dispatcher/dispatcher_server_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/app/app_compiler.h"
#include "mesos/dispatcher/dispatcher_pages.h"
#include "mesos/dispatcher/dispatcher_record.h"
#include "mesos/dispatcher/driver_command.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/scheduler/mesos_scheduler.h"
#include "rest/rest_server.h"
#include "standalone/recovery/persistence.h"

int64_t dispatcher_server_now(void)
{
        return now_ns();
}

void dispatcher_server_command(const struct dispatcher_server *s, const struct rest_request *request,
                               const char *task_id, int64_t cpus_milli, struct driver_command *out)
{
        *out = (struct driver_command){.request = request,
                                       .conf = &s->conf->conf,
                                       .master = s->conf->master,
                                       .home = s->home,
                                       .framework_id = s->core.framework_id ? s->core.framework_id : "",
                                       .task_id = task_id,
                                       .cores = mesos_amount(cpus_milli)};
        driver_description_memory(request, &out->memory, NULL); /* valid: its spec has been read */
}

/* ------------------------------------------------------------------------------------------------- messages */

static void dispatcher_message_deinit(struct dispatcher_message *m)
{
        rest_answer_deinit(&m->answer);
        free(m->call);
        free(m->task_ids);
}

static void dispatcher_server_push(struct dispatcher_server *s, const struct dispatcher_message *m)
{
        queue_push(&s->messages, *m);
        s->n_unsealed++;
}

void dispatcher_server_reply(struct dispatcher_server *s, struct rest_exchange *x, struct rest_answer *answer)
{
        dispatcher_server_push(s, &(struct dispatcher_message){.exchange = x, .answer = *answer});
}

void dispatcher_server_call(struct dispatcher_server *s, void *call, size_t size, char *task_ids)
{
        dispatcher_server_push(s, &(struct dispatcher_message){.call = call, .call_size = size, .task_ids = task_ids});
}

/* Sends the oldest @n messages. */
static void dispatcher_server_release(struct dispatcher_server *s, size_t n)
{
        struct dispatcher_message m;
        for (; n > 0 && queue_pop(&s->messages, &m); n--) {
                if (m.exchange) {
                        rest_exchange_answer(m.exchange, &m.answer); /* which takes the answer */
                        m.answer = REST_ANSWER_INIT;
                } else {
                        dispatcher_mesos_send(s, &m);
                }
                dispatcher_message_deinit(&m);
        }
}

static void dispatcher_server_on_durable(void *context)
{
        struct dispatcher_server *s = context;
        size_t n = 0;
        if (queue_pop(&s->batches, &n))
                dispatcher_server_release(s, n);
        dispatcher_server_flush(s); /* what a call that could not be made has caused */
}

void dispatcher_server_flush(struct dispatcher_server *s)
{
        while (s->n_unsealed > 0 && !s->closing) {
                const size_t n = s->n_unsealed;
                s->n_unsealed = 0;
                if (!persistence_commit(s->persistence, dispatcher_server_on_durable, s)) {
                        queue_push(&s->batches, n);
                        return;
                }
                dispatcher_server_release(s, n);
        }
}

/* ------------------------------------------------------------------------------------------------- actions */

static void dispatcher_server_on_timer(uv_timer_t *timer)
{
        struct dispatcher_server *s = timer->data;
        dispatcher_tick(&s->core, dispatcher_server_now());
        dispatcher_server_run(s);
        dispatcher_server_flush(s);
}

static int64_t dispatcher_server_wall_offset(void)
{
        return ms_to_ns(time_of_day_ms()) - dispatcher_server_now();
}

static void dispatcher_server_act(struct dispatcher_server *s, const struct dispatcher_action *a)
{
        size_t size;
        switch (a->kind) {
        case DISPATCHER_STORE: {
                _cleanup_free_ void *data = dispatcher_record_pack(&s->core, a->driver, &size);
                return persistence_store(s->persistence, MASTER_RECORD_DRIVER, a->driver->id, data, size);
        }
        case DISPATCHER_REMOVE:
                return persistence_remove(s->persistence, MASTER_RECORD_DRIVER, a->id);
        case DISPATCHER_STORE_FRAMEWORK:
                return persistence_store(s->persistence, MASTER_RECORD_FRAMEWORK, DISPATCHER_FRAMEWORK_RECORD, a->id,
                                         strlen(a->id));
        case DISPATCHER_LOG:
                log_at(a->log.level, DISPATCHER_LOG_NAME, "%s", a->log.line);
                return;
        default:
                return dispatcher_mesos_act(s, a);
        }
}

static void dispatcher_server_take_actions(struct dispatcher_server *s)
{
        for (const struct dispatcher_action *a; (a = dispatcher_next_action(&s->core));)
                dispatcher_server_act(s, a);
}

void dispatcher_server_run(struct dispatcher_server *s)
{
        dispatcher_server_take_actions(s);
        while (s->failed.len > 0) {
                _cleanup_free_ char *id = s->failed.data[--s->failed.len];
                dispatcher_updated(&s->core, &(struct dispatcher_update){.task_id = id, .state = MESOS_TASK_ERROR},
                                   dispatcher_server_now());
                dispatcher_server_take_actions(s);
        }
        dispatcher_set_wall_offset(&s->core, dispatcher_server_wall_offset());
        const int64_t deadline = dispatcher_deadline(&s->core);
        if (deadline == INT64_MAX || s->closing)
                uv_timer_stop(&s->timer);
        else
                uv_timer_start(&s->timer, dispatcher_server_on_timer,
                               MAX(ms_until(deadline, dispatcher_server_now()), (uint64_t)1), 0);
}

/* ------------------------------------------------------------------------------------------------- election */

void dispatcher_server_fail(struct dispatcher_server *s, const char *message)
{
        if (s->has_ended)
                return;
        s->has_ended = true;
        log_error(DISPATCHER_LOG_NAME, "%s", message);
        s->ended(s->owner, 1);
}

static void dispatcher_server_on_elected(void *owner, const struct persistence_record *records, size_t n)
{
        struct dispatcher_server *s = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        dispatcher_records_read(&s->core, records, n, dispatcher_server_now());
        if (n > 0)
                log_info(DISPATCHER_LOG_NAME, "Recovered %zu queued, %zu launched and %zu retried drivers",
                         s->core.n_queued, s->core.n_launched, s->core.n_retrying);
        dispatcher_server_run(s);
        if (dispatcher_mesos_start(s, &error) < 0)
                dispatcher_server_fail(s, error_message(&error));
}

static void dispatcher_server_on_revoked(void *owner, const char *why)
{
        dispatcher_server_fail(owner, why);
}

static const struct persistence_ops dispatcher_persistence_ops = {
        .elected = dispatcher_server_on_elected,
        .revoked = dispatcher_server_on_revoked,
        .failed = dispatcher_server_on_revoked,
};

/* ------------------------------------------------------------------------------------------------- lifetime */

static void dispatcher_server_free(struct dispatcher_server *s)
{
        struct dispatcher_message m;
        while (queue_pop(&s->messages, &m))
                dispatcher_message_deinit(&m);
        vec_deinit(&s->failed);
        queue_deinit(&s->messages);
        queue_deinit(&s->batches);
        dispatcher_deinit(&s->core);
        agent_offers_deinit(&s->offers);
        mesos_master_deinit(&s->master);
        mesos_credentials_deinit(&s->credentials);
        free(s->home);
        free(s);
}

static void dispatcher_server_part_closed(void *owner)
{
        struct dispatcher_server *s = owner;
        if (--s->parts == 0)
                dispatcher_server_free(s);
}

static void dispatcher_server_handle_closed(uv_handle_t *handle)
{
        dispatcher_server_part_closed(handle->data);
}

void dispatcher_server_close(struct dispatcher_server *s)
{
        if (s->closing)
                return;
        s->closing = s->has_ended = true;
        s->parts = 1 + (s->persistence != NULL);
        rest_server_free(steal(s->rest));
        dispatcher_pages_free(steal(s->pages));
        dispatcher_mesos_stop(s);
        uv_close((uv_handle_t *)&s->timer, dispatcher_server_handle_closed);
        persistence_close(steal(s->persistence), dispatcher_server_part_closed, s);
}

static const char *dispatcher_server_master(void *owner)
{
        const struct dispatcher_server *s = owner;
        return s->scheduler ? mesos_scheduler_master(s->scheduler) : NULL;
}

static int dispatcher_server_start(struct dispatcher_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        const char *home = conf_get_raw(conf, "spark.home");
        if (!home)
                home = daemon_variable("SPARK_HOME");
        if (!home)
                home = app_compiler_home();
        s->home = mem_strdup(home ? home : "");
        int r = mesos_master_parse(s->conf->master, &s->master, error);
        if (r == 0)
                r = mesos_credentials_read(conf, conf_environment, &s->credentials, error);
        if (r == 0)
                r = dispatcher_pages_new(&(struct dispatcher_pages_options){.loop = s->loop,
                                                                            .master = dispatcher_server_master,
                                                                            .owner = s,
                                                                            .conf = s->conf,
                                                                            .core = &s->core},
                                         &s->pages, error);
        if (r == 0)
                r = persistence_open(s->loop, conf, dispatcher_pages_url(s->pages), &dispatcher_persistence_ops, s,
                                     &s->persistence, error);
        return r;
}

int dispatcher_server_new(uv_loop_t *loop, const struct dispatcher_conf *conf, void (*ended)(void *owner, int status),
                          void *owner, struct dispatcher_server **out, struct fst_error *error)
{
        struct dispatcher_server *s = new0(struct dispatcher_server);
        *s = (struct dispatcher_server){.loop = loop, .conf = conf, .ended = ended, .owner = owner};
        uv_timer_init(loop, &s->timer);
        s->timer.data = s;
        s->config = conf->core;
        s->config.wall_offset = dispatcher_server_wall_offset();
        dispatcher_init(&s->core, &s->config);
        int r = dispatcher_server_start(s, error);
        if (r < 0)
                dispatcher_server_close(s);
        else
                *out = s;
        return r;
}
