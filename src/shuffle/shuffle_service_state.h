/*
 * What a shuffle service remembers over a restart, in one file: "FSTEXEC1", a packed ShuffleServiceState, xxh3 of both
 * u64, little-endian. It is replaced as a whole, and is on the disk when it has its name.
 */
#pragma once

#include "rpc/transfer/transfer.pb-c.h"

struct fst_error;

/* 0, or negative with @error; then the file is as it was. */
int service_state_write(const char *path, const Firesteel__ShuffleServiceState *state, struct fst_error *error);

/* The content of a file; @path is for messages. As service_state_read, but *@state is unchanged on errors. */
int service_state_parse(const char *path, const unsigned char *bytes, size_t n, Firesteel__ShuffleServiceState **state,
                        struct fst_error *error);

/* *@state is the caller's; NULL if there is no file. -EBADMSG with @error for a damaged one. */
int service_state_read(const char *path, Firesteel__ShuffleServiceState **state, struct fst_error *error);
