/* Standard input, output and error of a process that was started with some of them closed. */
#pragma once

/*
 * Open /dev/null on each of the descriptors 0, 1 and 2 that is closed. Call it first in main(): otherwise the next file,
 * socket or epoll instance gets such a number. Log lines would then end up in a file of results, and libuv aborts when it
 * closes a descriptor below 3. Aborts if /dev/null cannot be opened.
 */
void standard_streams_open(void);
