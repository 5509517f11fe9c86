/*
 * See data_limit.h. Only the soft limit changes. The kernel compares it with the private writable mappings, which
 * /proc/self/statm counts together with the stack, so it allows some pages more than requested.
 */
#include "process/data_limit.h"

#include "base/mem.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit at_start = {RLIM_INFINITY, RLIM_INFINITY};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int statm = -1;
static long page;

static void data_limit_init(void)
{
        page = sysconf(_SC_PAGESIZE);
        statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        getrlimit(RLIMIT_DATA, &at_start);
}

/* Reads the pages of memory. Returns false if they are unknown. */
static bool data_limit_read_statm(int64_t *resident, int64_t *shared, int64_t *data)
{
        char text[128];
        pthread_once(&once, data_limit_init);
        ssize_t n = statm < 0 ? -1 : pread(statm, text, sizeof(text) - 1, 0);
        text[MAX(n, (ssize_t)0)] = 0;
        return n > 0 && sscanf(text, "%*u %" SCNd64 " %" SCNd64 " %*u %*u %" SCNd64, resident, shared, data) == 3;
}

int64_t data_limit_untouched(void)
{
        int64_t resident, shared, data;
        return data_limit_read_statm(&resident, &shared, &data) ? (data - (resident - shared)) * page : 0;
}

void data_limit_set(int64_t bytes)
{
        int64_t resident, shared, data;
        if (!data_limit_read_statm(&resident, &shared, &data))
                return;
        struct rlimit limit = at_start;
        limit.rlim_cur = MIN((rlim_t)(data * page + MAX(bytes, INT64_C(0))), at_start.rlim_cur);
        setrlimit(RLIMIT_DATA, &limit);
}

void data_limit_reset(void)
{
        pthread_once(&once, data_limit_init);
        setrlimit(RLIMIT_DATA, &at_start);
}

void data_limit_reset_child(void)
{
        if (page) /* otherwise the limit was never changed */
                setrlimit(RLIMIT_DATA, &at_start);
}

void data_limit_reset_pid(pid_t pid)
{
        if (page)
                prlimit(pid, RLIMIT_DATA, &at_start, NULL);
}
