/* See failure_tracker.h. */
#include "yarn/allocator/failure_tracker.h"

#include "base/mem.h"

void failure_tracker_deinit(struct failure_tracker *t)
{
        for (size_t i = 0; i < t->hosts.len; i++) {
                free(t->hosts.data[i].host);
                vec_deinit(&t->hosts.data[i].times);
        }
        vec_deinit(&t->hosts);
        vec_deinit(&t->times);
}

static struct failure_times *failure_tracker_host(struct failure_tracker *t, const char *host)
{
        for (size_t i = 0; i < t->hosts.len; i++)
                if (strcmp(t->hosts.data[i].host, host) == 0)
                        return &t->hosts.data[i].times;
        return NULL;
}

void failure_tracker_add(struct failure_tracker *t, const char *host, int64_t now)
{
        vec_push(&t->times, now);
        if (!host)
                return;
        struct failure_times *times = failure_tracker_host(t, host);
        if (!times) {
                vec_push(&t->hosts, (struct host_failures){.host = mem_strdup(host)});
                times = &t->hosts.data[t->hosts.len - 1].times;
        }
        vec_push(times, now);
}

static int failure_times_count(struct failure_times *times, int64_t validity, int64_t now)
{
        size_t expired = 0;
        while (validity > 0 && expired < times->len && times->data[expired] < now - validity)
                expired++;
        vec_drop(times, expired);
        return (int)times->len;
}

int failure_tracker_count(struct failure_tracker *t, int64_t now)
{
        return failure_times_count(&t->times, t->validity, now);
}

int failure_tracker_count_host(struct failure_tracker *t, const char *host, int64_t now)
{
        struct failure_times *times = failure_tracker_host(t, host);
        return times ? failure_times_count(times, t->validity, now) : 0;
}
