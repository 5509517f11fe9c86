/*
 * The settings with which a dispatcher starts a driver, and what is wrong with them. A submission is refused for what
 * would end its driver, because nobody reads the log of an agent. Pure.
 */
#pragma once

#include "base/strmap.h"

struct driver_command;
struct fst_error;

/* Adds the dispatcher's spark.mesos.dispatcher.driverDefault.* to @out, and over them what the submission sets. */
void driver_settings_merge(const struct driver_command *c, struct strmap *out);

/*
 * Checks what the driver will read: values that are not of the type of their key, unless they have a reference
 * ("${env:NAME}", which only the agent can replace), and what the offers, the executors' tasks and their numbers make
 * of them. Returns 0, or -EINVAL with @error, which names the key.
 */
int driver_settings_check(const struct driver_command *c, struct fst_error *error);
