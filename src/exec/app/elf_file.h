/* Reads untrusted ELF files of this machine's class and byte order. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_info;

/*
 * Reads the build-id, the interface number and the instruction sets from a sequence of notes. @align is the alignment
 * of their segment. A damaged note ends the sequence. Returns 0, or -EINVAL if notes contain different interface
 * numbers.
 */
int elf_notes_read(const void *data, size_t len, size_t align, struct module_info *out);

/*
 * Calls @visit with the name of each exported function in table order until it returns non-zero. A damaged table has
 * none. Names live as long as @data.
 */
void elf_functions_exported(const void *data, size_t len, int (*visit)(void *context, const char *name), void *context);

/* A function or a variable that the file defines, static ones too. */
struct elf_symbol {
        const char *name; /* lives as long as the file's bytes */
        uint64_t offset;  /* from the load address */
        uint64_t size;
        bool is_function;
};

/*
 * Passes the symbols of the file's full table (of its dynamic one if it was stripped) to @visit until that returns
 * non-zero. A damaged table has none.
 */
void elf_symbols_visit(const void *data, size_t len, int (*visit)(void *context, const struct elf_symbol *symbol),
                       void *context);

/*
 * Returns the symbol of the function that begins at @offset from the load address, including static functions. Owned by
 * the caller. NULL if there is none.
 */
char *elf_function_at(const void *data, size_t len, uint64_t offset);
