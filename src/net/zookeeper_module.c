/*
 * The zookeeper module: libzookeeper_mt behind net/zookeeper.h. It is a separate shared object and uses no function of
 * the core.
 *
 * The library has a thread for its socket, which keeps the session alive while the loop is busy, and one for replies.
 * If it cannot resolve a name, it only returns "invalid argument" when a session begins.
 */
#include "net/zookeeper_module.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

struct zookeeper_handle {
        zhandle_t *zh;
        const struct zookeeper_receiver *receiver;
        const struct ACL_vector *acl;
};

/* A pending request. */
struct pending_request {
        struct zookeeper_handle *handle;
        void *tag;
        size_t n;
        zoo_op_result_t results[]; /* of a multi */
};

static enum zookeeper_code zookeeper_module_code_of(int rc)
{
        switch (rc) {
        case ZOK:
                return ZOOKEEPER_OK;
        case ZNONODE:
                return ZOOKEEPER_NO_NODE;
        case ZNODEEXISTS:
                return ZOOKEEPER_NODE_EXISTS;
        case ZCONNECTIONLOSS:
        case ZOPERATIONTIMEOUT:
        case ZSESSIONMOVED:
                return ZOOKEEPER_LOST;
        case ZSESSIONEXPIRED:
        case ZCLOSING:
        case ZINVALIDSTATE:
                return ZOOKEEPER_OVER;
        case ZNOAUTH:
        case ZAUTHFAILED:
                return ZOOKEEPER_NO_RIGHTS;
        default:
                return ZOOKEEPER_FAILED;
        }
}

static struct pending_request *request_new(struct zookeeper_handle *h, void *tag, size_t n)
{
        struct pending_request *r = calloc(1, sizeof(*r) + n * sizeof(r->results[0]));
        if (!r)
                abort();
        r->handle = h;
        r->tag = tag;
        r->n = n;
        return r;
}

/* Completes @answer, which has the request's specific fields, and frees the request. */
static void zookeeper_module_reply(const struct pending_request *r, int rc, struct zookeeper_answer *answer)
{
        const struct zookeeper_receiver *receiver = r->handle->receiver;
        answer->code = zookeeper_module_code_of(rc);
        answer->text = zerror(rc);
        receiver->answer(receiver->context, r->tag, answer);
        free((void *)r);
}

/* Completes a request that the library rejected at once. */
static void zookeeper_module_refused(struct pending_request *r, int rc)
{
        if (rc != ZOK)
                zookeeper_module_reply(r, rc, &(struct zookeeper_answer){0});
}

static void zookeeper_module_on_session(zhandle_t *zh, int type, int state, const char *path, void *context)
{
        struct zookeeper_handle *h = context;
        const struct zookeeper_receiver *receiver = h->receiver;
        enum zookeeper_session session = ZOOKEEPER_DISCONNECTED;
        if (type != ZOO_SESSION_EVENT)
                return;
        if (state == ZOO_CONNECTED_STATE)
                session = ZOOKEEPER_CONNECTED;
        else if (state == ZOO_EXPIRED_SESSION_STATE)
                session = ZOOKEEPER_EXPIRED;
        else if (state == ZOO_AUTH_FAILED_STATE)
                session = ZOOKEEPER_REFUSED;
        receiver->session(receiver->context, session, session == ZOOKEEPER_CONNECTED ? zoo_recv_timeout(zh) : 0);
}

static void zookeeper_module_on_watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
        struct zookeeper_handle *h = context;
        if (type != ZOO_SESSION_EVENT && type != ZOO_NOTWATCHING_EVENT && path)
                h->receiver->watch(h->receiver->context, path);
}

static void on_void(int rc, const void *data)
{
        const struct pending_request *r = data;
        struct zookeeper_answer answer = {0};
        for (size_t i = 0; rc != ZOK && i < r->n; i++) {
                if (r->results[i].err != ZOK && r->results[i].err != ZRUNTIMEINCONSISTENCY) {
                        answer.failed = i;
                        break;
                }
        }
        zookeeper_module_reply(r, rc, &answer);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
        zookeeper_module_reply(data, rc, &(struct zookeeper_answer){.created = rc == ZOK && stat ? stat->czxid : 0});
}

static void on_string(int rc, const char *value, const void *data)
{
        zookeeper_module_reply(data, rc, &(struct zookeeper_answer){.path = rc == ZOK ? value : NULL});
}

static void on_strings(int rc, const struct String_vector *strings, const void *data)
{
        struct zookeeper_answer answer = {0};
        if (rc == ZOK && strings) {
                answer.children = (const char *const *)strings->data;
                answer.n_children = (size_t)strings->count;
        }
        zookeeper_module_reply(data, rc, &answer);
}

static void zookeeper_module_on_data(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
        struct zookeeper_answer answer = {0};
        if (rc == ZOK && stat) {
                answer.data = value;
                answer.size = size > 0 ? (size_t)size : 0;
                answer.created = stat->czxid;
        }
        zookeeper_module_reply(data, rc, &answer);
}

static void zookeeper_module_create(struct zookeeper_handle *h, const char *path, const void *data, size_t size,
                                    bool ephemeral, void *tag)
{
        struct pending_request *r = request_new(h, tag, 0);
        zookeeper_module_refused(r, zoo_acreate(h->zh, path, data, (int)size, h->acl,
                                                ephemeral ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_PERSISTENT, on_string, r));
}

static void zookeeper_module_exists(struct zookeeper_handle *h, const char *path, bool watch, void *tag)
{
        struct pending_request *r = request_new(h, tag, 0);
        zookeeper_module_refused(r, zoo_awexists(h->zh, path, watch ? zookeeper_module_on_watch : NULL, h, on_stat, r));
}

static void zookeeper_module_children(struct zookeeper_handle *h, const char *path, void *tag)
{
        struct pending_request *r = request_new(h, tag, 0);
        zookeeper_module_refused(r, zoo_aget_children(h->zh, path, 0, on_strings, r));
}

static void zookeeper_module_get(struct zookeeper_handle *h, const char *path, void *tag)
{
        struct pending_request *r = request_new(h, tag, 0);
        zookeeper_module_refused(r, zoo_aget(h->zh, path, 0, zookeeper_module_on_data, r));
}

static void zookeeper_module_multi(struct zookeeper_handle *h, const struct zookeeper_step *steps, size_t n, void *tag)
{
        struct pending_request *r = request_new(h, tag, n);
        zoo_op_t *ops = calloc(n, sizeof(*ops));
        if (!ops)
                abort();
        for (size_t i = 0; i < n; i++) {
                const struct zookeeper_step *s = &steps[i];
                switch (s->what) {
                case ZOOKEEPER_CHECK:
                        zoo_check_op_init(&ops[i], s->path, -1);
                        break;
                case ZOOKEEPER_CREATE:
                        zoo_create_op_init(&ops[i], s->path, s->data, (int)s->size, h->acl, ZOO_PERSISTENT, NULL, 0);
                        break;
                case ZOOKEEPER_SET:
                        zoo_set_op_init(&ops[i], s->path, s->data, (int)s->size, -1, NULL);
                        break;
                case ZOOKEEPER_DELETE:
                        zoo_delete_op_init(&ops[i], s->path, -1);
                        break;
                }
        }
        zookeeper_module_refused(r, zoo_amulti(h->zh, (int)n, ops, r->results, on_void, r));
        free(ops);
}

static void zookeeper_module_authenticated(int rc, const void *data)
{
        /* The session's state reports a refusal. */
}

static struct zookeeper_handle *zookeeper_module_start(const struct zookeeper_options *o,
                                                       const struct zookeeper_receiver *receiver, char *message,
                                                       size_t size)
{
        struct zookeeper_handle *h = calloc(1, sizeof(*h));
        sigset_t all, old;
        if (!h)
                abort();
        h->receiver = receiver;
        h->acl = o->user_password ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
        zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
        sigfillset(&all); /* only the process's own threads handle signals */
        pthread_sigmask(SIG_SETMASK, &all, &old);
        h->zh = zookeeper_init2(o->servers, zookeeper_module_on_session, o->session_timeout, NULL, h, 0, receiver->log);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (!h->zh) {
                snprintf(message, size, "%s",
                         errno == EINVAL ? "its host name is unknown or invalid" : strerror(errno));
                free(h);
                return NULL;
        }
        if (o->user_password)
                zoo_add_auth(h->zh, "digest", o->user_password, (int)strlen(o->user_password),
                             zookeeper_module_authenticated, NULL);
        return h;
}

static void zookeeper_module_finish(struct zookeeper_handle *h)
{
        zookeeper_close(h->zh);
        free(h);
}
static const struct zookeeper_ops ops = {
        .abi = ZOOKEEPER_ABI,
        .connect = zookeeper_module_start,
        .close = zookeeper_module_finish,
        .create = zookeeper_module_create,
        .exists = zookeeper_module_exists,
        .children = zookeeper_module_children,
        .get = zookeeper_module_get,
        .multi = zookeeper_module_multi,
};

__attribute__((visibility("default"))) const struct zookeeper_ops *firesteel_zookeeper_module(void);
const struct zookeeper_ops *firesteel_zookeeper_module(void)
{
        return &ops;
}
