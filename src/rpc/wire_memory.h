/* Limited memory for decoding, so that few hostile bytes cannot become many: at the limit allocation fails, and with
 * it the decoding, not the process.
 *
 *      struct wire_memory memory = wire_memory_for(len);
 *      ProtobufCAllocator allocator = wire_memory_allocator(&memory);
 *      Firesteel__Stage *stage = firesteel__stage__unpack(&allocator, len, data);
 *
 * Objects of protobuf-c are never freed singly. The arena frees all.
 */
#pragma once

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

struct wire_memory {
        struct arena arena;
        size_t left; /* bytes that may still be allocated */
};

/* Allows 32 times the @len bytes of a message, and at least 64 KiB. */
static inline struct wire_memory wire_memory_for(size_t len)
{
        return (struct wire_memory){.left = 32 * len + 65536};
}

/* Allocates @size bytes, aligned to 8, uninitialised; NULL at the limit. Valid as long as the arena. */
void *wire_alloc(struct wire_memory *memory, size_t size);

/* The same for @count zeroed elements of @size bytes, aligned to 16. */
void *wire_array(struct wire_memory *memory, size_t count, size_t size);

/* A protobuf-c allocator on @memory. */
ProtobufCAllocator wire_memory_allocator(struct wire_memory *memory);

/* For messages of a trusted peer: mem_try, whose guard has a reserve for small allocations. Free them with it, or NULL. */
extern ProtobufCAllocator wire_guarded;

#define WIRE_SCRATCH_SIZE 4096

/*
 * The same for frequent small messages: memory on the stack comes first. A message is freed with the allocator that it was
 * unpacked with, as long as the scratch exists.
 */
struct wire_scratch {
        bool refused; /* memory was denied, which tells this from an invalid message */
        size_t used;
        _Alignas(16) char bytes[WIRE_SCRATCH_SIZE];
};
ProtobufCAllocator wire_scratch_allocator(struct wire_scratch *scratch); /* begins anew */
