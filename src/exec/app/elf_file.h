/*
 * Reading of ELF files of this machine's class and byte order, from bytes that nobody vouches for. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct module_info;

/*
 * Take the build-id and the interface number out of a run of notes. @align is that of its segment. Damaged notes end
 * the reading. 0, or -EINVAL when notes name different interface numbers.
 */
int elf_notes_read(const void *data, size_t len, size_t align, struct module_info *out);

/*
 * The names of the functions that the file exports, in the order of its table, each told to @visit until it returns
 * non-zero. A damaged table has none. Names live as long as @data.
 */
void elf_functions_exported(const void *data, size_t len, int (*visit)(void *context, const char *name), void *context);

/* The symbol of the function that begins at @offset from the load address, static ones too; owned by the caller; or
 * NULL. */
char *elf_function_at(const void *data, size_t len, uint64_t offset);
