/*
 * The ELF note of a module: the interface (FST_ABI) and the version of the header that it was built against. The
 * loader reads it before it runs any code of the module, and refuses another FST_ABI or a newer minor version. Every
 * translation unit adds a note. They must agree on FST_ABI.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

#define FST_NOTE_OWNER "Firesteel"
#define FST_NOTE_ABI 1 /* type of the note; its content is FST_ABI and FST_VERSION, 32 bits each */

/* AddressSanitizer would put a red zone after it, between two notes. gcc leaves named sections alone. */
#ifdef __clang__
#define FST_NOTE_BARE __attribute__((no_sanitize("address")))
#else
#define FST_NOTE_BARE
#endif

static const struct {
        uint32_t owner_size, content_size, type;
        char owner[(sizeof(FST_NOTE_OWNER) + 3) / 4 * 4];
        uint32_t abi, version;
} fst_note FST_NOTE_BARE __attribute__((section(".note.firesteel"), used, aligned(4))) = {
        sizeof(FST_NOTE_OWNER), 2 * sizeof(uint32_t), FST_NOTE_ABI, FST_NOTE_OWNER, FST_ABI, FST_VERSION,
};

FST_END_DECLS
