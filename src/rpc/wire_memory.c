/* Allocators for protobuf-c: a capped arena, and mem_try. */
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

static void *wire_guarded_allocate(void *refused, size_t size)
{
        void *p = mem_try(size);
        if (!p && refused)
                *(bool *)refused = true;
        return p;
}

static void wire_guarded_release(void *refused, void *pointer)
{
        free(pointer);
}

ProtobufCAllocator wire_guarded = {.alloc = wire_guarded_allocate, .free = wire_guarded_release};

ProtobufCAllocator wire_guarded_allocator(bool *refused)
{
        return (ProtobufCAllocator){
                .alloc = wire_guarded_allocate, .free = wire_guarded_release, .allocator_data = refused};
}
