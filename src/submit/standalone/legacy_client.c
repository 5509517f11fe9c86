/*
 * See legacy_client.h. A request goes to every master over a persistent connection. It ends when the leader has
 * replied, or when every master has replied that it cannot serve it. A launch is never repeated after a master may have
 * received it: only a standby or unreachable master is asked again.
 */
#include "submit/standalone/legacy_client.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "rest/rest_request.h"
#include "standalone/rest/rest_driver.h"
#include "standalone/wire/standalone_wire.h"
#include "submit/standalone/legacy_arguments.h"
#include "rest/rest_messages.h"
#include "net/security.h"
#include "rpc/rpc.h"
#include "standalone/wire/master_addresses.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define LOG "ClientEndpoint"
#define ASK_TIMEOUT_MS 10000 /* Spark's default for spark.rpc.askTimeout */
#define STANDBY_RETRY_MS 200
#define TICK_MS 50 /* how often to check *@stopped */
#define DRAIN_MS 100

struct legacy_master {
        char *address; /* "host:port" */
        struct rpc_ref *ref;
};

/* A request to one master. Its reply may arrive after the request ended and a later one was sent. */
struct legacy_request {
        struct legacy_client *client;
        const struct legacy_master *master;
        uint64_t request_id;
};

struct legacy_client {
        uv_loop_t loop;
        uv_timer_t tick;
        struct security *security;
        struct rpc_env *rpc;
        struct legacy_master *masters;
        size_t n;
        VEC(struct legacy_request *) requests; /* unanswered ones */
        int64_t ask_timeout_ms, standby_ms;
        const int *stopped;

        /* the current request */
        uint64_t request_id;
        uint16_t type;
        size_t waiting, standing_by;
        bool answered, closed;
        int status;        /* the worst error among masters without a reply */
        struct buf errors; /* the messages of those masters */
        struct legacy_answer *answer;
};

void legacy_answer_deinit(struct legacy_answer *a)
{
        free(a->driver_id);
        free(a->message);
        free(a->state);
        free(a->worker_id);
        free(a->worker_host_port);
        *a = LEGACY_ANSWER_INIT;
}

/* ---------------------------------------------------------------------------------------------------------- replies */

static char *legacy_client_copy_or_null(const char *text)
{
        return *text ? mem_strdup(text) : NULL;
}

/* Returns whether the reply is a leader's. */
static bool legacy_client_handle_reply(struct legacy_client *c, const Firesteel__Standalone__DriverReply *reply)
{
        if (reply->standby)
                return false;
        c->answer->success = reply->success;
        c->answer->driver_id = legacy_client_copy_or_null(reply->driver_id);
        c->answer->message = mem_strdup(reply->message);
        return true;
}

static bool legacy_client_handle_status(struct legacy_client *c, const Firesteel__Standalone__DriverStatus *status)
{
        if (status->standby)
                return false;
        c->answer->success = status->found;
        c->answer->message = mem_strdup(*status->exception ? status->exception : status->message);
        c->answer->state = legacy_client_copy_or_null(status->state);
        c->answer->worker_id = legacy_client_copy_or_null(status->worker_id);
        c->answer->worker_host_port = legacy_client_copy_or_null(status->worker_host_port);
        return true;
}

static void legacy_client_add_error(struct legacy_client *c, const struct legacy_master *m, int status,
                                    const char *message)
{
        /* do not repeat an address that the message contains */
        bool named = text_starts_with(message, m->address);
        buf_printf(&c->errors, "%s%s%s%s", c->errors.len ? "; " : "", named ? "" : m->address, named ? "" : ": ",
                   message);
        c->status = c->status == 0 || c->status == -ENOTCONN ? status : c->status;
}

static void legacy_client_decode_reply(struct legacy_client *c, const struct legacy_master *m,
                                       const struct rpc_answer *a)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(a->len);
        bool status = c->type == FIRESTEEL__STANDALONE__STANDALONE_TYPE__DRIVER_STATUS;
        const void *reply = standalone_decode(a->body, a->len,
                                              status ? &firesteel__standalone__driver_status__descriptor
                                                     : &firesteel__standalone__driver_reply__descriptor,
                                              &memory, &error);
        if (!reply)
                legacy_client_add_error(c, m, -EPROTO, error_message(&error));
        else if (status ? legacy_client_handle_status(c, reply) : legacy_client_handle_reply(c, reply))
                c->answered = true;
        else
                c->standing_by++;
        error_deinit(&error);
}

static struct legacy_request *legacy_request_new(struct legacy_client *c, const struct legacy_master *master)
{
        struct legacy_request *ask = new0(struct legacy_request);
        *ask = (struct legacy_request){c, master, c->request_id};
        vec_push(&c->requests, ask);
        return ask;
}

static void legacy_request_free(struct legacy_request *ask)
{
        struct legacy_client *c = ask->client;
        for (size_t i = 0; i < c->requests.len; i++)
                if (c->requests.data[i] == ask)
                        c->requests.data[i] = c->requests.data[--c->requests.len];
        free(ask);
}

static void legacy_client_on_answer(void *owner, struct rpc_answer *a)
{
        struct legacy_request *ask = owner;
        struct legacy_client *c = ask->client;
        const struct legacy_master *m = ask->master;
        bool over = ask->request_id != c->request_id || c->answered;
        legacy_request_free(ask);
        if (over)
                return;
        c->waiting--;
        if (a->status == 0)
                legacy_client_decode_reply(c, m, a);
        else if (a->http)
                legacy_client_add_error(
                        c, m, -EPROTO,
                        "it is an HTTP server, not a master: name the port of the master (default 7077), or that of its "
                        "REST server (default 6066) with spark.master.rest.enabled=true");
        else if (a->stranger)
                legacy_client_add_error(
                        c, m, -EPROTO,
                        "it ends the connection before the handshake, so it is not a Firesteel master (for a genuine Spark master, use its REST "
                        "server: spark.master.rest.enabled=true, port 6066)");
        else
                legacy_client_add_error(c, m, a->status > 0 ? -EPROTO : a->status, a->message);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void legacy_client_on_tick(uv_timer_t *timer)
{
        /* only wakes the loop, which then checks *@stopped */
}

static bool legacy_client_is_stopped(const struct legacy_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

/*
 * Processes the ends of connections since the last request, before they are used again. Reading an end and closing the
 * connection take two loop iterations.
 */
static void legacy_client_process_closed(struct legacy_client *c)
{
        for (int i = 0; i < 3; i++)
                uv_run(&c->loop, UV_RUN_NOWAIT);
}

static void legacy_client_send_request(struct legacy_client *c, uint16_t type, const ProtobufCMessage *message)
{
        c->request_id++;
        c->type = type;
        c->waiting = c->standing_by = 0;
        c->status = 0;
        buf_reset(&c->errors);
        for (size_t i = 0; i < c->n; i++) {
                const struct legacy_master *m = &c->masters[i];
                struct legacy_request *asked = legacy_request_new(c, m);
                int r = rpc_ask_packed(m->ref, type, message, NULL, c->ask_timeout_ms, legacy_client_on_answer, asked);
                if (r == 0) {
                        c->waiting++;
                } else {
                        legacy_request_free(asked);
                        legacy_client_add_error(c, m, r, strerror(-r));
                }
        }
        while (c->waiting > 0 && !c->answered && !legacy_client_is_stopped(c))
                uv_run(&c->loop, UV_RUN_ONCE);
}

static int legacy_client_no_reply_error(struct legacy_client *c, struct fst_error *error)
{
        if (c->status == -ENOTCONN && c->standing_by == 0)
                return error_set(error, FST_LEGACY_E_NO_MASTER, "No master is available: %s", buf_text(&c->errors));
        return error_set(error, c->status, "No master has replied: %s", buf_text(&c->errors));
}

static int legacy_client_request(struct legacy_client *c, uint16_t type, const ProtobufCMessage *message,
                                 struct legacy_answer *answer, struct fst_error *error)
{
        int64_t give_up = now_ms() + c->standby_ms;
        c->answer = answer;
        c->answered = false;
        legacy_client_process_closed(c);
        for (;;) {
                legacy_client_send_request(c, type, message);
                if (c->answered)
                        return 0;
                if (legacy_client_is_stopped(c))
                        return error_set(error, -ECANCELED, "the caller stopped the request");
                /* never repeat a request that a master may have received; an unreachable master does not lead */
                if (c->standing_by == 0 || (c->status && c->status != -ENOTCONN))
                        return legacy_client_no_reply_error(c, error);
                if (now_ms() >= give_up)
                        return error_set(error, -EAGAIN, "No master is the leader now");
                for (int64_t until = now_ms() + STANDBY_RETRY_MS; now_ms() < until && !legacy_client_is_stopped(c);)
                        uv_run(&c->loop, UV_RUN_ONCE);
        }
}

/* Sends the same environment variables as REST. Other variables stay private. */
static int legacy_client_make_description(const struct legacy_arguments *w, const struct strmap *conf,
                                          struct arena *memory, Firesteel__Standalone__DriverDescription **out,
                                          struct fst_error *error)
{
        struct rest_request q = REST_REQUEST_INIT;
        q.app_resource = mem_strdup(w->url);
        q.main_class = mem_strdup(w->main_class);
        for (size_t i = 0; i < w->n_arguments; i++)
                vec_push(&q.app_args, mem_strdup(w->arguments[i] ? w->arguments[i] : ""));
        for (struct strmap_entry *e = NULL; (e = strmap_next(conf, e));)
                if (strcmp(e->key, "spark.authenticate.secret") != 0)
                        strmap_set(&q.properties, e->key, e->value);
        strmap_set(&q.properties, "spark.master", w->masters);
        rest_environment(environ, strmap_get(conf, "spark.firesteel.compat"), &q.environment);
        int r = rest_request_driver(&q, w->masters, -1, out, memory, error);
        rest_request_deinit(&q);
        if (r)
                return error_wrap(error, -EINVAL, "the driver's description is invalid");
        (*out)->cores = w->cores;
        (*out)->memory = w->memory_mib;
        (*out)->supervise = w->supervise;
        return 0;
}

int legacy_client_launch(struct legacy_client *c, const struct legacy_arguments *words, const struct strmap *conf,
                         struct legacy_answer *answer, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena memory = {0};
        Firesteel__Standalone__SubmitDriver submit = FIRESTEEL__STANDALONE__SUBMIT_DRIVER__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        submit.version = &version;
        int r = legacy_client_make_description(words, conf, &memory, &submit.driver, error);
        return r ? r
                 : legacy_client_request(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__SUBMIT_DRIVER, &submit.base, answer,
                                         error);
}

static int legacy_client_request_driver(struct legacy_client *c, uint16_t type, const char *id,
                                        struct legacy_answer *answer, struct fst_error *error)
{
        Firesteel__Standalone__DriverRequest request = FIRESTEEL__STANDALONE__DRIVER_REQUEST__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        if (!*id)
                return error_set(error, -EINVAL, "the driver id is empty");
        request.version = &version;
        request.driver_id = (char *)id;
        return legacy_client_request(c, type, &request.base, answer, error);
}

int legacy_client_kill(struct legacy_client *c, const char *id, struct legacy_answer *answer, struct fst_error *error)
{
        return legacy_client_request_driver(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__KILL_SUBMITTED, id, answer,
                                            error);
}

int legacy_client_status(struct legacy_client *c, const char *id, struct legacy_answer *answer, struct fst_error *error)
{
        return legacy_client_request_driver(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__DRIVER_STATUS, id, answer,
                                            error);
}

/* ----------------------------------------------------------------------------------------------------- new and free */

static int legacy_client_read_masters(struct legacy_client *c, const char *masters, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list list = {0};
        int r = master_addresses_parse(masters, &list, error);
        if (r < 0)
                return r;
        c->masters = new_array(struct legacy_master, list.len);
        c->n = list.len;
        for (size_t i = 0; i < c->n; i++)
                c->masters[i] = (struct legacy_master){.address = steal(list.data[i])};
        return 0;
}

static int legacy_client_connect_masters(struct legacy_client *c, const struct fst_conf *conf, struct fst_error *error)
{
        struct rpc_options options;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(conf, "", SECURITY_DRIVER, &c->security, error)) ||
            (r = rpc_options_configure(&options, conf, error)) ||
            (r = conf_get_ms(conf, "spark.firesteel.submit.masterTimeout", &c->standby_ms, error)))
                return r;
        c->ask_timeout_ms = conf_contains(conf, "spark.rpc.askTimeout") ? options.ask_timeout_ms : ASK_TIMEOUT_MS;
        options.name = "driverClient";
        options.security = c->security;
        options.quiet = true;
        options.lookup_timeout_ms = MIN(options.lookup_timeout_ms, c->ask_timeout_ms);
        if ((r = rpc_env_new(&c->loop, &options, &c->rpc, error)))
                return r;
        for (size_t i = 0; i < c->n; i++) {
                _cleanup_free_ char *url =
                        mem_printf("spark://" STANDALONE_MASTER_ENDPOINT "@%s", c->masters[i].address);
                rpc_env_ref(c->rpc, url, &c->masters[i].ref, NULL); /* the address was validated before */
        }
        return 0;
}

int legacy_client_new(const char *masters, const struct strmap *conf, struct legacy_client **out,
                      struct fst_error *error)
{
        struct legacy_client *c = new0(struct legacy_client);
        const struct fst_conf settings = {.set = *conf};
        uv_loop_init(&c->loop);
        uv_timer_init(&c->loop, &c->tick);
        uv_timer_start(&c->tick, legacy_client_on_tick, TICK_MS, TICK_MS);
        int r = legacy_client_read_masters(c, masters, error);
        if (r == 0)
                r = legacy_client_connect_masters(c, &settings, error);
        if (r)
                legacy_client_free(c);
        else
                *out = c;
        return r;
}

static void legacy_client_on_closed(void *owner)
{
        ((struct legacy_client *)owner)->closed = true;
}

void legacy_client_free(struct legacy_client *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->n; i++) {
                rpc_ref_unref(c->masters[i].ref);
                free(c->masters[i].address);
        }
        free(c->masters);
        if (c->rpc) {
                rpc_env_close(c->rpc, DRAIN_MS, legacy_client_on_closed, c);
                while (!c->closed)
                        uv_run(&c->loop, UV_RUN_ONCE);
        }
        uv_close((uv_handle_t *)&c->tick, NULL);
        uv_run(&c->loop, UV_RUN_DEFAULT);
        uv_loop_close(&c->loop);
        security_free(c->security);
        buf_deinit(&c->errors);
        while (c->requests.len)
                legacy_request_free(c->requests.data[0]);
        vec_deinit(&c->requests);
        free(c);
}

void legacy_client_set_stopped(struct legacy_client *c, const int *stopped)
{
        c->stopped = stopped;
}

void legacy_client_set_timeout(struct legacy_client *c, int64_t ms)
{
        c->standby_ms = ms;
}
