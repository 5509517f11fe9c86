/*
 * The source line of a crash, for the process that reads a crash report (exec/guard/crash.h).
 *
 * The crashed process must not look it up: its memory may be damaged. The reader runs addr2line of binutils, which
 * every machine with a compiler has.
 */
#pragma once

/*
 * @report with "FILE:LINE: " in front of the addr2line command in it, to be freed; NULL if there is no such command for
 * a module of this process, or addr2line finds no line. Blocks while addr2line runs: not for an event loop. Any thread.
 */
char *source_line_add(const char *report);
