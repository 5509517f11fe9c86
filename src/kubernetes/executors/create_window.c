/*
 * The window of concurrent creations. It grows only after it was full: a window that was never full shows nothing about
 * the server's limit.
 *
 * Invariant: 1 ≤ size ≤ most. in_flight counts creations that were sent and not answered.
 */
#include "kubernetes/executors/create_window.h"

#include "base/mem.h"

void create_window_init(struct create_window *w, const struct create_window_config *config)
{
        *w = (struct create_window){.config = *config, .random = config->seed * 0x9e3779b97f4a7c15u + 1};
        w->config.start = MAX(w->config.start, 1);
        w->config.most = MAX(w->config.most, w->config.start);
        w->size = w->config.start;
        w->threshold = w->config.most;
}

int create_window_room(const struct create_window *w, int64_t now)
{
        return now < w->held ? 0 : MAX(w->size - w->in_flight, 0);
}

void create_window_sent(struct create_window *w)
{
        w->in_flight++;
        w->was_full |= w->in_flight >= w->size;
}

/* Returns a random pause from three to five quarters of @pause, in steps of a millisecond. */
static int64_t create_window_vary(struct create_window *w, int64_t pause)
{
        w->random ^= w->random << 13;
        w->random ^= w->random >> 7;
        w->random ^= w->random << 17;
        const int64_t ms = pause / NS_PER_MS;
        return (ms * 3 / 4 + (int64_t)(w->random % (uint64_t)(ms / 2 + 1))) * NS_PER_MS;
}

/* Sends nothing for @retry_after, or else for a pause that starts with @first and doubles. */
static void create_window_hold(struct create_window *w, int64_t first, int64_t retry_after, int64_t now)
{
        if (now >= w->held) { /* creations that were sent together and fail together count as one failure */
                w->pause = w->pause ? MIN(w->pause * 2, w->config.most_pause) : first;
                w->pause = MAX(w->pause, first);
        }
        w->held = MAX(w->held, now + (retry_after > 0 ? retry_after : create_window_vary(w, w->pause)));
}

static void create_window_grow(struct create_window *w)
{
        if (!w->was_full)
                return;
        if (w->size < w->threshold)
                w->size++;
        else if (++w->grown >= w->size) {
                w->grown = 0;
                w->size++;
        }
        w->size = MIN(w->size, w->config.most);
        if (w->in_flight < w->size / 2)
                w->was_full = false;
}

static void create_window_shrink(struct create_window *w, int to)
{
        w->size = MAX(to, 1);
        w->grown = 0;
        w->was_full = false;
        w->settling = w->in_flight;
}

void create_window_answered(struct create_window *w, enum create_outcome outcome, int64_t retry_after, int64_t now)
{
        bool is_settling = w->settling > 0;

        w->in_flight--;
        w->settling -= is_settling;
        switch (outcome) {
        case CREATE_DONE:
        case CREATE_CLAIM_FAILED:
                if (is_settling)
                        return; /* sent before the throttling began */
                w->pause = 0;
                w->quota = false;
                create_window_grow(w);
                return;
        case CREATE_SLOW_DOWN:
                create_window_hold(w, w->config.pause, retry_after, now);
                if (!is_settling) {
                        w->threshold = MAX(w->size / 2, 1);
                        create_window_shrink(w, w->threshold);
                }
                return;
        case CREATE_UNKNOWN:
        case CREATE_QUOTA:
                create_window_hold(w, w->config.long_pause, retry_after, now);
                w->quota = outcome == CREATE_QUOTA;
                if (!is_settling)
                        w->threshold = MAX(w->size / 2, 1);
                create_window_shrink(w, 1);
                return;
        case CREATE_REFUSED:
                w->held = MAX(w->held, now + w->config.long_pause);
                create_window_shrink(w, MIN(w->size, w->config.start));
                return;
        }
}

void create_window_throttled(struct create_window *w)
{
        if (w->settling > 0)
                return;
        w->threshold = MAX(w->size / 2, 1);
        create_window_shrink(w, w->threshold);
}

void create_window_freed(struct create_window *w, int64_t now)
{
        if (w->quota && w->held > now + w->config.pause) {
                w->held = now + w->config.pause;
                w->pause = 0;
        }
}

int64_t create_window_deadline(const struct create_window *w, int64_t now)
{
        return now < w->held ? w->held : INT64_MAX;
}
