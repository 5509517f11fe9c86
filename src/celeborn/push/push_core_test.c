/*
 * Pushes as decisions: windows, bodies, splits, failures; and worlds of workers that store, split, fail, forget to
 * answer and die at random, in which each batch of a successful attempt is stored.
 */
#include "celeborn/push/push_core.h"

#include "base/mem.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SHUFFLE = 7, TIMEOUT = 1000, BODY = 1000 };

static const struct push_core_config config = {
        .per_worker = 4, .total = 6, .max_tries = 3, .body = BODY, .timeout = TIMEOUT};

static struct celeborn_worker workers[] = {{.host = "a", .push_port = 1},
                                           {.host = "b", .push_port = 2},
                                           {.host = "b", .push_port = 3},
                                           {.host = "c", .push_port = 4}};

static void locate(struct push_core *core, int32_t partition, int32_t epoch, int primary, int replica)
{
        struct celeborn_location at = {partition, epoch, primary, replica};
        struct celeborn_answer answer = {
                .workers = workers, .n_workers = 4, .locations = &at, .n_locations = 1, .status = CELEBORN_SUCCESS};
        push_core_locate(core, SHUFFLE, &answer);
}

static struct push_core *core_with(int partitions, int (*primary)(int), int (*replica)(int))
{
        struct push_core *core = push_core_new(&config);
        for (int p = 0; p < partitions; p++)
                locate(core, p, 0, primary(p), replica(p));
        return core;
}

static int first(int p)
{
        (void)p;
        return 0;
}

static int none(int p)
{
        (void)p;
        return -1;
}

static int odd(int p)
{
        return p % 2 ? 2 : 1;
}

static void answer(struct push_core *core, const struct push_body *body, int status)
{
        struct celeborn_push_answer said = {.status = status};
        push_core_answered(core, body->worker, body->request, &said);
}

static struct push_body *expect_send(struct push_core *core)
{
        struct push_action action;
        assert_true(push_core_next(core, 0, &action));
        assert_int_equal(action.kind, PUSH_SEND);
        return action.body;
}

static void expect_nothing(struct push_core *core)
{
        struct push_action action;
        assert_false(push_core_next(core, 0, &action));
}

static void expect_revive(struct push_core *core, int32_t partition, int32_t epoch, int cause)
{
        struct push_action action;
        assert_true(push_core_next(core, 0, &action));
        assert_int_equal(action.kind, PUSH_REVIVE);
        assert_int_equal(action.shuffle, SHUFFLE);
        assert_int_equal(action.n, 1);
        assert_int_equal(action.revives[0].partition, partition);
        assert_int_equal(action.revives[0].epoch, epoch);
        assert_int_equal(action.revives[0].cause, cause);
        free(action.revives);
}

static int released(struct push_attempt *a)
{
        int n = 0;
        while (list_pop(&a->released))
                n++;
        return n;
}

static void end(struct push_core *core, struct push_attempt *a)
{
        released(a);
        assert_int_equal(a->pending, 0);
        push_core_end(core, a);
}

static void batches_share_a_body_up_to_its_size(void **state)
{
        (void)state;
        struct push_core *core = core_with(4, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 5, 50);
        struct push_batch b[6] = {{.size = 300},  {.size = 300}, {.size = 300},
                                  {.size = 5000}, {.size = 1},   {.size = 1}};
        for (int i = 0; i < 6; i++)
                push_core_add(core, a, i % 4, &b[i]);
        struct push_body *body = expect_send(core);
        assert_int_equal(body->n, 3);
        assert_int_equal(body->bytes, 3 * (300 + CELEBORN_BATCH_HEADER));
        struct push_body *large = expect_send(core), *rest = expect_send(core);
        assert_int_equal(large->n, 1);
        assert_int_equal(rest->n, 2);
        assert_int_equal(rest->batches.first->id, 4);
        expect_nothing(core);
        answer(core, body, CELEBORN_SUCCESS);
        answer(core, rest, CELEBORN_CONGESTED_PRIMARY);
        assert_int_equal(a->pending, 1);
        answer(core, large, CELEBORN_SUCCESS);
        assert_int_equal(released(a), 6);
        assert_int_equal(a->status, 0);
        end(core, a);
        push_core_free(core);
}

static void a_collecting_attempt_sends_full_bodies_until_it_ends(void **state)
{
        (void)state;
        struct push_core *core = core_with(4, first, odd);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 5, 50);
        struct push_batch b[5] = {{.size = 200}, {.size = 200}, {.size = 200}, {.size = 200}, {.size = 200}};
        push_core_collect(core, a, true);
        push_core_add(core, a, 0, &b[0]);
        push_core_add(core, a, 1, &b[1]); /* for other workers */
        expect_nothing(core);
        push_core_add(core, a, 0, &b[2]);
        expect_nothing(core);
        push_core_add(core, a, 0, &b[3]);
        struct push_body *body = expect_send(core);
        assert_int_equal(body->n, 3);
        expect_nothing(core);
        answer(core, body, CELEBORN_HARD_SPLIT);
        expect_revive(core, 0, 0, CELEBORN_HARD_SPLIT);
        locate(core, 0, 1, 3, -1);
        struct push_body *again = expect_send(core);
        assert_int_equal(again->n, 3);
        expect_nothing(core);
        push_core_collect(core, a, false);
        struct push_body *rest = expect_send(core);
        assert_int_equal(rest->n, 1);
        answer(core, rest, CELEBORN_SUCCESS);
        answer(core, again, CELEBORN_SUCCESS);
        push_core_collect(core, a, true);
        push_core_add(core, a, 1, &b[4]);
        push_core_abandon(core, a, -ECANCELED, "enough");
        expect_nothing(core);
        assert_int_equal(released(a), 5);
        end(core, a);
        push_core_free(core);
}

static void bodies_have_one_attempt_and_one_pair_of_workers(void **state)
{
        (void)state;
        struct push_core *core = core_with(4, first, odd);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50), *other = push_core_begin(core, SHUFFLE, 1, 51);
        struct push_batch b[8] = {0};
        for (int i = 0; i < 8; i++)
                push_core_add(core, i < 4 ? a : other, i % 4, &b[i]);
        struct push_body *sent[4];
        for (int i = 0; i < 4; i++) {
                sent[i] = expect_send(core);
                assert_int_equal(sent[i]->n, 2);
                assert_int_equal(sent[i]->batches.first->partition % 2, sent[i]->batches.last->partition % 2);
        }
        assert_ptr_equal(sent[0]->attempt, a);
        assert_ptr_not_equal(sent[1]->attempt, sent[2]->attempt); /* in turn */
        for (int i = 0; i < 4; i++)
                answer(core, sent[i], CELEBORN_SUCCESS);
        end(core, a);
        end(core, other);
        push_core_free(core);
}

static void a_congested_worker_gets_half_the_window(void **state)
{
        (void)state;
        struct push_core *core = core_with(1, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50);
        struct push_batch b[32];
        struct push_body *sent[8];
        int in_flight = 0;
        for (int i = 0; i < 32; i++) {
                b[i] = (struct push_batch){.size = BODY};
                push_core_add(core, a, 0, &b[i]);
        }
        for (; in_flight < 4; in_flight++)
                sent[in_flight] = expect_send(core);
        expect_nothing(core);
        answer(core, sent[0], CELEBORN_CONGESTED_PRIMARY); /* 2 */
        expect_nothing(core);
        answer(core, sent[1], CELEBORN_SUCCESS);
        expect_nothing(core);
        answer(core, sent[2], CELEBORN_SUCCESS); /* a window of answers: 3 */
        sent[0] = expect_send(core);
        sent[1] = expect_send(core);
        expect_nothing(core);
        push_core_abandon(core, a, -ECANCELED, "killed");
        answer(core, sent[0], 0), answer(core, sent[1], 0), answer(core, sent[3], 0);
        assert_int_equal(released(a), 32);
        end(core, a);
        push_core_free(core);
}

static void a_hard_split_sends_the_listed_batches_again_under_their_ids(void **state)
{
        (void)state;
        struct push_core *core = core_with(3, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50);
        struct push_batch b[3] = {{.size = 10}, {.size = 10}, {.size = 10}};
        for (int i = 0; i < 3; i++)
                push_core_add(core, a, i, &b[i]);
        struct push_body *body = expect_send(core);
        int32_t index = 1, status = CELEBORN_HARD_SPLIT;
        struct celeborn_push_answer said = {
                .status = CELEBORN_HARD_SPLIT, .n = 1, .indexes = &index, .statuses = &status};
        push_core_answered(core, body->worker, body->request, &said);
        assert_int_equal(released(a), 2);
        expect_revive(core, 1, 0, CELEBORN_HARD_SPLIT);
        expect_nothing(core);
        locate(core, 1, 1, 3, -1);
        body = expect_send(core);
        assert_ptr_equal(body->batches.first, &b[1]);
        assert_int_equal(b[1].id, 1);
        assert_int_equal(b[1].epoch, 1);
        assert_string_equal(push_core_worker(core, body->worker).host, "c");
        answer(core, body, CELEBORN_SUCCESS);
        end(core, a);
        push_core_free(core);
}

static void a_soft_split_asks_once_and_goes_on(void **state)
{
        (void)state;
        struct push_core *core = core_with(1, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50);
        struct push_batch b[3] = {{.size = BODY}, {.size = BODY}, {.size = BODY}};
        push_core_add(core, a, 0, &b[0]);
        push_core_add(core, a, 0, &b[1]);
        struct push_body *one = expect_send(core), *two = expect_send(core);
        answer(core, one, CELEBORN_SOFT_SPLIT);
        answer(core, two, CELEBORN_SOFT_SPLIT);
        expect_revive(core, 0, 0, CELEBORN_SOFT_SPLIT);
        expect_nothing(core);
        locate(core, 0, 0, -1, -1); /* none to be had */
        push_core_add(core, a, 0, &b[2]);
        one = expect_send(core);
        assert_int_equal(b[2].epoch, 0);
        answer(core, one, CELEBORN_SOFT_SPLIT);
        expect_nothing(core);
        assert_int_equal(a->status, 0);
        end(core, a);
        push_core_free(core);
}

static void a_batch_that_fails_too_often_fails_its_attempt_alone(void **state)
{
        (void)state;
        struct push_core *core = core_with(1, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50), *other = push_core_begin(core, SHUFFLE, 1, 51);
        struct push_batch b = {.size = 10}, c = {.size = 10};
        push_core_add(core, a, 0, &b);
        for (int i = 0; i <= config.max_tries; i++) {
                struct push_body *body = expect_send(core);
                push_core_failed(core, body->worker, body->request, CELEBORN_PUSH_WRITE_FAIL_PRIMARY);
                if (i < config.max_tries) {
                        expect_revive(core, 0, i, CELEBORN_PUSH_WRITE_FAIL_PRIMARY);
                        locate(core, 0, i + 1, i % 4, -1);
                }
        }
        assert_int_equal(a->status, -EIO);
        assert_non_null(strstr(error_message(&a->error), "PUSH_DATA_WRITE_FAIL_PRIMARY"));
        push_core_add(core, other, 0, &c);
        answer(core, expect_send(core), CELEBORN_SUCCESS);
        assert_int_equal(other->status, 0);
        end(core, a);
        end(core, other);
        push_core_free(core);
}

static void an_ended_map_stops_its_other_attempts(void **state)
{
        (void)state;
        struct push_core *core = core_with(2, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50);
        struct push_batch b[3] = {{.size = BODY}, {.size = BODY}, {.size = BODY}};
        push_core_add(core, a, 0, &b[0]);
        push_core_add(core, a, 1, &b[1]);
        struct push_body *body = expect_send(core), *second = expect_send(core);
        answer(core, body, CELEBORN_MAP_ENDED);
        assert_int_equal(a->status, -ECANCELED);
        push_core_add(core, a, 1, &b[2]);
        answer(core, second, CELEBORN_HARD_SPLIT);
        expect_nothing(core);
        assert_int_equal(released(a), 3);
        end(core, a);
        push_core_free(core);
}

static void a_silent_worker_is_closed_and_its_batches_go_elsewhere(void **state)
{
        (void)state;
        struct push_core *core = core_with(1, first, none);
        struct push_attempt *a = push_core_begin(core, SHUFFLE, 0, 50);
        struct push_batch b = {.size = 10};
        struct push_action action;
        push_core_add(core, a, 0, &b);
        struct push_body *body = expect_send(core);
        assert_int_equal(push_core_deadline(core), TIMEOUT);
        assert_false(push_core_next(core, TIMEOUT - 1, &action));
        assert_true(push_core_next(core, TIMEOUT, &action));
        assert_int_equal(action.kind, PUSH_CLOSE);
        assert_int_equal(action.worker, body->worker);
        assert_false(push_core_next(core, TIMEOUT, &action));
        int64_t request = body->request;
        push_core_disconnected(core, body->worker, CELEBORN_PUSH_TIMEOUT_PRIMARY);
        struct celeborn_push_answer late = {0};
        assert_true(push_core_answered(core, 0, request, &late));
        expect_revive(core, 0, 0, CELEBORN_PUSH_TIMEOUT_PRIMARY);
        push_core_revive_failed(core, SHUFFLE, -ESHUTDOWN, "the driver is gone");
        assert_int_equal(a->status, -ESHUTDOWN);
        end(core, a);
        push_core_free(core);
}

/* ------------------------------------------------------------------------------------------------- random worlds */

enum { PARTITIONS = 6, ATTEMPTS = 5, BATCHES = 30, WORKERS = 4 };

struct push_world_batch {
        struct push_batch batch;
        int stored; /* acknowledged or not */
        int in_flight;
        int released;
};

struct push_world {
        uint64_t seed;
        struct push_core *core;
        struct push_attempt *attempts[ATTEMPTS];
        struct push_world_batch batches[ATTEMPTS][BATCHES];
        int added[ATTEMPTS];
        VEC(struct push_body *) sent; /* not answered */
        int in_flight[WORKERS * 2];
        int32_t epochs[PARTITIONS];
        bool asked[PARTITIONS], asking;
        int32_t last[ATTEMPTS][PARTITIONS]; /* the newest batch that was sent to the newest epoch + 1 */
        int32_t last_epoch[ATTEMPTS][PARTITIONS];
        int trouble; /* percent of answers that are no success */
};

static uint32_t push_world_random(struct push_world *w, uint32_t below)
{
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(w->seed >> 33) % below;
}

static void push_world_sent(struct push_world *w, struct push_body *body)
{
        assert_true(body->n == 1 || body->bytes <= BODY);
        for (struct push_batch *b = body->batches.first; b; b = b->next) {
                struct push_world_batch *x = container_of(b, struct push_world_batch, batch);
                assert_ptr_equal(b->attempt, body->attempt);
                int32_t *last = &w->last[b->attempt->map][b->partition],
                        *epoch = &w->last_epoch[b->attempt->map][b->partition];
                assert_true(b->epoch >= *epoch);
                assert_true(b->epoch > *epoch || b->id >= *last); /* in order in each file */
                *last = b->id + 1;
                *epoch = b->epoch;
                assert_int_equal(x->in_flight++, 0);
                assert_int_equal(x->released, 0);
        }
        assert_int_equal(body->attempt->status, 0);
        assert_true(++w->in_flight[body->worker] <= config.per_worker);
        vec_push(&w->sent, body);
        assert_true((int)w->sent.len <= config.total);
}

static void push_world_take(struct push_world *w, size_t i)
{
        for (struct push_batch *b = w->sent.data[i]->batches.first; b; b = b->next)
                container_of(b, struct push_world_batch, batch)->in_flight--;
        w->in_flight[w->sent.data[i]->worker]--;
        w->sent.data[i] = w->sent.data[--w->sent.len];
}

static void push_world_store(const struct push_body *body, const struct celeborn_push_answer *answer)
{
        int i = 0;
        for (struct push_batch *b = body->batches.first; b; b = b->next, i++) {
                bool listed = false;
                for (int k = 0; k < answer->n; k++)
                        listed |= answer->indexes[k] == i && answer->statuses[k] == CELEBORN_HARD_SPLIT;
                container_of(b, struct push_world_batch, batch)->stored += !listed;
        }
}

/* A worker answers a random body. */
static void push_world_answer(struct push_world *w)
{
        static const int causes[] = {CELEBORN_PUSH_WRITE_FAIL_PRIMARY, CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA,
                                     CELEBORN_PUSH_PARTITION_NOT_FOUND};
        static const int stored[] = {CELEBORN_SUCCESS, CELEBORN_SOFT_SPLIT, CELEBORN_CONGESTED_REPLICA};
        size_t at = push_world_random(w, (uint32_t)w->sent.len);
        struct push_body *body = w->sent.data[at];
        int worker = body->worker;
        int64_t request = body->request;
        int32_t indexes[BATCHES], statuses[BATCHES];
        struct celeborn_push_answer answer = {.indexes = indexes, .statuses = statuses};
        bool fails = false;
        if ((int)push_world_random(w, 100) < w->trouble) {
                if (push_world_random(w, 3) == 0 && body->n > 1) {
                        answer.status = CELEBORN_HARD_SPLIT;
                        for (int i = 0; i < body->n && i < BATCHES; i++)
                                if (push_world_random(w, 2)) {
                                        indexes[answer.n] = i;
                                        statuses[answer.n++] =
                                                push_world_random(w, 2) ? CELEBORN_HARD_SPLIT : CELEBORN_SOFT_SPLIT;
                                }
                        if (!answer.n)
                                answer.status = 0;
                } else if (push_world_random(w, 40) == 0) {
                        answer.status = CELEBORN_MAP_ENDED;
                } else if (push_world_random(w, 2)) {
                        answer.status = CELEBORN_HARD_SPLIT;
                } else {
                        fails = true;
                }
        } else {
                answer.status = stored[push_world_random(w, 3)];
        }
        if (!fails && (answer.n || (answer.status != CELEBORN_HARD_SPLIT && answer.status != CELEBORN_MAP_ENDED)))
                push_world_store(body, &answer);
        push_world_take(w, at);
        if (fails)
                push_core_failed(w->core, worker, request, causes[push_world_random(w, 3)]);
        else
                push_core_answered(w->core, worker, request, &answer);
        if (push_world_random(w, 20) == 0) /* doubled */
                push_core_answered(w->core, worker, request, &answer);
}

/* A connection ends: some of its bodies are stored, none is answered. */
static void push_world_disconnect(struct push_world *w)
{
        int worker = (int)push_world_random(w, (uint32_t)push_core_workers(w->core));
        for (size_t i = 0; i < w->sent.len;) {
                if (w->sent.data[i]->worker != worker) {
                        i++;
                        continue;
                }
                if (push_world_random(w, 2))
                        push_world_store(w->sent.data[i], &(struct celeborn_push_answer){0});
                push_world_take(w, i);
        }
        push_core_disconnected(w->core, worker, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
}

static void push_world_add(struct push_world *w)
{
        int a = (int)push_world_random(w, ATTEMPTS);
        if (w->added[a] == BATCHES)
                return;
        struct push_world_batch *x = &w->batches[a][w->added[a]++];
        push_core_collect(w->core, w->attempts[a], w->added[a] < BATCHES && push_world_random(w, 2));
        x->batch.size = push_world_random(w, 3) ? push_world_random(w, 300) : push_world_random(w, 2000);
        push_core_add(w->core, w->attempts[a], (int32_t)push_world_random(w, PARTITIONS), &x->batch);
}

/* The driver answers its question. */
static void push_world_revive(struct push_world *w)
{
        if (!w->asking)
                return;
        w->asking = false;
        if (push_world_random(w, 200) == 0) {
                memset(w->asked, 0, sizeof(w->asked));
                push_core_revive_failed(w->core, SHUFFLE, -ESHUTDOWN, "lost");
                return;
        }
        struct celeborn_location at[PARTITIONS];
        struct celeborn_answer answer = {.workers = workers, .n_workers = 4, .locations = at};
        for (int p = 0; p < PARTITIONS; p++)
                if (w->asked[p]) {
                        int worker = (int)push_world_random(w, WORKERS);
                        at[answer.n_locations++] =
                                (struct celeborn_location){p, ++w->epochs[p], worker, (worker + 1) % WORKERS};
                        w->asked[p] = false;
                }
        push_core_locate(w->core, SHUFFLE, &answer);
}

static void push_world_release(struct push_world *w)
{
        for (int a = 0; a < ATTEMPTS; a++)
                for (struct push_batch *b; (b = list_pop(&w->attempts[a]->released));) {
                        struct push_world_batch *x = container_of(b, struct push_world_batch, batch);
                        assert_int_equal(x->released++, 0);
                        assert_int_equal(x->in_flight, 0);
                        if (w->attempts[a]->status == 0)
                                assert_true(x->stored > 0);
                        assert_int_equal(x->batch.id, x - w->batches[a]);
                }
}

static bool push_world_step(struct push_world *w)
{
        struct push_action action;
        uint32_t what = push_world_random(w, 100);
        if (what < 30)
                push_world_add(w);
        else if (what < 34)
                push_world_revive(w);
        else if (what == 34 && push_world_random(w, 3) == 0)
                push_world_disconnect(w);
        else if (what < 60 && w->sent.len)
                push_world_answer(w);
        else if (push_core_next(w->core, 0, &action)) {
                assert_int_not_equal(action.kind, PUSH_CLOSE);
                if (action.kind == PUSH_SEND) {
                        push_world_sent(w, action.body);
                } else {
                        assert_false(w->asking);
                        w->asking = true;
                        for (int i = 0; i < action.n; i++) {
                                assert_int_equal(action.revives[i].epoch, w->epochs[action.revives[i].partition]);
                                assert_false(w->asked[action.revives[i].partition]);
                                w->asked[action.revives[i].partition] = true;
                        }
                        free(action.revives);
                }
        }
        push_world_release(w);
        for (int a = 0; a < ATTEMPTS; a++)
                if (w->added[a] < BATCHES || w->attempts[a]->pending)
                        return true;
        return false;
}

static int push_world_run(uint64_t seed)
{
        struct push_world w = {.seed = seed, .core = push_core_new(&config), .trouble = (int)(seed % 4) * 15};
        int successes = 0, steps = 0;
        for (int p = 0; p < PARTITIONS; p++)
                locate(w.core, p, 0, p % WORKERS, (p + 1) % WORKERS);
        for (int a = 0; a < ATTEMPTS; a++)
                w.attempts[a] = push_core_begin(w.core, SHUFFLE, a, 100 + a);
        while (push_world_step(&w))
                if (++steps > 100000)
                        fail_msg("seed %lu does not end", (unsigned long)seed);
        for (int a = 0; a < ATTEMPTS; a++) {
                successes += w.attempts[a]->status == 0;
                for (int b = 0; b < BATCHES; b++)
                        assert_int_equal(w.batches[a][b].released, 1);
                push_core_end(w.core, w.attempts[a]);
        }
        push_core_forget_shuffle(w.core, SHUFFLE);
        assert_false(push_core_has_shuffle(w.core, SHUFFLE));
        push_core_free(w.core);
        vec_deinit(&w.sent);
        return successes;
}

static void stores_all_batches_of_successful_attempts_in_random_worlds(void **state)
{
        (void)state;
        int successes = 0;
        for (uint64_t seed = 0; seed < 1000; seed++)
                successes += push_world_run(seed);
        assert_in_range(successes, 2000, 4999);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(batches_share_a_body_up_to_its_size),
                cmocka_unit_test(a_collecting_attempt_sends_full_bodies_until_it_ends),
                cmocka_unit_test(bodies_have_one_attempt_and_one_pair_of_workers),
                cmocka_unit_test(a_congested_worker_gets_half_the_window),
                cmocka_unit_test(a_hard_split_sends_the_listed_batches_again_under_their_ids),
                cmocka_unit_test(a_soft_split_asks_once_and_goes_on),
                cmocka_unit_test(a_batch_that_fails_too_often_fails_its_attempt_alone),
                cmocka_unit_test(an_ended_map_stops_its_other_attempts),
                cmocka_unit_test(a_silent_worker_is_closed_and_its_batches_go_elsewhere),
                cmocka_unit_test(stores_all_batches_of_successful_attempts_in_random_worlds),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
