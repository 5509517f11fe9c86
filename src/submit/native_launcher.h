/*
 * The launcher: brings a native application that was prepared to life. The driver runs in this process.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct submission;
struct submit_arguments;

/*
 * Run the application of @a as @s has it: its main class is called on this thread with its arguments, contexts begin
 * with its configuration, and what it answers becomes *@status. Returns 0 with *@status set (NATIVE_PROGRAM_NO_CLASS
 * with
 * @error set if --class names no function), or negative with @error.
 */
int submit_launch(const struct submit_arguments *a, const struct submission *s, int *status, struct fst_error *error);

/*
 * Whether @resource, "file:", "local:" or a path, is a shared object on this machine, whatever it is called: images may
 * have one where a command line that stays as it is names a jar.
 */
bool native_application_is_at(const char *resource);
