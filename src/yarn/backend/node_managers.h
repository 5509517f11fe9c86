/*
 * The NodeManagers on which an ApplicationMaster starts containers: a client for each, with the token that the
 * ResourceManager sent for it.
 */
#pragma once

#include "base/list.h"
#include "base/vec.h"
#include "yarn/protocol/yarn.pb-c.h"

#include <uv.h>

struct fst_error;
struct node_start;

/* @error is NULL when the NodeManager has accepted the container. */
typedef void (*node_start_done)(void *owner, const Firesteel__Yarn__ContainerId *container, const char *error);

struct node_manager;

struct node_managers {
        uv_loop_t *loop;
        VEC(struct node_manager *) nodes;
        LIST(struct node_start) starts; /* sent and not answered */
        node_start_done done;
        void *owner;
};

void node_managers_init(struct node_managers *nodes, uv_loop_t *loop, node_start_done done, void *owner);

/* Pending starts are dropped. */
void node_managers_deinit(struct node_managers *nodes);

/* Keeps a token; a newer one for the same node replaces it. */
void node_managers_set_token(struct node_managers *nodes, const Firesteel__Yarn__NodeToken *token);

/* Starts @context in @container. 0: `done` is called later, exactly once. Negative with @error: nothing was sent, and
 * `done` is not called. */
int node_managers_start(struct node_managers *nodes, const Firesteel__Yarn__Container *container,
                        const Firesteel__Yarn__ContainerLaunchContext *context, struct fst_error *error);
