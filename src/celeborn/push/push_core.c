/*
 * See push_core.h. A batch is in one of four places: in the lane of its attempt for a pair of workers, in a body in
 * flight, in the list of a partition that waits for a newer location, or in the released ones of its attempt.
 */
#include "celeborn/push/push_core.h"

#include "base/mem.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"

#include <string.h>

/* Batches of an attempt that go to the same pair of workers. */
struct push_lane {
        struct push_lane *prev, *next; /* in the attempt */
        struct push_lane *ready_prev, *ready_next;
        struct push_attempt *attempt;
        int worker, replica;
        push_batch_list batches;
        size_t bytes; /* of the batches, with their headers */
        bool ready;   /* in the list of the worker */
};

struct push_worker {
        struct push_worker_name name;
        struct push_lane *first, *last; /* lanes with batches, in turn */
        LIST(struct push_body) bodies;
        int in_flight, window;
        int answered; /* since the window grew */
        bool closing; /* PUSH_CLOSE was emitted */
};

struct push_partition {
        int32_t epoch; /* -1: no location is known */
        int worker, replica;
        push_batch_list waiting;
        int32_t wanted;     /* the epoch that a newer location was requested for; -1: none */
        int32_t soft_split; /* the newest epoch of which a soft split was noted */
        uint8_t cause;
};

struct push_shuffle {
        int32_t number;
        int attempts;
        int n;
        struct push_partition *at;
        VEC(int32_t) wanted; /* partitions for the next question */
        bool asking;
        bool forgotten; /* free it with its last attempt */
};

struct push_core {
        struct push_core_config config;
        VEC(struct push_worker) workers;
        VEC(struct push_shuffle *) shuffles;
        LIST(struct push_attempt) attempts;
        int in_flight;
        int64_t last_request;
        size_t turn; /* the worker that is next */
};

/* ------------------------------------------------------------------------------------------------------- small */

struct push_core *push_core_new(const struct push_core_config *config)
{
        struct push_core *c = new0(struct push_core);
        c->config = *config;
        return c;
}

static void push_shuffle_free(struct push_shuffle *s)
{
        vec_deinit(&s->wanted);
        free(s->at);
        free(s);
}

void push_core_free(struct push_core *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->shuffles.len; i++)
                push_shuffle_free(c->shuffles.data[i]);
        for (size_t i = 0; i < c->workers.len; i++)
                free(c->workers.data[i].name.host);
        vec_deinit(&c->shuffles);
        vec_deinit(&c->workers);
        free(c);
}

static struct push_shuffle *push_core_shuffle(const struct push_core *c, int32_t number)
{
        for (size_t i = 0; i < c->shuffles.len; i++)
                if (c->shuffles.data[i]->number == number)
                        return c->shuffles.data[i];
        return NULL;
}

bool push_core_has_shuffle(const struct push_core *c, int32_t shuffle)
{
        return push_core_shuffle(c, shuffle) != NULL;
}

int push_core_workers(const struct push_core *c)
{
        return (int)c->workers.len;
}

struct push_worker_name push_core_worker(const struct push_core *c, int worker)
{
        return c->workers.data[worker].name;
}

int32_t push_attempt_shuffle(const struct push_attempt *a)
{
        return a->shuffle->number;
}

/* Returns the number of a worker, which is added if it is new. */
static int push_core_worker_of(struct push_core *c, const struct celeborn_worker *worker)
{
        for (size_t i = 0; i < c->workers.len; i++)
                if (c->workers.data[i].name.port == worker->push_port &&
                    strcmp(c->workers.data[i].name.host, worker->host) == 0)
                        return (int)i;
        struct push_worker w = {.name = {.host = mem_strdup(worker->host), .port = worker->push_port},
                                .window = c->config.per_worker};
        vec_push(&c->workers, w);
        return (int)c->workers.len - 1;
}

static void push_batch_release(struct push_batch *b)
{
        b->attempt->pending--;
        list_append(&b->attempt->released, b);
}

static void push_batches_release(push_batch_list *list)
{
        for (struct push_batch *b; (b = list_pop(list));)
                push_batch_release(b);
}

/* -------------------------------------------------------------------------------------------------------- lanes */

static void push_lane_set_ready(struct push_core *c, struct push_lane *lane, bool ready)
{
        struct push_worker *w = &c->workers.data[lane->worker];
        if (lane->ready == ready)
                return;
        lane->ready = ready;
        if (ready) {
                lane->ready_prev = w->last;
                lane->ready_next = NULL;
                *(w->last ? &w->last->ready_next : &w->first) = lane;
                w->last = lane;
                return;
        }
        *(lane->ready_prev ? &lane->ready_prev->ready_next : &w->first) = lane->ready_next;
        *(lane->ready_next ? &lane->ready_next->ready_prev : &w->last) = lane->ready_prev;
}

/* Lists a lane at its worker if it has enough to send. */
static void push_lane_update(struct push_core *c, struct push_lane *lane)
{
        const size_t least = lane->attempt->collecting ? c->config.body / 8 * 5 : 1; /* more than half: two pages */
        push_lane_set_ready(c, lane, lane->bytes >= least);
}

static size_t push_batch_bytes(const struct push_batch *b)
{
        return CELEBORN_BATCH_HEADER + (size_t)b->size;
}

static void push_lane_remove(struct push_lane *lane, struct push_batch *b)
{
        list_remove(&lane->batches, b);
        lane->bytes -= push_batch_bytes(b);
}

static struct push_lane *push_attempt_lane(struct push_attempt *a, int worker, int replica)
{
        struct push_lane *lane = a->lanes.first;
        while (lane && (lane->worker != worker || lane->replica != replica))
                lane = lane->next;
        if (lane)
                return lane;
        lane = new0(struct push_lane);
        lane->attempt = a;
        lane->worker = worker;
        lane->replica = replica;
        list_append(&a->lanes, lane);
        return lane;
}

/* Inserts a batch by its id, so that the batches of a partition stay in order. */
static void push_lane_insert(struct push_lane *lane, struct push_batch *b)
{
        struct push_batch *at = lane->batches.last, *next = lane->batches.first;
        if (at && at->id > b->id) { /* it comes back: its place is near the beginning */
                for (at = NULL; next && next->id < b->id; next = next->next)
                        at = next;
        }
        list_insert_after(&lane->batches, at, b);
        lane->bytes += push_batch_bytes(b);
}

/* Queues a batch for the location of its partition. Returns true if it may be sent now. */
static bool push_core_queue(struct push_core *c, struct push_batch *b)
{
        const struct push_partition *p = &b->attempt->shuffle->at[b->partition];
        struct push_lane *lane = push_attempt_lane(b->attempt, p->worker, p->replica);
        b->epoch = p->epoch;
        push_lane_insert(lane, b);
        push_lane_update(c, lane);
        return lane->ready;
}

/* ------------------------------------------------------------------------------------------------------ attempts */

struct push_attempt *push_core_begin(struct push_core *c, int32_t shuffle, int32_t map, int32_t id)
{
        struct push_attempt *a = new0(struct push_attempt);
        a->shuffle = push_core_shuffle(c, shuffle);
        a->shuffle->attempts++;
        a->map = map;
        a->id = id;
        list_append(&c->attempts, a);
        return a;
}

void push_core_forget_shuffle(struct push_core *c, int32_t shuffle)
{
        for (size_t i = 0; i < c->shuffles.len; i++) {
                struct push_shuffle *s = c->shuffles.data[i];
                if (s->number != shuffle)
                        continue;
                s->forgotten = true;
                if (s->attempts)
                        return;
                push_shuffle_free(s);
                c->shuffles.data[i] = c->shuffles.data[--c->shuffles.len];
                return;
        }
}

void push_core_end(struct push_core *c, struct push_attempt *a)
{
        for (struct push_lane *lane; (lane = list_pop(&a->lanes));) {
                push_lane_set_ready(c, lane, false);
                free(lane);
        }
        struct push_shuffle *s = a->shuffle;
        list_remove(&c->attempts, a);
        if (--s->attempts == 0 && s->forgotten)
                push_core_forget_shuffle(c, s->number);
        error_deinit(&a->error);
        free(a);
}

/* Releases the batches that are not in flight. */
static void push_attempt_drop(struct push_core *c, struct push_attempt *a)
{
        for (struct push_lane *lane = a->lanes.first; lane; lane = lane->next) {
                push_batches_release(&lane->batches);
                lane->bytes = 0;
                push_lane_set_ready(c, lane, false);
        }
        for (int i = 0; i < a->shuffle->n; i++) {
                push_batch_list *waiting = &a->shuffle->at[i].waiting;
                for (struct push_batch *b = waiting->first, *next; b; b = next) {
                        next = b->next;
                        if (b->attempt == a) {
                                list_remove(waiting, b);
                                push_batch_release(b);
                        }
                }
        }
}

void push_core_abandon(struct push_core *c, struct push_attempt *a, int status, const char *why)
{
        if (a->status)
                return;
        a->status = error_set(&a->error, status, "%s", why);
        push_attempt_drop(c, a);
}

static void push_attempt_fail(struct push_core *c, const struct push_batch *b, int status, const char *why)
{
        struct push_attempt *a = b->attempt;
        _cleanup_free_ char *text =
                mem_printf("pushing partition %d of map %d to Celeborn: %s", b->partition, a->map, why);
        push_core_abandon(c, a, status, text);
}

bool push_core_add(struct push_core *c, struct push_attempt *a, int32_t partition, struct push_batch *b)
{
        b->attempt = a;
        b->partition = partition;
        b->id = a->next_batch++;
        b->tries = 0;
        b->epoch = -1;
        a->pending++;
        if (a->status) {
                push_batch_release(b);
                return false;
        }
        if (partition >= a->shuffle->n || a->shuffle->at[partition].epoch < 0) {
                push_attempt_fail(c, b, -EPROTO, "the driver has named no location of it");
                push_batch_release(b);
                return false;
        }
        return push_core_queue(c, b);
}

void push_core_collect(struct push_core *c, struct push_attempt *a, bool collecting)
{
        if (a->collecting == collecting)
                return;
        a->collecting = collecting;
        for (struct push_lane *lane = a->lanes.first; lane; lane = lane->next)
                push_lane_update(c, lane);
}

/* ------------------------------------------------------------------------------------------------------- revives */

static void push_shuffle_want(struct push_shuffle *s, int32_t partition, int cause)
{
        struct push_partition *p = &s->at[partition];
        if (p->wanted == p->epoch)
                return;
        p->wanted = p->epoch;
        p->cause = (uint8_t)cause;
        vec_push(&s->wanted, partition);
}

/* A batch was not acknowledged. Releases it if its attempt has failed, else finds or requests a newer location. */
static void push_core_again(struct push_core *c, struct push_batch *b, int cause, bool counts)
{
        struct push_attempt *a = b->attempt;
        if (a->status == 0 && counts && ++b->tries > c->config.max_tries) {
                _cleanup_free_ char *why =
                        mem_printf("%s after %d tries (spark.celeborn.client.push.revive.maxRetries)",
                                   celeborn_status_name(cause), b->tries);
                push_attempt_fail(c, b, -EIO, why);
        }
        if (a->status) {
                push_batch_release(b);
                return;
        }
        struct push_partition *p = &a->shuffle->at[b->partition];
        if (p->epoch > b->epoch) {
                push_core_queue(c, b);
                return;
        }
        list_append(&p->waiting, b);
        push_shuffle_want(a->shuffle, b->partition, cause);
}

/* Fails the attempts with batches that wait for @p. */
static void push_partition_fail(struct push_core *c, struct push_partition *p, int status, const char *why)
{
        while (p->waiting.first)
                push_attempt_fail(c, p->waiting.first, status, why); /* removes it from the list */
}

void push_core_revive_failed(struct push_core *c, int32_t shuffle, int status, const char *why)
{
        struct push_shuffle *s = push_core_shuffle(c, shuffle);
        if (!s)
                return;
        s->asking = false;
        s->wanted.len = 0;
        for (int i = 0; i < s->n; i++) {
                push_partition_fail(c, &s->at[i], status, why);
                s->at[i].wanted = -1;
        }
}

static struct push_shuffle *push_core_add_shuffle(struct push_core *c, int32_t number)
{
        struct push_shuffle *s = new0(struct push_shuffle);
        s->number = number;
        vec_push(&c->shuffles, s);
        return s;
}

/* Makes room for partition @partition. */
static void push_shuffle_grow(struct push_shuffle *s, int32_t partition)
{
        if (partition < s->n)
                return;
        int n = MAX(partition + 1, s->n * 2);
        s->at = mem_grow(s->at, (size_t)n * sizeof(*s->at));
        for (int i = s->n; i < n; i++)
                s->at[i] = (struct push_partition){.epoch = -1, .replica = -1, .wanted = -1, .soft_split = -1};
        s->n = n;
}

/* Notes a location of the driver's answer. */
static void push_core_place(struct push_core *c, struct push_shuffle *s, const struct celeborn_answer *answer,
                            const struct celeborn_location *at)
{
        if (at->partition < 0)
                return;
        push_shuffle_grow(s, at->partition);
        struct push_partition *p = &s->at[at->partition];
        bool usable = at->primary >= 0 && at->primary < answer->n_workers;
        if (usable && at->epoch > p->epoch) {
                int replica = at->replica >= 0 && at->replica < answer->n_workers ? at->replica : -1;
                p->epoch = at->epoch;
                p->worker = push_core_worker_of(c, &answer->workers[at->primary]);
                p->replica = replica < 0 ? -1 : push_core_worker_of(c, &answer->workers[replica]);
        }
        push_batch_list waiting = p->waiting;
        p->waiting = (push_batch_list){0};
        for (struct push_batch *b; (b = list_pop(&waiting));) {
                if (b->epoch < p->epoch)
                        push_core_queue(c, b);
                else
                        list_append(&p->waiting, b);
        }
        p->wanted = -1;
        push_partition_fail(c, p, -EIO, "Celeborn has no other worker for it");
}

/* Moves the queued batches of an attempt to the newest locations. */
static void push_attempt_reroute(struct push_core *c, struct push_attempt *a)
{
        push_batch_list stale = {0};
        for (struct push_lane *lane = a->lanes.first; lane; lane = lane->next) {
                for (struct push_batch *b = lane->batches.first, *next; b; b = next) {
                        next = b->next;
                        if (a->shuffle->at[b->partition].epoch > b->epoch) {
                                push_lane_remove(lane, b);
                                list_append(&stale, b);
                        }
                }
                push_lane_update(c, lane);
        }
        for (struct push_batch *b; (b = list_pop(&stale));)
                push_core_queue(c, b);
}

void push_core_locate(struct push_core *c, int32_t shuffle, const struct celeborn_answer *answer)
{
        if (answer->status != CELEBORN_SUCCESS) {
                _cleanup_free_ char *why =
                        mem_printf("%s", answer->message ? answer->message : celeborn_status_name(answer->status));
                push_core_revive_failed(c, shuffle, -EIO, why);
                return;
        }
        struct push_shuffle *s = push_core_shuffle(c, shuffle);
        if (!s)
                s = push_core_add_shuffle(c, shuffle);
        for (int i = 0; i < answer->n_locations; i++)
                push_core_place(c, s, answer, &answer->locations[i]);
        for (struct push_attempt *a = c->attempts.first; a; a = a->next)
                if (a->shuffle == s)
                        push_attempt_reroute(c, a);
        s->asking = false;
}

/* ------------------------------------------------------------------------------------------------------- actions */

/*
 * True if an earlier batch of the same output and partition is in flight to an older location. It may come back, and
 * then it must be sent before @b, so that the batches of a file are in order.
 */
static bool push_core_is_blocked(const struct push_core *c, const struct push_batch *b)
{
        for (size_t i = 0; b->epoch > 0 && i < c->workers.len; i++)
                for (const struct push_body *body = c->workers.data[i].bodies.first; body; body = body->next)
                        for (const struct push_batch *x = body->batches.first; x && body->attempt == b->attempt;
                             x = x->next)
                                if (x->partition == b->partition && x->epoch < b->epoch)
                                        return true;
        return false;
}

/* Returns the next lane of a worker with a batch that can be sent, or NULL. */
static struct push_lane *push_core_next_lane(const struct push_core *c, const struct push_worker *w)
{
        struct push_lane *lane = w->first;
        while (lane && push_core_is_blocked(c, lane->batches.first))
                lane = lane->ready_next;
        return lane;
}

/* Takes batches of a lane, of which the first is not blocked, into a body. */
static struct push_body *push_core_fill(struct push_core *c, struct push_lane *lane, int64_t now)
{
        struct push_worker *w = &c->workers.data[lane->worker];
        struct push_body *body = new0(struct push_body);
        body->request = ++c->last_request;
        body->attempt = lane->attempt;
        body->worker = lane->worker;
        body->deadline = now + c->config.timeout;
        do {
                struct push_batch *b = lane->batches.first;
                push_lane_remove(lane, b);
                list_append(&body->batches, b);
                body->bytes += push_batch_bytes(b);
                body->n++;
        } while (lane->batches.first && !push_core_is_blocked(c, lane->batches.first) &&
                 body->bytes + push_batch_bytes(lane->batches.first) <= c->config.body);
        push_lane_set_ready(c, lane, false); /* at the end of the list */
        push_lane_update(c, lane);
        list_append(&w->bodies, body);
        w->in_flight++;
        c->in_flight++;
        return body;
}

static bool push_core_next_revive(struct push_core *c, struct push_action *action)
{
        for (size_t i = 0; i < c->shuffles.len; i++) {
                struct push_shuffle *s = c->shuffles.data[i];
                if (s->asking || !s->wanted.len)
                        continue;
                *action = (struct push_action){.kind = PUSH_REVIVE,
                                               .shuffle = s->number,
                                               .revives = new_array(struct celeborn_revive, s->wanted.len)};
                for (size_t k = 0; k < s->wanted.len; k++) {
                        const struct push_partition *p = &s->at[s->wanted.data[k]];
                        if (p->wanted != p->epoch) /* a newer location has come meanwhile */
                                continue;
                        const struct push_batch *b = p->waiting.first;
                        action->revives[action->n++] = (struct celeborn_revive){.map = b ? b->attempt->map : -1,
                                                                                .partition = s->wanted.data[k],
                                                                                .epoch = p->epoch,
                                                                                .cause = p->cause};
                }
                s->wanted.len = 0;
                s->asking = action->n > 0;
                if (s->asking)
                        return true;
                free(action->revives);
        }
        return false;
}

bool push_core_next(struct push_core *c, int64_t now, struct push_action *action)
{
        for (size_t i = 0; i < c->workers.len; i++) {
                struct push_worker *w = &c->workers.data[i];
                if (w->bodies.first && w->bodies.first->deadline <= now && !w->closing) {
                        w->closing = true;
                        *action = (struct push_action){.kind = PUSH_CLOSE, .worker = (int)i};
                        return true;
                }
        }
        if (push_core_next_revive(c, action))
                return true;
        for (size_t i = 0; i < c->workers.len && c->in_flight < c->config.total; i++) {
                c->turn = (c->turn + 1) % c->workers.len;
                struct push_worker *w = &c->workers.data[c->turn];
                struct push_lane *lane = w->in_flight < w->window && !w->closing ? push_core_next_lane(c, w) : NULL;
                if (!lane)
                        continue;
                *action = (struct push_action){.kind = PUSH_SEND, .body = push_core_fill(c, lane, now)};
                return true;
        }
        return false;
}

int64_t push_core_deadline(const struct push_core *c)
{
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < c->workers.len; i++)
                if (c->workers.data[i].bodies.first && !c->workers.data[i].closing)
                        first = MIN(first, c->workers.data[i].bodies.first->deadline);
        return first;
}

bool push_core_is_idle(const struct push_core *c, int worker)
{
        return !c->workers.data[worker].bodies.first;
}

/* ------------------------------------------------------------------------------------------------------- answers */

const struct push_body *push_core_body(const struct push_core *c, int worker, int64_t request)
{
        const struct push_body *body = c->workers.data[worker].bodies.first;
        while (body && body->request != request)
                body = body->next;
        return body;
}

/* Takes a body out of flight. Returns NULL if it is unknown. The caller frees it. */
static struct push_body *push_core_take(struct push_core *c, int worker, int64_t request)
{
        struct push_body *body = (struct push_body *)push_core_body(c, worker, request);
        if (!body)
                return NULL;
        list_remove(&c->workers.data[worker].bodies, body);
        c->workers.data[worker].in_flight--;
        c->in_flight--;
        return body;
}

static void push_worker_adapt(const struct push_core *c, struct push_worker *w, int status)
{
        if (status == CELEBORN_CONGESTED_PRIMARY || status == CELEBORN_CONGESTED_REPLICA) {
                w->window = MAX(w->window / 2, 1);
                w->answered = 0;
        } else if (w->window < c->config.per_worker && ++w->answered >= w->window) {
                w->window++;
                w->answered = 0;
        }
}

/* Notes a soft split, unless it is known. */
static void push_core_soft_split(const struct push_batch *b)
{
        struct push_partition *p = &b->attempt->shuffle->at[b->partition];
        if (p->epoch != b->epoch || p->soft_split >= p->epoch)
                return;
        p->soft_split = p->epoch;
        push_shuffle_want(b->attempt->shuffle, b->partition, CELEBORN_SOFT_SPLIT);
}

static bool push_core_settle(struct push_core *c, struct push_batch *b, int status)
{
        switch (status) {
        case CELEBORN_SOFT_SPLIT:
                push_core_soft_split(b);
                push_batch_release(b);
                return true;
        case CELEBORN_SUCCESS:
        case CELEBORN_CONGESTED_PRIMARY:
        case CELEBORN_CONGESTED_REPLICA:
                push_batch_release(b);
                return true;
        case CELEBORN_HARD_SPLIT:
                push_core_again(c, b, status, false);
                return true;
        case CELEBORN_MAP_ENDED:
        case CELEBORN_STAGE_ENDED:
                push_attempt_fail(c, b, -ECANCELED, "another attempt of its map task has ended");
                push_batch_release(b);
                return true;
        default:
                push_core_again(c, b, status, true);
                return false;
        }
}

/* Returns the status of batch @i: a listed one has its own. */
static int push_answer_status(const struct celeborn_push_answer *answer, int i)
{
        for (int k = 0; k < answer->n; k++)
                if (answer->indexes[k] == i)
                        return answer->statuses[k];
        return answer->n ? CELEBORN_SUCCESS : answer->status;
}

bool push_core_answered(struct push_core *c, int worker, int64_t request, const struct celeborn_push_answer *answer)
{
        struct push_body *body = push_core_take(c, worker, request);
        bool known = true;
        int i = 0;
        if (!body)
                return true;
        push_worker_adapt(c, &c->workers.data[worker], answer->status);
        for (struct push_batch *b; (b = list_pop(&body->batches)); i++)
                known &= push_core_settle(c, b, push_answer_status(answer, i));
        free(body);
        return known;
}

static void push_core_retry(struct push_core *c, struct push_body *body, int cause)
{
        for (struct push_batch *b; (b = list_pop(&body->batches));)
                push_core_again(c, b, cause, true);
        free(body);
}

void push_core_failed(struct push_core *c, int worker, int64_t request, int cause)
{
        struct push_body *body = push_core_take(c, worker, request);
        if (body)
                push_core_retry(c, body, cause);
}

void push_core_disconnected(struct push_core *c, int worker, int cause)
{
        struct push_worker *w = &c->workers.data[worker];
        push_batch_list queued = {0};
        w->closing = false;
        if (w->bodies.first)
                while (w->first) {
                        struct push_lane *lane = w->first;
                        for (struct push_batch *b; (b = list_pop(&lane->batches));)
                                list_append(&queued, b);
                        lane->bytes = 0;
                        push_lane_set_ready(c, lane, false);
                }
        while (w->bodies.first)
                push_core_retry(c, push_core_take(c, worker, w->bodies.first->request), cause);
        for (struct push_batch *b; (b = list_pop(&queued));)
                push_core_again(c, b, cause, false);
}
