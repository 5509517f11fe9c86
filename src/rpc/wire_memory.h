/*
 * Memory for what is decoded: an arena with a cap, so that few hostile bytes cannot become many. Where the cap is
 * reached, allocating fails, and with it the decoding, not the process.
 *
 *      struct wire_memory memory = wire_memory_for(len);
 *      ProtobufCAllocator allocator = wire_memory_allocator(&memory);
 *      Firesteel__Stage *stage = firesteel__stage__unpack(&allocator, len, data);
 *
 * What protobuf-c allocates is never freed singly; all goes with the arena.
 */
#pragma once

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

struct wire_memory {
        struct arena arena;
        size_t left; /* bytes that may still be asked for */
};

/* A message of @len bytes may become 32 times as many, and 64 KiB in any case. */
static inline struct wire_memory wire_memory_for(size_t len)
{
        return (struct wire_memory){.left = 32 * len + 65536};
}

/* @size bytes, aligned to 8, uninitialised; NULL when the cap is reached. Valid as long as the arena. */
void *wire_alloc(struct wire_memory *memory, size_t size);

/* The same for @count zeroed things of @size bytes, aligned to 16. */
void *wire_array(struct wire_memory *memory, size_t count, size_t size);

/* An allocator of protobuf-c's that takes from @memory. */
ProtobufCAllocator wire_memory_allocator(struct wire_memory *memory);
