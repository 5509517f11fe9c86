/*
 * Blocks of 256 KiB in chunks of 8 MiB.
 *
 * Chunks exist because huge pages need aligned 2 MiB ranges, and page tables for gigabytes of 4 KiB pages cost more
 * than the copies into them. Chunks are never unmapped: unneeded memory is returned with MADV_DONTNEED and the address
 * space stays, so that a block's chunk can always be found.
 *
 * A chunk holds 31 blocks instead of 32, because blocks at multiples of 256 KiB would have their headers, and in a
 * scatter their ends, in the same few cache sets; 200 open pages then cost ten times as much as 8. So each of the first
 * 4,000 blocks begins at another cache line of its 256 KiB (its colour), which takes the room of one block.
 *
 * A chunk records which of its blocks are free and which are warm, that is, used since their memory was last returned.
 * A chunk with free blocks is on one of two lists: `warm` if a free block is warm (partly used chunks first, so that
 * they fill up and others become free), else `cold`. Warm blocks are taken first.
 *
 * Invariants, under the lock: free warm blocks are counted in `spare`. A block in a thread's cache is neither free nor
 * spare. Only its thread uses a thread's cache, which is returned when the thread ends.
 */
#include "store/page_pool.h"

#include "base/mem.h"
#include "store/huge_pages.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define POOL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_ASAN 1
#endif
#endif
#ifdef POOL_ASAN
#include <sanitizer/asan_interface.h>
#define block_close(block) ASAN_POISON_MEMORY_REGION(block, PAGE_BLOCK)
#define block_open(block) ASAN_UNPOISON_MEMORY_REGION(block, PAGE_BLOCK)
#else
#define block_close(block) ((void)(block))
#define block_open(block) ((void)(block))
#endif

#define CACHE_LINE 64
#define BLOCKS (PAGE_CHUNK / PAGE_BLOCK - 1)
#define ALL_BLOCKS ((1u << BLOCKS) - 1)
#define STRIDE (PAGE_BLOCK + CACHE_LINE)
#define COLOURS (PAGE_BLOCK / CACHE_LINE - BLOCKS) /* of a chunk's first block */
#define CACHE_BLOCKS 4

struct pool_chunk {
        unsigned char *base;
        size_t colour;                  /* offset of the first block */
        struct pool_chunk *next, *prev; /* on one of the lists */
        unsigned free, warm;            /* bit b: block b */
};

static struct page_pool {
        pthread_mutex_t lock;
        struct pool_chunk warm, cold; /* heads of circular lists */
        struct pool_chunk **table;    /* by base address, open addressing; never shrinks */
        size_t slots, count;
        _Atomic size_t spare;
} pool = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .warm = {.next = &pool.warm, .prev = &pool.warm},
        .cold = {.next = &pool.cold, .prev = &pool.cold},
};

struct cache {
        unsigned count;
        bool registered;
        void *blocks[CACHE_BLOCKS];
};
static _Thread_local struct cache cache;
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;

static size_t slot_of(const unsigned char *base)
{
        return ((uintptr_t)base / PAGE_CHUNK * 0x9E3779B97F4A7C15u >> 20) & (pool.slots - 1);
}

static void table_put(struct pool_chunk *c)
{
        size_t s = slot_of(c->base);
        while (pool.table[s])
                s = (s + 1) & (pool.slots - 1);
        pool.table[s] = c;
}

static void table_grow(void)
{
        struct pool_chunk **old = pool.table;
        size_t n = pool.slots;
        pool.slots = n ? n * 2 : 64;
        pool.table = new_array(struct pool_chunk *, pool.slots);
        for (size_t i = 0; i < n; i++)
                if (old[i])
                        table_put(old[i]);
        free(old);
}

static unsigned char *chunk_base(void *block)
{
        return (unsigned char *)((uintptr_t)block & ~(uintptr_t)(PAGE_CHUNK - 1));
}

static struct pool_chunk *chunk_of(void *block)
{
        unsigned char *base = chunk_base(block);
        size_t s = slot_of(base);
        while (pool.table[s]->base != base)
                s = (s + 1) & (pool.slots - 1);
        return pool.table[s];
}

static void chunk_unlink(struct pool_chunk *c)
{
        if (!c->next)
                return;
        c->next->prev = c->prev;
        c->prev->next = c->next;
        c->next = c->prev = NULL;
}

/* Moves the chunk to the list that matches its free blocks. */
static void chunk_place(struct pool_chunk *c)
{
        chunk_unlink(c);
        if (!c->free)
                return;
        struct pool_chunk *head = c->free & c->warm ? &pool.warm : &pool.cold;
        struct pool_chunk *before = c->free == ALL_BLOCKS ? head->prev : head;
        assert(c != head && before->next); /* a list is a ring; its head is not a chunk */
        c->prev = before;
        c->next = before->next;
        before->next->prev = c;
        before->next = c;
}

static unsigned char *chunk_map(void)
{
        return mmap(NULL, 2 * PAGE_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Maps a new chunk, aligned by mapping twice its size and unmapping the ends. */
static struct pool_chunk *chunk_new(void)
{
        unsigned char *raw = chunk_map();
        if (raw == MAP_FAILED && mem_has_room(2 * PAGE_CHUNK))
                raw = chunk_map(); /* the guard has updated its limit meanwhile */
        if (raw == MAP_FAILED)
                return NULL;
        size_t before = -(uintptr_t)raw & (PAGE_CHUNK - 1);
        if (before)
                munmap(raw, before);
        munmap(raw + before + PAGE_CHUNK, PAGE_CHUNK - before);
        huge_pages_advise(raw + before, PAGE_CHUNK);
        struct pool_chunk *c = new0(struct pool_chunk);
        c->base = raw + before;
        c->colour = pool.count * BLOCKS % COLOURS * CACHE_LINE;
        c->free = ALL_BLOCKS;
        if (2 * ++pool.count > pool.slots)
                table_grow();
        table_put(c);
        return c;
}

static unsigned char *block_at(const struct pool_chunk *c, unsigned b)
{
        return c->base + c->colour + b * STRIDE;
}

/* Takes a free block; *@cold is set if it is not resident, and *@fresh too if it is the first of a new chunk. */
static void *pool_get_block(bool *fresh, bool *cold)
{
        struct pool_chunk *c = pool.warm.next;
        if (c == &pool.warm) {
                c = pool.cold.next;
                if (c == &pool.cold) {
                        if (!(c = chunk_new()))
                                return NULL;
                        *fresh = true;
                }
                c->warm |= c->free & -c->free;
                pool.spare += PAGE_BLOCK;
                *cold = true;
        }
        unsigned b = (unsigned)__builtin_ctz(c->free & c->warm);
        c->free &= ~(1u << b);
        pool.spare -= PAGE_BLOCK;
        chunk_place(c);
        return block_at(c, b);
}

static void pool_give(void *block)
{
        struct pool_chunk *c = chunk_of(block);
        unsigned b = (unsigned)(((unsigned char *)block - c->base - c->colour) / STRIDE);
        c->free |= 1u << b;
        pool.spare += PAGE_BLOCK;
        chunk_place(c);
}

static void cache_empty(void *unused)
{
        pthread_mutex_lock(&pool.lock);
        while (cache.count > 0)
                pool_give(cache.blocks[--cache.count]);
        pthread_mutex_unlock(&pool.lock);
        cache.registered = false;
}

static void cache_make_key(void)
{
        pthread_key_create(&cache_key, cache_empty);
}

void *page_pool_get(void)
{
        void *block;
        if (cache.count > 0) {
                block = cache.blocks[--cache.count];
        } else {
                bool fresh = false, cold = false;
                pthread_mutex_lock(&pool.lock);
                block = pool_get_block(&fresh, &cold);
                pthread_mutex_unlock(&pool.lock);
                if (cold && block) {
                        block_open(block);
                        huge_pages_first_touch(block, PAGE_BLOCK, fresh, chunk_base(block) + PAGE_CHUNK);
                }
        }
        if (block)
                block_open(block);
        return block;
}

void page_pool_put(void *block)
{
        if (!block)
                return;
        block_close(block);
        if (!cache.registered) {
                pthread_once(&cache_once, cache_make_key);
                pthread_setspecific(cache_key, &cache);
                cache.registered = true;
        }
        if (cache.count < CACHE_BLOCKS) {
                cache.blocks[cache.count++] = block;
                return;
        }
        /* Keep the block used last. Its lines are in this core's caches. */
        void *oldest = cache.blocks[0];
        memmove(cache.blocks, cache.blocks + 1, (CACHE_BLOCKS - 1) * sizeof(void *));
        cache.blocks[CACHE_BLOCKS - 1] = block;
        pthread_mutex_lock(&pool.lock);
        pool_give(oldest);
        pthread_mutex_unlock(&pool.lock);
}

/* Returns the memory of a chunk's free warm blocks to the system, adjacent blocks in one call. */
static void chunk_cool(struct pool_chunk *c)
{
        unsigned cool = c->free & c->warm;
        if (c->free == ALL_BLOCKS)
                madvise(c->base, PAGE_CHUNK, MADV_DONTNEED);
        for (unsigned b = 0; b < BLOCKS && c->free != ALL_BLOCKS;) {
                unsigned n = 0;
                while (b + n < BLOCKS && (cool >> (b + n) & 1))
                        n++;
                /* Machine pages shared with other blocks stay. */
                uintptr_t start = ((uintptr_t)block_at(c, b) + 4095) & ~(uintptr_t)4095;
                uintptr_t end = (uintptr_t)block_at(c, b + n) & ~(uintptr_t)4095;
                if (n)
                        madvise((void *)start, end - start, MADV_DONTNEED);
                b += n ? n : 1;
        }
        c->warm &= ~cool;
        pool.spare -= (size_t)__builtin_popcount(cool) * PAGE_BLOCK;
        chunk_place(c);
}

void page_pool_shed(size_t keep)
{
        if (atomic_load_explicit(&pool.spare, memory_order_relaxed) <= keep)
                return;
        pthread_mutex_lock(&pool.lock);
        while (pool.spare > keep && pool.warm.prev != &pool.warm)
                chunk_cool(pool.warm.prev); /* free chunks are at the end */
        pthread_mutex_unlock(&pool.lock);
}

void page_pool_trim(void)
{
        cache_empty(NULL);
        page_pool_shed(0);
}

size_t page_pool_spare(void)
{
        return atomic_load_explicit(&pool.spare, memory_order_relaxed);
}
