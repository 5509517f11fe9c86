/*
 * The text of the C file that this process compiled and loaded, as it was then. Pages show the lines that created a
 * stage from it. Any thread.
 */
#pragma once

/* Reads the file. A file that is unreadable, larger than 1 MiB or has NUL bytes is not kept. */
void source_text_keep(const char *path);

/*
 * Returns the text if @file, a path or a name as in __FILE__, has the name of the kept file; else NULL. The process
 * owns it and never changes it.
 */
const char *source_text_find(const char *file);
