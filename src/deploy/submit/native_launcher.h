/*
 * The launcher: brings a native application that was prepared to life. The driver runs in this process.
 */
#pragma once

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
