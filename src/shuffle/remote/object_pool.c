/* See object_pool.h. */
#include "shuffle/remote/object_pool.h"

#include "base/clock.h"
#include "base/mem.h"
#include "numa/numa_nodes.h"

#include <pthread.h>

struct object_pool {
        pthread_mutex_t lock; /* protects all fields below */
        pthread_cond_t wake, ending_wake;
        struct object_job *first, **last;
        int waiting; /* jobs */
        int idle, started, max;
        bool ending;
        pthread_t threads[];
};

struct object_pool *object_pool_new(int threads)
{
        struct object_pool *p = mem_zero(sizeof(*p) + (size_t)threads * sizeof(p->threads[0]));
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->wake, NULL);
        pthread_cond_init(&p->ending_wake, NULL);
        p->last = &p->first;
        p->max = threads;
        return p;
}

static void *object_pool_main(void *arg)
{
        struct object_pool *p = arg;
        pthread_setname_np(pthread_self(), "shuffle-store");
        pthread_mutex_lock(&p->lock);
        for (;;) {
                struct object_job *job = p->first;
                if (!job && p->ending)
                        break;
                if (!job) {
                        p->idle++;
                        pthread_cond_wait(&p->wake, &p->lock);
                        p->idle--;
                        continue;
                }
                p->first = job->next;
                if (!p->first)
                        p->last = &p->first;
                p->waiting--;
                pthread_mutex_unlock(&p->lock);
                job->run(job);
                pthread_mutex_lock(&p->lock);
        }
        pthread_mutex_unlock(&p->lock);
        return NULL;
}

void object_pool_submit(struct object_pool *p, struct object_job *job)
{
        pthread_mutex_lock(&p->lock);
        if (p->waiting >= p->idle && p->started < p->max &&
            numa_create_thread(&p->threads[p->started], NULL, object_pool_main, p) == 0)
                p->started++;
        bool here = p->started == 0;
        if (!here) {
                job->next = NULL;
                *p->last = job;
                p->last = &job->next;
                p->waiting++;
                pthread_cond_signal(&p->wake);
        }
        pthread_mutex_unlock(&p->lock);
        if (here)
                job->run(job);
}

bool object_pool_sleep(struct object_pool *p, int64_t ns)
{
        struct timespec until = timespec_of_ns(now_ns() + ns);
        pthread_mutex_lock(&p->lock);
        int r = 0;
        while (!p->ending && r == 0)
                r = pthread_cond_clockwait(&p->ending_wake, &p->lock, CLOCK_MONOTONIC, &until);
        bool goes_on = !p->ending;
        pthread_mutex_unlock(&p->lock);
        return goes_on;
}

void object_pool_free(struct object_pool *p)
{
        if (!p)
                return;
        pthread_mutex_lock(&p->lock);
        p->ending = true;
        pthread_cond_broadcast(&p->wake);
        pthread_cond_broadcast(&p->ending_wake);
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; i < p->started; i++)
                pthread_join(p->threads[i], NULL);
        pthread_cond_destroy(&p->wake);
        pthread_cond_destroy(&p->ending_wake);
        pthread_mutex_destroy(&p->lock);
        free(p);
}
