/* Opens the standard streams of a process that was started with some of them closed. */
#pragma once

/*
 * Open /dev/null on each closed descriptor of 0, 1 and 2. Call it first in main(). Otherwise the next file, socket or
 * epoll instance gets such a number: log lines would go to a file of results, and libuv aborts when it closes a
 * descriptor below 3. Aborts if /dev/null cannot be opened.
 */
void standard_streams_open(void);
