/* See barrier_sync.h. Invariant: the coordinator knows only stage attempts that are in the list. */
#include "driver/barrier_sync.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "rpc/control.pb-c.h"
#include "rpc/wire_memory.h"
#include "sched/barrier_coordinator.h"

#include <pthread.h>
#include <time.h>

struct barrier_stage {
        int stage, attempt, n;
        char **addresses; /* by task; n of them */
};

struct barrier_sync {
        struct barrier_coordinator *coordinator;
        VEC(struct barrier_stage) running; /* few */
};

/* ------------------------------------------------------------------------------------------------------ replies */

static void barrier_sync_send_reply(const struct barrier_requester *requester, const struct barrier_message *messages,
                                    int n)
{
        Firesteel__BarrierReply reply = FIRESTEEL__BARRIER_REPLY__INIT;
        reply.n_messages = (size_t)n;
        reply.messages = new_array(ProtobufCBinaryData, (size_t)n);
        for (int i = 0; i < n; i++)
                reply.messages[i] = (ProtobufCBinaryData){messages[i].len, (uint8_t *)messages[i].data};
        size_t size = firesteel__barrier_reply__get_packed_size(&reply);
        _cleanup_free_ uint8_t *packed = mem_alloc(size + 1);
        firesteel__barrier_reply__pack(&reply, packed);
        free(reply.messages);
        requester->reply(requester->owner, packed, size);
}

/* Sends the replies that the coordinator has decided. Called after each of its events. */
static void barrier_sync_run(struct barrier_sync *s)
{
        for (const struct barrier_action *action; (action = barrier_coordinator_next_action(s->coordinator));)
                for (int i = 0; i < action->n; i++) {
                        struct barrier_requester *requester = action->users[i];
                        if (action->messages)
                                barrier_sync_send_reply(requester, action->messages, action->n);
                        else
                                requester->fail(requester->owner, action->failure);
                        free(requester);
                }
}

/* ---------------------------------------------------------------------------------------------------- stages */

int barrier_sync_new(const struct fst_conf *conf, struct barrier_sync **sync, struct fst_error *error)
{
        int64_t ms;
        int r = conf_get_ms(conf, "spark.barrier.sync.timeout", &ms, error);
        if (r)
                return r;
        struct barrier_sync *s = new0(struct barrier_sync);
        s->coordinator = barrier_coordinator_new(ms_to_ns(ms));
        *sync = s;
        return 0;
}

static void barrier_sync_end_at(struct barrier_sync *s, size_t i)
{
        struct barrier_stage barrier = s->running.data[i];
        s->running.data[i] = s->running.data[--s->running.len];
        barrier_coordinator_stage_end(s->coordinator, barrier.stage, barrier.attempt);
        barrier_sync_run(s);
        for (int k = 0; k < barrier.n; k++)
                free(barrier.addresses[k]);
        free(barrier.addresses);
}

void barrier_sync_free(struct barrier_sync *s)
{
        if (!s)
                return;
        while (s->running.len)
                barrier_sync_end_at(s, s->running.len - 1);
        vec_deinit(&s->running);
        barrier_coordinator_free(s->coordinator);
        free(s);
}

void barrier_sync_launching(struct barrier_sync *s, int stage, int attempt, const char *const *addresses, int n)
{
        struct barrier_stage barrier = {
                .stage = stage, .attempt = attempt, .n = n, .addresses = new_array(char *, (size_t)n)};
        for (int i = 0; i < n; i++)
                barrier.addresses[i] = mem_strdup(addresses[i]);
        vec_push(&s->running, barrier);
}

void barrier_sync_stage_end(struct barrier_sync *s, int stage, int attempt)
{
        for (size_t i = s->running.len; i-- > 0;)
                if (s->running.data[i].stage == stage && s->running.data[i].attempt == attempt)
                        barrier_sync_end_at(s, i);
}

/* --------------------------------------------------------------------------------------------------- requests */

static const struct barrier_stage *barrier_sync_find(const struct barrier_sync *s, int stage, int attempt)
{
        for (size_t i = 0; i < s->running.len; i++)
                if (s->running.data[i].stage == stage && s->running.data[i].attempt == attempt)
                        return &s->running.data[i];
        return NULL;
}

static void barrier_sync_send_addresses(const struct barrier_stage *barrier, const struct barrier_requester *requester)
{
        struct barrier_message *messages = new_array(struct barrier_message, (size_t)barrier->n);
        for (int i = 0; i < barrier->n; i++)
                messages[i] = (struct barrier_message){barrier->addresses[i], strlen(barrier->addresses[i])};
        barrier_sync_send_reply(requester, messages, barrier->n);
        free(messages);
}

static void barrier_sync_forward(struct barrier_sync *s, const struct barrier_stage *barrier,
                                 const Firesteel__BarrierSync *q, const struct barrier_requester *requester,
                                 int64_t now)
{
        struct barrier_requester *waiting = new0(struct barrier_requester);
        *waiting = *requester;
        struct barrier_request request = {
                .stage = q->stage_id,
                .stage_attempt = q->stage_attempt,
                .n_tasks = barrier->n,
                .index = q->partition,
                .task_id = q->task_id,
                .epoch = q->epoch,
                .method =
                        q->method == FIRESTEEL__BARRIER_SYNC__METHOD__ALL_GATHER ? BARRIER_ALL_GATHER : BARRIER_BARRIER,
                .message = {q->message.data, q->message.len},
                .user = waiting,
        };
        barrier_coordinator_request(s->coordinator, &request, now);
        barrier_sync_run(s);
}

void barrier_sync_request(struct barrier_sync *s, const uint8_t *request, size_t len,
                          const struct barrier_requester *requester, int64_t now)
{
        Firesteel__BarrierSync *q = firesteel__barrier_sync__unpack(&wire_guarded, len, request);
        const struct barrier_stage *barrier = q ? barrier_sync_find(s, q->stage_id, q->stage_attempt) : NULL;
        if (!q)
                requester->fail(requester->owner, "a barrier request from a task cannot be decoded");
        else if (!barrier)
                requester->fail(requester->owner, "the task is not part of a running barrier stage (make the RDD with "
                                                  "fst_barrier_map_partitions)");
        else if (q->partition < 0 || q->partition >= barrier->n)
                requester->fail(requester->owner, "the barrier stage has no task with this index");
        else if (q->method == FIRESTEEL__BARRIER_SYNC__METHOD__ADDRESSES)
                barrier_sync_send_addresses(barrier, requester);
        else
                barrier_sync_forward(s, barrier, q, requester, now);
        firesteel__barrier_sync__free_unpacked(q, NULL);
}

int64_t barrier_sync_deadline(const struct barrier_sync *s)
{
        return barrier_coordinator_deadline(s->coordinator);
}

void barrier_sync_tick(struct barrier_sync *s, int64_t now)
{
        barrier_coordinator_tick(s->coordinator, now);
        barrier_sync_run(s);
}

/* -------------------------------------------------------------------------------------------- tasks in this process */

struct barrier_waiter {
        pthread_mutex_t lock;
        pthread_cond_t answered;
        int refs; /* the waiter's and the requester's; under the lock */
        bool done;
        uint8_t *reply;
        size_t len;
        char *failure; /* instead of a reply */
};

/* Called with the lock, which it releases. */
static void barrier_waiter_unref(struct barrier_waiter *w)
{
        bool last = --w->refs == 0;
        pthread_mutex_unlock(&w->lock);
        if (!last)
                return;
        pthread_mutex_destroy(&w->lock);
        pthread_cond_destroy(&w->answered);
        free(w->reply);
        free(w->failure);
        free(w);
}

static void barrier_waiter_reply(void *owner, const uint8_t *reply, size_t len)
{
        struct barrier_waiter *w = owner;
        pthread_mutex_lock(&w->lock);
        w->reply = mem_alloc(len + 1);
        memcpy(w->reply, reply, len);
        w->len = len;
        w->done = true;
        pthread_cond_signal(&w->answered);
        barrier_waiter_unref(w);
}

static void barrier_waiter_fail(void *owner, const char *message)
{
        struct barrier_waiter *w = owner;
        pthread_mutex_lock(&w->lock);
        w->failure = mem_strdup(message);
        w->done = true;
        pthread_cond_signal(&w->answered);
        barrier_waiter_unref(w);
}

struct barrier_waiter *barrier_waiter_new(struct barrier_requester *requester)
{
        struct barrier_waiter *w = new0(struct barrier_waiter);
        pthread_mutex_init(&w->lock, NULL);
        cond_init_monotonic(&w->answered);
        w->refs = 2;
        *requester = (struct barrier_requester){.reply = barrier_waiter_reply, .fail = barrier_waiter_fail, .owner = w};
        return w;
}

int barrier_waiter_wait(struct barrier_waiter *w, const int *stopped, uint8_t **answer, size_t *len,
                        struct fst_error *error)
{
        int r;
        pthread_mutex_lock(&w->lock);
        while (!w->done && stop_wait(&w->answered, &w->lock, stopped))
                ;
        if (!w->done) {
                r = error_set(error, -ECANCELED, "task was cancelled");
        } else if (w->failure) {
                r = error_set(error, -EREMOTEIO, "%s", w->failure);
        } else {
                *answer = steal(w->reply);
                *len = w->len;
                r = 0;
        }
        barrier_waiter_unref(w);
        return r;
}
