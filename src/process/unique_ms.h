/*
 * Times that identify: milliseconds of the clock, each given to one process of the machine only. Lock: an abstract Unix
 * socket bound to the prefix and the time, which leaves no file and ends with the process.
 */
#pragma once

#include <stdint.h>

/*
 * Returns the current time in milliseconds since 1970, or the first later one that neither this process nor a running
 * one has for @prefix (at most 80 bytes). A process that ended does not count, but its times are in the past. Without
 * abstract sockets only this process counts. Any thread.
 */
int64_t unique_ms_new(const char *prefix);
