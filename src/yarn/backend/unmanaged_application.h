/*
 * An application whose ApplicationMaster is a process outside of YARN (spark.yarn.unmanagedAM.enabled): created,
 * submitted and accepted, with the token that its ApplicationMaster proves.
 */
#pragma once

#include "hadoop/credentials.h"
#include "yarn/conf/executor_size.h"
#include "yarn/protocol/yarn_ids.h"

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct hadoop_rpc_client;

struct unmanaged_application {
        struct yarn_application_id id;
        int64_t most_mb;           /* of a container in this cluster */
        struct hadoop_token token; /* YARN_AM_RM_TOKEN */
};

/* Sets `id` and `most_mb`. All return 0, or negative with @error, and run the client's loop. */
int unmanaged_application_create(struct hadoop_rpc_client *rm, struct unmanaged_application *out,
                                 struct fst_error *error);

/* Submits it with the name, queue, tags, priority, … of @conf, and waits until YARN accepts it. Sets `token`. */
int unmanaged_application_submit(struct hadoop_rpc_client *rm, const struct fst_conf *conf,
                                 struct unmanaged_application *app, struct fst_error *error);
void unmanaged_application_deinit(struct unmanaged_application *app);
