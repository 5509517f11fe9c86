/* Allocators for protobuf-c: a capped arena, mem_try, and memory on the stack. */
#include "rpc/wire_memory.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

void *wire_alloc(struct wire_memory *memory, size_t size)
{
        if (size > memory->left)
                return NULL;
        memory->left -= size;
        return arena_alloc(&memory->arena, size);
}

void *wire_array(struct wire_memory *memory, size_t count, size_t size)
{
        size_t bytes;
        if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, 16, &bytes))
                return NULL;
        char *at = wire_alloc(memory, bytes);
        if (!at)
                return NULL;
        at += -(uintptr_t)at & 15;
        return memset(at, 0, bytes - 16);
}

static void *wire_memory_allocate(void *memory, size_t size)
{
        return wire_alloc(memory, size);
}

static void wire_memory_release(void *memory, void *pointer)
{
        /* freed with the arena */
}

ProtobufCAllocator wire_memory_allocator(struct wire_memory *memory)
{
        return (ProtobufCAllocator){
                .alloc = wire_memory_allocate, .free = wire_memory_release, .allocator_data = memory};
}

static void *wire_guarded_allocate(void *owner, size_t size)
{
        return mem_try(size);
}

static void wire_guarded_release(void *owner, void *pointer)
{
        free(pointer);
}

ProtobufCAllocator wire_guarded = {.alloc = wire_guarded_allocate, .free = wire_guarded_release};

static void *wire_scratch_allocate(void *owner, size_t size)
{
        struct wire_scratch *s = owner;
        size_t bytes = (size + 15) & ~(size_t)15;
        if (size > sizeof(s->bytes) || bytes > sizeof(s->bytes) - s->used) {
                void *p = mem_try(size);
                s->refused |= !p;
                return p;
        }
        s->used += bytes;
        return s->bytes + s->used - bytes;
}

static void wire_scratch_release(void *owner, void *pointer)
{
        struct wire_scratch *s = owner;
        if ((uintptr_t)pointer - (uintptr_t)s->bytes >= sizeof(s->bytes))
                free(pointer);
}

ProtobufCAllocator wire_scratch_allocator(struct wire_scratch *scratch)
{
        scratch->refused = false;
        scratch->used = 0;
        return (ProtobufCAllocator){
                .alloc = wire_scratch_allocate, .free = wire_scratch_release, .allocator_data = scratch};
}
