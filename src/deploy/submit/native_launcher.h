/*
 * The launcher: brings what arguments.h understood to life. This version runs local masters, the driver in this
 * process.
 */
#pragma once

struct fst_error;
struct submit_arguments;

/* Spark's exit status when there is no such class. */
#define SUBMIT_EXIT_NO_CLASS 101

/*
 * Run the application of @a: its main is called on this thread, and what it answers becomes *@status. Returns 0 with
 * *@status set (SUBMIT_EXIT_NO_CLASS with @error set if --class names no function), or negative with @error.
 */
int submit_launch(const struct submit_arguments *a, int *status, struct fst_error *error);
