/* Requests of the REST server of a dispatcher: as Spark's MesosRestServer. See dispatcher_server_internal.h. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "mesos/dispatcher/dispatcher_server_internal.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/driver_settings.h"
#include "mesos/dispatcher/driver_task.h"
#include "mesos/dispatcher/status_text.h"
#include "mesos/scheduler/mesos_scheduler.h"
#include "rest/rest_server.h"

/* How long a driver waits for the first offers until their lack is the reason. */
#define FIRST_OFFER_MS 5000

/* Finds errors of the settings now. At the launch nobody would read them. */
static int dispatcher_rest_check(const struct dispatcher_server *s, const struct rest_request *request,
                                 struct mesos_driver_spec *spec, struct fst_error *error)
{
        struct driver_command command;
        struct driver_task task;
        int r = driver_description_spec(request, &s->config, spec, error);
        if (r < 0)
                return r;
        dispatcher_server_command(s, request, "", spec->cpus_milli, &command);
        r = driver_settings_check(&command, error);
        if (r == 0)
                r = driver_task_init(&task, &command, NULL, NULL, error);
        if (r == 0)
                driver_task_deinit(&task);
        else
                mesos_constraints_deinit(&spec->constraints);
        return r;
}

static struct rest_answer dispatcher_rest_answer(const struct dispatcher_reply *reply)
{
        return (struct rest_answer){.success = reply->success ? REST_TRUE : REST_FALSE,
                                    .message = mem_strdup_if(reply->message),
                                    .submission_id = mem_strdup_if(reply->driver_id)};
}

static void dispatcher_rest_create(void *owner, struct rest_exchange *x, const struct rest_request *request)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct dispatcher_server *s = owner;
        struct mesos_driver_spec spec;
        int r = dispatcher_rest_check(s, request, &spec, &error);
        if (r < 0)
                return rest_exchange_refuse_create(x, r, &error);
        _cleanup_free_ void *body = driver_description_pack(request, &spec.body_size);
        spec.body = body;
        struct dispatcher_reply reply = dispatcher_submit(&s->core, &spec, dispatcher_server_now());
        struct rest_answer answer = dispatcher_rest_answer(&reply);
        dispatcher_server_run(s);
        dispatcher_server_reply(s, x, &answer);
        dispatcher_server_flush(s);
}

static void dispatcher_rest_kill(void *owner, struct rest_exchange *x, const char *id)
{
        struct dispatcher_server *s = owner;
        struct dispatcher_reply reply = dispatcher_kill(&s->core, id, dispatcher_server_now());
        struct rest_answer answer = dispatcher_rest_answer(&reply);
        dispatcher_server_run(s);
        dispatcher_server_reply(s, x, &answer);
        dispatcher_server_flush(s);
}

/*
 * Why no offer has launched a queued driver. The caller owns the text. NULL if an offer suffices or may still come:
 * spark-submit asks right after the submission, and logs a text as an error.
 */
static char *dispatcher_rest_waiting(const struct dispatcher_server *s, const struct mesos_driver *driver)
{
        const struct offer_needs needs = {.cpus_milli = driver->cpus_milli,
                                          .memory = driver->memory,
                                          .constraints = &driver->constraints,
                                          .cpus_key = "spark.driver.cores",
                                          .memory_key = "spark.driver.memory with overhead twice",
                                          .port_key = "",
                                          .constraints_key = "spark.mesos.driver.constraints"};
        const int64_t now = dispatcher_server_now(), since = now - agent_offers_max_age(s->config.refuse_ms);
        struct buf text = BUF_INIT;
        if (!s->scheduler || !mesos_scheduler_master(s->scheduler))
                return mem_strdup("The dispatcher is not connected with a Mesos master");
        const size_t n_fit = agent_offers_put_shortage(&s->offers, &needs, since, &text);
        const bool is_new = dispatcher_wall(&s->core, now) - driver->submitted < FIRST_OFFER_MS;
        if (n_fit > 0 || (text.len == 0 && is_new)) {
                buf_deinit(&text);
                return NULL;
        }
        buf_puts(&text, text.len == 0
                                ? "Mesos makes no offers: it has no agents, or other frameworks hold their resources"
                                : ". Lower what the driver needs, or add agents that have it");
        return buf_steal(&text);
}

static void dispatcher_rest_status(void *owner, struct rest_exchange *x, const char *id)
{
        const struct dispatcher_server *s = owner;
        const struct mesos_driver *driver = dispatcher_driver(&s->core, id);
        struct rest_answer a = {.success = driver ? REST_TRUE : REST_FALSE};
        a.driver_state = mem_strdup(driver ? mesos_driver_state_name(driver->state) : "NOT_FOUND");
        if (driver && driver->state == MESOS_DRIVER_QUEUED)
                a.message = dispatcher_rest_waiting(s, driver);
        else if (driver && driver->status)
                a.message = status_text_of(driver->status, driver->status_size);
        rest_exchange_answer(x, &a);
}

static const struct rest_service dispatcher_rest_service = {
        .log_name = "MesosRestServer",
        .actions = "/create, /kill, or /status",
        .remedy = "",
        .create = dispatcher_rest_create,
        .kill = dispatcher_rest_kill,
        .status = dispatcher_rest_status,
};

int dispatcher_rest_start(struct dispatcher_server *s, struct fst_error *error)
{
        if (s->rest)
                return 0;
        int r = rest_server_new(&s->conf->conf, &dispatcher_rest_service, s, s->conf->port, &s->rest, error);
        return r < 0 ? r : rest_server_listen(s->rest, s->loop, s->conf->host, error);
}
