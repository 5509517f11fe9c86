/*
 * An ELF file without what only linkers and debuggers read: it ends where its last segment ends, and has no table of
 * sections. Loaders look at segments alone.
 */
#pragma once

#include <stddef.h>

/* Change @data in place; its new length, or @len when it is no 64-bit ELF file of this byte order, or a damaged one. */
size_t elf_strip(void *data, size_t len);
