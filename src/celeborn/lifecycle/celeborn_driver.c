/* See celeborn_driver.h. */
#include "celeborn/lifecycle/celeborn_driver.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/queue.h"
#include "celeborn/lifecycle/celeborn_connection.h"
#include "celeborn/lifecycle/lifecycle_journal.h"
#include "celeborn/protocol/celeborn_message.h"
#include "conf/conf.h"
#include "hadoop/sasl.h"
#include "net/security.h"
#include "net/socket.h"

#include <pthread.h>
#include <sys/random.h>
#include <uv.h>

#define LOG "LifecycleManager"
#define CLIENT "spark.celeborn.client."
#define MASTERS_KEY "spark.celeborn.master.endpoints"
#define MASTER_PORT 9097
#define STOP_TIMEOUT_MS 3000
#define MASTER_RETRIES 15
#define AUTH_KEY "spark.celeborn.auth.enabled"

enum celeborn_event_kind {
        CELEBORN_BEGIN,
        CELEBORN_MAPS_ENDED,
        CELEBORN_DROP,
        CELEBORN_ASK,
        CELEBORN_STOP,
        CELEBORN_LEAVE
};

/* From the scheduler's thread to ours. */
struct celeborn_event {
        enum celeborn_event_kind kind;
        int32_t shuffle;
        int maps, partitions;
        int32_t *attempts; /* owned */
        struct celeborn_question question;
        void *asker;
};

/* Back: the answer to an executor. */
struct celeborn_reply {
        void *asker;
        struct buf bytes;
};

/* The newest try of a map stage. */
struct celeborn_try {
        int32_t shuffle; /* Celeborn's; -1: none */
        bool ended;      /* its maps have ended: nothing can be written any more */
        bool earlier;    /* an earlier driver began it */
        bool adopted;    /* … and outputs in it count */
        int maps, partitions;
};

struct celeborn_driver {
        struct remote_shuffle_driver driver;
        struct celeborn_driver_options options;
        char *app_id;
        pthread_t thread;
        uv_loop_t loop;
        uv_async_t woken;
        uv_timer_t timer;
        uint64_t connect_timeout_ms;
        char *secret;                         /* NULL: connections are not authenticated */
        struct celeborn_connection_auth auth; /* our thread's */

        /* our thread's */
        struct lifecycle *core;
        VEC(struct celeborn_connection *) connections;
        bool stopped, pumping;

        /* the scheduler's thread's */
        VEC(struct celeborn_try) current; /* by the engine's shuffle */
        int32_t next;

        pthread_mutex_t lock;
        QUEUE(struct celeborn_event) events;
        QUEUE(struct celeborn_reply) replies;
};

static struct celeborn_driver *celeborn_driver_of(struct remote_shuffle_driver *driver)
{
        return container_of(driver, struct celeborn_driver, driver);
}

/* ----------------------------------------------------------------------------------------------- our thread */

static void celeborn_driver_pump(struct celeborn_driver *d);

static void celeborn_driver_replied(void *owner, uint64_t request, int type, const uint8_t *body, size_t len)
{
        struct celeborn_driver *d = owner;
        lifecycle_reply(d->core, request, type, body, len, now_ns());
        celeborn_driver_pump(d);
}

static void celeborn_driver_failed(void *owner, uint64_t request, const char *why)
{
        struct celeborn_driver *d = owner;
        lifecycle_failed(d->core, request, why, now_ns());
        celeborn_driver_pump(d);
}

static void celeborn_driver_connection_ended(void *owner, struct celeborn_connection *connection)
{
        struct celeborn_driver *d = owner;
        for (size_t i = 0; i < d->connections.len; i++)
                if (d->connections.data[i] == connection) {
                        d->connections.data[i] = d->connections.data[--d->connections.len];
                        break;
                }
        if (!d->stopped && celeborn_connection_is_to_master(connection)) {
                lifecycle_master_disconnected(d->core, now_ns());
                celeborn_driver_pump(d);
        }
}

static const struct celeborn_connection_ops connection_ops = {.replied = celeborn_driver_replied,
                                                              .failed = celeborn_driver_failed,
                                                              .ended = celeborn_driver_connection_ended};

static void celeborn_driver_send(struct celeborn_driver *d, const struct lifecycle_action *a)
{
        struct celeborn_connection *c = NULL;
        for (size_t i = 0; i < d->connections.len && !c; i++)
                if (celeborn_connection_is_to(d->connections.data[i], a->send.host, a->send.port))
                        c = d->connections.data[i];
        if (!c) {
                c = celeborn_connection_new(&d->loop, a->send.host, a->send.port, d->connect_timeout_ms,
                                            d->secret ? &d->auth : NULL, a->send.master, &connection_ops, d);
                vec_push(&d->connections, c);
        }
        celeborn_connection_send(c, a->send.id, a->send.master ? "MasterEndpoint" : "WorkerEndpoint", a->send.type,
                                 a->send.body, a->send.len);
}

static void celeborn_driver_reply(struct celeborn_driver *d, void *asker, const struct celeborn_answer *answer)
{
        struct celeborn_reply reply = {.asker = asker};
        struct celeborn_answer with_secret = *answer;
        with_secret.secret = d->secret;
        celeborn_answer_put(&with_secret, &reply.bytes);
        pthread_mutex_lock(&d->lock);
        queue_push(&d->replies, reply);
        pthread_mutex_unlock(&d->lock);
        d->options.wake(d->options.owner);
}

static void celeborn_driver_end(struct celeborn_driver *d)
{
        d->stopped = true;
        for (size_t i = 0; i < d->connections.len; i++)
                celeborn_connection_close(d->connections.data[i]);
        uv_close((uv_handle_t *)&d->timer, NULL);
        uv_close((uv_handle_t *)&d->woken, NULL);
}

static void celeborn_driver_on_timer(uv_timer_t *timer)
{
        struct celeborn_driver *d = timer->data;
        lifecycle_tick(d->core, now_ns());
        celeborn_driver_pump(d);
}

/* Performs the core's actions, and sets the timer. */
static void celeborn_driver_pump(struct celeborn_driver *d)
{
        if (d->pumping || d->stopped)
                return;
        d->pumping = true;
        bool ended = false;
        for (struct lifecycle_action a; lifecycle_next_action(d->core, &a);) {
                if (a.kind == LIFECYCLE_SEND)
                        celeborn_driver_send(d, &a);
                else if (a.kind == LIFECYCLE_ANSWER)
                        celeborn_driver_reply(d, a.answer.asker, &a.answer.answer);
                else if (a.kind == LIFECYCLE_LOG)
                        log_at(a.log.level, LOG, "%s", a.log.line);
                else if (a.kind == LIFECYCLE_JOURNAL)
                        d->options.journal(d->options.owner, a.journal.record.data, a.journal.record.len,
                                           a.journal.strict);
                else
                        ended = true;
                lifecycle_action_deinit(&a);
        }
        d->pumping = false;
        const int64_t deadline = lifecycle_deadline(d->core), now = now_ns();
        if (ended)
                celeborn_driver_end(d);
        else if (deadline != INT64_MAX)
                uv_timer_start(&d->timer, celeborn_driver_on_timer,
                               deadline > now ? (uint64_t)(deadline - now) / 1000000 + 1 : 0, 0);
}

static void celeborn_driver_handle(struct celeborn_driver *d, struct celeborn_event *e)
{
        const int64_t now = now_ns();
        switch (e->kind) {
        case CELEBORN_BEGIN:
                lifecycle_begin(d->core, e->shuffle, e->maps, e->partitions, now);
                break;
        case CELEBORN_MAPS_ENDED:
                lifecycle_maps_ended(d->core, e->shuffle, e->attempts, now);
                free(e->attempts);
                break;
        case CELEBORN_DROP:
                lifecycle_drop(d->core, e->shuffle, now);
                break;
        case CELEBORN_ASK:
                lifecycle_ask(d->core, e->asker, &e->question, now);
                break;
        case CELEBORN_STOP:
                lifecycle_stop(d->core, now);
                break;
        case CELEBORN_LEAVE:
                celeborn_driver_end(d);
                break;
        }
}

static void celeborn_driver_on_woken(uv_async_t *handle)
{
        struct celeborn_driver *d = handle->data;
        for (;;) {
                struct celeborn_event event;
                pthread_mutex_lock(&d->lock);
                const bool any = queue_pop(&d->events, &event);
                pthread_mutex_unlock(&d->lock);
                if (!any)
                        break;
                celeborn_driver_handle(d, &event);
        }
        celeborn_driver_pump(d);
}

static void *celeborn_driver_main(void *arg)
{
        struct celeborn_driver *d = arg;
        pthread_setname_np(pthread_self(), "celeborn");
        log_set_context(d->app_id, -1, -1);
        celeborn_driver_pump(d);
        uv_run(&d->loop, UV_RUN_DEFAULT);
        return NULL;
}

/* ----------------------------------------------------------------------------------- the scheduler's thread */

static void celeborn_driver_post(struct celeborn_driver *d, struct celeborn_event event)
{
        pthread_mutex_lock(&d->lock);
        queue_push(&d->events, event);
        pthread_mutex_unlock(&d->lock);
        uv_async_send(&d->woken);
}

static struct celeborn_try *celeborn_driver_try(struct celeborn_driver *d, int shuffle)
{
        while (d->current.len <= (size_t)shuffle)
                vec_push(&d->current, ((struct celeborn_try){.shuffle = -1}));
        return &d->current.data[shuffle];
}

static bool celeborn_driver_may_remove(const struct celeborn_driver *d)
{
        return !d->options.journal || d->options.may_remove(d->options.owner);
}

static void celeborn_driver_remove(struct remote_shuffle_driver *driver, int shuffle)
{
        struct celeborn_driver *d = celeborn_driver_of(driver);
        struct celeborn_try *try = celeborn_driver_try(d, shuffle);
        if (try->shuffle >= 0 && celeborn_driver_may_remove(d))
                celeborn_driver_post(d, (struct celeborn_event){.kind = CELEBORN_DROP, .shuffle = try->shuffle});
        *try = (struct celeborn_try){.shuffle = -1};
}

/* On the scheduler's thread, which journals a map output as soon as its task has ended. An empty one needs no location,
 * so the lifecycle manager's thread may not have begun the shuffle yet. */
static void celeborn_driver_journal_shuffle(const struct celeborn_driver *d,
                                            const struct lifecycle_past_shuffle *shuffle)
{
        _cleanup_(buf_deinit) struct buf record = BUF_INIT;
        if (!d->options.journal)
                return;
        lifecycle_record_shuffle(&record, shuffle);
        d->options.journal(d->options.owner, record.data, record.len, false);
}

static uint32_t celeborn_driver_begin(struct remote_shuffle_driver *driver, int shuffle, int maps, int partitions)
{
        struct celeborn_driver *d = celeborn_driver_of(driver);
        struct celeborn_try *try = celeborn_driver_try(d, shuffle);
        const bool other = try->earlier && (!try->adopted || try->maps != maps || try->partitions != partitions);
        if (try->ended || other) /* its outputs are computed again */
                celeborn_driver_remove(driver, shuffle);
        if (try->shuffle < 0) {
                try->shuffle = d->next++;
                celeborn_driver_journal_shuffle(d, &(struct lifecycle_past_shuffle){.number = try->shuffle,
                                                                                    .shuffle = shuffle,
                                                                                    .maps = maps,
                                                                                    .partitions = partitions});
                celeborn_driver_post(d, (struct celeborn_event){.kind = CELEBORN_BEGIN,
                                                                .shuffle = try->shuffle,
                                                                .maps = maps,
                                                                .partitions = partitions});
        }
        return celeborn_place(try->shuffle);
}

static void celeborn_driver_maps_ended(struct remote_shuffle_driver *driver, int shuffle, const int64_t *task_ids,
                                       int n)
{
        struct celeborn_driver *d = celeborn_driver_of(driver);
        struct celeborn_try *try = celeborn_driver_try(d, shuffle);
        if (try->shuffle < 0 || try->ended)
                return;
        int32_t *attempts = new_array(int32_t, (size_t)MAX(n, 1));
        for (int i = 0; i < n; i++)
                attempts[i] = (int32_t)task_ids[i];
        try->ended = true;
        celeborn_driver_post(
                d, (struct celeborn_event){.kind = CELEBORN_MAPS_ENDED, .shuffle = try->shuffle, .attempts = attempts});
}

static bool celeborn_driver_is_current(struct remote_shuffle_driver *driver, int shuffle, uint32_t place)
{
        const struct celeborn_try *try = celeborn_driver_try(celeborn_driver_of(driver), shuffle);
        return try->shuffle >= 0 && celeborn_place(try->shuffle) == place;
}

static const char *celeborn_driver_directory(const struct remote_shuffle_driver *driver)
{
        return celeborn_driver_of((struct remote_shuffle_driver *)driver)->app_id;
}

/* An output is in the shuffle of an earlier driver: that is adopted. */
static bool celeborn_driver_has(const struct remote_shuffle_driver *driver, int shuffle, int32_t writer, uint32_t place)
{
        struct celeborn_driver *d = celeborn_driver_of((struct remote_shuffle_driver *)driver);
        struct celeborn_try *try = (size_t)shuffle < d->current.len ? &d->current.data[shuffle] : NULL;
        (void)writer;
        if (!try || !try->earlier || celeborn_place(try->shuffle) != place)
                return false;
        try->adopted = true;
        return true;
}

static bool celeborn_driver_takes_maps(const struct remote_shuffle_driver *driver, int shuffle, int *maps)
{
        const struct celeborn_driver *d = celeborn_driver_of((struct remote_shuffle_driver *)driver);
        const struct celeborn_try *try = (size_t)shuffle < d->current.len ? &d->current.data[shuffle] : NULL;
        if (!try || !try->earlier || !try->ended)
                return true;
        *maps = try->maps;
        return false;
}

static int celeborn_driver_ask(struct remote_shuffle_driver *driver, const uint8_t *question, size_t len, void *asker,
                               struct fst_error *error)
{
        struct celeborn_event event = {.kind = CELEBORN_ASK, .asker = asker};
        const int r = celeborn_question_parse(question, len, &event.question, error);
        if (r == 0)
                celeborn_driver_post(celeborn_driver_of(driver), event);
        return r;
}

static bool celeborn_driver_next_reply(struct remote_shuffle_driver *driver, void **asker, struct buf *bytes)
{
        struct celeborn_driver *d = celeborn_driver_of(driver);
        struct celeborn_reply reply;
        pthread_mutex_lock(&d->lock);
        const bool any = queue_pop(&d->replies, &reply);
        pthread_mutex_unlock(&d->lock);
        if (any) {
                *asker = reply.asker;
                *bytes = reply.bytes;
        }
        return any;
}

static void celeborn_driver_free(struct celeborn_driver *d)
{
        for (struct celeborn_event e; queue_pop(&d->events, &e);) {
                if (e.kind == CELEBORN_ASK)
                        d->options.dropped(d->options.owner, e.asker);
                free(e.attempts);
                celeborn_question_deinit(&e.question);
        }
        for (struct celeborn_reply reply; queue_pop(&d->replies, &reply);) {
                d->options.dropped(d->options.owner, reply.asker);
                buf_deinit(&reply.bytes);
        }
        queue_deinit(&d->events);
        queue_deinit(&d->replies);
        vec_deinit(&d->current);
        vec_deinit(&d->connections);
        lifecycle_free(d->core);
        pthread_mutex_destroy(&d->lock);
        if (d->secret)
                explicit_bzero(d->secret, strlen(d->secret));
        free(d->secret);
        free(d->app_id);
        free(d);
}

static void celeborn_driver_stop(struct remote_shuffle_driver *driver)
{
        struct celeborn_driver *d = celeborn_driver_of(driver);
        celeborn_driver_post(
                d, (struct celeborn_event){.kind = celeborn_driver_may_remove(d) ? CELEBORN_STOP : CELEBORN_LEAVE});
        pthread_join(d->thread, NULL);
        uv_loop_close(&d->loop);
        celeborn_driver_free(d);
}

static const struct remote_shuffle_driver_class celeborn_driver_class = {
        .directory = celeborn_driver_directory,
        .has = celeborn_driver_has,
        .takes_maps = celeborn_driver_takes_maps,
        .begin = celeborn_driver_begin,
        .maps_ended = celeborn_driver_maps_ended,
        .is_current = celeborn_driver_is_current,
        .ask = celeborn_driver_ask,
        .next_reply = celeborn_driver_next_reply,
        .remove_shuffle = celeborn_driver_remove,
        .stop = celeborn_driver_stop,
};

/* ------------------------------------------------------------------------------------------------- settings */

typedef VEC(struct lifecycle_master) master_list;

static void master_list_deinit(master_list *masters)
{
        for (size_t i = 0; i < masters->len; i++)
                free(masters->data[i].host);
        vec_deinit(masters);
}

/* "host1:9097,host2": the port may be left out. */
static int celeborn_read_masters(const struct fst_conf *conf, master_list *masters, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = conf_get_string(conf, MASTERS_KEY, &value, error);
        if (r)
                return r;
        char *rest = value ? value : (char *)"";
        for (char *word, *end; (word = strsep(&rest, ","));) {
                word += strspn(word, " ");
                for (end = word + strlen(word); end > word && end[-1] == ' ';)
                        *--end = '\0';
                if (!*word)
                        continue;
                _cleanup_free_ char *with_port = NULL;
                struct host_port at;
                if (!strchr(word, ':'))
                        with_port = mem_printf("%s:%d", word, MASTER_PORT);
                if ((r = host_port_parse(with_port ? with_port : word, &at, error)))
                        return error_wrap(error, r, MASTERS_KEY);
                vec_push(masters, ((struct lifecycle_master){mem_strdup(at.host), at.port}));
        }
        if (!masters->len)
                return error_set(error, -EINVAL,
                                 MASTERS_KEY " is empty: set it to the addresses of Celeborn's masters, host:port");
        return 0;
}

static int celeborn_read_split_mode(const struct fst_conf *conf, int *mode, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = conf_get_string(conf, "spark.celeborn.client.shuffle.partitionSplit.mode", &value, error);
        if (r == 0 && strcasecmp(value, "SOFT") != 0 && strcasecmp(value, "HARD") != 0)
                r = error_set(error, -EINVAL,
                              "spark.celeborn.client.shuffle.partitionSplit.mode is \"%s\": set it to SOFT or HARD",
                              value);
        if (r == 0)
                *mode = strcasecmp(value, "HARD") == 0; /* CELEBORN_SPLIT_HARD is 1 */
        return r;
}

static int celeborn_read_ns(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t ms;
        int r = conf_get_ms(conf, key, &ms, error);
        if (r == 0)
                *out = MAX(ms, (int64_t)1) * 1000000;
        return r;
}

static int celeborn_read_count(const struct fst_conf *conf, const char *key, int *out, struct fst_error *error)
{
        int64_t n;
        int r = conf_get_int(conf, key, &n, error);
        if (r == 0)
                *out = (int)MIN(MAX(n, (int64_t)0), (int64_t)INT32_MAX - 1);
        return r;
}

int celeborn_read_dynamic(const struct fst_conf *conf, bool *enabled, double *factor, struct fst_error *error)
{
        static const char key[] = CLIENT "shuffle.dynamicResourceFactor";
        int r = conf_get_bool(conf, CLIENT "shuffle.dynamicResourceEnabled", enabled, error);
        if (r == 0)
                r = conf_get_double(conf, key, factor, error);
        if (r == 0 && !(*factor >= 0 && *factor <= 1))
                r = error_set(error, -EINVAL, "%s is %g: set it to a share from 0 to 1", key, *factor);
        return r;
}

static int celeborn_read_config(const struct fst_conf *conf, struct celeborn_config *c, struct fst_error *error)
{
        int r;
        if ((r = conf_get_bool(conf, "spark.celeborn.client.push.replicate.enabled", &c->replicate, error)) ||
            (r = conf_get_bool(conf, "spark.celeborn.client.reserveSlots.rackaware.enabled", &c->rack_aware, error)) ||
            (r = conf_get_bool(conf, CLIENT "shuffle.reviseLostShuffles.enabled", &c->revise, error)) ||
            (r = celeborn_read_dynamic(conf, &c->dynamic, &c->dynamic_factor, error)) ||
            (r = conf_get_bytes(conf, "spark.celeborn.client.shuffle.partitionSplit.threshold", &c->split_threshold,
                                error)) ||
            (r = conf_get_ms(conf, "spark.celeborn.client.push.timeout", &c->push_timeout_ms, error)) ||
            (r = celeborn_read_split_mode(conf, &c->split_mode, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "application.heartbeatInterval", &c->heartbeat, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "excludedWorker.expireTimeout", &c->excluded_timeout, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "shuffle.batchHandleChangePartition.interval", &c->revive_interval,
                                  error)) ||
            (r = celeborn_read_ns(conf, CLIENT "rpc.registerShuffle.askTimeout", &c->master_timeout, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "rpc.reserveSlots.askTimeout", &c->reserve_timeout, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "rpc.commitFiles.askTimeout", &c->commit_timeout, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "registerShuffle.retryWait", &c->register_wait, error)) ||
            (r = celeborn_read_ns(conf, CLIENT "requestCommitFiles.retryWait", &c->commit_wait, error)) ||
            (r = celeborn_read_count(conf, CLIENT "registerShuffle.maxRetries", &c->register_retries, error)) ||
            (r = celeborn_read_count(conf, CLIENT "reserveSlots.maxRetries", &c->reserve_retries, error)) ||
            (r = celeborn_read_count(conf, CLIENT "requestCommitFiles.maxRetries", &c->commit_retries, error)) ||
            (r = celeborn_read_count(conf, CLIENT "slot.assign.maxWorkers", &c->max_workers, error)))
                return r;
        c->storage_types = CELEBORN_STORAGE_MEMORY | CELEBORN_STORAGE_DISKS;
        c->master_wait = 500 * INT64_C(1000000);
        c->master_retries = MASTER_RETRIES;
        c->stop_timeout = STOP_TIMEOUT_MS * INT64_C(1000000);
        return 0;
}

/* Whether connections prove a secret of the application. */
static int celeborn_read_authentication(const struct celeborn_driver_options *o, bool *enabled, struct fst_error *error)
{
        const struct sasl_ops *sasl;
        bool has_secret = false;
        int r = conf_get_bool(o->conf, AUTH_KEY, enabled, error);
        if (r || !*enabled)
                return r;
        if ((r = sasl_load(&sasl, error)))
                return error_wrap(error, r, AUTH_KEY);
        if (o->journal && (r = conf_get_bool(o->conf, "spark.authenticate", &has_secret, error)) == 0 && !has_secret)
                r = error_set(error, -EINVAL,
                              "spark.firesteel.resume.enabled and " AUTH_KEY
                              " are true, and spark.authenticate is false: set it to true, because the next driver "
                              "derives the secret for Celeborn from that of the application");
        return r;
}

/* Makes the secret of the application that d->app_id names. With a journal, the next driver makes the same. */
static int celeborn_driver_make_secret(struct celeborn_driver *d, const struct celeborn_driver_options *o,
                                       struct fst_error *error)
{
        _cleanup_free_ char *purpose = mem_printf("Celeborn, application %s", d->app_id);
        uint8_t secret[SECURITY_DERIVED_SIZE];
        int r = 0;
        if (o->journal)
                r = security_derive(o->conf, SECURITY_DRIVER, purpose, secret, error);
        else if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
                r = error_set(error, -EIO, "cannot make a secret for Celeborn: the kernel gives no random bytes");
        if (r)
                return r;
        struct buf text = BUF_INIT;
        base64_put(&text, secret, sizeof(secret));
        explicit_bzero(secret, sizeof(secret));
        d->secret = buf_steal(&text);
        d->auth.secret = d->secret;
        return 0;
}

static int celeborn_driver_start(struct celeborn_driver *d, struct fst_error *error)
{
        uv_loop_init(&d->loop);
        uv_async_init(&d->loop, &d->woken, celeborn_driver_on_woken);
        uv_timer_init(&d->loop, &d->timer);
        d->woken.data = d->timer.data = d;
        const int r = -pthread_create(&d->thread, NULL, celeborn_driver_main, d);
        if (r == 0)
                return 0;
        uv_close((uv_handle_t *)&d->timer, NULL);
        uv_close((uv_handle_t *)&d->woken, NULL);
        uv_run(&d->loop, UV_RUN_DEFAULT);
        uv_loop_close(&d->loop);
        return error_set(error, r, "cannot start the thread of Celeborn's lifecycle manager: %s", strerror(-r));
}

/* ------------------------------------------------------------------------------------------------- resuming */

/* Where the records that count begin, and Celeborn's id of the application that they name: owned, NULL if there is
 * none. */
static size_t celeborn_earlier_begin(const struct celeborn_driver_options *o, char **id)
{
        size_t first = 0;
        for (size_t i = 0; i < o->n_earlier; i++) {
                const int kind = lifecycle_record_kind(o->earlier[i]);
                if (kind != LIFECYCLE_RECORD_APPLICATION && kind != LIFECYCLE_RECORD_STOPPED)
                        continue;
                free(*id);
                *id = NULL;
                first = i + 1;
                if (kind == LIFECYCLE_RECORD_APPLICATION && lifecycle_read_application(o->earlier[i], id))
                        return o->n_earlier;
        }
        return first;
}

/* Notes the shuffles of earlier drivers. */
static void celeborn_driver_note_earlier(struct celeborn_driver *d, const struct celeborn_driver_options *o,
                                         size_t first)
{
        struct lifecycle_past_shuffle past;
        int found = 0;
        for (size_t i = first; i < o->n_earlier; i++) {
                if (lifecycle_read_shuffle(o->earlier[i], &past))
                        continue;
                const enum lifecycle_past_state state = lifecycle_past(d->core, past.number);
                struct celeborn_try *try = celeborn_driver_try(d, past.shuffle);
                *try = (struct celeborn_try){.shuffle = state == LIFECYCLE_PAST_GONE ? -1 : past.number,
                                             .ended = state == LIFECYCLE_PAST_ENDED,
                                             .earlier = true,
                                             .maps = past.maps,
                                             .partitions = past.partitions};
                if (state == LIFECYCLE_PAST_GONE)
                        try->earlier = false;
                else
                        found++;
        }
        log_info(LOG, "Going on with %d shuffles of %s in Celeborn", found, d->app_id);
}

/* Journals where the numbers of this driver's shuffles begin. */
static void celeborn_driver_journal_numbers(const struct celeborn_driver *d, const struct celeborn_driver_options *o)
{
        _cleanup_(buf_deinit) struct buf record = BUF_INIT;
        if (!o->journal)
                return;
        lifecycle_record_numbers(&record, d->next);
        o->journal(o->owner, record.data, record.len, true);
}

/* Makes the core with what earlier drivers have left, if that can be used, or a new application. @unproven: this driver
 * cannot prove the secret of earlier ones. */
static void celeborn_driver_begin_core(struct celeborn_driver *d, struct celeborn_config *config,
                                       const struct celeborn_driver_options *o, bool unproven)
{
        _cleanup_free_ char *id = NULL;
        const size_t first = celeborn_earlier_begin(o, &id);
        if (id && unproven) {
                log_info(LOG,
                         "Map outputs in Celeborn are computed again: the secret of spark.authenticate has ended with "
                         "the earlier driver");
                free(steal(id));
        }
        const int32_t next = id ? lifecycle_next_number(o->earlier + first, o->n_earlier - first) : 0;
        if (next < 0) {
                log_warn(LOG, "Shuffles in Celeborn run again: the numbers for shuffles of %s are used up", id);
                free(steal(id));
        }
        int r = id ? 0 : -ENOENT;
        d->next = id ? next : 0;
        config->journaled = o->journal != NULL;
        if (r == 0) {
                config->app_id = id;
                d->core = lifecycle_new(config, now_ns());
                for (size_t i = first; i < o->n_earlier && r == 0; i++)
                        r = lifecycle_restore(d->core, o->earlier[i]);
                if (r) {
                        log_warn(LOG,
                                 "The journal's records of shuffles in Celeborn contradict each other: they run again");
                        lifecycle_free(d->core);
                        d->next = 0;
                }
        }
        if (r) {
                free(id);
                id = o->epoch > 1 ? mem_printf("%s-%d", o->app_id, o->epoch) : mem_strdup(o->app_id);
        }
        d->app_id = mem_strdup(id);
        d->options.app_id = d->app_id;
        d->auth = (struct celeborn_connection_auth){.app_id = d->app_id, .registered = r == 0};
        if (r == 0) {
                lifecycle_restored(d->core, now_ns());
                celeborn_driver_note_earlier(d, o, first);
                celeborn_driver_journal_numbers(d, o);
                return;
        }
        config->app_id = d->app_id;
        d->core = lifecycle_new(config, now_ns());
        if (o->journal) {
                _cleanup_(buf_deinit) struct buf record = BUF_INIT;
                lifecycle_record_application(&record, d->app_id);
                /* Durable before there is a shuffle: a driver without the id cannot end it at Celeborn. */
                o->journal(o->owner, record.data, record.len, true);
        }
}

int celeborn_driver_new(const struct celeborn_driver_options *options, struct remote_shuffle_driver **driver,
                        struct fst_error *error)
{
        _cleanup_(master_list_deinit) master_list masters = {0};
        _cleanup_free_ char *host = NULL, *tenant = NULL, *user = NULL, *tags = NULL;
        struct celeborn_config config = {0};
        int64_t connect_ms;
        bool authenticated;
        int r;
        if ((r = celeborn_read_masters(options->conf, &masters, error)) ||
            (r = celeborn_read_config(options->conf, &config, error)) ||
            (r = conf_get_ms(options->conf, "spark.celeborn.network.connect.timeout", &connect_ms, error)) ||
            (r = conf_get_string(options->conf, "spark.celeborn.quota.identity.user-specific.tenant", &tenant,
                                 error)) ||
            (r = conf_get_string(options->conf, "spark.celeborn.quota.identity.user-specific.userName", &user,
                                 error)) ||
            (r = conf_get_string(options->conf, "spark.celeborn.tags.tagsExpr", &tags, error)) ||
            (r = celeborn_read_authentication(options, &authenticated, error)))
                return r;
        if (getrandom(config.seed, sizeof(config.seed), 0) != (ssize_t)sizeof(config.seed))
                config.seed[0] = (uint64_t)now_ns();
        host = socket_local_host();
        config.hostname = host;
        config.tenant = tenant ? tenant : "default";
        config.user = user ? user : "default";
        config.tags = tags ? tags : "";
        config.masters = masters.data;
        config.n_masters = (int)masters.len;
        struct celeborn_driver *d = new0(struct celeborn_driver);
        d->driver.class = &celeborn_driver_class;
        d->options = *options;
        d->options.conf = NULL;
        d->options.earlier = NULL;
        d->connect_timeout_ms = (uint64_t)MAX(connect_ms, (int64_t)1);
        pthread_mutex_init(&d->lock, NULL);
        celeborn_driver_begin_core(d, &config, options, authenticated && options->other_secret);
        if ((authenticated && (r = celeborn_driver_make_secret(d, options, error))) ||
            (r = celeborn_driver_start(d, error))) {
                celeborn_driver_free(d);
                return r;
        }
        log_info(LOG, "Map outputs go to Celeborn (%s:%d)", masters.data[0].host, masters.data[0].port);
        *driver = &d->driver;
        return 0;
}
