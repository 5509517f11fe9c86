/*
 * The server side of Spark's launcher socket, on a libuv loop (Spark: LauncherServer). It receives the states of the
 * applications that this process started and sends them Stop.
 *
 * Each application gets its own secret, which is valid for one connection. A peer must send the secret within ten
 * seconds, in one message of bounded size. The server closes any other connection. It listens on the loopback interface
 * only.
 *
 * All functions and callbacks run on the loop's thread.
 */
#pragma once

#include "rpc/launcher_wire.h"

#include <uv.h>

struct fst_error;
struct launcher_server;

/* 64 hexadecimal digits and a NUL. */
#define LAUNCHER_SECRET_SIZE 65

struct launcher_client_ops {
        /* The application sent Hello, or later SetAppId or SetState. @m is borrowed. */
        void (*on_message)(void *client, const struct launcher_message *m);
        /*
         * The connection ended, or the server closed it after an invalid message. Not called after
         * launcher_server_forget.
         */
        void (*on_disconnect)(void *client);
};

int launcher_server_new(uv_loop_t *loop, const struct launcher_client_ops *ops, struct launcher_server **server,
                        struct fst_error *error);

/* Closes everything. The caller must then run the loop until it is empty, which frees the server. NULL is allowed. */
void launcher_server_close(struct launcher_server *server);

int launcher_server_port(const struct launcher_server *server);

/*
 * Creates a secret with which @client will connect, and stores it in @secret. Returns 0, or -errno if the system has no
 * random numbers.
 */
int launcher_server_expect(struct launcher_server *server, void *client, char secret[LAUNCHER_SECRET_SIZE]);

/* Invalidates the secret of @client, or closes its connection. */
void launcher_server_forget(struct launcher_server *server, void *client);

/* Sends Stop. Returns 0, or -ENOTCONN. */
int launcher_server_stop_client(struct launcher_server *server, void *client);
