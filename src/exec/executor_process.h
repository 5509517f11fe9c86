/*
 * An executor as a child process, for those who start executors on their own machine: the driver of a local cluster and
 * the worker of a standalone one.
 */
#pragma once

#include <sys/types.h>

struct string_list;

/*
 * Append the environment of a child that says its last words to CHILD_WORDS_FD (process/child.h) when it crashes: this
 * process's own, with the secret of spark.authenticate, which may be NULL. It travels there because a command line can
 * be read by everybody.
 */
void executor_process_environment(struct string_list *variables, const char *secret);

/*
 * How it ended, as Spark's workers say it: "Command exited with code 139 (SIGSEGV, core dumped, core dump: /d/core.7):
 * task 3 … crashed in split in wordcount.so". @directory is where it ran. The caller owns it.
 */
char *executor_process_end(pid_t pid, int wait_status, const char *last_words, const char *directory);

/* What a shell would call it: the exit status, or 128 + the signal. */
int executor_process_status(int wait_status);
