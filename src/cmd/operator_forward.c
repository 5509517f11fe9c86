/* See operator_forward.h. Each connection has a thread, which ends with it or with the process. */
#include "cmd/operator_forward.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/port_forward.h"
#include "net/socket.h"
#include "operator/commands/operator_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 200, NEXT_PORTS = 16, STACK = 256 << 10 };

#define LOOK_NS (2 * NS_PER_SECOND)

struct ui_forwarder {
        const struct kube_config *config;
        const char *namespace;
        char *pod;
        int port; /* of the driver */
        _Atomic int connections;
};

struct ui_connection {
        struct ui_forwarder *forwarder;
        int fd;
};

static void *ui_connection_run(void *argument)
{
        struct ui_connection *c = argument;
        struct ui_forwarder *f = c->forwarder;
        struct port_forward *forward = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = port_forward_open(f->config, f->namespace, f->pod, f->port, &forward, &error);
        if (r == 0)
                r = port_forward_copy(forward, c->fd, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        port_forward_close(forward);
        close(c->fd);
        atomic_fetch_sub(&f->connections, 1);
        free(c);
        return NULL;
}

static void ui_forwarder_accept(struct ui_forwarder *f, int listener)
{
        pthread_attr_t attributes;
        pthread_t thread;
        int fd = socket_accept(listener);
        if (fd < 0)
                return;
        struct ui_connection *c = new0(struct ui_connection);
        *c = (struct ui_connection){.forwarder = f, .fd = fd};
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK);
        atomic_fetch_add(&f->connections, 1);
        if (pthread_create(&thread, &attributes, ui_connection_run, c) != 0) {
                atomic_fetch_sub(&f->connections, 1);
                close(fd);
                free(c);
        }
        pthread_attr_destroy(&attributes);
}

/* Reads a number from @least to 65535 that ends with @stop or with the text. */
static bool ui_forwarder_parse_port(const char *text, char stop, int least, int *port)
{
        char *end;
        long n = strtol(text, &end, 10);
        if (*text < '0' || *text > '9' || (*end && *end != stop) || n < least || n > UINT16_MAX)
                return false;
        *port = (int)n;
        return true;
}

/* Parses "PORT" or "PORT:DRIVER_PORT". */
static int ui_forwarder_parse(const char *text, int *local, int *remote, struct fst_error *error)
{
        const char *colon = strchr(text, ':');
        if (ui_forwarder_parse_port(text, ':', 0, local) &&
            (!colon || ui_forwarder_parse_port(colon + 1, 0, 1, remote)))
                return 0;
        return error_set(error, -EINVAL, "--port %s: it needs a port from 0 to 65535, or two of them such as 8080:4040",
                         text);
}

static int ui_forwarder_serve(struct ui_forwarder *f, struct operator_client *client, const char *name, int listener,
                              struct fst_error *error)
{
        for (int64_t look = now_ns();;) {
                const bool full = atomic_load(&f->connections) >= MAX_CONNECTIONS;
                struct pollfd p = {.fd = full ? -1 : listener, .events = POLLIN};
                if (poll(&p, 1, (int)ms_until(look, now_ns())) > 0)
                        ui_forwarder_accept(f, listener);
                if (now_ns() < look)
                        continue;
                int r = operator_client_pod_lives(client, f->namespace, f->pod, error);
                if (r < 0)
                        return r;
                if (r == 0) {
                        printf("The driver of \"%s\" has ended.\n", name);
                        return 0;
                }
                look = now_ns() + LOOK_NS;
        }
}

int operator_forward_run(struct operator_client *client, const char *namespace, const char *name, const char *port,
                         struct fst_error *error)
{
        static struct ui_forwarder forwarder; /* threads of connections may outlive this function */
        struct ui_forwarder *f = &forwarder;
        *f = (struct ui_forwarder){.config = operator_client_config(client), .namespace = namespace};
        int local, r = operator_client_driver_ui(client, namespace, name, &f->pod, &f->port, error);
        if (r < 0)
                return r;
        local = f->port;
        if (port && (r = ui_forwarder_parse(port, &local, &f->port, error)) < 0)
                return r;
        struct listen_options options = {.service = "operator forward",
                                         .host = "127.0.0.1",
                                         .port = local,
                                         .max_retries = port ? 0 : NEXT_PORTS,
                                         .any_port = !port};
        int listener = socket_listen(&options, &local, error);
        if (listener == -EADDRINUSE)
                return error_set(error, listener,
                                 "port %d of 127.0.0.1 is in use: choose another one with --port, or 0 for a free one",
                                 local);
        if (listener < 0)
                return listener;
        printf("http://127.0.0.1:%d leads to port %d of the pod \"%s\" until the driver ends (Ctrl-C ends it earlier).\n",
               local, f->port, f->pod);
        fflush(stdout);
        r = ui_forwarder_serve(f, client, name, listener, error);
        close(listener);
        return r;
}
