/*
 * An application in client mode: created, submitted and accepted. Its ApplicationMaster runs in a container, or is the
 * driver's process (spark.yarn.unmanagedAM.enabled), which gets the token that an ApplicationMaster proves.
 */
#pragma once

#include "hadoop/credentials.h"
#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct hadoop_rpc_client;

struct client_application {
        struct yarn_application_id id;
        int64_t most_mb;           /* of a container in this cluster */
        struct hadoop_token token; /* YARN_AM_RM_TOKEN; only without a container */
};

/* Sets `id` and `most_mb`. All return 0, or negative with @error, and run the client's loop. */
int client_application_create(struct hadoop_rpc_client *rm, struct client_application *out, struct fst_error *error);

/*
 * Submits it with the name, queue, tags, priority, … of @conf, and waits until YARN accepts it. @am starts the
 * ApplicationMaster in a container; NULL: there is none, and `token` is set.
 */
int client_application_submit(struct hadoop_rpc_client *rm, const struct fst_conf *conf,
                              Firesteel__Yarn__ContainerLaunchContext *am, struct client_application *app,
                              struct fst_error *error);
void client_application_deinit(struct client_application *app);
