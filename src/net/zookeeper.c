/*
 * A ZooKeeper session on a loop. Events from the module's threads are copied into a list, and the loop is woken. Events
 * that arrive while a session is being created wait until it exists, so that the owner has a valid handle at its first
 * event.
 */
#include "net/zookeeper.h"

#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/module_loader.h"
#include "net/zookeeper_module.h"

/* A pending request. */
struct zookeeper_request {
        zookeeper_done *done;
        void *context;
        struct zookeeper_request *prev, *next;
};

enum zookeeper_event_kind { EVENT_SESSION, EVENT_WATCH, EVENT_ANSWER };

/* An event of the module. */
struct zookeeper_event {
        enum zookeeper_event_kind kind;
        struct zookeeper_event *next;
        enum zookeeper_session session;
        int timeout;
        char *path; /* of a watch, or of a reply */
        struct zookeeper_request *call;
        struct zookeeper_answer answer; /* owns texts, data and children except `text` */
};

struct zookeeper {
        uv_loop_t *loop;
        const struct zookeeper_events *events;
        void *owner;
        const struct zookeeper_ops *ops;
        struct zookeeper_options options;
        char *servers, *user_password;
        struct zookeeper_handle *handle;
        struct zookeeper_receiver receiver;
        char message[512];
        uv_work_t work; /* connecting or closing */
        bool working, closing;
        uv_async_t wake;
        uv_mutex_t lock; /* of the list: */
        struct zookeeper_event *first, *last;
        LIST(struct zookeeper_request) calls;
        void (*closed)(void *owner);
        void *closed_owner;
};

/* ------------------------------------------------------------------------------------- on the module's threads */

static void zookeeper_put(struct zookeeper *z, struct zookeeper_event *event)
{
        uv_mutex_lock(&z->lock);
        *(z->last ? &z->last->next : &z->first) = event;
        z->last = event;
        uv_mutex_unlock(&z->lock);
        uv_async_send(&z->wake);
}

static void zookeeper_on_session(void *context, enum zookeeper_session session, int timeout)
{
        struct zookeeper_event *s = new0(struct zookeeper_event);
        s->kind = EVENT_SESSION;
        s->session = session;
        s->timeout = timeout;
        zookeeper_put(context, s);
}

static void zookeeper_on_watch(void *context, const char *path)
{
        struct zookeeper_event *s = new0(struct zookeeper_event);
        s->kind = EVENT_WATCH;
        s->path = mem_strdup(path);
        zookeeper_put(context, s);
}

static void zookeeper_on_answer(void *context, void *tag, const struct zookeeper_answer *answer)
{
        struct zookeeper_event *s = new0(struct zookeeper_event);
        s->kind = EVENT_ANSWER;
        s->call = tag;
        s->answer = *answer;
        if (answer->path)
                s->answer.path = s->path = mem_strdup(answer->path);
        if (answer->data) {
                void *copy = mem_alloc(MAX(answer->size, (size_t)1));
                s->answer.data = memcpy(copy, answer->data, answer->size);
        }
        if (answer->children) {
                char **copy = new_array(char *, answer->n_children + 1);
                for (size_t i = 0; i < answer->n_children; i++)
                        copy[i] = mem_strdup(answer->children[i]);
                s->answer.children = (const char *const *)copy;
        }
        zookeeper_put(context, s);
}

static void zookeeper_on_log(const char *line)
{
        log_debug("ZooKeeper", "%s", line);
}

/* -------------------------------------------------------------------------------------------------- on the loop */

static void zookeeper_event_free(struct zookeeper_event *s)
{
        for (size_t i = 0; s->answer.children && i < s->answer.n_children; i++)
                free((char *)s->answer.children[i]);
        free((void *)s->answer.children);
        free((void *)s->answer.data);
        free(s->path);
        free(s);
}

static struct zookeeper_event *zookeeper_take(struct zookeeper *z)
{
        uv_mutex_lock(&z->lock);
        struct zookeeper_event *s = z->first;
        if (s)
                z->first = s->next;
        if (!z->first)
                z->last = NULL;
        uv_mutex_unlock(&z->lock);
        return s;
}

static void call_remove(struct zookeeper *z, struct zookeeper_request *call)
{
        list_remove(&z->calls, call);
        free(call);
}

static void zookeeper_deliver(struct zookeeper *z)
{
        struct zookeeper_event *s;
        while (!z->working && !z->closing && (s = zookeeper_take(z))) {
                if (s->kind == EVENT_SESSION)
                        z->events->session(z->owner, s->session, s->timeout, NULL);
                else if (s->kind == EVENT_WATCH)
                        z->events->watch(z->owner, s->path);
                else {
                        struct zookeeper_request call = *s->call;
                        call_remove(z, s->call);
                        call.done(call.context, &s->answer);
                }
                zookeeper_event_free(s);
        }
}

static void zookeeper_woken(uv_async_t *wake)
{
        zookeeper_deliver(wake->data);
}

static void wake_closed(uv_handle_t *handle)
{
        struct zookeeper *z = handle->data;
        void (*closed)(void *) = z->closed;
        void *owner = z->closed_owner;
        for (struct zookeeper_event *s; (s = zookeeper_take(z));)
                zookeeper_event_free(s);
        while (z->calls.first)
                call_remove(z, z->calls.first);
        uv_mutex_destroy(&z->lock);
        free(z->servers);
        free(z->user_password);
        free(z);
        if (closed)
                closed(owner);
}

static void zookeeper_disconnect(uv_work_t *work)
{
        struct zookeeper *z = container_of(work, struct zookeeper, work);
        z->ops->close(z->handle);
}

static void zookeeper_disconnected(uv_work_t *work, int status)
{
        struct zookeeper *z = container_of(work, struct zookeeper, work);
        uv_close((uv_handle_t *)&z->wake, wake_closed);
}

static void begin_closing(struct zookeeper *z)
{
        if (z->handle)
                uv_queue_work(z->loop, &z->work, zookeeper_disconnect, zookeeper_disconnected);
        else
                uv_close((uv_handle_t *)&z->wake, wake_closed);
}

static int zookeeper_load(struct zookeeper *z, struct fst_error *error)
{
        on_demand_fn get;
        int r = on_demand_load("zookeeper", "libfiresteel-zookeeper.so", ZOOKEEPER_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct zookeeper_ops *ops = get();
        if (!ops || ops->abi != ZOOKEEPER_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-zookeeper.so is not of this version of firesteel; install it again");
        z->ops = ops;
        return 0;
}

static void connect_work(uv_work_t *work)
{
        struct zookeeper *z = container_of(work, struct zookeeper, work);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!z->ops && zookeeper_load(z, &error) < 0) {
                snprintf(z->message, sizeof(z->message), "%s", error_message(&error));
                return;
        }
        z->handle = z->ops->connect(&z->options, &z->receiver, z->message, sizeof(z->message));
}

static void zookeeper_connected(uv_work_t *work, int status)
{
        struct zookeeper *z = container_of(work, struct zookeeper, work);
        z->working = false;
        if (z->closing)
                begin_closing(z);
        else if (!z->handle)
                z->events->session(z->owner, ZOOKEEPER_UNREACHABLE, 0, z->message);
        else
                zookeeper_deliver(z);
}

void zk_open(uv_loop_t *loop, const struct zookeeper_options *options, const struct zookeeper_events *events,
             void *owner, const struct zookeeper_ops *module, struct zookeeper **out)
{
        struct zookeeper *z = new0(struct zookeeper);
        z->loop = loop;
        z->events = events;
        z->owner = owner;
        z->ops = module;
        z->options = *options;
        z->options.servers = z->servers = mem_strdup(options->servers);
        z->user_password = options->user_password ? mem_strdup(options->user_password) : NULL;
        z->options.user_password = z->user_password;
        z->receiver = (struct zookeeper_receiver){.session = zookeeper_on_session,
                                                  .watch = zookeeper_on_watch,
                                                  .answer = zookeeper_on_answer,
                                                  .context = z,
                                                  .log = zookeeper_on_log};
        uv_mutex_init(&z->lock);
        uv_async_init(loop, &z->wake, zookeeper_woken);
        z->wake.data = z;
        z->working = true;
        uv_queue_work(loop, &z->work, connect_work, zookeeper_connected);
        *out = z;
}

void zk_close(struct zookeeper *z, void (*closed)(void *owner), void *owner)
{
        z->closing = true;
        z->closed = closed;
        z->closed_owner = owner;
        if (!z->working)
                begin_closing(z);
}

static struct zookeeper_request *call_new(struct zookeeper *z, zookeeper_done *done, void *context)
{
        struct zookeeper_request *call = new0(struct zookeeper_request);
        call->done = done;
        call->context = context;
        list_prepend(&z->calls, call);
        return call;
}

void zk_create(struct zookeeper *z, const char *path, const void *data, size_t size, bool ephemeral,
               zookeeper_done *done, void *context)
{
        z->ops->create(z->handle, path, data, size, ephemeral, call_new(z, done, context));
}

void zk_exists(struct zookeeper *z, const char *path, bool watch, zookeeper_done *done, void *context)
{
        z->ops->exists(z->handle, path, watch, call_new(z, done, context));
}

void zk_children(struct zookeeper *z, const char *path, zookeeper_done *done, void *context)
{
        z->ops->children(z->handle, path, call_new(z, done, context));
}

void zk_get(struct zookeeper *z, const char *path, zookeeper_done *done, void *context)
{
        z->ops->get(z->handle, path, call_new(z, done, context));
}

void zk_multi(struct zookeeper *z, const struct zookeeper_step *steps, size_t n, zookeeper_done *done, void *context)
{
        z->ops->multi(z->handle, steps, n, call_new(z, done, context));
}
