/*
 * One connection of the lifecycle manager, to the RPC port of a master or worker, on a loop. It connects by itself with
 * the first request. When it breaks, its requests fail and it ends. All functions run on the loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct celeborn_connection;

/* How connections authenticate (celeborn_auth.h). Outlives them. */
struct celeborn_connection_auth {
        const char *app_id, *secret;
        bool registered; /* with the masters, by the first connection to one that succeeded */
};

struct celeborn_connection_ops {
        /* A reply: a message of celeborn.proto, borrowed for the call. */
        void (*replied)(void *owner, uint64_t request, int type, const uint8_t *body, size_t len);

        /* There will be no reply. */
        void (*failed)(void *owner, uint64_t request, const char *why);

        /* The connection has ended: it frees itself after this call. */
        void (*ended)(void *owner, struct celeborn_connection *connection);
};

/*
 * @host is copied. @connect_timeout_ms limits connecting, with the resolution of the name and authentication. @auth
 * NULL: the server asks for none; else @master says whether the server may be asked to register the application. Never
 * NULL.
 */
struct celeborn_connection *celeborn_connection_new(uv_loop_t *loop, const char *host, int port,
                                                    uint64_t connect_timeout_ms, struct celeborn_connection_auth *auth,
                                                    bool master, const struct celeborn_connection_ops *ops,
                                                    void *owner);

bool celeborn_connection_is_to(const struct celeborn_connection *c, const char *host, int port);

/* The @master of celeborn_connection_new. */
bool celeborn_connection_is_to_master(const struct celeborn_connection *c);

/* Sends a request to @endpoint of the server. `replied` or `failed` follows, never during the call. */
void celeborn_connection_send(struct celeborn_connection *c, uint64_t request, const char *endpoint, int type,
                              const uint8_t *body, size_t len);

/* Ends it without calls of `replied` and `failed`; `ended` follows. */
void celeborn_connection_close(struct celeborn_connection *c);
