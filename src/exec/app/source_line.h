/*
 * Adds the source line to a crash report (exec/guard/crash.h), in the process that reads it.
 *
 * The crashed process must not look it up, because its memory may be damaged. The reader runs addr2line of binutils,
 * which every machine with a compiler has.
 */
#pragma once

/*
 * Returns @report with "FILE:LINE: " in front of its addr2line command. The caller frees it. NULL if @report has no
 * such command for a module of this process, or addr2line finds no line. Blocks while addr2line runs: do not call it on
 * an event loop. Any thread.
 */
char *source_line_add(const char *report);
