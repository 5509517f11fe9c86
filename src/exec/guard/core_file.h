/* Finds the core dump of a process. */
#pragma once

#include <stddef.h>

/*
 * Describes the core dump of @pid in @text, of @size bytes: "core dump: /dir/core.123"; "core dump: given to
 * /usr/lib/…" if a program takes core dumps; "" if none is found. @pattern is the content of
 * /proc/sys/kernel/core_pattern; NULL: it is read. @name is the kernel's name of the program, @directory its working
 * directory.
 */
void core_file_describe(int pid, int signal, const char *name, const char *directory, const char *pattern, char *text,
                        size_t size);
