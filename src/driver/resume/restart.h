/* Starts the driver of an application again, from what its journal has of the first one. */
#pragma once

#include <stdbool.h>

struct fst_error;

/*
 * Replaces this process by the driver of the application whose journal is DIRECTORY/ID: its program with its arguments
 * in its working directory, which resumes the application. @only_print: prints the command instead, and returns 0.
 * Returns negative with @error if there is no such journal, or if its command is not known.
 */
int resume_restart(const char *directory, const char *id, bool only_print, struct fst_error *error);
