/*
 * Sends requests to the driver from tasks' threads. The rpc layer runs on the executor's loop, so a thread passes its
 * request to the loop and waits.
 *
 * If the executor ends or the connection to the driver is lost, all waiting requests return -ESHUTDOWN.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct driver_client;
struct fst_error;
struct rpc_ref;

/* Creates a client on the thread that runs @loop. Returns 0, or negative with @error. */
int driver_client_new(uv_loop_t *loop, struct rpc_ref *driver, struct driver_client **asks, struct fst_error *error);

/* Further requests go to @driver; those that were sent before fail with their connection. On the loop's thread. */
void driver_client_set_driver(struct driver_client *asks, struct rpc_ref *driver);

/* Rejects further requests and ends the waiting ones. On the loop's thread. */
void driver_client_stop(struct driver_client *asks);

/* Call it after the loop has ended, when no thread uses the client. NULL is allowed. */
void driver_client_free(struct driver_client *asks);

/*
 * Sends @question and waits for a reply of @type in *@body, which the caller unpacks and frees. Setting @stopped
 * (atomic, may be NULL) ends the wait. Returns 0, -ECANCELED, -ESHUTDOWN, or an error of the rpc layer, with @error.
 * Any thread except the loop's.
 */
int driver_client_ask(struct driver_client *asks, uint16_t type, const ProtobufCMessage *question, const int *stopped,
                      uint8_t **body, size_t *len, struct fst_error *error);

/* Does the same with a packed request and a timeout of @timeout_ms (0: the default). */
int driver_client_ask_packed(struct driver_client *asks, uint16_t type, const void *question, size_t question_len,
                             int64_t timeout_ms, const int *stopped, uint8_t **body, size_t *len,
                             struct fst_error *error);
