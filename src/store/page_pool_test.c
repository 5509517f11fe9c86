#include "store/page_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Sanitizers need additional shadow memory, so resident sizes mean nothing there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWED true
#elif defined(__has_feature)
#define SHADOWED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SHADOWED false
#endif

static size_t resident(void)
{
        FILE *f = fopen("/proc/self/statm", "re");
        size_t total = 0, pages = 0;
        assert_non_null(f);
        assert_int_equal(fscanf(f, "%zu %zu", &total, &pages), 2);
        fclose(f);
        return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void blocks_are_whole_and_disjoint(void **state)
{
        enum { N = 100 };
        unsigned char *blocks[N];
        for (int i = 0; i < N; i++) {
                blocks[i] = page_pool_get();
                assert_non_null(blocks[i]);
                assert_int_equal((uintptr_t)blocks[i] % 64, 0);
                memset(blocks[i], i, PAGE_BLOCK);
        }
        for (int i = 0; i < N; i++) {
                assert_int_equal(blocks[i][0], i);
                assert_int_equal(blocks[i][PAGE_BLOCK - 1], i);
                page_pool_put(blocks[i]);
        }
        page_pool_put(NULL);
}

static void reuses_returned_blocks(void **state)
{
        page_pool_trim();
        void *a = page_pool_get();
        page_pool_put(a);
        assert_ptr_equal(page_pool_get(), a);
        page_pool_put(a);
}

static void trim_and_shed_return_memory(void **state)
{
        enum { N = 512 }; /* 128 MiB */
        static void *blocks[N];
        page_pool_trim();
        size_t before = resident();
        for (int i = 0; i < N; i++)
                memset(blocks[i] = page_pool_get(), 1, PAGE_BLOCK);
        assert_true(resident() >= before + (N - 16) * PAGE_BLOCK);
        for (int i = 0; i < N; i++)
                page_pool_put(blocks[i]);
        page_pool_shed(32u << 20);
        assert_true(page_pool_spare() <= 32u << 20);
        assert_true(page_pool_spare() > 24u << 20); /* chunks are returned as a whole */
        assert_true(SHADOWED || resident() <= before + (40u << 20));
        page_pool_trim();
        assert_int_equal(page_pool_spare(), 0);
        assert_true(SHADOWED || resident() <= before + (8u << 20));
}

/* Threads exchange blocks. Each block carries its holder's mark. */
struct exchange {
        pthread_mutex_t lock;
        unsigned char *slots[64];
        unsigned seed;
};

static void *exchange_run(void *argument)
{
        struct exchange *x = argument;
        unsigned seed = __atomic_add_fetch(&x->seed, 1, __ATOMIC_RELAXED);
        for (int i = 0; i < 5000; i++) {
                unsigned char *mine = page_pool_get();
                mine[0] = mine[PAGE_BLOCK - 1] = (unsigned char)i;
                unsigned s = (unsigned)rand_r(&seed) % 64;
                pthread_mutex_lock(&x->lock);
                unsigned char *other = x->slots[s];
                x->slots[s] = mine;
                pthread_mutex_unlock(&x->lock);
                if (other && other[0] != other[PAGE_BLOCK - 1])
                        abort();
                page_pool_put(other);
                if (i % 1000 == 0)
                        page_pool_shed(1u << 20);
        }
        return NULL;
}

static void threads_share_it(void **state)
{
        struct exchange x = {.lock = PTHREAD_MUTEX_INITIALIZER};
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, exchange_run, &x), 0);
        for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
        for (int i = 0; i < 64; i++)
                page_pool_put(x.slots[i]);
        /* Ending threads returned their caches: everything except this thread's cache can be trimmed. */
        page_pool_trim();
        assert_int_equal(page_pool_spare(), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(blocks_are_whole_and_disjoint),
                cmocka_unit_test(reuses_returned_blocks),
                cmocka_unit_test(trim_and_shed_return_memory),
                cmocka_unit_test(threads_share_it),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
