/* Make a folder and those above it, as mkdir -p. */
#pragma once

#include <sys/types.h>

/*
 * 0 if @path is a folder in the end; else the errno of what could not be made, negative: -ENOTDIR where something else
 * has a name on the way. @mode is of the new ones, less the umask.
 */
int make_dirs(const char *path, mode_t mode);
