/*
 * A socket on the loopback address that takes bytes from Python, or gives it bytes, once: with
 * spark.io.encryption.enabled Python writes nothing to files. The bytes are in memory, in a descriptor without a name.
 *
 * Python connects within 15 seconds and proves the secret. It sends chunks, each an int32 in big-endian order and as
 * many bytes, and ends with -1. It receives the bytes as they are.
 */
#pragma once

#include <stdbool.h>

struct byte_stream;
struct fst_error;

/* Starts to receive. Returns 0, or negative with @error. */
int byte_stream_receive(struct byte_stream **out, struct fst_error *error);

/* Starts to send what @from, which must live until the end, has received. Errors as above. */
int byte_stream_send(const struct byte_stream *from, struct byte_stream **out, struct fst_error *error);

/* Where Python connects. */
int byte_stream_port(const struct byte_stream *stream);
const char *byte_stream_secret(const struct byte_stream *stream);

/* Waits for the end. Returns 0, or negative with @error. */
int byte_stream_wait(struct byte_stream *stream, struct fst_error *error);

/* The path of the received bytes, as a file of this process. Borrowed. */
const char *byte_stream_path(const struct byte_stream *stream);

/* Waits for the end, and frees. NULL is allowed. */
void byte_stream_free(struct byte_stream *stream);
