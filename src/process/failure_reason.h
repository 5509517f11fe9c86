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

/* The reason, or NULL. The caller owns it. */
char *failure_reason_text(void);
