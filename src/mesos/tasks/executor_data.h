/*
 * What the driver of fine-grained mode puts into ExecutorInfo.data for `firesteel mesos-executor`: its address, and the
 * settings that an executor needs before it knows the driver's. Pairs of texts, each ended by a zero byte; the key
 * "driver-url" is the address.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct buf;
struct fst_conf;
struct fst_error;

#define EXECUTOR_DATA_MAX ((size_t)1 << 20)

/* Appends the data to @out. Secrets are left out: they come in the environment. */
void executor_data_write(struct buf *out, const char *driver_url, const struct fst_conf *conf);

/*
 * Adds the settings to @conf. Returns 0 and *@driver_url, which points into @data, or -EBADMSG with @error: not pairs of
 * texts, too long, or without an address.
 */
int executor_data_read(const uint8_t *data, size_t len, const char **driver_url, struct fst_conf *conf,
                       struct fst_error *error);
