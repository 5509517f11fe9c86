/*
 * Large collections of R: their slices in a file, or on a connection if files must not hold them. A slice is an int
 * length and as many bytes, until the end. (Collections of some 200 MB or less come with the request.)
 */
#pragma once

#include <firesteel/firesteel.h>

struct fst_error;
struct r_parallelize;

/* The slices in the file at @path as rows in @partitions. Returns 0, or negative with @error. */
int r_parallelize_file(fst_context *sc, const char *path, int partitions, fst_rdd **rdd, struct fst_error *error);

/* Listens on the loopback interface for one connection that proves to know the secret, and reads it. */
int r_parallelize_listen(int partitions, struct r_parallelize **server, struct fst_error *error);
int r_parallelize_port(const struct r_parallelize *server);
const char *r_parallelize_secret(const struct r_parallelize *server);

/* Waits for the end of the connection. Returns 0 with the rows in the partitions of the call above, or negative with
 * @error. */
int r_parallelize_wait(struct r_parallelize *server, fst_context *sc, fst_rdd **rdd, struct fst_error *error);

/* NULL is allowed. */
void r_parallelize_free(struct r_parallelize *server);
