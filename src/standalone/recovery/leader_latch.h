/* Leader election by ZooKeeper: each master creates an ephemeral sequential node below <dir>/leader_election, and the
 * one with the smallest number leads. Node names follow Spark's (Apache Curator's), so genuine masters with the same
 * directory take part.
 *
 * A leader must be sure that the servers have not expired its session: it reads its node every sixth of the session's
 * timeout. When 9/10 of the timeout have passed since it sent the last request that was answered, it steps down,
 * whether or not the connection seems alive. So two masters never lead at the same time, even if one was suspended
 * for a while. Requests that a former leader sent too late are refused by the servers, since its session has expired
 * and its node, which each write checks, is gone.
 *
 * A connection that is lost and restored within that time changes nothing (Spark's leader gives up at once).
 */
#pragma once

#include "net/zookeeper.h"

struct leader_latch;

struct leader_latch_options {
        struct zookeeper_options zookeeper;
        const char *dir;                    /* "/spark" */
        const char *name;                   /* the master's URL, for operators */
        const struct zookeeper_ops *module; /* NULL, or a test's operations */
};

struct leader_latch_ops {
        /* This master leads. @z accepts requests; @node is the path of its node. Both are valid until lost or closed.
         */
        void (*gained)(void *owner, struct zookeeper *z, const char *node);
        /* While it leads: the connection was lost (requests end with LOST), or restored. */
        void (*connection)(void *owner, bool there);
        /* It no longer leads. Nothing more is called until leader_latch_again. */
        void (*lost)(void *owner, const char *why);
        /* It can never lead: the servers reject the password, or it has no permission for @dir. */
        void (*failed)(void *owner, const char *message);
};

/* Stands for election. @options is borrowed for the call, @ops and @owner until it is closed. Never NULL. */
struct leader_latch *leader_latch_open(uv_loop_t *loop, const struct leader_latch_options *options,
                                       const struct leader_latch_ops *ops, void *owner);

/* Called by a leader that finds its node gone: → lost, from within. */
void leader_latch_step_down(struct leader_latch *l, const char *why);

/* After `lost`: stands again, with a new session. */
void leader_latch_again(struct leader_latch *l);

/* Leaves the election: another master may lead at once. From now on only @closed is called. */
void leader_latch_close(struct leader_latch *l, void (*closed)(void *owner), void *owner);
