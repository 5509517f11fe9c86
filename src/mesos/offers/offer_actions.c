/* See offer_actions.h. */
#include "mesos/offers/offer_actions.h"

#include "base/buf.h"
#include "base/mem.h"

void offer_actions_deinit(struct offer_actions *actions)
{
        queue_deinit(&actions->queue);
        arena_deinit(&actions->arena);
}

const struct offer_action *offer_actions_next(struct offer_actions *actions)
{
        actions->has_current = queue_pop(&actions->queue, &actions->current);
        return actions->has_current ? &actions->current : NULL;
}

void offer_actions_begin(struct offer_actions *actions)
{
        if (queue_is_empty(&actions->queue) && !actions->has_current)
                arena_reset(&actions->arena);
}

void offer_actions_decline(struct offer_actions *actions, const struct mesos_offer *const *offers, size_t n,
                           int64_t refuse_ms)
{
        if (n == 0)
                return;
        const struct mesos_offer **copy = arena_alloc(&actions->arena, n * sizeof(*copy));
        memcpy(copy, offers, n * sizeof(*copy));
        queue_push(&actions->queue,
                   (struct offer_action){.kind = OFFER_ACTION_DECLINE,
                                         .decline = {.offers = copy, .n_offers = n, .refuse_ms = refuse_ms}});
}

void offer_actions_log(struct offer_actions *actions, enum log_level level, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        queue_push(&actions->queue,
                   (struct offer_action){
                           .kind = OFFER_ACTION_LOG,
                           .log = {.level = level, .line = arena_copy(&actions->arena, buf_text(&line), line.len)}});
}
