/* The Mesos task of a driver: its command, files, environment, container, labels and secrets. Pure. */
#pragma once

#include "mesos/dispatcher/dispatcher_core.h"
#include "mesos/dispatcher/driver_command.h"
#include "mesos/protocol/mesos.pb-c.h"
#include "mesos/tasks/task_parts.h"

struct fst_error;

/* A task and what it points to, besides the command's request and the launch. */
struct driver_task {
        struct arena arena;
        struct task_parts parts;
        Firesteel__Mesos__TaskInfo *info;
};

/*
 * Makes the task of @command for @launch on @agent. NULL for @launch only checks the settings: info stays NULL. Returns
 * 0, or -EINVAL with @error, which names the key, and an empty @t.
 */
int driver_task_init(struct driver_task *t, const struct driver_command *command,
                     const struct dispatcher_launch *launch, const char *agent, struct fst_error *error);
void driver_task_deinit(struct driver_task *t);
