/* See driver_wait.h. */
#include "exec/resume/driver_wait.h"

#include "base/mem.h"

void driver_wait_init(struct driver_wait *w, const struct driver_wait_times *times, int epoch, uint32_t seed)
{
        *w = (struct driver_wait){.times = *times, .pause = times->call, .random = seed ? seed : 1, .epoch = epoch};
}

/* Returns the time until the next call: three to five quarters of the pause, which is doubled. */
static int64_t driver_wait_take_pause(struct driver_wait *w)
{
        const int64_t pause = w->pause;
        w->pause = MIN(2 * pause, w->times.max_call);
        w->random ^= w->random << 13; /* xorshift */
        w->random ^= w->random >> 17;
        w->random ^= w->random << 5;
        return pause * 3 / 4 + (int64_t)(w->random % 1024) * (pause / 2) / 1024;
}

bool driver_wait_obeys(const struct driver_wait *w, int epoch)
{
        return epoch == 0 ? w->epoch == 0 : epoch >= w->epoch;
}

static void driver_wait_search(struct driver_wait *w, int64_t now)
{
        w->state = DRIVER_SEARCHED;
        w->lost = now;
        w->look = w->call = now;
        w->pause = w->times.call;
}

bool driver_wait_lost(struct driver_wait *w, int64_t now)
{
        if (w->state == DRIVER_SEARCHED)
                return true;
        if (w->state == DRIVER_GIVEN_UP || !w->times.timeout || !w->epoch) {
                w->state = DRIVER_GIVEN_UP;
                w->ended = true; /* the caller ends it */
                return false;
        }
        driver_wait_search(w, now);
        return true;
}

void driver_wait_silent(struct driver_wait *w, bool silent, int64_t now)
{
        if (w->state != DRIVER_CONNECTED || !w->times.timeout || !w->epoch)
                return;
        if (silent && !w->silent)
                w->look = now;
        w->silent = silent;
}

static enum driver_wait_action driver_wait_begin_call(struct driver_wait *w, enum driver_wait_action call)
{
        w->called++;
        w->calling = true;
        w->calling_epoch = w->found;
        w->found = 0;
        return call;
}

enum driver_wait_action driver_wait_next(struct driver_wait *w, int64_t now)
{
        if (w->state == DRIVER_SEARCHED && now - w->lost >= w->times.timeout)
                w->state = DRIVER_GIVEN_UP;
        if (w->state == DRIVER_GIVEN_UP) {
                const bool first = !w->ended;
                w->ended = true;
                return first ? DRIVER_WAIT_END : DRIVER_WAIT_NOTHING;
        }
        if (w->found) {
                if (w->state == DRIVER_CONNECTED)
                        driver_wait_search(w, now);
                return driver_wait_begin_call(w, DRIVER_WAIT_CALL_FOUND);
        }
        if ((w->state == DRIVER_SEARCHED || w->silent) && !w->looking && now >= w->look) {
                w->looking = true;
                return DRIVER_WAIT_LOOK;
        }
        if (w->state == DRIVER_SEARCHED && !w->calling && now >= w->call)
                return driver_wait_begin_call(w, DRIVER_WAIT_CALL_SAME);
        return DRIVER_WAIT_NOTHING;
}

int64_t driver_wait_deadline(const struct driver_wait *w)
{
        int64_t next = INT64_MAX;
        if (w->state == DRIVER_GIVEN_UP)
                return w->ended ? INT64_MAX : INT64_MIN;
        if (w->found)
                return INT64_MIN;
        if (w->state == DRIVER_CONNECTED)
                return w->silent && !w->looking ? w->look : INT64_MAX;
        next = w->lost + w->times.timeout;
        if (!w->looking)
                next = MIN(next, w->look);
        return w->calling ? next : MIN(next, w->call);
}

void driver_wait_looked(struct driver_wait *w, int epoch, int64_t now)
{
        w->looking = false;
        w->look = now + w->times.look;
        const bool is_wanted = w->state == DRIVER_SEARCHED || (w->state == DRIVER_CONNECTED && w->silent);
        const bool is_called = w->calling && epoch <= w->calling_epoch;
        if (epoch > w->epoch && is_wanted && !is_called)
                w->found = epoch;
}

static bool driver_wait_is_latest(const struct driver_wait *w, uint32_t call)
{
        return w->state == DRIVER_SEARCHED && w->calling && call == w->called;
}

bool driver_wait_reached(struct driver_wait *w, uint32_t call, int epoch, int64_t now)
{
        if (!driver_wait_is_latest(w, call))
                return false;
        if (epoch <= w->epoch) {
                driver_wait_failed(w, call, now);
                return false;
        }
        w->calling_epoch = epoch;
        return true;
}

bool driver_wait_registered(struct driver_wait *w, uint32_t call, int epoch)
{
        if (!driver_wait_is_latest(w, call) || !driver_wait_obeys(w, epoch))
                return false;
        w->state = DRIVER_CONNECTED;
        w->epoch = epoch;
        w->calling = w->silent = false;
        w->found = 0;
        return true;
}

void driver_wait_failed(struct driver_wait *w, uint32_t call, int64_t now)
{
        if (!driver_wait_is_latest(w, call))
                return;
        w->calling = false;
        w->call = now + driver_wait_take_pause(w);
}

void driver_wait_refused(struct driver_wait *w, uint32_t call)
{
        if (!driver_wait_is_latest(w, call))
                return;
        w->calling = false;
        w->state = DRIVER_GIVEN_UP;
}
