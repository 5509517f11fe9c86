/*
 * The launcher's side of Spark's launcher socket: hears of the applications that this process started, and tells them
 * to stop. What Spark's LauncherServer does, on a loop.
 *
 * Each application is expected with a secret of its own, which is good for one connection. Whoever connects has ten
 * seconds to say it, in one message of known size, and is heard no further without it. Only the loopback is listened
 * at.
 *
 * Everything happens on the loop's thread.
 */
#pragma once

#include "rpc/launcher_wire.h"

#include <uv.h>

struct fst_error;
struct launcher_server;

/* 64 digits and a NUL. */
#define LAUNCHER_SECRET_SIZE 65

struct launcher_client_ops {
        /* It said Hello, or SetAppId or SetState afterwards. @m is borrowed. */
        void (*said)(void *client, const struct launcher_message *m);
        /* Its connection has ended, by itself or for saying what it may not. Not after launcher_server_forget. */
        void (*left)(void *client);
};

int launcher_server_new(uv_loop_t *loop, const struct launcher_client_ops *ops, struct launcher_server **server,
                        struct fst_error *error);

/* Close everything. The loop must be run until it has nothing to do, which frees the server. NULL is allowed. */
void launcher_server_close(struct launcher_server *server);

int launcher_server_port(const struct launcher_server *server);

/* Expect @client, which is to say @secret (filled in). 0, or -errno when the system has no random numbers. */
int launcher_server_expect(struct launcher_server *server, void *client, char secret[LAUNCHER_SECRET_SIZE]);

/* @client does not connect any more; if it is connected, the connection ends. */
void launcher_server_forget(struct launcher_server *server, void *client);

/* Say Stop: 0, or -ENOTCONN. */
int launcher_server_stop_client(struct launcher_server *server, void *client);
