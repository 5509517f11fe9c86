/*
 * The registrations of a shuffle service in one file: "FSTEXEC1", a packed ShuffleServiceState, xxh3 of both u64,
 * little-endian. The file is replaced atomically and synced before it is renamed.
 */
#pragma once

#include "rpc/transfer/transfer.pb-c.h"

struct fst_error;

/* Returns 0, or negative with @error. The file is then unchanged. */
int service_state_write(const char *path, const Firesteel__ShuffleServiceState *state, struct fst_error *error);

/* Parses the content of a file. @path is for messages. As service_state_read, but *@state is unchanged on errors. */
int service_state_parse(const char *path, const unsigned char *bytes, size_t n, Firesteel__ShuffleServiceState **state,
                        struct fst_error *error);

/* *@state belongs to the caller; NULL if there is no file. Returns -EBADMSG with @error for a damaged file. */
int service_state_read(const char *path, Firesteel__ShuffleServiceState **state, struct fst_error *error);
