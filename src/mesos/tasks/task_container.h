/*
 * The container of a task: image, volumes and ports of spark.mesos.executor.docker.*, and the network of
 * spark.mesos.network.*. Without an image it is an ordinary process of the agent.
 */
#pragma once

#include "mesos/protocol/mesos.pb-c.h"

struct arena;
struct fst_conf;
struct fst_error;

/* Sets *@out to a message in @arena. Returns 0, or -EINVAL with @error. */
int task_container_read(struct arena *arena, const struct fst_conf *conf, Firesteel__Mesos__ContainerInfo **out,
                        struct fst_error *error);

/* Adds @n volumes to those that the container has. Borrows them. */
void task_container_add_volumes(struct arena *arena, Firesteel__Mesos__ContainerInfo *container,
                                Firesteel__Mesos__Volume *const *volumes, size_t n);
