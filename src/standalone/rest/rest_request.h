/* A submission to the REST server (rest/rest_messages.h): the body of POST /v1/submissions/create, read as Spark
 * reads it, and the driver that it describes.
 *
 * Pure, except that values of the form {{NAME}} read environment variables.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "standalone/core/master_core.h"
#include "standalone/wire/standalone.pb-c.h"
#include "rpc/wire_memory.h"

struct fst_error;

struct rest_request {
        char *app_resource, *main_class;
        VEC(char *) app_args;
        struct strmap properties, environment;
        VEC(char *) unknown; /* fields that this server does not know, in order */
};

#define REST_REQUEST_INIT ((struct rest_request){0})

void rest_request_deinit(struct rest_request *q);

/* Returns 0, or negative with @error worded for the client and an empty @q: -EBADMSG for an invalid message, prefixed
 * with the name of Spark's exception; -ENOMSG for another message of the protocol.
 */
int rest_request_parse(struct rest_request *q, const char *json, size_t len, struct fst_error *error);

/* Builds the requested driver in @memory. @master_url is this master's. If spark.master lists masters with the REST
 * servers' port (@rest_port), the driver gets the masters' own ports. -EBADMSG with @error as above.
 */
int rest_request_driver(const struct rest_request *q, const char *master_url, int rest_port,
                        Firesteel__Standalone__DriverDescription **out, struct arena *memory, struct fst_error *error);

/* The same for the core of a master: @spec, with the packed description as its body, in @memory or borrowed from @q.
 */
int rest_request_spec(const struct rest_request *q, const char *master_url, int rest_port, struct driver_spec *spec,
                      struct arena *memory, struct fst_error *error);
