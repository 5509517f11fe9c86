/*
 * What a module says about itself: an ELF note with the interface that it was built against (FST_ABI). The loader
 * reads it before any of the module's code runs. Each translation unit brings its own; they must agree.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

#define FST_NOTE_OWNER "Firesteel"
#define FST_NOTE_ABI 1 /* type of the note; its content is FST_ABI as 32 bits */

/* A sanitizer would put a red zone behind it, into the middle of the notes. gcc leaves sections of one's own alone. */
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
