/*
 * Strips an ELF file: removes the section table and the data that only linkers and debuggers read. The file then ends
 * with its last segment. Loaders read only segments.
 */
#pragma once

#include <stddef.h>

/*
 * Changes @data in place. Returns its new length, or @len if it is not a 64-bit ELF file of this byte order, or is
 * damaged.
 */
size_t elf_strip(void *data, size_t len);
