/* See starvation_timer.h. */
#include "driver/starvation_timer.h"

#include "base/log.h"

void starvation_init(struct starvation *s, int64_t interval)
{
        *s = (struct starvation){.interval = interval, .next = INT64_MAX};
}

static int64_t starvation_next_after(const struct starvation *s, int64_t now)
{
        int64_t next;
        return __builtin_add_overflow(now, s->interval, &next) ? INT64_MAX : next;
}

void starvation_submitted(struct starvation *s, int64_t now)
{
        if (!s->over && s->next == INT64_MAX)
                s->next = starvation_next_after(s, now);
}

void starvation_tick(struct starvation *s, int64_t now)
{
        if (now < s->next)
                return;
        log_warn("TaskSchedulerImpl", "Initial job has not accepted any resources; check your cluster UI to ensure "
                                      "that workers are registered and have sufficient resources");
        s->next = starvation_next_after(s, now);
}
