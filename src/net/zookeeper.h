/*
 * A ZooKeeper client on a loop: one session, and requests that are answered on the loop's thread. The library, which
 * has its own threads, is in a module that is loaded on first use.
 *
 *      zk_open(loop, &options, &events, owner, NULL, &z);
 *      …                                                   → events.session(owner, ZOOKEEPER_CONNECTED, …)
 *      zk_get(z, "/spark/x", got, context);         → got(context, &answer)
 *      zk_close(z, closed, owner);                  → closed(owner)
 *
 * The servers carry out requests in order. A request is answered exactly once, unless the session is closed before, and
 * never from within its function. The library keeps connecting while the session is open and has not expired. Nothing
 * blocks the loop: libuv's pool or the library's threads resolve names and wait for the session to close. Call all
 * functions on the loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct zookeeper;
struct zookeeper_ops;

struct zookeeper_options {
        const char *servers; /* "host:port,host:port/chroot" */
        int session_timeout; /* ms; the servers may choose another */
        const char
                *user_password; /* "user:password", scheme digest: only this user may access created nodes; or NULL */
};

enum zookeeper_session {
        ZOOKEEPER_CONNECTED,    /* for the first time or again */
        ZOOKEEPER_DISCONNECTED, /* requests fail until it is connected again */
        ZOOKEEPER_EXPIRED,      /* the session is over: close it */
        ZOOKEEPER_REFUSED,      /* the servers reject the credentials: close it */
        ZOOKEEPER_UNREACHABLE,  /* the session could not begin (unknown host name, missing module): close it */
};

struct zookeeper_events {
        /* @timeout: the negotiated one, ms; with CONNECTED. @message: with UNREACHABLE, otherwise NULL. */
        void (*session)(void *owner, enum zookeeper_session session, int timeout, const char *message);
        /* A node watched by zk_exists was created, changed or removed. */
        void (*watch)(void *owner, const char *path);
};

enum zookeeper_code {
        ZOOKEEPER_OK,
        ZOOKEEPER_NO_NODE,
        ZOOKEEPER_NODE_EXISTS,
        ZOOKEEPER_LOST,      /* the connection was lost before the answer: the outcome is unknown */
        ZOOKEEPER_OVER,      /* the session is over */
        ZOOKEEPER_NO_RIGHTS, /* access to this node is denied */
        ZOOKEEPER_FAILED,    /* see `text` */
};

/* Each function's comment names the members that it sets. Borrowed for the call. */
struct zookeeper_answer {
        enum zookeeper_code code;
        const char *text; /* ZooKeeper's text of the code */
        const char *path; /* create: the node's path, with its number */
        const void *data; /* get */
        size_t size;
        int64_t created;             /* get: the transaction that created the node; smaller is older */
        const char *const *children; /* children: names without a path, unordered */
        size_t n_children;
        size_t failed; /* multi: the step that failed */
};

typedef void zookeeper_done(void *context, const struct zookeeper_answer *answer);

enum zookeeper_what { ZOOKEEPER_CHECK, ZOOKEEPER_CREATE, ZOOKEEPER_SET, ZOOKEEPER_DELETE };

/* A step of a multi. CHECK: the node exists. */
struct zookeeper_step {
        enum zookeeper_what what;
        const char *path;
        const void *data;
        size_t size;
};

/* Begins a session. @options is borrowed for the call, @events and @owner until it is closed. @module: operations in
 * place of the module's (for tests), or NULL. Errors are reported later: see ZOOKEEPER_UNREACHABLE.
 */
void zk_open(uv_loop_t *loop, const struct zookeeper_options *options, const struct zookeeper_events *events,
             void *owner, const struct zookeeper_ops *module, struct zookeeper **z);

/* Ends the session, which removes its ephemeral nodes if the servers can be reached. From now on only @closed is
 * called: requests get no answer.
 */
void zk_close(struct zookeeper *z, void (*closed)(void *owner), void *owner);

/* @ephemeral: removed with the session, and an increasing number is appended to its name. */
void zk_create(struct zookeeper *z, const char *path, const void *data, size_t size, bool ephemeral,
               zookeeper_done *done, void *context);

/* @watch: events.watch is called once when that changes, unless the answer is neither OK nor NO_NODE. */
void zk_exists(struct zookeeper *z, const char *path, bool watch, zookeeper_done *done, void *context);
void zk_children(struct zookeeper *z, const char *path, zookeeper_done *done, void *context);
void zk_get(struct zookeeper *z, const char *path, zookeeper_done *done, void *context);

/* Applies all steps or none. Their data is borrowed for the call. */
void zk_multi(struct zookeeper *z, const struct zookeeper_step *steps, size_t n, zookeeper_done *done, void *context);
