/* `firesteel operator forward`: the UI of a driver at a port of this machine. */
#pragma once

struct fst_error;
struct operator_client;

/*
 * Listens on the loopback interface and forwards each connection to the driver of application @name, until the driver
 * has ended. @client must last until the process ends, since threads of connections use it. @port: "PORT" or
 * "PORT:DRIVER_PORT", port 0 a free one; NULL: that of the UI, or one of the next. Prints the URL. Returns 0, or
 * negative with @error.
 */
int operator_forward_run(struct operator_client *client, const char *namespace, const char *name, const char *port,
                         struct fst_error *error);
