/*
 * The secrets of spark.mesos.{driver,executor}.secret.*: of a store by name, or by value; as variables and as files.
 */
#pragma once

#include "mesos/protocol/mesos.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct fst_conf;
struct fst_error;

struct task_secrets {
        Firesteel__Mesos__Environment__Variable **variables;
        size_t n_variables;
        Firesteel__Mesos__Volume **volumes; /* read-only files */
        size_t n_volumes;
};

/*
 * Reads the secrets of the driver, or of executors, into @arena. Returns 0, or -EINVAL with @error: names and values
 * are both set, or there are not as many variables or files as secrets. No message holds a secret.
 */
int task_secrets_read(struct arena *arena, const struct fst_conf *conf, bool of_driver, struct task_secrets *out,
                      struct fst_error *error);
