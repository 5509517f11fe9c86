/* See gangs.h. Invariant: a meeting exists only for a stage attempt that is in the list. */
#include "driver/barrier_sync.h"

#include "base/error.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "rpc/control.pb-c.h"
#include "sched/barrier_coordinator.h"

#include <pthread.h>
#include <time.h>

struct gang {
        int stage, attempt, n;
        char **addresses; /* n of them, by task */
};

struct gangs {
        struct barrier_coordinator *coordinator;
        VEC(struct gang) running; /* few */
};

/* ------------------------------------------------------------------------------------------------------ answers */

static void send_reply(const struct gang_asker *asker, const struct barrier_message *messages, int n)
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
        asker->reply(asker->asker, packed, size);
}

static void barrier_sync_met(void *owner, void *user, const struct barrier_message *messages, int n)
{
        struct gang_asker *asker = user;
        send_reply(asker, messages, n);
        free(asker);
}

static void not_met(void *owner, void *user, const char *message)
{
        struct gang_asker *asker = user;
        asker->fail(asker->asker, message);
        free(asker);
}

static const struct barrier_ops coordinator_ops = {.reply = barrier_sync_met, .fail = not_met};

/* ---------------------------------------------------------------------------------------------------- stages */

int gangs_new(const struct fst_conf *conf, struct gangs **gangs, struct fst_error *error)
{
        int64_t ms;
        int r = conf_get_ms(conf, "spark.barrier.sync.timeout", &ms, error);
        if (r)
                return r;
        struct gangs *g = new0(struct gangs);
        g->coordinator = barrier_coordinator_new(MIN(ms, INT64_MAX / 2000000) * 1000000, &coordinator_ops, g);
        *gangs = g;
        return 0;
}

static void end_at(struct gangs *g, size_t i)
{
        struct gang gang = g->running.data[i];
        g->running.data[i] = g->running.data[--g->running.len];
        barrier_coordinator_stage_end(g->coordinator, gang.stage, gang.attempt);
        for (int k = 0; k < gang.n; k++)
                free(gang.addresses[k]);
        free(gang.addresses);
}

void gangs_free(struct gangs *g)
{
        if (!g)
                return;
        while (g->running.len)
                end_at(g, g->running.len - 1);
        vec_deinit(&g->running);
        barrier_coordinator_free(g->coordinator);
        free(g);
}

void gangs_launching(struct gangs *g, int stage, int attempt, const char *const *addresses, int n)
{
        struct gang gang = {.stage = stage, .attempt = attempt, .n = n, .addresses = new_array(char *, (size_t)n)};
        for (int i = 0; i < n; i++)
                gang.addresses[i] = mem_strdup(addresses[i]);
        vec_push(&g->running, gang);
}

void gangs_stage_end(struct gangs *g, int stage, int attempt)
{
        for (size_t i = g->running.len; i-- > 0;)
                if (g->running.data[i].stage == stage && g->running.data[i].attempt == attempt)
                        end_at(g, i);
}

/* --------------------------------------------------------------------------------------------------- questions */

static const struct gang *barrier_sync_find(const struct gangs *g, int stage, int attempt)
{
        for (size_t i = 0; i < g->running.len; i++)
                if (g->running.data[i].stage == stage && g->running.data[i].attempt == attempt)
                        return &g->running.data[i];
        return NULL;
}

static void tell_addresses(const struct gang *gang, const struct gang_asker *asker)
{
        struct barrier_message *messages = new_array(struct barrier_message, (size_t)gang->n);
        for (int i = 0; i < gang->n; i++)
                messages[i] = (struct barrier_message){gang->addresses[i], strlen(gang->addresses[i])};
        send_reply(asker, messages, gang->n);
        free(messages);
}

static void put_question(struct gangs *g, const struct gang *gang, const Firesteel__BarrierSync *q,
                         const struct gang_asker *asker, int64_t now)
{
        struct gang_asker *waiting = new0(struct gang_asker);
        *waiting = *asker;
        struct barrier_request request = {
                .stage = q->stage_id,
                .stage_attempt = q->stage_attempt,
                .n_tasks = gang->n,
                .index = q->partition,
                .task_id = q->task_id,
                .epoch = q->epoch,
                .method =
                        q->method == FIRESTEEL__BARRIER_SYNC__METHOD__ALL_GATHER ? BARRIER_ALL_GATHER : BARRIER_BARRIER,
                .message = {q->message.data, q->message.len},
                .user = waiting,
        };
        barrier_coordinator_request(g->coordinator, &request, now);
}

void gangs_ask(struct gangs *g, const uint8_t *question, size_t len, const struct gang_asker *asker, int64_t now)
{
        Firesteel__BarrierSync *q = firesteel__barrier_sync__unpack(NULL, len, question);
        const struct gang *gang = q ? barrier_sync_find(g, q->stage_id, q->stage_attempt) : NULL;
        if (!q)
                asker->fail(asker->asker, "the question of a barrier stage's task cannot be read");
        else if (!gang)
                asker->fail(asker->asker, "this is no task of a barrier stage that runs: make the RDD with "
                                          "fst_barrier_map_partitions");
        else if (q->partition < 0 || q->partition >= gang->n)
                asker->fail(asker->asker, "the barrier stage has no such task");
        else if (q->method == FIRESTEEL__BARRIER_SYNC__METHOD__ADDRESSES)
                tell_addresses(gang, asker);
        else
                put_question(g, gang, q, asker, now);
        firesteel__barrier_sync__free_unpacked(q, NULL);
}

int64_t gangs_deadline(const struct gangs *g)
{
        return barrier_coordinator_deadline(g->coordinator);
}

void gangs_tick(struct gangs *g, int64_t now)
{
        barrier_coordinator_tick(g->coordinator, now);
}

/* -------------------------------------------------------------------------------------------- tasks in this process */

struct gang_wait {
        pthread_mutex_t lock;
        pthread_cond_t answered;
        int refs; /* of who waits, and of who answers; under the lock */
        bool done;
        uint8_t *reply;
        size_t len;
        char *failure; /* instead of a reply */
};

/* Under the lock, which it gives up. */
static void wait_unref(struct gang_wait *w)
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

static void wait_reply(void *asker, const uint8_t *reply, size_t len)
{
        struct gang_wait *w = asker;
        pthread_mutex_lock(&w->lock);
        w->reply = mem_alloc(len + 1);
        memcpy(w->reply, reply, len);
        w->len = len;
        w->done = true;
        pthread_cond_signal(&w->answered);
        wait_unref(w);
}

static void wait_fail(void *asker, const char *message)
{
        struct gang_wait *w = asker;
        pthread_mutex_lock(&w->lock);
        w->failure = mem_strdup(message);
        w->done = true;
        pthread_cond_signal(&w->answered);
        wait_unref(w);
}

struct gang_wait *gang_wait_new(struct gang_asker *asker)
{
        struct gang_wait *w = new0(struct gang_wait);
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->answered, &monotonic);
        pthread_condattr_destroy(&monotonic);
        w->refs = 2;
        *asker = (struct gang_asker){.reply = wait_reply, .fail = wait_fail, .asker = w};
        return w;
}

int gang_wait_for(struct gang_wait *w, const int *stopped, uint8_t **answer, size_t *len, struct fst_error *error)
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
        wait_unref(w);
        return r;
}
