/* See am_link.h. */
#include "yarn/backend/am_link.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "rpc/rpc.h"
#include "yarn/protocol/am.pb-c.h"

#include <stdlib.h>
#include <string.h>

#define AM_LOG "YarnSchedulerBackend$YarnSchedulerEndpoint"

struct am_link {
        const struct executor_containers *containers;
        const struct am_link_ops *ops;
        void *owner;
        struct rpc_peer *peer; /* the ApplicationMaster, or NULL */
        struct rpc_ref *am;
        VEC(Firesteel__Yarn__AmTarget *) targets; /* one for each profile */
        struct string_list excluded;
        bool registered; /* an attempt has been there */
        bool closed;
        int32_t last_executor;
        struct buf tokens; /* the latest delegation tokens; empty: those of the container are */
};

/* ---------------------------------------------------------------------------------------------------------- targets */

static void am_target_free(Firesteel__Yarn__AmTarget *target)
{
        firesteel__yarn__am_target__free_unpacked(target, NULL);
}

static Firesteel__Yarn__AmTarget *am_target_new(const struct yarn_target *from)
{
        Firesteel__Yarn__AmTarget *target = new0(Firesteel__Yarn__AmTarget);
        firesteel__yarn__am_target__init(target);
        target->profile = from->profile;
        target->executors = from->total;
        target->local_tasks = from->locality_tasks;
        target->hosts = new_array(Firesteel__Yarn__AmHost *, from->n_hosts + 1);
        for (; target->n_hosts < from->n_hosts; target->n_hosts++) {
                Firesteel__Yarn__AmHost *host = new0(Firesteel__Yarn__AmHost);
                firesteel__yarn__am_host__init(host);
                host->host = mem_strdup(from->hosts[target->n_hosts].host);
                host->tasks = from->hosts[target->n_hosts].tasks;
                target->hosts[target->n_hosts] = host;
        }
        if (from->settings)
                target->settings = new_array(Firesteel__Yarn__AmProperty *, from->settings->count + 1);
        for (struct strmap_entry *e = NULL; from->settings && (e = strmap_next(from->settings, e));) {
                Firesteel__Yarn__AmProperty *property = new0(Firesteel__Yarn__AmProperty);
                firesteel__yarn__am_property__init(property);
                property->key = mem_strdup(e->key);
                property->value = mem_strdup(e->value);
                target->settings[target->n_settings++] = property;
        }
        return target;
}

static void am_link_send(struct am_link *link, int type, const ProtobufCMessage *body)
{
        if (link->am)
                rpc_send_packed(link->am, (uint16_t)type, body, NULL);
}

void am_link_request(struct am_link *link, const struct yarn_target *target)
{
        Firesteel__Yarn__AmTargets message = FIRESTEEL__YARN__AM_TARGETS__INIT;
        Firesteel__Yarn__AmTarget *fresh = am_target_new(target);
        size_t i = 0;
        while (i < link->targets.len && link->targets.data[i]->profile != target->profile)
                i++;
        if (i < link->targets.len) {
                am_target_free(link->targets.data[i]);
                link->targets.data[i] = fresh;
        } else {
                vec_push(&link->targets, fresh);
        }
        message.targets = &fresh;
        message.n_targets = 1;
        am_link_send(link, FIRESTEEL__YARN__AM_TYPE__REQUEST_EXECUTORS, &message.base);
}

static Firesteel__Yarn__AmHosts am_link_excluded(const struct am_link *link)
{
        Firesteel__Yarn__AmHosts hosts = FIRESTEEL__YARN__AM_HOSTS__INIT;
        hosts.hosts = link->excluded.data;
        hosts.n_hosts = link->excluded.len;
        return hosts;
}

void am_link_exclude(struct am_link *link, const char *const *hosts, size_t n)
{
        string_list_deinit(&link->excluded);
        link->excluded = (struct string_list){0};
        for (size_t i = 0; i < n; i++)
                string_list_add(&link->excluded, hosts[i]);
        const Firesteel__Yarn__AmHosts message = am_link_excluded(link);
        am_link_send(link, FIRESTEEL__YARN__AM_TYPE__EXCLUDE_HOSTS, &message.base);
}

static Firesteel__Yarn__AmTokens am_link_tokens(const struct am_link *link)
{
        Firesteel__Yarn__AmTokens message = FIRESTEEL__YARN__AM_TOKENS__INIT;
        message.stream = (ProtobufCBinaryData){.data = (uint8_t *)link->tokens.data, .len = link->tokens.len};
        return message;
}

void am_link_update_tokens(struct am_link *link, const void *stream, size_t len)
{
        buf_reset(&link->tokens);
        buf_append(&link->tokens, stream, len);
        const Firesteel__Yarn__AmTokens message = am_link_tokens(link);
        am_link_send(link, FIRESTEEL__YARN__AM_TYPE__UPDATE_TOKENS, &message.base);
}

void am_link_kill(struct am_link *link, int32_t executor)
{
        Firesteel__Yarn__AmExecutor message = FIRESTEEL__YARN__AM_EXECUTOR__INIT;
        message.executor = executor;
        am_link_send(link, FIRESTEEL__YARN__AM_TYPE__KILL_EXECUTOR, &message.base);
}

bool am_link_finish(struct am_link *link, int final_status, const char *diagnostics)
{
        Firesteel__Yarn__AmFinish message = FIRESTEEL__YARN__AM_FINISH__INIT;
        message.status = final_status;
        message.diagnostics = (char *)diagnostics;
        am_link_send(link, FIRESTEEL__YARN__AM_TYPE__FINISH, &message.base);
        return link->am != NULL;
}

bool am_link_is_connected(const struct am_link *link)
{
        return link->am != NULL;
}

void am_link_saw(struct am_link *link, int32_t executor)
{
        link->last_executor = MAX(link->last_executor, executor);
}

/* ---------------------------------------------------------------------------------------------------- configuration */

/* The application's settings, and what the driver's Hadoop files say, which the ApplicationMaster's node may not have.
 */
static void am_link_settings(const struct am_link *link, struct strmap *out)
{
        strmap_merge(out, &link->containers->conf->set);
        strmap_remove(out, "spark.authenticate.secret"); /* it has proved that it knows it */
        const struct strmap *hadoop = &link->containers->yarn_conf.hadoop.values;
        for (struct strmap_entry *e = NULL; (e = strmap_next(hadoop, e));) {
                _cleanup_free_ char *key = mem_printf("spark.hadoop.%s", e->key);
                strmap_set_if_missing(out, key, e->value);
        }
}

/* False: executors do not get the file. */
static bool am_link_describe_file(Firesteel__Yarn__AmFile *out, const struct local_resource *file)
{
        firesteel__yarn__am_file__init(out);
        out->link = file->link;
        out->path = file->path;
        out->size = file->size;
        out->modified_ms = file->modified_ms;
        out->archive = file->archive;
        out->is_public = file->is_public;
        return !file->driver_only;
}

static void am_link_reply_config(struct am_link *link, struct rpc_message *m)
{
        const struct executor_containers *c = link->containers;
        Firesteel__Yarn__AmConfig config = FIRESTEEL__YARN__AM_CONFIG__INIT;
        Firesteel__Yarn__AmTargets targets = FIRESTEEL__YARN__AM_TARGETS__INIT;
        struct strmap settings = STRMAP_INIT;
        am_link_settings(link, &settings);
        Firesteel__Yarn__AmProperty *all = new_array(Firesteel__Yarn__AmProperty, settings.count + 1);
        config.properties = new_array(Firesteel__Yarn__AmProperty *, settings.count + 1);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&settings, e));) {
                Firesteel__Yarn__AmProperty *p = &all[config.n_properties];
                firesteel__yarn__am_property__init(p);
                p->key = e->key;
                p->value = e->value;
                config.properties[config.n_properties++] = p;
        }
        config.driver_url = c->driver_url;
        config.user = c->user;
        config.staging_dir = c->staging_dir;
        Firesteel__Yarn__AmFile *files = new_array(Firesteel__Yarn__AmFile, c->resources.list.len + 1);
        config.files = new_array(Firesteel__Yarn__AmFile *, c->resources.list.len + 1);
        for (size_t i = 0; i < c->resources.list.len; i++)
                if (am_link_describe_file(&files[config.n_files], &c->resources.list.data[i])) {
                        config.files[config.n_files] = &files[config.n_files];
                        config.n_files++;
                }
        targets.targets = link->targets.data;
        targets.n_targets = link->targets.len;
        config.targets = &targets;
        config.last_executor = link->last_executor;
        Firesteel__Yarn__AmTokens tokens = am_link_tokens(link);
        config.tokens = &tokens;
        Firesteel__Yarn__AmHosts excluded = am_link_excluded(link);
        config.excluded = &excluded;
        rpc_reply_packed(m, m->type, &config.base, NULL);
        free(config.files);
        free(files);
        free(config.properties);
        free(all);
        strmap_deinit(&settings);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void am_link_drop(struct am_link *link)
{
        rpc_ref_unref(steal(link->am));
        if (link->peer)
                rpc_peer_unref(steal(link->peer));
}

static void am_link_take_registration(struct am_link *link, struct rpc_message *m)
{
        Firesteel__Yarn__RegisterAm *r = firesteel__yarn__register_am__unpack(NULL, m->len, m->body);
        if (!r || link->closed) {
                rpc_fail(m, r ? "the application is ending" : "the registration cannot be decoded");
                if (r)
                        firesteel__yarn__register_am__free_unpacked(r, NULL);
                return;
        }
        am_link_drop(link); /* of an earlier attempt */
        link->peer = rpc_peer_ref_new(m->peer);
        link->am = rpc_peer_ref(m->peer, "YarnAM");
        rpc_peer_authorize(m->peer);
        log_info(AM_LOG, "ApplicationMaster registered: %s (%s)", r->container, rpc_peer_name(m->peer));
        am_link_reply_config(link, m);
        firesteel__yarn__register_am__free_unpacked(r, NULL);
        if (link->registered)
                link->ops->replaced(link->owner);
        link->registered = true;
}

static void am_link_take_exited(struct am_link *link, const struct rpc_message *m)
{
        Firesteel__Yarn__AmExecutorExited *x = firesteel__yarn__am_executor_exited__unpack(NULL, m->len, m->body);
        if (!x)
                return;
        am_link_saw(link, x->executor);
        link->ops->executors.exited(link->owner, x->executor, x->exit_status, x->caused_by_app, x->reason);
        firesteel__yarn__am_executor_exited__free_unpacked(x, NULL);
}

static void am_link_take_decommission(struct am_link *link, const struct rpc_message *m)
{
        Firesteel__Yarn__AmDecommission *d = firesteel__yarn__am_decommission__unpack(NULL, m->len, m->body);
        if (!d)
                return;
        link->ops->executors.decommission(link->owner, d->executor, d->host);
        firesteel__yarn__am_decommission__free_unpacked(d, NULL);
}

static void am_link_take_failure(struct am_link *link, const struct rpc_message *m)
{
        Firesteel__Yarn__AmFailed *f = firesteel__yarn__am_failed__unpack(NULL, m->len, m->body);
        if (!f)
                return;
        link->ops->executors.failed(link->owner, f->exit_code, f->message);
        firesteel__yarn__am_failed__free_unpacked(f, NULL);
}

static void am_link_receive(void *owner, struct rpc_message *m)
{
        struct am_link *link = owner;
        if (m->type == FIRESTEEL__YARN__AM_TYPE__REGISTER_AM) {
                am_link_take_registration(link, m);
                return;
        }
        if (m->peer != link->peer)
                return; /* an earlier attempt */
        switch (m->type) {
        case FIRESTEEL__YARN__AM_TYPE__EXECUTOR_EXITED:
                am_link_take_exited(link, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__EXECUTOR_DECOMMISSION:
                am_link_take_decommission(link, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__APPLICATION_FAILED:
                am_link_take_failure(link, m);
                break;
        default:
                break;
        }
}

static void am_link_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct am_link *link = owner;
        if (peer != link->peer)
                return;
        am_link_drop(link);
        link->ops->lost(link->owner, why);
}

static const struct rpc_endpoint_class am_link_class = {.receive = am_link_receive,
                                                        .disconnected = am_link_disconnected};

int am_link_new(struct rpc_env *rpc, const struct executor_containers *c, const struct am_link_ops *ops, void *owner,
                struct am_link **out, struct fst_error *error)
{
        struct am_link *link = new0(struct am_link);
        link->containers = c;
        link->ops = ops;
        link->owner = owner;
        const int r = rpc_env_register(rpc, "YarnScheduler", &am_link_class, link, error);
        if (r < 0)
                free(link);
        else
                *out = link;
        return r;
}

void am_link_close(struct am_link *link)
{
        if (!link)
                return;
        link->closed = true;
        am_link_drop(link);
}

void am_link_free(struct am_link *link)
{
        if (!link)
                return;
        am_link_close(link);
        for (size_t i = 0; i < link->targets.len; i++)
                am_target_free(link->targets.data[i]);
        vec_deinit(&link->targets);
        buf_deinit_secret(&link->tokens);
        string_list_deinit(&link->excluded);
        free(link);
}
