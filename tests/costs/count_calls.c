/*
 * Counts allocations and locks of the processes that it is preloaded into (LD_PRELOAD), for costs_test.py.
 *
 * Each process has a file in the folder that COUNTED_CALLS names, called as its pid. It holds a struct counted_calls,
 * mapped, so that others read it while the process runs and after it was killed. Threads whose name begins with
 * "task-slot-" are counted apart from all others. glibc's own locks, such as those of a stream, do not count.
 */
#define _GNU_SOURCE
#include "counted_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's allocator under the names that no preloaded object hides. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static struct counted_calls nowhere, *counted = &nowhere;
static __thread int is_slot __attribute__((tls_model("initial-exec")));

/* The thread that had a lock last. Few locks exist; two that share an entry count as handed over. Under the lock. */
#define LOCKS 4096
static struct lock_owner {
        const pthread_mutex_t *lock;
        const void *thread;
} owners[LOCKS];

static int (*real_lock)(pthread_mutex_t *);
static int (*real_name)(pthread_t, const char *);

static void count(int64_t *calls)
{
        __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
}

static void count_allocation(void)
{
        count(is_slot ? &counted->slot_allocations : &counted->other_allocations);
}

/* Maps the file of this process; a forked child maps its own. */
static void open_counts(void)
{
        const char *folder = getenv("COUNTED_CALLS");
        char path[4096];
        if (!folder)
                return;
        snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        void *p = fd >= 0 && ftruncate(fd, sizeof(*counted)) == 0
                          ? mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                          : MAP_FAILED;
        if (fd >= 0)
                close(fd);
        counted = p == MAP_FAILED ? &nowhere : p;
}

__attribute__((constructor)) static void count_calls_begin(void)
{
        real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
        real_name = (int (*)(pthread_t, const char *))dlsym(RTLD_NEXT, "pthread_setname_np");
        open_counts();
        pthread_atfork(NULL, NULL, open_counts);
}

void *malloc(size_t size)
{
        count_allocation();
        return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
        count_allocation();
        return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
        count_allocation();
        return __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
        count_allocation();
        return __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
        count_allocation();
        *p = __libc_memalign(alignment, size);
        return *p ? 0 : ENOMEM;
}

void free(void *p)
{
        __libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
        count(is_slot ? &counted->slot_locks : &counted->other_locks);
        if (!real_lock)
                real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
        int r = real_lock(lock);
        struct lock_owner *owner = &owners[((uintptr_t)lock * 0x9E3779B97F4A7C15u >> 32) % LOCKS];
        if (is_slot && owner->thread && (owner->lock != lock || owner->thread != &is_slot))
                count(&counted->slot_handovers);
        owner->lock = lock;
        owner->thread = &is_slot; /* its address tells threads apart */
        return r;
}

/* Slots name their own threads. */
int pthread_setname_np(pthread_t thread, const char *name)
{
        if (pthread_equal(thread, pthread_self()))
                is_slot = strncmp(name, "task-slot-", 10) == 0;
        return real_name(thread, name);
}
