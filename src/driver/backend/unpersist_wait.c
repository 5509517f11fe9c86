/* See unpersist_wait.h. The last user frees a wait. unpersist_waits_free frees the remaining ones. */
#include "driver/backend/unpersist_wait.h"

#include "base/mem.h"

#include <pthread.h>

struct unpersist_wait {
        struct unpersist_waits *waits;
        struct unpersist_wait *next, **link;
        int expected;
        bool waiting; /* its thread still uses it */
};

struct unpersist_waits {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct unpersist_wait *first;
        int threads; /* waiting threads */
        bool over;
};

struct unpersist_waits *unpersist_waits_new(void)
{
        struct unpersist_waits *w = new0(struct unpersist_waits);
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
        return w;
}

/* Under the lock. */
static void unpersist_wait_drop(struct unpersist_wait *wait)
{
        *wait->link = wait->next;
        if (wait->next)
                wait->next->link = wait->link;
        free(wait);
}

void unpersist_waits_free(struct unpersist_waits *w)
{
        if (!w)
                return;
        pthread_mutex_lock(&w->lock);
        w->over = true;
        pthread_cond_broadcast(&w->changed);
        while (w->threads > 0)
                pthread_cond_wait(&w->changed, &w->lock);
        while (w->first)
                unpersist_wait_drop(w->first);
        pthread_mutex_unlock(&w->lock);
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
        free(w);
}

struct unpersist_wait *unpersist_wait_begin(struct unpersist_waits *w)
{
        struct unpersist_wait *wait = new0(struct unpersist_wait);
        pthread_mutex_lock(&w->lock);
        *wait = (struct unpersist_wait){
                .waits = w, .next = w->first, .link = &w->first, .expected = 1, .waiting = true};
        if (w->first)
                w->first->link = &wait->next;
        w->first = wait;
        w->threads++;
        pthread_mutex_unlock(&w->lock);
        return wait;
}

void unpersist_wait_expect(struct unpersist_wait *wait)
{
        pthread_mutex_lock(&wait->waits->lock);
        wait->expected++;
        pthread_mutex_unlock(&wait->waits->lock);
}

void unpersist_wait_answered(void *owner)
{
        struct unpersist_wait *wait = owner;
        struct unpersist_waits *w = wait->waits;
        pthread_mutex_lock(&w->lock);
        if (--wait->expected == 0 && !wait->waiting)
                unpersist_wait_drop(wait);
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
}

void unpersist_wait_end(struct unpersist_wait *wait)
{
        struct unpersist_waits *w = wait->waits;
        pthread_mutex_lock(&w->lock);
        while (wait->expected > 0 && !w->over)
                pthread_cond_wait(&w->changed, &w->lock);
        wait->waiting = false;
        if (wait->expected == 0)
                unpersist_wait_drop(wait);
        w->threads--;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
}
