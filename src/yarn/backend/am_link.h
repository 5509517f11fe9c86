/*
 * The driver's side of an ApplicationMaster in a container (client mode): the endpoint "YarnScheduler", to which
 * `firesteel yarn-am` connects (executor_launcher.h). It gets the configuration and the targets, and reports what
 * becomes of executors. A second attempt takes the place of the first one and gets the same targets.
 *
 * All calls and callbacks are on the loop's thread.
 */
#pragma once

#include "yarn/backend/executor_containers.h"

struct am_link;
struct rpc_env;

struct am_link_ops {
        struct executor_containers_ops executors; /* `finished` is not called */
        /* The ApplicationMaster's connection is gone; @why is a sentence. */
        void (*lost)(void *owner, const char *why);
        /* Another attempt has taken its place: YARN ends the executors of the earlier one. */
        void (*replaced)(void *owner);
};

/* @c has what the ApplicationMaster needs and must outlive the link. Returns 0, or negative with @error. */
int am_link_new(struct rpc_env *rpc, const struct executor_containers *c, const struct am_link_ops *ops, void *owner,
                struct am_link **out, struct fst_error *error);

/* Refuses ApplicationMasters from now on; nothing more is reported. NULL is allowed. */
void am_link_close(struct am_link *link);

/* After the rpc env was closed. NULL is allowed. */
void am_link_free(struct am_link *link);

/* Replaces the target of its profile, now and for later attempts. */
void am_link_request(struct am_link *link, const struct yarn_target *target);

/* The scheduler excludes these hosts, now and for later attempts. */
void am_link_exclude(struct am_link *link, const char *const *hosts, size_t n);

/* New delegation tokens, a stream of credentials, for containers that start later. */
void am_link_update_tokens(struct am_link *link, const void *stream, size_t len);
void am_link_kill(struct am_link *link, int32_t executor);

/* The ApplicationMaster unregisters and exits. Returns false if there is none. */
bool am_link_finish(struct am_link *link, int final_status, const char *diagnostics);
bool am_link_is_connected(const struct am_link *link);

/* An executor with this id has existed: later attempts use higher ones. */
void am_link_saw(struct am_link *link, int32_t executor);
