/*
 * See read_thread.h.
 *
 * Threads: started, finished and leaving are guarded by the lock. An entry belongs to the thread while its number is
 * between finished and started, else to the caller.
 */
#include "io/ahead/read_thread.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct read_entry {
        int fd;
        void *data;
        size_t size;
        uint64_t offset;
        ssize_t result;
};

struct read_thread {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t asked, answered;
        uint64_t started, finished; /* numbers of reads */
        uint64_t taken;             /* by read_thread_wait; the caller's */
        bool leaving;
        unsigned entries;
        struct read_entry entry[];
};

static void *read_thread_main(void *data)
{
        struct read_thread *t = data;
        pthread_mutex_lock(&t->lock);
        for (;;) {
                while (t->finished == t->started && !t->leaving)
                        pthread_cond_wait(&t->asked, &t->lock);
                if (t->leaving)
                        break;
                struct read_entry *e = &t->entry[t->finished % t->entries];
                pthread_mutex_unlock(&t->lock);
                do
                        e->result = pread(e->fd, e->data, e->size, (off_t)e->offset);
                while (e->result < 0 && errno == EINTR);
                if (e->result < 0)
                        e->result = -errno;
                pthread_mutex_lock(&t->lock);
                t->finished++;
                pthread_cond_signal(&t->answered);
        }
        pthread_mutex_unlock(&t->lock);
        return NULL;
}

struct read_thread *read_thread_new(unsigned entries)
{
        struct read_thread *t = mem_zero(sizeof(*t) + entries * sizeof(t->entry[0]));
        sigset_t all, before;
        t->entries = entries;
        pthread_mutex_init(&t->lock, NULL);
        pthread_cond_init(&t->asked, NULL);
        pthread_cond_init(&t->answered, NULL);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = pthread_create(&t->thread, NULL, read_thread_main, t);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                return t;
        free(t);
        return NULL;
}

void read_thread_free(struct read_thread *t)
{
        if (!t)
                return;
        pthread_mutex_lock(&t->lock);
        t->leaving = true;
        pthread_cond_signal(&t->asked);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
        pthread_cond_destroy(&t->asked);
        pthread_cond_destroy(&t->answered);
        pthread_mutex_destroy(&t->lock);
        free(t);
}

void read_thread_read(struct read_thread *t, int fd, void *data, size_t size, uint64_t offset)
{
        pthread_mutex_lock(&t->lock);
        t->entry[t->started % t->entries] = (struct read_entry){fd, data, size, offset, 0};
        t->started++;
        pthread_cond_signal(&t->asked);
        pthread_mutex_unlock(&t->lock);
}

ssize_t read_thread_wait(struct read_thread *t)
{
        pthread_mutex_lock(&t->lock);
        while (t->finished == t->taken)
                pthread_cond_wait(&t->answered, &t->lock);
        ssize_t result = t->entry[t->taken++ % t->entries].result;
        pthread_mutex_unlock(&t->lock);
        return result;
}
