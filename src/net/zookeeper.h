/*
 * A client of ZooKeeper on a loop: one session, from connecting to closing, and requests that are answered on the
 * loop's thread. The library, which has threads of its own, lies in a module that is loaded by the first who needs it.
 *
 *      zk_open(loop, &options, &events, owner, NULL, &z);
 *      …                                                   → events.session(owner, ZOOKEEPER_CONNECTED, …)
 *      zk_get(z, "/spark/x", got, context);         → got(context, &answer)
 *      zk_close(z, closed, owner);                  → closed(owner)
 *
 * Requests are carried out by the servers in the order in which they were made. A request is answered exactly once,
 * unless the session is closed before; never from within its function. Connecting is the library's business and goes on
 * as long as the session is open and has not expired. Nothing blocks the loop: names are resolved, and the last
 * farewell is waited for, in libuv's pool or in the library's threads. All functions on the loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct zookeeper;
struct zookeeper_ops;
struct fst_error;

struct zookeeper_options {
        const char *servers;       /* "host:port,host:port/chroot" */
        int session_timeout;       /* ms; the servers may decide on another */
        const char *user_password; /* "user:password", scheme digest: what is created is this user's alone; or NULL */
};

enum zookeeper_session {
        ZOOKEEPER_CONNECTED,    /* for the first time or again */
        ZOOKEEPER_DISCONNECTED, /* requests fail until it is connected again */
        ZOOKEEPER_EXPIRED,      /* all is over: close it */
        ZOOKEEPER_REFUSED,      /* the servers do not accept who we are: close it */
        ZOOKEEPER_UNREACHABLE,  /* it could not even begin (a name is not known, the module is missing): close it */
};

struct zookeeper_events {
        /* @timeout: what was agreed on, ms; with CONNECTED. @message: with UNREACHABLE, else NULL. */
        void (*session)(void *owner, enum zookeeper_session session, int timeout, const char *message);
        /* A node that was watched by zk_exists was created, changed or removed. */
        void (*watch)(void *owner, const char *path);
};

enum zookeeper_code {
        ZOOKEEPER_OK,
        ZOOKEEPER_NO_NODE,
        ZOOKEEPER_NODE_EXISTS,
        ZOOKEEPER_LOST,      /* the connection, while it was under way: done or not, nobody knows */
        ZOOKEEPER_OVER,      /* the session is */
        ZOOKEEPER_NO_RIGHTS, /* to this node */
        ZOOKEEPER_FAILED,    /* see `text` */
};

/* Of which a function's comment says what is set. Borrowed for the call. */
struct zookeeper_answer {
        enum zookeeper_code code;
        const char *text; /* the code as ZooKeeper puts it */
        const char *path; /* create: the node's, with its number */
        const void *data; /* get */
        size_t size;
        int64_t created;             /* get: the transaction that made the node: older ones are smaller */
        const char *const *children; /* children: names without a path, in no order */
        size_t n_children;
        size_t failed; /* multi: the step that did */
};

typedef void zookeeper_done(void *context, const struct zookeeper_answer *answer);

enum zookeeper_what { ZOOKEEPER_CHECK, ZOOKEEPER_CREATE, ZOOKEEPER_SET, ZOOKEEPER_DELETE };

/* One of the steps of a multi. CHECK: the node is there. */
struct zookeeper_step {
        enum zookeeper_what what;
        const char *path;
        const void *data;
        size_t size;
};

/*
 * Begin a session. @options is borrowed for the call, @events and @owner until it is closed. @module: other operations
 * than those of the module (for tests), or NULL. Never fails at once: see ZOOKEEPER_UNREACHABLE.
 */
void zk_open(uv_loop_t *loop, const struct zookeeper_options *options, const struct zookeeper_events *events,
             void *owner, const struct zookeeper_ops *module, struct zookeeper **z);

/*
 * End the session, which removes its ephemeral nodes if the servers can be reached. Nothing but @closed is called from
 * now on: requests are not answered any more.
 */
void zk_close(struct zookeeper *z, void (*closed)(void *owner), void *owner);

/* @ephemeral: it goes with the session, and a number that grows is added to its name. */
void zk_create(struct zookeeper *z, const char *path, const void *data, size_t size, bool ephemeral,
               zookeeper_done *done, void *context);

/* @watch: events.watch is called once when that changes, unless the answer is neither OK nor NO_NODE. */
void zk_exists(struct zookeeper *z, const char *path, bool watch, zookeeper_done *done, void *context);
void zk_children(struct zookeeper *z, const char *path, zookeeper_done *done, void *context);
void zk_get(struct zookeeper *z, const char *path, zookeeper_done *done, void *context);

/* All of the steps or none. What they point to is borrowed for the call. */
void zk_multi(struct zookeeper *z, const struct zookeeper_step *steps, size_t n, zookeeper_done *done, void *context);
