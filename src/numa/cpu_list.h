/* The kernel's text for a set of cpus: numbers and ranges between commas, such as "0-3,8". */
#pragma once

#include <sched.h>

/*
 * Reads @text, which may end with a newline; an empty text is the empty set. Returns 0, or -EINVAL for another text and
 * for cpus from CPU_SETSIZE. Then @cpus is untouched. Any thread.
 */
int cpu_list_parse(const char *text, cpu_set_t *cpus);
