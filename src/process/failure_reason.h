/*
 * The first reason why this process will fail, for the code that reports its end to a cluster manager.
 *
 * Threads: any.
 */
#pragma once

/* Remember @reason, a sentence, unless an earlier one is remembered. */
void failure_reason_add(const char *reason);

/* Forget the reason: the application starts anew. */
void failure_reason_clear(void);

/* Remember @message as the last failure of this thread. failure_reason_of_thread returns it, "" if there is none. */
void failure_reason_set_thread(const char *message);
const char *failure_reason_of_thread(void);

/* The reason, or NULL. The caller owns it. */
char *failure_reason_text(void);
