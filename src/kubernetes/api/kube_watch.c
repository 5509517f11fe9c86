/*
 * List and watch. Either one call is running or the timer, never both:
 *
 *      LIST → (done) SYNCED → WATCH → (ended by itself, or broken) WATCH from the last version
 *        ↑______ a pause _____(failed)   ↓ (410 as status or event)
 *        ↑_______________________________LIST
 *
 * A table holds for each reported object its version, so that no event is reported twice, and the number of the last
 * list that had it, so that a later list can report deletions. An unfinished event is dropped: the next watch starts at
 * the version of the last complete event.
 */
#include "kubernetes/api/kube_watch.h"

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "kubernetes/api/kube_internal.h"
#include "base/hash_table.h"
#include "text/json.h"

#include <stdio.h>

#define DEFAULT_SILENCE_MS 150000
#define LONGEST_LINE (16u << 20)

/* Tens of thousands may be known, so each is one small allocation. */
struct known_object {
        struct known_object *prev, *next;
        uint64_t version; /* hash of its resourceVersion */
        unsigned list;    /* number of the last list that had it */
        char name[];      /* "NAMESPACE/NAME", then its uid */
};

struct kube_watch {
        struct kube_client *client;
        char *path, *labels, *fields;
        int page;
        bool whole;
        int64_t timeout_s, silence_ms;
        const struct kube_watch_ops *ops;
        void *owner;

        struct kube_call *call;
        uv_timer_t timer;
        bool listing; /* the call, or the next one, is a list */
        bool dead;
        unsigned list;
        int failures; /* since the last success */
        unsigned seed;
        char *version;
        struct buf line;
        int expired_streams,
                short_streams; /* consecutive streams rejected as too old; consecutive streams that ended at once */
        bool relist;           /* an ERROR event requires a new list */
        bool progress;         /* this stream delivered an event */
        uint64_t started;      /* when this stream began */
        struct object_table table;
        struct known_object *first, *last;
        struct kube_watch_counts counts;
};

static void kube_watch_schedule(struct kube_watch *w, int64_t ms);

/* -------------------------------------------------------------------------------------------------- known objects */

static const char *known_object_uid(const struct known_object *k)
{
        return k->name + strlen(k->name) + 1;
}

static bool kube_watch_has_name(const void *object, const void *key)
{
        return strcmp(((const struct known_object *)object)->name, key) == 0;
}

static void kube_watch_forget(struct kube_watch *w, struct known_object *k)
{
        object_table_remove(&w->table, object_hash_text(k->name), k);
        list_remove(w, k);
        free(k);
        w->counts.objects--;
}

static void kube_watch_remember(struct kube_watch *w, const char *name, const char *uid, const char *version)
{
        size_t n = strlen(name) + 1, n_uid = strlen(uid) + 1;
        struct known_object *k = mem_zero(sizeof(*k) + n + n_uid);
        memcpy(k->name, name, n);
        memcpy(k->name + n, uid, n_uid);
        k->version = object_hash_text(version);
        k->list = w->list;
        list_prepend(w, k);
        object_table_put(&w->table, object_hash_text(name), k);
        w->counts.objects++;
}

static void kube_watch_emit(struct kube_watch *w, enum kube_event what, json_t *object)
{
        if (w->dead)
                return;
        if (what != KUBE_SYNCED)
                w->counts.events++;
        w->ops->event(w->owner, what, object);
}

/* Reports the deletion of an object of which only the name is known. */
static void kube_watch_emit_deleted(struct kube_watch *w, struct known_object *k)
{
        const char *slash = strchr(k->name, '/');
        json_t *metadata = json_pack("{s:s, s:s}", "name", slash + 1, "uid", known_object_uid(k));
        if (slash > k->name)
                json_object_set_new(metadata, "namespace", json_stringn(k->name, (size_t)(slash - k->name)));
        json_t *object = json_pack("{s:o}", "metadata", metadata);
        kube_watch_forget(w, k);
        kube_watch_emit(w, KUBE_DELETED, object);
        json_decref(object);
}

/* Reports the present object from a list or event. Returns false if it has no name or version. */
static bool kube_watch_update(struct kube_watch *w, json_t *object, bool deleted)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const char *name = json_text_at(metadata, "name");
        const char *namespace = json_text_at(metadata, "namespace");
        const char *uid = json_text_at(metadata, "uid");
        const char *version = json_text_at(metadata, "resourceVersion");
        if (!name || !version)
                return false;
        _cleanup_free_ char *full = mem_printf("%s/%s", namespace ? namespace : "", name);
        struct known_object *k = object_table_find(&w->table, object_hash_text(full), kube_watch_has_name, full);
        uid = uid ? uid : "";
        if (k && strcmp(known_object_uid(k), uid) != 0 && !deleted) { /* another object of the same name */
                kube_watch_emit_deleted(w, k);
                k = NULL;
                if (w->dead)
                        return true;
        }
        if (deleted) {
                if (k && strcmp(known_object_uid(k), uid) == 0) {
                        kube_watch_forget(w, k);
                        kube_watch_emit(w, KUBE_DELETED, object);
                }
        } else if (!k) {
                kube_watch_remember(w, full, uid, version);
                kube_watch_emit(w, KUBE_ADDED, object);
        } else {
                k->list = w->list;
                if (k->version == object_hash_text(version))
                        return true;
                k->version = object_hash_text(version);
                kube_watch_emit(w, KUBE_MODIFIED, object);
        }
        return true;
}

/* -------------------------------------------------------------------------------------------------------- failures */

static void set_version(struct kube_watch *w, const char *version)
{
        if (!version || !*version)
                return;
        free(w->version);
        w->version = mem_strdup(version);
}

static void kube_watch_fail(struct kube_watch *w, int r, const struct fst_error *error)
{
        struct kube_client *c = w->client;
        int64_t pause = c->first_pause;
        for (int i = 0; i < w->failures && pause < c->longest_pause; i++)
                pause *= 2;
        pause = MIN(pause, c->longest_pause);
        pause = pause / 2 + (int64_t)(rand_r(&w->seed) % (unsigned)(pause / 2 + 1));
        w->failures++;
        if (w->ops->failed)
                w->ops->failed(w->owner, r, error, pause);
        kube_watch_schedule(w, pause);
}

/* --------------------------------------------------------------------------------------------------------- listing */

static int kube_watch_on_item(void *owner, json_t *item)
{
        struct kube_watch *w = owner;
        if (!item) {
                w->list++; /* discards the items of the interrupted list */
                return 0;
        }
        kube_watch_update(w, item, false);
        return w->dead ? -ECANCELED : 0;
}

static void kube_watch_on_listed(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct kube_watch *w = owner;
        w->call = NULL;
        if (r != 0) {
                kube_watch_fail(w, r, response->error);
                return;
        }
        for (struct known_object *k = w->first, *next; k && !w->dead; k = next) {
                next = k->next;
                if (k->list != w->list)
                        kube_watch_emit_deleted(w, k);
        }
        const char *version = json_text_at(response->object, "metadata.resourceVersion");
        if (!version || !*version) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                kube_watch_fail(w, error_set(&error, -EPROTO, "listing %s: no resource version", w->path), &error);
                return;
        }
        set_version(w, version);
        w->listing = false;
        w->failures = 0;
        kube_watch_emit(w, KUBE_SYNCED, NULL);
        kube_watch_schedule(w, 0);
}

static void begin_list(struct kube_watch *w)
{
        w->counts.lists++;
        w->list++;
        w->call = kube_list_items(w->client,
                                  &(struct kube_listing){.path = w->path,
                                                         .labels = w->labels,
                                                         .fields = w->fields,
                                                         .page = w->page,
                                                         .whole = w->whole && w->failures == 0,
                                                         .item = kube_watch_on_item},
                                  kube_watch_on_listed, w);
}

/* -------------------------------------------------------------------------------------------------------- watching */

/* Handles one line of the stream. A negative result ends the stream, with @error. */
static int kube_watch_take_event(struct kube_watch *w, const char *line, size_t n, struct fst_error *error)
{
        json_t *event = json_loadb(line, n, 0, NULL);
        json_t *object = json_object_get(event, "object");
        const char *type = json_text_at(event, "type");
        int r = 0;
        if (!type || !json_is_object(object)) {
                r = error_set(error, -EPROTO, "watching %s: invalid event", w->path);
        } else if (strcmp(type, "ERROR") == 0) {
                const char *message = json_text_at(object, "message");
                int code = (int)json_int_at(object, "code");
                w->relist = true;
                r = error_set(error, code == 410 ? -ESTALE : -EPROTO, "watching %s: %s", w->path,
                              message ? message : "an ERROR event without a message");
        } else {
                const char *version = json_text_at(object, "metadata.resourceVersion");
                bool deleted = strcmp(type, "DELETED") == 0;
                w->progress = true;
                w->failures = w->expired_streams = w->short_streams = 0;
                if (strcmp(type, "BOOKMARK") == 0)
                        w->counts.bookmarks++;
                else if ((deleted || strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0) &&
                         !kube_watch_update(w, object, deleted))
                        r = error_set(error, -EPROTO, "watching %s: an object without name or version", w->path);
                if (r == 0 && !w->dead)
                        set_version(w, version);
        }
        json_decref(event);
        return w->dead ? -ECANCELED : r;
}

/* Ends the stream from within its own callback: cancels the call and schedules the next step. */
static int end_stream(struct kube_watch *w, int r, const struct fst_error *error)
{
        kube_cancel(steal(w->call));
        w->listing = w->listing || w->relist;
        if (r == -ESTALE && w->expired_streams++ == 0)
                kube_watch_schedule(w, 0);
        else
                kube_watch_fail(w, r, error);
        return -ECANCELED;
}

static int kube_watch_on_stream(void *owner, const char *data, size_t n)
{
        struct kube_watch *w = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = 0;
        while (n > 0 && r == 0) {
                const char *end = memchr(data, '\n', n);
                size_t len = end ? (size_t)(end - data) : n;
                if (w->line.len == 0 && end) { /* complete, as most events are */
                        if (len > 0)
                                r = kube_watch_take_event(w, data, len, &error);
                } else if (len > LONGEST_LINE - w->line.len) {
                        r = error_set(&error, -EFBIG, "watching %s: an event larger than %u bytes", w->path,
                                      LONGEST_LINE);
                } else {
                        buf_append(&w->line, data, len);
                        if (end) {
                                r = kube_watch_take_event(w, w->line.data, w->line.len, &error);
                                buf_reset(&w->line);
                        }
                }
                data += len + (end ? 1 : 0);
                n -= len + (end ? 1 : 0);
        }
        if (r < 0 && !w->dead)
                r = end_stream(w, r, &error);
        return r;
}

static void kube_watch_on_stream_end(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct kube_watch *w = owner;
        w->call = NULL;
        bool quick = !w->progress && uv_now(w->client->loop) - w->started < 1000;
        if (r == FST_KUBE_E_GONE) {
                w->listing = true;
                if (w->expired_streams++ == 0)
                        kube_watch_schedule(w, 0);
                else
                        kube_watch_fail(w, r, response->error);
        } else if (r > 0) {
                w->listing = r != FST_KUBE_E_TOO_MANY && r != FST_KUBE_E_UNAVAILABLE;
                kube_watch_fail(w, r, response->error);
        } else if (r < 0 && r != -ETIMEDOUT && !w->progress) {
                kube_watch_fail(w, r, response->error);
        } else if (quick && w->short_streams++ > 0) {
                /* A server may end watches at any time. One that ends them at once gets a pause before the next. */
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                kube_watch_fail(w,
                                error_set(&error, -EPROTO, "watching %s: the server ends the stream at once", w->path),
                                &error);
        } else {
                kube_watch_schedule(w, 0);
        }
}

static void kube_watch_begin_watch(struct kube_watch *w)
{
        char seconds[24];
        _cleanup_free_ char *query = NULL;
        int64_t timeout = w->timeout_s > 0 ? w->timeout_s : 300 + rand_r(&w->seed) % 300;
        snprintf(seconds, sizeof(seconds), "%lld", (long long)timeout);
        kube_query_add(&query, "watch", "true");
        kube_query_add(&query, "allowWatchBookmarks", "true");
        kube_query_add(&query, "resourceVersion", w->version);
        kube_query_add(&query, "timeoutSeconds", seconds);
        kube_query_add(&query, "labelSelector", w->labels);
        kube_query_add(&query, "fieldSelector", w->fields);
        buf_reset(&w->line);
        w->relist = w->progress = false;
        w->started = uv_now(w->client->loop);
        w->counts.watches++;
        w->call = kube_send(w->client,
                            &(struct kube_request){.path = w->path,
                                                   .query = query,
                                                   .attempts = 1,
                                                   .silence_ms = w->silence_ms,
                                                   .sink = kube_watch_on_stream},
                            kube_watch_on_stream_end, w);
}

/* ------------------------------------------------------------------------------------------------------- beginning */

static void kube_watch_on_timer(uv_timer_t *timer)
{
        struct kube_watch *w = timer->data;
        if (w->listing)
                begin_list(w);
        else
                kube_watch_begin_watch(w);
}

static void kube_watch_schedule(struct kube_watch *w, int64_t ms)
{
        if (!w->dead)
                uv_timer_start(&w->timer, kube_watch_on_timer, (uint64_t)ms, 0);
}

struct kube_watch *kube_watch_start(struct kube_client *client, const struct kube_watch_options *options,
                                    const struct kube_watch_ops *ops, void *owner)
{
        struct kube_watch *w = new0(struct kube_watch);
        w->client = client;
        w->path = mem_strdup(options->path);
        w->labels = options->labels ? mem_strdup(options->labels) : NULL;
        w->fields = options->fields ? mem_strdup(options->fields) : NULL;
        w->page = options->page;
        w->whole = options->whole;
        w->timeout_s = options->timeout_s;
        w->silence_ms = options->silence_ms > 0 ? options->silence_ms : DEFAULT_SILENCE_MS;
        w->ops = ops;
        w->owner = owner;
        w->listing = true;
        w->seed = (unsigned)uv_hrtime();
        uv_timer_init(client->loop, &w->timer);
        w->timer.data = w;
        kube_watch_schedule(w, 0);
        return w;
}

static void kube_watch_on_closed(uv_handle_t *handle)
{
        struct kube_watch *w = handle->data;
        while (w->first)
                kube_watch_forget(w, w->first);
        object_table_deinit(&w->table);
        buf_deinit(&w->line);
        free(w->path);
        free(w->labels);
        free(w->fields);
        free(w->version);
        free(w);
}

/* A caller up the stack may still hold @w until the loop turns. It reads only `dead`. */
void kube_watch_free(struct kube_watch *w)
{
        if (!w || w->dead)
                return;
        w->dead = true;
        if (w->call)
                kube_cancel(steal(w->call));
        uv_close((uv_handle_t *)&w->timer, kube_watch_on_closed);
}

void kube_watch_withdraw(struct kube_watch *w)
{
        while (w && !w->dead && w->first)
                kube_watch_emit_deleted(w, w->first);
        kube_watch_free(w);
}

struct kube_watch_counts kube_watch_counts(const struct kube_watch *w)
{
        return w->counts;
}
