/* The common parts of these sorts: two threads, memory in huge pages, a sort of numbers in the cache. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 2, RADIX_BITS = 13, FEW = 24 };

static inline void *huge_alloc(size_t size)
{
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
                perror("mmap");
                exit(1);
        }
        madvise(memory, size, MADV_HUGEPAGE);
        return memory;
}

/* Calls @code(@argument, 0) and @code(@argument, 1) on two threads. Returns when both have ended. */
typedef void (*thread_fn)(void *argument, int thread);

struct thread_call {
        thread_fn code;
        void *argument;
        int thread;
};

static void *thread_main(void *call)
{
        struct thread_call *c = call;
        c->code(c->argument, c->thread);
        return NULL;
}

static inline void on_both_threads(thread_fn code, void *argument)
{
        struct thread_call here = {code, argument, 0}, other = {code, argument, 1};
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_main, &other)) {
                perror("pthread_create");
                exit(1);
        }
        thread_main(&here);
        pthread_join(thread, NULL);
}

static inline void numbers_insertion(uint64_t *a, size_t n)
{
        for (size_t i = 1; i < n; i++) {
                uint64_t x = a[i];
                size_t j = i;
                for (; j > 0 && a[j - 1] > x; j--)
                        a[j] = a[j - 1];
                a[j] = x;
        }
}

/* Sorts @from, of any distribution, into @to. The order of @from is undefined afterwards. */
static inline void numbers_radix(uint64_t *from, uint64_t *to, size_t n)
{
        uint64_t differ = 0;
        for (size_t i = 1; i < n && n > FEW; i++)
                differ |= from[i] ^ from[0];
        if (differ == 0) {
                memcpy(to, from, n * sizeof(*to));
                numbers_insertion(to, n);
                return;
        }
        uint32_t ends[1 << RADIX_BITS];
        unsigned top = 64 - (unsigned)__builtin_clzll(differ), bits = 64 - (unsigned)__builtin_clzll(n);
        bits = bits < RADIX_BITS ? bits : RADIX_BITS;
        bits = bits < top ? bits : top;
        unsigned shift = top - bits;
        size_t buckets = (size_t)1 << bits, mask = buckets - 1, largest = 0;
        memset(ends, 0, buckets * sizeof(*ends));
        for (size_t i = 0; i < n; i++)
                ends[(from[i] >> shift) & mask]++;
        for (size_t b = 0, at = 0; b < buckets; b++) {
                size_t count = ends[b];
                largest = count > largest ? count : largest;
                ends[b] = (uint32_t)at;
                at += count;
        }
        for (size_t i = 0; i < n; i++)
                to[ends[(from[i] >> shift) & mask]++] = from[i];
        if (largest <= FEW) {
                numbers_insertion(to, n);
                return;
        }
        for (size_t b = 0, start = 0; b < buckets; start = ends[b++]) {
                size_t count = ends[b] - start;
                if (count <= 1 || shift == 0)
                        continue;
                memcpy(from + start, to + start, count * sizeof(*to));
                numbers_radix(from + start, to + start, count);
        }
}
