/*
 * Where the kernel put the core dump of a process.
 */
#pragma once

#include <stddef.h>

/*
 * Write a phrase about the core dump of @pid into @text, of @size bytes: "core dump: /dir/core.123", or, where a
 * program takes core dumps, "core dump: given to /usr/lib/…"; "" if there is none to be found. @pattern is the content
 * of /proc/sys/kernel/core_pattern, NULL: as it is there. @name is what the kernel calls the program, @directory where
 * it ran.
 */
void core_file_describe(int pid, int signal, const char *name, const char *directory, const char *pattern, char *text,
                        size_t size);
