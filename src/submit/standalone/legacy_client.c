/*
 * See gateway_client.h. A question goes to every master over a connection that stays; it is over when the leader has
 * answered, or all have said that they cannot. A launch is never repeated after a master may have heard it: only who
 * stands by, or was not reached at all, is asked again.
 */
#include "submit/standalone/legacy_client.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "standalone/rest/rest_request.h"
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
#define ASK_TIMEOUT_MS 10000 /* Spark's, unless spark.rpc.askTimeout is set */
#define STANDBY_PAUSE_MS 200
#define GLANCE_MS 50 /* at *@stopped */
#define DRAIN_MS 100

struct gateway_master {
        char *address; /* "host:port" */
        struct rpc_ref *ref;
};

/* What a master was asked: its answer may come when the question is over, and others were asked since. */
struct gateway_ask {
        struct gateway_client *client;
        const struct gateway_master *master;
        uint64_t question;
};

struct gateway_client {
        uv_loop_t loop;
        uv_timer_t glance;
        struct security *security;
        struct rpc_env *rpc;
        struct gateway_master *masters;
        size_t n;
        VEC(struct gateway_ask *) asks; /* that were not answered yet */
        int64_t ask_timeout_ms, standby_ms;
        const int *stopped;

        /* the question that is being asked */
        uint64_t question;
        uint16_t type;
        size_t waiting, standing_by;
        bool answered, closed;
        int status;        /* the worst of who did not answer */
        struct buf errors; /* what they said */
        struct gateway_answer *answer;
};

void gateway_answer_deinit(struct gateway_answer *a)
{
        free(a->driver_id);
        free(a->message);
        free(a->state);
        free(a->worker_id);
        free(a->worker_host_port);
        *a = GATEWAY_ANSWER_INIT;
}

/* ------------------------------------------------------------------------------------------------------ answers */

static char *text_or_null(const char *text)
{
        return *text ? mem_strdup(text) : NULL;
}

/* Whether it is an answer of who leads. */
static bool take_reply(struct gateway_client *c, const Firesteel__Standalone__DriverReply *reply)
{
        if (reply->standby)
                return false;
        c->answer->success = reply->success;
        c->answer->driver_id = text_or_null(reply->driver_id);
        c->answer->message = mem_strdup(reply->message);
        return true;
}

static bool legacy_client_take_status(struct gateway_client *c, const Firesteel__Standalone__DriverStatus *status)
{
        if (status->standby)
                return false;
        c->answer->success = status->found;
        c->answer->message = mem_strdup(*status->exception ? status->exception : status->message);
        c->answer->state = text_or_null(status->state);
        c->answer->worker_id = text_or_null(status->worker_id);
        c->answer->worker_host_port = text_or_null(status->worker_host_port);
        return true;
}

static void legacy_client_complain(struct gateway_client *c, const struct gateway_master *m, int status,
                                   const char *message)
{
        /* who names itself in the message need not be named twice */
        bool named = text_starts_with(message, m->address);
        buf_printf(&c->errors, "%s%s%s%s", c->errors.len ? "; " : "", named ? "" : m->address, named ? "" : ": ",
                   message);
        c->status = c->status == 0 || c->status == -ENOTCONN ? status : c->status;
}

static void legacy_client_take_answer(struct gateway_client *c, const struct gateway_master *m,
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
                legacy_client_complain(c, m, -EPROTO, error_message(&error));
        else if (status ? legacy_client_take_status(c, reply) : take_reply(c, reply))
                c->answered = true;
        else
                c->standing_by++;
        error_deinit(&error);
}

static struct gateway_ask *ask_new(struct gateway_client *c, const struct gateway_master *master)
{
        struct gateway_ask *ask = new0(struct gateway_ask);
        *ask = (struct gateway_ask){c, master, c->question};
        vec_push(&c->asks, ask);
        return ask;
}

static void ask_free(struct gateway_ask *ask)
{
        struct gateway_client *c = ask->client;
        for (size_t i = 0; i < c->asks.len; i++)
                if (c->asks.data[i] == ask)
                        c->asks.data[i] = c->asks.data[--c->asks.len];
        free(ask);
}

static void legacy_client_on_answer(void *owner, struct rpc_answer *a)
{
        struct gateway_ask *ask = owner;
        struct gateway_client *c = ask->client;
        const struct gateway_master *m = ask->master;
        bool over = ask->question != c->question || c->answered;
        ask_free(ask);
        if (over)
                return;
        c->waiting--;
        if (a->status == 0)
                legacy_client_take_answer(c, m, a);
        else if (a->http)
                legacy_client_complain(
                        c, m, -EPROTO,
                        "it is no master but an HTTP server: name the port at which the master listens (7077 unless it was "
                        "told another), or that of its REST server (6066) with spark.master.rest.enabled=true");
        else if (a->stranger)
                legacy_client_complain(
                        c, m, -EPROTO,
                        "it ends connections without a nonce: it is no Firesteel master (of a genuine Spark master, "
                        "use the REST server: spark.master.rest.enabled=true, port 6066)");
        else
                legacy_client_complain(c, m, a->status > 0 ? -EPROTO : a->status, a->message);
}

/* ---------------------------------------------------------------------------------------------------- questions */

static void on_glance(uv_timer_t *timer)
{
        /* the loop turns, and *@stopped is looked at */
}

static bool legacy_client_is_stopped(const struct gateway_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

/* Nobody has looked since the last question: connections that have ended meanwhile are to be found out before they are
 * used again. Reading that one has ended and closing it are two turns of the loop. */
static void catch_up(struct gateway_client *c)
{
        for (int i = 0; i < 3; i++)
                uv_run(&c->loop, UV_RUN_NOWAIT);
}

static void ask_once(struct gateway_client *c, uint16_t type, const ProtobufCMessage *message)
{
        c->question++;
        c->type = type;
        c->waiting = c->standing_by = 0;
        c->status = 0;
        buf_reset(&c->errors);
        for (size_t i = 0; i < c->n; i++) {
                const struct gateway_master *m = &c->masters[i];
                struct gateway_ask *asked = ask_new(c, m);
                int r = rpc_ask_packed(m->ref, type, message, NULL, c->ask_timeout_ms, legacy_client_on_answer, asked);
                if (r == 0) {
                        c->waiting++;
                } else {
                        ask_free(asked);
                        legacy_client_complain(c, m, r, strerror(-r));
                }
        }
        while (c->waiting > 0 && !c->answered && !legacy_client_is_stopped(c))
                uv_run(&c->loop, UV_RUN_ONCE);
}

static int not_answered(struct gateway_client *c, struct fst_error *error)
{
        if (c->status == -ENOTCONN && c->standing_by == 0)
                return error_set(error, FST_GATEWAY_E_NO_MASTER, "No master is available: %s", buf_text(&c->errors));
        return error_set(error, c->status, "No master has answered: %s", buf_text(&c->errors));
}

static int legacy_client_ask(struct gateway_client *c, uint16_t type, const ProtobufCMessage *message,
                             struct gateway_answer *answer, struct fst_error *error)
{
        int64_t give_up = now_ms() + c->standby_ms;
        c->answer = answer;
        c->answered = false;
        catch_up(c);
        for (;;) {
                ask_once(c, type, message);
                if (c->answered)
                        return 0;
                if (legacy_client_is_stopped(c))
                        return error_set(error, -ECANCELED, "it was told to stop");
                /* who may have heard it is not asked again, and who is away does not lead */
                if (c->standing_by == 0 || (c->status && c->status != -ENOTCONN))
                        return not_answered(c, error);
                if (now_ms() >= give_up)
                        return error_set(error, -EAGAIN, "None of the masters leads");
                for (int64_t until = now_ms() + STANDBY_PAUSE_MS; now_ms() < until && !legacy_client_is_stopped(c);)
                        uv_run(&c->loop, UV_RUN_ONCE);
        }
}

/* The environment that travels is the one that REST takes: others' variables are nobody's business there. */
static int legacy_client_describe(const struct gateway_words *w, const struct strmap *conf, struct arena *memory,
                                  Firesteel__Standalone__DriverDescription **out, struct fst_error *error)
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
                return error_wrap(error, -EINVAL, "the driver cannot be described");
        (*out)->cores = w->cores;
        (*out)->memory = w->memory_mib;
        (*out)->supervise = w->supervise;
        return 0;
}

int gateway_client_launch(struct gateway_client *c, const struct gateway_words *words, const struct strmap *conf,
                          struct gateway_answer *answer, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena memory = {0};
        Firesteel__Standalone__SubmitDriver submit = FIRESTEEL__STANDALONE__SUBMIT_DRIVER__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        submit.version = &version;
        int r = legacy_client_describe(words, conf, &memory, &submit.driver, error);
        return r ? r
                 : legacy_client_ask(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__SUBMIT_DRIVER, &submit.base, answer,
                                     error);
}

static int ask_about(struct gateway_client *c, uint16_t type, const char *id, struct gateway_answer *answer,
                     struct fst_error *error)
{
        Firesteel__Standalone__DriverRequest request = FIRESTEEL__STANDALONE__DRIVER_REQUEST__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        if (!*id)
                return error_set(error, -EINVAL, "no driver is named");
        request.version = &version;
        request.driver_id = (char *)id;
        return legacy_client_ask(c, type, &request.base, answer, error);
}

int gateway_client_kill(struct gateway_client *c, const char *id, struct gateway_answer *answer,
                        struct fst_error *error)
{
        return ask_about(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__KILL_SUBMITTED, id, answer, error);
}

int gateway_client_status(struct gateway_client *c, const char *id, struct gateway_answer *answer,
                          struct fst_error *error)
{
        return ask_about(c, FIRESTEEL__STANDALONE__STANDALONE_TYPE__DRIVER_STATUS, id, answer, error);
}

/* --------------------------------------------------------------------------------------------- making and freeing */

static int legacy_client_read_masters(struct gateway_client *c, const char *masters, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list list = {0};
        int r = master_addresses_parse(masters, &list, error);
        if (r < 0)
                return r;
        c->masters = new_array(struct gateway_master, list.len);
        c->n = list.len;
        for (size_t i = 0; i < c->n; i++)
                c->masters[i] = (struct gateway_master){.address = steal(list.data[i])};
        return 0;
}

static int connect_masters(struct gateway_client *c, const struct fst_conf *conf, struct fst_error *error)
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
                rpc_env_ref(c->rpc, url, &c->masters[i].ref, NULL); /* the address was looked at */
        }
        return 0;
}

int gateway_client_new(const char *masters, const struct strmap *conf, struct gateway_client **out,
                       struct fst_error *error)
{
        struct gateway_client *c = new0(struct gateway_client);
        const struct fst_conf settings = {.set = *conf};
        uv_loop_init(&c->loop);
        uv_timer_init(&c->loop, &c->glance);
        uv_timer_start(&c->glance, on_glance, GLANCE_MS, GLANCE_MS);
        int r = legacy_client_read_masters(c, masters, error);
        if (r == 0)
                r = connect_masters(c, &settings, error);
        if (r)
                gateway_client_free(c);
        else
                *out = c;
        return r;
}

static void legacy_client_on_closed(void *owner)
{
        ((struct gateway_client *)owner)->closed = true;
}

void gateway_client_free(struct gateway_client *c)
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
        uv_close((uv_handle_t *)&c->glance, NULL);
        uv_run(&c->loop, UV_RUN_DEFAULT);
        uv_loop_close(&c->loop);
        security_free(c->security);
        buf_deinit(&c->errors);
        while (c->asks.len)
                ask_free(c->asks.data[0]);
        vec_deinit(&c->asks);
        free(c);
}

void gateway_client_set_stopped(struct gateway_client *c, const int *stopped)
{
        c->stopped = stopped;
}

void gateway_client_set_timeout(struct gateway_client *c, int64_t ms)
{
        c->standby_ms = ms;
}
