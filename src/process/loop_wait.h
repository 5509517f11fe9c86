/*
 * Runs an event loop until a condition holds.
 *
 * A loop of `while (!done) uv_run(loop, UV_RUN_ONCE)` may miss a condition that a timer sets: libuv runs timers that
 * are due and then waits for events, with none left to come. This function tests the condition between the two.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct uv_loop_s uv_loop_t;

#define LOOP_WAIT_FOREVER INT64_MAX

/*
 * Runs @loop until @is_done(@owner) returns true, at most @timeout_ms milliseconds from now. Returns the last result of
 * @is_done. It is called at least once, and then after timers and after events, also within an iteration of the loop:
 * it must not run the loop itself. With LOOP_WAIT_FOREVER, something in the loop must make the condition true.
 *
 * Call it on the loop's thread, but not from one of its callbacks.
 */
bool loop_wait(uv_loop_t *loop, bool (*is_done)(void *owner), void *owner, int64_t timeout_ms);

/* The same for a flag that a callback sets. */
void loop_wait_for_flag(uv_loop_t *loop, const bool *flag);
