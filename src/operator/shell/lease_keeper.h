/*
 * Runs the election of a leader (lease.h) on a loop, through the API server.
 *
 * Threads: the loop's thread. Only `released` may be called from within a function of this header.
 */
#pragma once

#include "operator/shell/lease.h"

#include <uv.h>

struct kube_client;
struct lease_keeper;

struct lease_keeper_ops {
        void (*leading)(void *owner);  /* this operator leads now */
        void (*lost)(void *owner);     /* it must stop to act at once */
        void (*released)(void *owner); /* after lease_keeper_release: the lease is given up, or could not be */
};

struct lease_keeper *lease_keeper_start(struct kube_client *client, const struct lease_options *options,
                                        const struct lease_keeper_ops *ops, void *owner);

/* Gives the lease up, so that another operator leads at once. */
void lease_keeper_release(struct lease_keeper *k);

/* Call it before the client is freed. The loop must run on to free libuv's handle. NULL is allowed. */
void lease_keeper_free(struct lease_keeper *k);

bool lease_keeper_leads(const struct lease_keeper *k);
