/* Starts an executor as a child process: for the driver of a local cluster and the worker of a standalone cluster. */
#pragma once

#include <sys/types.h>

struct string_list;

/*
 * Appends the environment of a child that reports a crash to CHILD_WORDS_FD (process/child.h): this process's own, with
 * the secret of spark.authenticate, which may be NULL. The secret is in the environment because any user can read a
 * command line.
 */
void executor_process_environment(struct string_list *variables, const char *secret);

/*
 * Describes the exit in the words of Spark's workers: "Command exited with code 139 (SIGSEGV, core dumped, core dump:
 * /d/core.7): task 3 … crashed in split in wordcount.so". @directory is its working directory. The caller owns the
 * result.
 */
char *executor_process_end(pid_t pid, int wait_status, const char *last_words, const char *directory);

/* Returns the exit status as a shell reports it: the status, or 128 + the signal. */
int executor_process_status(int wait_status);
