/*
 * A connection to a port of a pod, through the API server and the node's kubelet: the subresource "portforward" over
 * WebSocket with the protocol v4.channel.k8s.io, one connection for each stream.
 *
 *      r = port_forward_open(&config, "jobs", "pi-driver", 4040, &forward, error);
 *      r = port_forward_copy(forward, fd, error);
 *      port_forward_close(forward);
 *
 * The account needs the right to get and create pods/portforward. Functions block. One thread for each connection; any
 * number of them share the configuration.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

struct port_forward;

/*
 * Asks for a stream to @port. Negative with @error: -EACCES refused, with the API server's sentence; -ENOENT no such
 * pod; -EPROTO it does not speak the protocol; -ETIMEDOUT; the errors of http_perform and of credentials.
 */
int port_forward_open(const struct kube_config *config, const char *namespace, const char *pod, int port,
                      struct port_forward **out, struct fst_error *error);
void port_forward_close(struct port_forward *forward); /* NULL is allowed */

/*
 * Copies what arrives at the socket @fd to the port and back until one of them ends. After the socket has sent its last
 * byte, an answer may take up to a minute. Returns 0, or negative with @error: -ECONNREFUSED with the kubelet's
 * sentence if nothing in the pod listens at the port. @fd is non-blocking and stays open.
 */
int port_forward_copy(struct port_forward *forward, int fd, struct fst_error *error);
