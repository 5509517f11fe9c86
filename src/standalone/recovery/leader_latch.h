/*
 * Which of several masters leads, by ZooKeeper: each makes an ephemeral node with a number below
 * <dir>/leader_election, and the one with the smallest number leads. The nodes are named as those of Spark's (Apache
 * Curator's) are, so that genuine masters with the same directory take part.
 *
 * To lead means that the servers cannot have given the session up: a leader proves to itself that it has one, by asking
 * them for its node every sixth of the session's timeout. When 9/10 of the timeout have passed since the last such
 * request that was answered was sent, it does not lead any more, whether or not the connection seems to be there. So no
 * two masters lead at the same time, even if one of them was stopped for a while; and what a former leader sent to the
 * servers too late is refused by them, since its session is over (and its node, which each write checks for, is gone).
 *
 * A connection that is lost and found again within that time changes nothing (Spark's leader gives up at once).
 */
#pragma once

#include "net/zookeeper.h"

struct leader_latch;

struct leader_latch_options {
        struct zookeeper_options zookeeper;
        const char *dir;                    /* "/spark" */
        const char *name;                   /* the master's URL, for people who look */
        const struct zookeeper_ops *module; /* NULL, or a test's */
};

struct leader_latch_ops {
        /* It leads. Requests may be made of @z; @node is the path of its node. Both until lost or closed. */
        void (*gained)(void *owner, struct zookeeper *z, const char *node);
        /* While it leads: the connection is away (requests are answered with LOST), or back. */
        void (*connection)(void *owner, bool there);
        /* It led. Nothing more is called until leader_latch_again. */
        void (*lost)(void *owner, const char *why);
        /* It can never lead: the servers do not accept the password, or the rights to @dir are missing. */
        void (*failed)(void *owner, const char *message);
};

/* Stand for election. @options is borrowed for the call, @ops and @owner until it is closed. Never NULL. */
struct leader_latch *leader_latch_open(uv_loop_t *loop, const struct leader_latch_options *options,
                                       const struct leader_latch_ops *ops, void *owner);

/* For who leads and finds that its node is gone: → lost, from within. */
void leader_latch_step_down(struct leader_latch *l, const char *why);

/* After `lost`: stand again, with a new session. */
void leader_latch_again(struct leader_latch *l);

/* Leave: another may lead at once. Nothing but @closed is called from now on. */
void leader_latch_close(struct leader_latch *l, void (*closed)(void *owner), void *owner);
