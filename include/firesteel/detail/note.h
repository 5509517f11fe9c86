/*
 * The ELF note of a module: the interface (FST_ABI) and the version of the header that it was built against, and the
 * instruction sets that it may need. The loader reads it before it runs any code of the module, and refuses another
 * FST_ABI, a newer minor version, and code for another processor. Every translation unit adds a note. They must agree
 * on FST_ABI.
 */
#pragma once

#include <firesteel/detail/instruction_sets.h>
#include <firesteel/types.h>

FST_BEGIN_DECLS

#define FST_NOTE_OWNER "Firesteel"
#define FST_NOTE_ABI 1 /* type of the note; its content is FST_ABI, FST_VERSION, instruction sets: 32 bits each */

/* AddressSanitizer would put a red zone after it, between two notes. gcc leaves named sections alone. */
#ifdef __clang__
#define FST_NOTE_BARE __attribute__((no_sanitize("address")))
#else
#define FST_NOTE_BARE
#endif

static const struct {
        uint32_t owner_size, content_size, type;
        char owner[(sizeof(FST_NOTE_OWNER) + 3) / 4 * 4];
        uint32_t abi, version, sets[2]; /* instruction sets: 0 to 31, then 32 to 63 */
} fst_note FST_NOTE_BARE __attribute__((section(".note.firesteel"), used, aligned(4))) = {
        sizeof(FST_NOTE_OWNER),
        4 * sizeof(uint32_t),
        FST_NOTE_ABI,
        FST_NOTE_OWNER,
        FST_ABI,
        FST_VERSION,
        {(uint32_t)FST_INSTRUCTION_SETS_NEEDED, (uint32_t)(FST_INSTRUCTION_SETS_NEEDED >> 32)},
};

FST_END_DECLS
