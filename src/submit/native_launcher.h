/* Runs a prepared native application in this process, which becomes the driver. */
#pragma once

#include <stdbool.h>

struct fst_error;
struct submission;
struct submit_arguments;

/*
 * Loads the application of @a and calls its main class on this thread with the arguments of @s. New contexts start with
 * the configuration of @s. Returns 0 with the application's result in *@status (NATIVE_PROGRAM_NO_CLASS, with @error
 * set, if --class names no function), or negative with @error.
 */
int submit_launch(const struct submit_arguments *a, const struct submission *s, int *status, struct fst_error *error);

/*
 * Runs the Python program of @a, or serves the Python that started this process ("pyspark-shell"), as prepared in @s.
 * Returns 0 with the program's exit status in *@status, or negative with @error.
 */
int submit_launch_python(const struct submit_arguments *a, const struct submission *s, int *status,
                         struct fst_error *error);

/*
 * Whether @resource ("file:", "local:" or a path) is a shared object on this machine. The name does not matter: an
 * image may contain a shared object under the name of a jar so that the command line stays the same.
 */
bool native_application_is_at(const char *resource);
