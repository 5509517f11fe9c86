/* See cluster_client.h. The gateway's client is recreated when its connection settings change. */
#include "submit/standalone/cluster_client.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "driver/backend/cluster_manager.h"
#include "submit/standalone/legacy_client.h"
#include "submit/standalone/legacy_arguments.h"
#include "rest/rest_client.h"
#include "submit/prepare/submission.h"
#include "submit/standalone/rest_submission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void cluster_client_forget_rest(struct cluster_client *c)
{
        rest_client_free(steal(c->rest));
        free(steal(c->rest_master));
}

static void cluster_client_forget_gateway(struct cluster_client *c)
{
        legacy_client_free(steal(c->gateway));
        free(steal(c->legacy_masters));
}

void cluster_client_deinit(struct cluster_client *c)
{
        cluster_client_forget_rest(c);
        cluster_client_forget_gateway(c);
}

static int cluster_client_rest(struct cluster_client *c, const char *master, const struct strmap *conf,
                               struct fst_error *error)
{
        const char *token = strmap_get(conf, REST_TOKEN_KEY);
        if (c->rest && strcmp(c->rest_master, master) == 0)
                return rest_client_set_token(c->rest, token, error);
        cluster_client_forget_rest(c);
        int r = rest_client_new(master, &c->rest, error);
        if (r < 0)
                return r;
        c->rest_master = mem_strdup(master);
        rest_client_set_stopped(c->rest, c->stopped);
        return rest_client_set_token(c->rest, token, error);
}

/* A key of the master and all settings of its connections. */
static char *cluster_client_gateway_key(const char *master, const struct strmap *conf)
{
        static const char *const prefixes[] = {"spark.authenticate", "spark.network.", "spark.rpc.", "spark.ssl."};
        struct buf key = BUF_INIT;
        buf_puts(&key, master);
        for (struct strmap_entry *e = NULL; (e = strmap_next(conf, e));)
                for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                        if (text_starts_with(e->key, prefixes[i]))
                                buf_printf(&key, "\n%s=%s", e->key, e->value);
        return buf_steal(&key);
}

static int cluster_client_gateway(struct cluster_client *c, const char *master, const struct strmap *conf,
                                  struct fst_error *error)
{
        _cleanup_free_ char *key = cluster_client_gateway_key(master, conf);
        if (c->gateway && strcmp(c->legacy_masters, key) == 0)
                return 0;
        cluster_client_forget_gateway(c);
        int r = legacy_client_new(master, conf, &c->gateway, error);
        if (r < 0)
                return r;
        c->legacy_masters = steal(key);
        legacy_client_set_stopped(c->gateway, c->stopped);
        legacy_client_set_timeout(c->gateway, 0);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* @id is the driver of the request. The reply to a launch contains its own id. */
static void cluster_client_copy_reply(struct rest_answer *out, enum rest_kind kind, const char *id,
                                      struct legacy_answer *a)
{
        rest_answer_deinit(out);
        *out = (struct rest_answer){
                .kind = kind,
                .success = a->success ? REST_TRUE : REST_FALSE,
                .message = a->message && *a->message ? steal(a->message) : NULL,
                .submission_id = id ? mem_strdup(id) : steal(a->driver_id),
                .driver_state = steal(a->state),
                .worker_id = steal(a->worker_id),
                .worker_host_port = steal(a->worker_host_port),
        };
}

static int cluster_client_is_reachable(int r)
{
        return r == FST_LEGACY_E_NO_MASTER ? -ENOTCONN : r;
}

/* --------------------------------------------------------------------------------------------------------- requests */

static bool cluster_client_is_class(const struct submission *s, const char *name)
{
        return s->main_class && strcmp(s->main_class, name) == 0;
}

struct cluster_place cluster_place_of(const struct submission *s)
{
        const char *master = strmap_get(&s->conf, "spark.master");
        return (struct cluster_place){.master = master ? master : "",
                                      .gateway = cluster_client_is_class(s, SUBMIT_CLASS_GATEWAY),
                                      .conf = &s->conf};
}

static int cluster_client_submit_by_rest(struct cluster_client *c, const struct submission *s,
                                         struct rest_answer *answer, struct fst_error *error)
{
        const char *master = strmap_get(&s->conf, "spark.master");
        if (!master || s->arguments.len < 2)
                return error_set(error, -EINVAL, "Usage: RestSubmissionClient [app resource] [main class] [app args*]");
        int r = cluster_client_rest(c, master, &s->conf, error);
        if (r == 0)
                r = rest_submission_create(c->rest, s, answer, error);
        return r == FST_REST_E_NO_SERVER && !s->manager->has_legacy_gateway ? -ENOTCONN : r;
}

static int cluster_client_submit_by_gateway(struct cluster_client *c, const struct submission *s,
                                            struct rest_answer *answer, struct fst_error *error)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer a = LEGACY_ANSWER_INIT;
        struct legacy_arguments words;
        if (legacy_arguments_parse((int)s->arguments.len, s->arguments.data, &words, error))
                return -EINVAL;
        int r = cluster_client_gateway(c, words.masters, &s->conf, error);
        if (r == 0)
                r = cluster_client_is_reachable(legacy_client_launch(c->gateway, &words, &s->conf, &a, error));
        if (r == 0)
                cluster_client_copy_reply(answer, REST_CREATE, NULL, &a);
        return r;
}

int cluster_client_submit(struct cluster_client *c, const struct submission *s, struct rest_answer *answer,
                          struct fst_error *error)
{
        const char *master = strmap_get(&s->conf, "spark.master");
        if (cluster_client_is_class(s, SUBMIT_CLASS_REST))
                return cluster_client_submit_by_rest(c, s, answer, error);
        if (cluster_client_is_class(s, SUBMIT_CLASS_GATEWAY))
                return cluster_client_submit_by_gateway(c, s, answer, error);
        return error_set(error, -ENOTSUP,
                         "master '%s' does not support cluster deploy mode in Firesteel: use client mode",
                         master ? master : "");
}

int cluster_client_kill(struct cluster_client *c, const struct cluster_place *place, const char *id,
                        struct rest_answer *answer, struct fst_error *error)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer a = LEGACY_ANSWER_INIT;
        int r = place->gateway ? cluster_client_gateway(c, place->master, place->conf, error)
                               : cluster_client_rest(c, place->master, place->conf, error);
        if (r == 0 && !place->gateway)
                r = rest_client_kill(c->rest, id, answer, error);
        else if (r == 0 && (r = cluster_client_is_reachable(legacy_client_kill(c->gateway, id, &a, error))) == 0)
                cluster_client_copy_reply(answer, REST_KILL, id, &a);
        return r == FST_REST_E_NO_SERVER ? -ENOTCONN : r;
}

int cluster_client_status(struct cluster_client *c, const struct cluster_place *place, const char *id,
                          struct rest_answer *answer, struct fst_error *error)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer a = LEGACY_ANSWER_INIT;
        int r = place->gateway ? cluster_client_gateway(c, place->master, place->conf, error)
                               : cluster_client_rest(c, place->master, place->conf, error);
        if (r == 0 && !place->gateway)
                r = rest_client_status(c->rest, id, true, answer, error);
        else if (r == 0 && (r = cluster_client_is_reachable(legacy_client_status(c->gateway, id, &a, error))) == 0)
                cluster_client_copy_reply(answer, REST_STATUS, id, &a);
        return r == FST_REST_E_NO_SERVER ? -ENOTCONN : r;
}
