/*
 * Pending asks, by id for replies and by deadline for timeouts.
 *
 * An expired ask stays in the table without a callback, because its reply may still come and must then be dropped,
 * whereas a reply without an ask ends the connection. The connection to a peer that leaves too many asks unanswered is
 * closed.
 */
#include "rpc/rpc_internal.h"

#define MAX_FORGOTTEN 65536

static size_t pending_asks_place_of(const struct ask_table *t, uint64_t id)
{
        return (size_t)(id * 0x9e3779b97f4a7c15u >> 32) & (t->size - 1);
}

static void pending_asks_put(struct ask_table *t, struct ask a)
{
        size_t i = pending_asks_place_of(t, a.id);
        while (t->places[i].id)
                i = (i + 1) & (t->size - 1);
        t->places[i] = a;
}

static void pending_asks_grow(struct ask_table *t)
{
        struct ask *old = t->places;
        size_t size = t->size;
        t->size = size ? size * 2 : 16;
        t->places = new_array(struct ask, t->size);
        for (size_t i = 0; i < size; i++)
                if (old[i].id)
                        pending_asks_put(t, old[i]);
        free(old);
}

static struct ask *pending_asks_find(const struct ask_table *t, uint64_t id)
{
        if (t->size == 0)
                return NULL;
        for (size_t i = pending_asks_place_of(t, id); t->places[i].id; i = (i + 1) & (t->size - 1))
                if (t->places[i].id == id)
                        return &t->places[i];
        return NULL;
}

/* Removes a slot, and moves displaced entries up. */
static void pending_asks_take_out(struct ask_table *t, struct ask *a)
{
        size_t hole = (size_t)(a - t->places), mask = t->size - 1;
        for (size_t i = (hole + 1) & mask; t->places[i].id; i = (i + 1) & mask) {
                size_t home = pending_asks_place_of(t, t->places[i].id);
                if (((i - home) & mask) >= ((i - hole) & mask)) {
                        t->places[hole] = t->places[i];
                        hole = i;
                }
        }
        t->places[hole] = (struct ask){0};
        t->used--;
}

static void pending_asks_arm(struct rpc_env *env)
{
        if (env->closing || link_empty(&env->waits))
                return;
        struct ask_wait *w = container_of(env->waits.next, struct ask_wait, link);
        if (uv_is_active((uv_handle_t *)&env->wait_timer) && env->wait_timer_ms <= w->deadline_ms)
                return; /* the timer may fire early and is then rearmed */
        env->wait_timer_ms = w->deadline_ms;
        int64_t left = w->deadline_ms - env_now_ms(env);
        uv_timer_start(&env->wait_timer, asks_timer, (uint64_t)MAX(left, 0), 0);
}

void asks_add(struct rpc_peer *peer, uint64_t id, int64_t timeout_ms, rpc_answer_fn answered, void *owner)
{
        struct rpc_env *env = peer->env;
        struct ask_wait *w = env->free_waits;
        if (w)
                env->free_waits = (struct ask_wait *)w->link.next;
        else
                w = mem_alloc(sizeof(*w));
        *w = (struct ask_wait){.peer = peer,
                               .id = id,
                               .timeout_ms = timeout_ms,
                               .deadline_ms = env_now_ms(env) + timeout_ms,
                               .answered = answered,
                               .owner = owner};
        if (2 * (peer->asks.used + 1) > peer->asks.size)
                pending_asks_grow(&peer->asks);
        pending_asks_put(&peer->asks, (struct ask){id, w});
        peer->asks.used++;
        /* most have the same timeout, so they belong at the end */
        struct link *at = &env->waits;
        while (at->prev != &env->waits && container_of(at->prev, struct ask_wait, link)->deadline_ms > w->deadline_ms)
                at = at->prev;
        link_insert(at, &w->link);
        pending_asks_arm(env);
}

int asks_take(struct rpc_peer *peer, uint64_t id, struct ask_wait **out)
{
        struct ask *a = pending_asks_find(&peer->asks, id);
        if (!a)
                return -ENOENT;
        struct ask_wait *w = a->wait;
        pending_asks_take_out(&peer->asks, a);
        if (!w) {
                peer->asks.forgotten--;
                return 0;
        }
        link_remove(&w->link);
        *out = w;
        return 1;
}

void asks_release(struct rpc_env *env, struct ask_wait *w)
{
        w->link.next = (struct link *)env->free_waits;
        env->free_waits = w;
}

static void pending_asks_notify_failure(struct ask_wait *w, int code, const char *why)
{
        const struct rpc_peer *p = w->peer;
        struct rpc_answer answer = {.status = code, .message = why};
        answer.stranger = p->outgoing && !p->greeted && p->name && code == -ENOTCONN;
        answer.http = answer.stranger && p->doom_code == -EPROTONOSUPPORT;
        if (w->answered && !w->peer->env->closing)
                w->answered(w->owner, &answer);
}

void asks_fail_all(struct rpc_peer *peer, const char *why)
{
        /* callbacks may ask again, but not this ended peer */
        struct ask_table t = peer->asks;
        peer->asks = (struct ask_table){0};
        VEC(struct ask_wait *) waits = {0};
        for (size_t i = 0; i < t.size; i++)
                if (t.places[i].id && t.places[i].wait)
                        vec_push(&waits, t.places[i].wait);
        free(t.places);
        for (size_t i = 0; i < waits.len; i++)
                link_remove(&waits.data[i]->link);
        for (size_t i = 0; i < waits.len; i++) {
                pending_asks_notify_failure(waits.data[i], -ENOTCONN, why);
                asks_release(peer->env, waits.data[i]);
        }
        vec_deinit(&waits);
}

void asks_deinit(struct rpc_peer *peer)
{
        for (size_t i = 0; i < peer->asks.size; i++)
                if (peer->asks.places[i].id && peer->asks.places[i].wait) {
                        link_remove(&peer->asks.places[i].wait->link);
                        asks_release(peer->env, peer->asks.places[i].wait);
                }
        free(peer->asks.places);
        peer->asks = (struct ask_table){0};
}

/* Expires the first asks. */
void asks_timer(uv_timer_t *timer)
{
        struct rpc_env *env = timer->data;
        int64_t now = env_now_ms(env);
        while (!link_empty(&env->waits)) {
                struct ask_wait *w = container_of(env->waits.next, struct ask_wait, link);
                if (w->deadline_ms > now)
                        break;
                link_remove(&w->link);
                struct rpc_peer *peer = w->peer;
                pending_asks_find(&peer->asks, w->id)->wait = NULL;
                if (++peer->asks.forgotten > MAX_FORGOTTEN)
                        peer_doom(peer, LOG_WARN, -ETIMEDOUT, "it answers no requests");
                _cleanup_free_ char *why = mem_printf("%s %s within %lld ms (spark.rpc.askTimeout, "
                                                      "spark.network.timeout)",
                                                      peer->name ? peer->name : peer->target_text,
                                                      peer->state == PEER_OPEN ? "did not answer" : "was not reached",
                                                      (long long)w->timeout_ms);
                pending_asks_notify_failure(w, -ETIMEDOUT, why);
                asks_release(env, w);
                if (env->closing)
                        return;
        }
        pending_asks_arm(env);
}
