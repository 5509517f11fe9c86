/* Passes REST requests to a standalone master. See master_rest.h. */
#include "standalone/rest/master_rest.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "rest/rest_request.h"
#include "standalone/core/master_state.h"
#include "standalone/rest/driver_validation.h"
#include "standalone/rest/rest_driver.h"

#define PORT_KEY "spark.master.rest.port"

struct master_rest {
        const struct fst_conf *conf;
        const struct rest_master_ops *ops;
        struct master_server *master;
        char *master_url;
        struct rest_server *server;
};

static void master_rest_on_replied(void *context, const struct master_reply *reply)
{
        struct rest_answer a = {.success = reply->success ? REST_TRUE : REST_FALSE,
                                .message = mem_strdup_if(reply->message)};
        rest_exchange_answer(context, &a);
}

static void master_rest_on_submitted(void *context, const struct master_reply *reply)
{
        struct rest_answer a = {.success = reply->success ? REST_TRUE : REST_FALSE,
                                .message = mem_strdup_if(reply->message),
                                .submission_id = mem_strdup_if(reply->driver_id)};
        rest_exchange_answer(context, &a);
}

static void master_rest_on_cleared(void *context, const struct master_reply *reply)
{
        struct rest_answer a = {.success = reply->success ? REST_TRUE : REST_FALSE,
                                .message = mem_strdup(reply->message ? reply->message : "")};
        rest_exchange_answer(context, &a);
}

static void master_rest_create(void *owner, struct rest_exchange *x, const struct rest_request *request)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(arena_deinit) struct arena memory = ARENA_INIT;
        struct master_rest *m = owner;
        struct driver_spec driver;
        enum driver_kind kind;
        int r = rest_request_spec(request, m->master_url, rest_server_port(m->server), &driver, &memory, &error);
        if (r == 0)
                r = driver_check(request->app_resource, m->conf, &kind, &error);
        if (r < 0)
                return rest_exchange_refuse_create(x, r, &error);
        m->ops->submit(m->master, &driver, master_rest_on_submitted, x);
}

static void master_rest_kill(void *owner, struct rest_exchange *x, const char *id)
{
        struct master_rest *m = owner;
        m->ops->kill(m->master, id, master_rest_on_replied, x);
}

static void master_rest_kill_all(void *owner, struct rest_exchange *x)
{
        struct master_rest *m = owner;
        m->ops->kill_all(m->master, master_rest_on_replied, x);
}

static void master_rest_clear(void *owner, struct rest_exchange *x)
{
        struct master_rest *m = owner;
        m->ops->clear(m->master, master_rest_on_cleared, x);
}

static void master_rest_status(void *owner, struct rest_exchange *x, const char *id)
{
        _cleanup_free_ char *message = NULL;
        struct master_rest *m = owner;
        const struct master_driver *d = master_driver_status(m->ops->state(m->master), id, &message);
        struct rest_answer a = {.success = d ? REST_TRUE : REST_FALSE};
        if (d) {
                a.driver_state = mem_strdup(driver_state_name(d->state));
                a.worker_id = mem_strdup_if(d->worker_id);
                a.worker_host_port = mem_strdup_if(d->worker_address);
        }
        if (d && d->exception)
                a.message = mem_printf("Exception from the cluster:\n%s", d->exception);
        else if (!d && message)
                a.message = mem_printf("Exception from the cluster:\njava.lang.Exception: %s", message);
        rest_exchange_answer(x, &a);
}

static void master_rest_readyz(void *owner, struct rest_exchange *x)
{
        struct master_rest *m = owner;
        if (m->ops->state(m->master)->status == MASTER_STANDBY)
                return rest_exchange_refuse(x, 503, "Master is not ready.");
        struct rest_answer a = {.success = REST_TRUE, .message = mem_strdup("")};
        rest_exchange_answer(x, &a);
}

static const struct rest_service master_rest_service = {
        .log_name = "StandaloneRestServer",
        .actions = "/create, /kill, /killall, /clear, /status, or /readyz",
        .remedy = "spark.master.rest.enabled=false",
        .create = master_rest_create,
        .kill = master_rest_kill,
        .status = master_rest_status,
        .kill_all = master_rest_kill_all,
        .clear = master_rest_clear,
        .readyz = master_rest_readyz,
};

int master_rest_new(const struct fst_conf *conf, const char *master_url, const struct rest_master_ops *ops,
                    struct master_server *master, struct master_rest **out, struct fst_error *error)
{
        int64_t port = 0;
        int r = conf_get_int(conf, PORT_KEY, &port, error);
        if (r == 0 && (port < 0 || port > 65535))
                r = error_set(error, -EINVAL, PORT_KEY ": %lld is not a valid port", (long long)port);
        if (r < 0)
                return r;
        struct master_rest *m = new0(struct master_rest);
        m->conf = conf;
        m->ops = ops;
        m->master = master;
        m->master_url = mem_strdup(master_url);
        r = rest_server_new(conf, &master_rest_service, m, (int)port, &m->server, error);
        if (r < 0)
                master_rest_free(m);
        else
                *out = m;
        return r;
}

void master_rest_free(struct master_rest *m)
{
        if (!m)
                return;
        rest_server_free(m->server);
        free(m->master_url);
        free(m);
}

struct rest_server *master_rest_server(struct master_rest *m)
{
        return m->server;
}
