/*
 * See local_properties.h.
 *
 * One pthread key for each context would not work. Deleting a key runs no destructors, so the properties of threads
 * that outlive the context would leak, and a thread that ends while the context stops would race with it. So the
 * process has one key, each thread has a list of its properties, and a context that stops walks the lists of all
 * threads.
 *
 * Invariant: a thread is in the list of threads exactly while it has properties. `lock` guards all lists.
 */
#include "driver/local_properties.h"

#include "base/mem.h"

#include <pthread.h>

struct local {
        struct local *next; /* of the same thread */
        const void *owner;
        struct strmap map;
};

struct thread_locals {
        struct thread_locals *next, **link; /* in the list of all threads with properties */
        struct local *first;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_locals *threads;
static _Thread_local struct thread_locals mine;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* only for its destructor */

static void local_properties_free(struct local *local)
{
        strmap_deinit(&local->map);
        free(local);
}

static void thread_locals_unlink(struct thread_locals *t)
{
        *t->link = t->next;
        if (t->next)
                t->next->link = t->link;
        t->link = NULL;
}

static void thread_locals_free(void *thread)
{
        struct thread_locals *t = thread;
        pthread_mutex_lock(&lock);
        while (t->first) {
                struct local *next = t->first->next;
                local_properties_free(t->first);
                t->first = next;
        }
        if (t->link)
                thread_locals_unlink(t);
        pthread_mutex_unlock(&lock);
}

static void thread_locals_make_key(void)
{
        pthread_key_create(&key, thread_locals_free);
}

static struct strmap *local_properties_add(const void *owner)
{
        struct local *local = new0(struct local);
        local->owner = owner;
        pthread_once(&once, thread_locals_make_key);
        pthread_setspecific(key, &mine);
        pthread_mutex_lock(&lock);
        local->next = mine.first;
        mine.first = local;
        if (!mine.link) {
                mine.next = threads;
                mine.link = &threads;
                if (threads)
                        threads->link = &mine.next;
                threads = &mine;
        }
        pthread_mutex_unlock(&lock);
        return &local->map;
}

struct strmap *local_properties(const void *owner, bool create)
{
        struct strmap *found = NULL;
        pthread_mutex_lock(&lock);
        for (struct local *local = mine.first; local && !found; local = local->next)
                if (local->owner == owner)
                        found = &local->map;
        pthread_mutex_unlock(&lock);
        return found || !create ? found : local_properties_add(owner);
}

void local_properties_forget(const void *owner)
{
        pthread_mutex_lock(&lock);
        for (struct thread_locals *t = threads, *next; t; t = next) {
                next = t->next;
                for (struct local **at = &t->first; *at;) {
                        struct local *local = *at;
                        if (local->owner != owner) {
                                at = &local->next;
                                continue;
                        }
                        *at = local->next;
                        local_properties_free(local);
                }
                if (!t->first)
                        thread_locals_unlink(t);
        }
        pthread_mutex_unlock(&lock);
}
