/*
 * Asking the driver from a task's thread: the rpc layer lives on the executor's loop, so a question is handed over
 * to it, and the thread waits.
 *
 * All questions that wait when the executor ends, or when the driver's connection is lost, are answered -ESHUTDOWN.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct driver_asks;
struct fst_error;
struct rpc_ref;

/* For the loop's thread, which runs @loop. 0, or negative with @error. */
int driver_asks_new(uv_loop_t *loop, struct rpc_ref *driver, struct driver_asks **asks, struct fst_error *error);

/* On the loop's thread: no further question gets through, and who waits is answered. */
void driver_asks_stop(struct driver_asks *asks);

/* After the loop has run to its end. No thread may be asking any more. NULL is allowed. */
void driver_asks_free(struct driver_asks *asks);

/*
 * Ask with @question and wait for an answer of @type, unpacked by the caller from *@body, which it frees. @stopped
 * (atomic, may be NULL) ends the waiting. 0; -ECANCELED; -ESHUTDOWN; or what the rpc layer answers, with @error. Any
 * thread but the loop's.
 */
int driver_ask(struct driver_asks *asks, uint16_t type, const ProtobufCMessage *question, const int *stopped,
               uint8_t **body, size_t *len, struct fst_error *error);

/* The same with a question that is packed, and is answered within @timeout_ms (0: as every ask). */
int driver_ask_packed(struct driver_asks *asks, uint16_t type, const void *question, size_t question_len,
                      int64_t timeout_ms, const int *stopped, uint8_t **body, size_t *len, struct fst_error *error);
