/*
 * See push_client.h.
 *
 * Invariants: the core, the pushes and the questions are under the lock, connections are the sender's alone: it reads
 * and writes them without the lock. An answer to a request that is not completely sent is an error of the worker, so
 * that answered batches are never read again.
 */
#include "celeborn/push/push_client.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"
#include "celeborn/push/push_connection.h"
#include "numa/numa_nodes.h"
#include "shuffle/shuffle_output.h"
#include "store/page_frame.h"
#include "store/spill.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOG "Celeborn"
#define CHECK_NS (50 * NS_PER_MS)    /* between looks at `stopped` */
#define MAX_FRAMES ((size_t)4 << 20) /* bytes of frames read from an output's file before they are answered */

struct map_push {
        struct map_push *prev, *next;
        struct push_client *client;
        struct push_attempt *attempt;
        struct shuffle_output *output; /* a reference, pinned; NULL: none */
        size_t held;                   /* bytes of owned pages and frames that are not answered */
        bool detached;                 /* freed when nothing is in flight */
};

/* A question to the driver: REVIVE, or LOCATIONS of a shuffle that tasks have begun to write. */
struct push_question {
        struct push_question *prev, *next;
        struct celeborn_question question;
};

/* A thread that asks the driver one question after the other. */
struct push_asker {
        struct push_client *client;
        LIST(struct push_question) questions; /* the first one is being asked */
        pthread_cond_t added;
        pthread_t thread;
        bool started;
};

struct push_client {
        struct push_client_options options;
        char *app_id;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct push_core *core;
        LIST(struct map_push) pushes;
        struct push_asker reviver, locator; /* a revive does not wait for the slots of another shuffle */
        int ending;                         /* atomic */
        int wake;                           /* eventfd */
        char *secret;                       /* of the driver's answers; NULL: connections are not authenticated */
        pthread_mutex_t locating;           /* one task asks for locations at a time */
        pthread_t sender;
        bool sends; /* the sender has been started */

        /* the sender's */
        VEC(struct push_connection) connections; /* by the core's number of the worker */
        VEC(struct pollfd) polled;
        struct push_connection *reading;
};

/* ------------------------------------------------------------------------------------------------------- releasing */

static void push_item_free(struct push_item *item)
{
        free(item->bytes);
        free(item);
}

static size_t push_item_held(const struct push_item *item)
{
        return item->bytes ? item->data_size : 0;
}

static void map_push_destroy(struct map_push *p)
{
        struct push_client *c = p->client;
        push_core_end(c->core, p->attempt);
        list_remove(&c->pushes, p);
        if (p->output) {
                shuffle_output_unpin(p->output);
                shuffle_output_unref(p->output);
        }
        free(p);
}

/* Frees the items that the core has released. With the lock. */
static bool map_push_settle(struct map_push *p)
{
        bool any = false;
        for (struct push_batch *b; (b = list_pop(&p->attempt->released)); any = true) {
                struct push_item *item = container_of(b, struct push_item, batch);
                p->held -= push_item_held(item);
                push_item_free(item);
        }
        return any;
}

/* Does so for all pushes, and wakes their tasks. With the lock. */
static void push_client_settle(struct push_client *c)
{
        bool any = false;
        for (struct map_push *p = c->pushes.first, *next; p; p = next) {
                next = p->next;
                any |= map_push_settle(p) || p->attempt->status;
                if (p->detached && p->attempt->pending == 0)
                        map_push_destroy(p);
        }
        if (any)
                pthread_cond_broadcast(&c->changed);
}

static void push_client_wake(struct push_client *c)
{
        uint64_t one = 1;
        if (write(c->wake, &one, sizeof(one)) < 0)
                log_debug(LOG, "waking the sender: %s", strerror(errno));
}

/* ------------------------------------------------------------------------------------------------------- the sender */

static void push_asker_add(struct push_asker *asker, struct celeborn_question question)
{
        struct push_question *q = new0(struct push_question);
        q->question = question;
        list_append(&asker->questions, q);
        pthread_cond_signal(&asker->added);
}

/* With the lock. */
static void push_client_disconnect(struct push_client *c, struct push_connection *at, int cause, const char *why)
{
        struct push_worker_name name = push_core_worker(c->core, at->worker);
        log_at(push_core_is_idle(c->core, at->worker) ? LOG_DEBUG : LOG_WARN, LOG,
               "the connection to the worker at %s:%d has ended: %s", name.host, name.port, why);
        push_connection_close(at);
        push_core_disconnected(c->core, at->worker, cause);
}

/* An answer to a push. With the lock. */
static int push_client_handle(struct push_client *c, const struct celeborn_frame *frame, struct fst_error *error)
{
        int worker = c->reading->worker;
        int64_t request;
        if ((frame->type != CELEBORN_RPC_RESPONSE && frame->type != CELEBORN_RPC_FAILURE) ||
            !celeborn_frame_request_id(frame, &request))
                return 0; /* a heartbeat */
        const struct push_body *body = push_core_body(c->core, worker, request);
        if (!body)
                return 0;
        if (push_connection_is_sending(c->reading, request))
                return error_set(error, -EPROTO, "an answer to a push that is not completely sent");
        if (frame->type == CELEBORN_RPC_FAILURE) {
                const char *text = "";
                size_t len = 0;
                celeborn_frame_failure(frame, &text, &len);
                log_warn(LOG, "a push failed: %.*s", (int)MIN(len, (size_t)200), text);
                push_core_failed(c->core, worker, request, celeborn_status_of_failure(text, len));
                return 0;
        }
        struct celeborn_push_answer answer;
        int r = celeborn_push_answer_parse(frame->body, frame->body_len, body->n, &answer, error);
        if (r)
                return r;
        if (!push_core_answered(c->core, worker, request, &answer))
                log_warn(LOG, "a worker answered a push with %s", celeborn_status_name(answer.status));
        celeborn_push_answer_deinit(&answer);
        return 0;
}

static int on_answer(void *owner, const struct celeborn_frame *frame, struct fst_error *error)
{
        struct push_client *c = owner;
        pthread_mutex_lock(&c->lock);
        int r = push_client_handle(c, frame, error);
        pthread_mutex_unlock(&c->lock);
        return r;
}

/* Returns the connection to a worker, which may be closed. */
static struct push_connection *push_client_connection(struct push_client *c, int worker)
{
        for (int i = (int)c->connections.len; i <= worker; i++)
                vec_push(&c->connections, (struct push_connection){.worker = i, .fd = -1});
        return &c->connections.data[worker];
}

static void push_client_send(struct push_client *c, const struct push_body *body)
{
        struct push_connection *at = push_client_connection(c, body->worker);
        struct fst_error error = FST_ERROR_INIT;
        char key[512];
        if (!push_connection_is_open(at) &&
            push_connection_start(at, push_core_worker(c->core, body->worker), c->app_id, c->secret,
                                  now_ns() + c->options.connect_timeout, &error)) {
                push_client_disconnect(c, at, CELEBORN_PUSH_CREATE_CONNECTION_FAIL_PRIMARY, error_message(&error));
                error_deinit(&error);
                return;
        }
        snprintf(key, sizeof(key), "%s-%d", c->app_id, push_attempt_shuffle(body->attempt));
        push_connection_send(at, body, key);
}

/* Does what the core wants. With the lock. */
static void push_client_act(struct push_client *c)
{
        struct push_action action;
        while (push_core_next(c->core, now_ns(), &action)) {
                switch (action.kind) {
                case PUSH_SEND:
                        push_client_send(c, action.body);
                        break;
                case PUSH_CLOSE:
                        push_client_disconnect(c, push_client_connection(c, action.worker),
                                               CELEBORN_PUSH_TIMEOUT_PRIMARY,
                                               "a push is not answered within spark.celeborn.client.push.timeout");
                        break;
                case PUSH_REVIVE:
                        push_asker_add(&c->reviver, (struct celeborn_question){.kind = CELEBORN_ASK_REVIVE,
                                                                               .shuffle = action.shuffle,
                                                                               .revives = action.revives,
                                                                               .n = action.n});
                        break;
                }
        }
        push_client_settle(c);
}

/* Reads and writes what is ready. */
static void push_client_serve(struct push_client *c, const struct pollfd *ready, struct push_connection *at)
{
        struct fst_error error = FST_ERROR_INIT;
        bool connected = at->connected;
        int r = 0;
        if (!connected || ready->revents & POLLOUT)
                r = push_connection_write(at, now_ns(), &error);
        if (r == 0 && at->connected && ready->revents & ~POLLOUT) {
                c->reading = at;
                r = push_connection_read(at, on_answer, c, &error);
        }
        if (r) {
                pthread_mutex_lock(&c->lock);
                push_client_disconnect(c, at,
                                       connected ? CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY
                                                 : CELEBORN_PUSH_CREATE_CONNECTION_FAIL_PRIMARY,
                                       error_message(&error));
                pthread_mutex_unlock(&c->lock);
        }
        error_deinit(&error);
}

/* Lists the descriptors to wait for. Returns the time to wait, in ms; -1: no limit. With the lock. */
static int push_client_prepare(struct push_client *c)
{
        int64_t deadline = push_core_deadline(c->core), now = now_ns();
        c->polled.len = 0;
        vec_push(&c->polled, (struct pollfd){.fd = c->wake, .events = POLLIN});
        for (size_t i = 0; i < c->connections.len; i++) {
                struct push_connection *at = &c->connections.data[i];
                bool open = push_connection_is_open(at);
                vec_push(&c->polled, (struct pollfd){.fd = open ? push_connection_fd(at) : -1,
                                                     .events = (short)(open ? push_connection_events(at) : 0)});
                if (open && !at->connected)
                        deadline = MIN(deadline, at->deadline);
        }
        return deadline == INT64_MAX ? -1 : (int)MIN(ms_until(deadline, now), (uint64_t)60000);
}

static void *push_client_run_sender(void *owner)
{
        struct push_client *c = owner;
        pthread_mutex_lock(&c->lock);
        while (!__atomic_load_n(&c->ending, __ATOMIC_RELAXED)) {
                push_client_act(c);
                int timeout = push_client_prepare(c);
                pthread_mutex_unlock(&c->lock);
                poll(c->polled.data, c->polled.len, timeout);
                uint64_t count;
                if (c->polled.data[0].revents && read(c->wake, &count, sizeof(count)) < 0)
                        log_debug(LOG, "reading the wake-up: %s", strerror(errno));
                int64_t now = now_ns();
                for (size_t i = 1; i < c->polled.len; i++) {
                        struct push_connection *at = &c->connections.data[i - 1];
                        if (c->polled.data[i].revents ||
                            (push_connection_is_open(at) && !at->connected && at->deadline <= now))
                                push_client_serve(c, &c->polled.data[i], at);
                }
                pthread_mutex_lock(&c->lock);
        }
        for (size_t i = 0; i < c->connections.len; i++) {
                push_connection_close(&c->connections.data[i]);
                push_core_disconnected(c->core, (int)i, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        }
        for (struct map_push *p = c->pushes.first; p; p = p->next)
                push_core_abandon(c->core, p->attempt, -ECANCELED, "the executor ends");
        push_client_settle(c);
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

/* ------------------------------------------------------------------------------------------------------- the driver */

static bool push_client_knows(struct push_client *c, int32_t shuffle)
{
        pthread_mutex_lock(&c->lock);
        bool known = push_core_has_shuffle(c->core, shuffle);
        pthread_mutex_unlock(&c->lock);
        return known;
}

/* Asks for the locations of a shuffle, unless they are known. */
static int push_client_locate(struct push_client *c, int32_t shuffle, const int *stopped, struct fst_error *error)
{
        if (push_client_knows(c, shuffle))
                return 0;
        struct celeborn_question question = {.kind = CELEBORN_ASK_LOCATIONS, .shuffle = shuffle};
        struct celeborn_answer answer = {0};
        int r = 0;
        pthread_mutex_lock(&c->locating);
        if (!push_client_knows(c, shuffle))
                r = c->options.ask(c->options.owner, &question, stopped, &answer, error);
        if (r == 0 && answer.status != CELEBORN_SUCCESS)
                r = error_set(error, -EIO, "Celeborn has no locations of shuffle %d: %s", shuffle,
                              answer.message ? answer.message : celeborn_status_name(answer.status));
        if (r == 0 && answer.n_locations) {
                pthread_mutex_lock(&c->lock);
                if (!c->secret)
                        c->secret = steal(answer.secret);
                push_core_locate(c->core, shuffle, &answer);
                pthread_mutex_unlock(&c->lock);
        }
        pthread_mutex_unlock(&c->locating);
        celeborn_answer_deinit(&answer);
        return r;
}

/* Asks a question that is first of its thread's. Without the lock. */
static void push_client_ask(struct push_client *c, const struct celeborn_question *question)
{
        struct fst_error error = FST_ERROR_INIT;
        struct celeborn_answer answer = {0};
        if (question->kind == CELEBORN_ASK_LOCATIONS) {
                if (push_client_locate(c, question->shuffle, &c->ending, &error)) /* the tasks will report it */
                        log_debug(LOG, "%s", error_message(&error));
        } else {
                int r = c->options.ask(c->options.owner, question, &c->ending, &answer, &error);
                pthread_mutex_lock(&c->lock);
                if (r)
                        push_core_revive_failed(c->core, question->shuffle, r, error_message(&error));
                else
                        push_core_locate(c->core, question->shuffle, &answer);
                push_client_settle(c);
                push_client_wake(c);
                pthread_mutex_unlock(&c->lock);
        }
        celeborn_answer_deinit(&answer);
        error_deinit(&error);
}

static void *push_asker_run(void *owner)
{
        struct push_asker *asker = owner;
        struct push_client *c = asker->client;
        pthread_mutex_lock(&c->lock);
        for (;;) {
                while (!asker->questions.first && !__atomic_load_n(&c->ending, __ATOMIC_RELAXED))
                        pthread_cond_wait(&asker->added, &c->lock);
                struct push_question *q = asker->questions.first;
                if (!q)
                        break;
                pthread_mutex_unlock(&c->lock);
                push_client_ask(c, &q->question);
                pthread_mutex_lock(&c->lock);
                list_remove(&asker->questions, q);
                celeborn_question_deinit(&q->question);
                free(q);
        }
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

static int push_asker_start(struct push_client *c, struct push_asker *asker)
{
        asker->client = c;
        pthread_cond_init(&asker->added, NULL);
        int r = -numa_create_thread(&asker->thread, NULL, push_asker_run, asker);
        asker->started = r == 0;
        return r;
}

/* Asks for the locations of a shuffle, in the background and once at a time. With the lock. */
static void push_client_want_locations(struct push_client *c, int32_t shuffle)
{
        const struct push_question *q = c->locator.questions.first;
        while (q && q->question.shuffle != shuffle)
                q = q->next;
        if (!q)
                push_asker_add(&c->locator,
                               (struct celeborn_question){.kind = CELEBORN_ASK_LOCATIONS, .shuffle = shuffle});
}

/* ------------------------------------------------------------------------------------------------------- the client */

int push_client_new(const struct push_client_options *options, struct push_client **client, struct fst_error *error)
{
        struct push_client *c = new0(struct push_client);
        c->options = *options;
        c->app_id = mem_strdup(options->app_id);
        c->core = push_core_new(&options->core);
        pthread_mutex_init(&c->lock, NULL);
        pthread_mutex_init(&c->locating, NULL);
        pthread_cond_init(&c->changed, NULL);
        c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        int r = c->wake < 0 ? -errno : -numa_create_thread(&c->sender, NULL, push_client_run_sender, c);
        c->sends = r == 0;
        if (r == 0)
                r = push_asker_start(c, &c->reviver);
        if (r == 0)
                r = push_asker_start(c, &c->locator);
        if (r) {
                push_client_free(c);
                return error_set(error, r, "cannot start a thread that pushes to Celeborn: %s", strerror(-r));
        }
        *client = c;
        return 0;
}

static void push_asker_end(struct push_asker *asker)
{
        if (!asker->client)
                return;
        if (asker->started)
                pthread_join(asker->thread, NULL);
        pthread_cond_destroy(&asker->added);
}

void push_client_free(struct push_client *c)
{
        if (!c)
                return;
        pthread_mutex_lock(&c->lock);
        __atomic_store_n(&c->ending, 1, __ATOMIC_RELAXED);
        if (c->reviver.client)
                pthread_cond_signal(&c->reviver.added);
        if (c->locator.client)
                pthread_cond_signal(&c->locator.added);
        pthread_mutex_unlock(&c->lock);
        push_asker_end(&c->reviver);
        push_asker_end(&c->locator);
        if (c->sends) {
                push_client_wake(c);
                pthread_join(c->sender, NULL);
        }
        push_core_free(c->core);
        vec_deinit(&c->connections);
        vec_deinit(&c->polled);
        if (c->wake >= 0)
                close(c->wake);
        pthread_cond_destroy(&c->changed);
        pthread_mutex_destroy(&c->locating);
        pthread_mutex_destroy(&c->lock);
        free(c->secret);
        free(c->app_id);
        free(c);
}

void push_client_forget(struct push_client *c, int32_t shuffle)
{
        pthread_mutex_lock(&c->lock);
        push_core_forget_shuffle(c->core, shuffle);
        pthread_mutex_unlock(&c->lock);
}

/* ------------------------------------------------------------------------------------------- the pushes of a map */

/* Begins to push to a shuffle whose locations are known; else returns NULL. */
static struct map_push *push_client_add(struct push_client *c, int32_t shuffle, int32_t map, int64_t attempt)
{
        struct map_push *p = NULL;
        pthread_mutex_lock(&c->lock);
        if (push_core_has_shuffle(c->core, shuffle)) {
                p = new0(struct map_push);
                p->client = c;
                p->attempt = push_core_begin(c->core, shuffle, map, (int32_t)attempt);
                list_append(&c->pushes, p);
        }
        pthread_mutex_unlock(&c->lock);
        return p;
}

static int push_client_check_attempt(int64_t attempt, struct fst_error *error)
{
        return attempt >= 0 && attempt <= INT32_MAX
                       ? 0
                       : error_set(error, -EOVERFLOW, "task %lld has no attempt number in Celeborn's 31 bits",
                                   (long long)attempt);
}

struct map_push *push_client_try_begin(struct push_client *c, int32_t shuffle, int32_t map, int64_t attempt, bool ask)
{
        if (push_client_check_attempt(attempt, NULL))
                return NULL;
        struct map_push *p = push_client_add(c, shuffle, map, attempt);
        pthread_mutex_lock(&c->lock);
        if (!p && ask)
                push_client_want_locations(c, shuffle);
        pthread_mutex_unlock(&c->lock);
        return p;
}

int push_client_begin(struct push_client *c, int32_t shuffle, int32_t map, int64_t attempt, const int *stopped,
                      struct map_push **push, struct fst_error *error)
{
        int r = push_client_check_attempt(attempt, error);
        if (r == 0)
                r = push_client_locate(c, shuffle, stopped, error);
        if (r)
                return r;
        struct map_push *p = push_client_add(c, shuffle, map, attempt);
        if (!p)
                return error_set(error, -EIO, "the driver has named no locations of Celeborn's shuffle %d", shuffle);
        *push = p;
        return 0;
}

/* Returns the status of the attempt. */
static int map_push_item(struct map_push *p, int32_t partition, struct push_item *item)
{
        struct push_client *c = p->client;
        item->batch.size = PAGE_BATCH_HEADER - CELEBORN_BATCH_HEADER + item->data_size;
        pthread_mutex_lock(&c->lock);
        p->held += push_item_held(item);
        const bool wake = push_core_add(c->core, p->attempt, partition, &item->batch) && p->attempt->collecting;
        const int status = p->attempt->status;
        pthread_mutex_unlock(&c->lock);
        if (wake)
                push_client_wake(c);
        return status;
}

int map_push_page(struct map_push *p, int32_t partition, const struct page *page)
{
        struct push_item *item = new0(struct push_item);
        page_frame_header(page, item->header + PAGE_BATCH_FRAME);
        item->data = page->data;
        item->data_size = page->used;
        return map_push_item(p, partition, item);
}

/* Pushes the frame of a page, @size bytes that the push frees. */
static void map_push_frame(struct map_push *p, int32_t partition, unsigned char *bytes, uint32_t size)
{
        struct push_item *item = new0(struct push_item);
        memcpy(item->header + PAGE_BATCH_FRAME, bytes, PAGE_FRAME_HEADER);
        item->bytes = bytes;
        item->data = bytes + PAGE_FRAME_HEADER;
        item->data_size = size - PAGE_FRAME_HEADER;
        map_push_item(p, partition, item);
        push_client_wake(p->client);
}

/* Waits for a change, or a little while. With the lock. */
static void push_client_await(struct push_client *c)
{
        struct timespec until = timespec_of_ns(now_ns() + CHECK_NS);
        pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until);
}

void map_push_collect(struct map_push *p, bool collecting)
{
        pthread_mutex_lock(&p->client->lock);
        push_core_collect(p->client->core, p->attempt, collecting);
        pthread_mutex_unlock(&p->client->lock);
        push_client_wake(p->client);
}

static int map_push_await(struct map_push *p, bool all, size_t held, const int *stopped, struct fst_error *error)
{
        struct push_client *c = p->client;
        int r = 0;
        pthread_mutex_lock(&c->lock);
        while ((map_push_settle(p), p->attempt->status == 0) && (all ? p->attempt->pending > 0 : p->held > held) &&
               r == 0) {
                if (stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED))
                        r = error_set(error, -ECANCELED, "the task is killed");
                else
                        push_client_await(c);
        }
        if (r == 0 && p->attempt->status)
                r = error_set(error, p->attempt->status, "%s", error_message(&p->attempt->error));
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int map_push_wait_held(struct map_push *p, size_t held, const int *stopped, struct fst_error *error)
{
        return map_push_await(p, false, held, stopped, error);
}

/* Pushes the pages of a partition that are in the output's file. */
static int map_push_extents(struct map_push *p, struct shuffle_output *output, int partition, const int *stopped,
                            struct fst_error *error)
{
        for (uint32_t e = shuffle_output_at(output, partition)->extents; e; e = output->extents[e - 1].next) {
                const struct shuffle_extent *x = &output->extents[e - 1];
                int r = map_push_wait_held(p, MAX_FRAMES, stopped, error);
                if (r)
                        return r;
                _cleanup_free_ unsigned char *bytes = x->length < PAGE_FRAME_HEADER ? NULL : mem_try(x->length);
                if (!bytes)
                        return error_set(error, -ENOMEM, "no memory to read a page of %u bytes", x->length);
                r = spill_read_bytes(output->file, x->offset, bytes, x->length, error);
                if (r)
                        return r;
                map_push_frame(p, partition, steal(bytes), x->length);
        }
        return 0;
}

void map_push_keep(struct map_push *p, struct shuffle_output *output)
{
        p->output = shuffle_output_ref(output);
        shuffle_output_pin(output);
}

int map_push_output(struct map_push *p, struct shuffle_output *output, const int *stopped, struct fst_error *error)
{
        map_push_keep(p, output);
        for (int i = shuffle_output_next(output, 0); i < output->partitions; i = shuffle_output_next(output, i + 1)) {
                const struct page *last = shuffle_output_at(output, i)->last;
                int r = map_push_extents(p, output, i, stopped, error);
                if (r)
                        return r;
                for (const struct page *page = last ? last->next : NULL; page;) {
                        map_push_page(p, i, page);
                        page = page == last ? NULL : page->next;
                }
        }
        push_client_wake(p->client);
        return 0;
}

int map_push_wait(struct map_push *p, const int *stopped, struct fst_error *error)
{
        return map_push_await(p, true, 0, stopped, error);
}

void map_push_free(struct map_push *p)
{
        if (!p)
                return;
        struct push_client *c = p->client;
        pthread_mutex_lock(&c->lock);
        push_core_abandon(c->core, p->attempt, -ECANCELED, "the task has ended");
        map_push_settle(p);
        if (p->attempt->pending)
                p->detached = true;
        else
                map_push_destroy(p);
        pthread_mutex_unlock(&c->lock);
}
