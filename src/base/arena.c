/* Chunked bump allocation. Chunks double up to 1 MiB. A larger request gets its own chunk. */
#include "base/arena.h"

#include "base/mem.h"

#define FIRST_CHUNK ((size_t)4096)
#define LARGEST_CHUNK ((size_t)1 << 20)

struct arena_chunk {
        struct arena_chunk *older;
        size_t size;
        char data[] __attribute__((aligned(16)));
};

/* Returns false when out of memory if @may_fail, else aborts. */
static bool add_chunk(struct arena *a, size_t need, bool may_fail)
{
        size_t size = a->chunks ? MIN(a->chunks->size * 2, LARGEST_CHUNK) : FIRST_CHUNK;
        size = MAX(size, need);
        struct arena_chunk *chunk = may_fail ? mem_try(sizeof(*chunk) + size) : mem_alloc(sizeof(*chunk) + size);
        if (!chunk)
                return false;
        chunk->older = a->chunks;
        chunk->size = size;
        a->chunks = chunk;
        a->next = chunk->data;
        a->end = chunk->data + size;
        a->bytes += sizeof(*chunk) + size;
        return true;
}

static inline void *arena_take(struct arena *a, size_t size, bool may_fail)
{
        size = (size + 7) & ~(size_t)7;
        if (unlikely((size_t)(a->end - a->next) < size || !a->next) && !add_chunk(a, size, may_fail))
                return NULL;
        void *p = a->next;
        a->next += size;
        return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
        return arena_take(a, size, false);
}

void *arena_try_alloc(struct arena *a, size_t size)
{
        return arena_take(a, size, true);
}

char *arena_copy(struct arena *a, const void *data, size_t size)
{
        char *copy = arena_take(a, size + 1, false);
        if (size)
                memcpy(copy, data, size);
        copy[size] = 0;
        return copy;
}

char *arena_try_copy(struct arena *a, const void *data, size_t size)
{
        char *copy = arena_take(a, size + 1, true);
        if (!copy)
                return NULL;
        if (size)
                memcpy(copy, data, size);
        copy[size] = 0;
        return copy;
}

void *arena_newest(const struct arena *a, size_t *used)
{
        *used = a->chunks ? (size_t)(a->next - a->chunks->data) : 0;
        return a->chunks ? a->chunks->data : NULL;
}

static void free_chunks(struct arena *a, struct arena_chunk *chunk)
{
        while (chunk) {
                struct arena_chunk *older = chunk->older;
                a->bytes -= sizeof(*chunk) + chunk->size;
                free(chunk);
                chunk = older;
        }
}

void arena_reset(struct arena *a)
{
        if (!a->chunks)
                return;
        free_chunks(a, a->chunks->older);
        a->chunks->older = NULL;
        if (a->chunks->size > LARGEST_CHUNK) { /* holds one large request, so it is not kept */
                arena_deinit(a);
                return;
        }
        a->next = a->chunks->data;
        a->end = a->chunks->data + a->chunks->size;
}

void arena_deinit(struct arena *a)
{
        free_chunks(a, a->chunks);
        *a = ARENA_INIT;
}
