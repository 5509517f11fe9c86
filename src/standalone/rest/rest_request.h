/*
 * What a client of the REST submission server (rest/rest_messages.h) asks to run: the body of
 * POST /v1/submissions/create, read as Spark reads it, and the driver that it describes.
 *
 * Pure but for the environment's variables that values of the form {{NAME}} stand for.
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
        VEC(char *) unknown; /* fields that this server does not know, in their order */
};

#define REST_REQUEST_INIT ((struct rest_request){0})

void rest_request_deinit(struct rest_request *q);

/*
 * 0; or negative with @error, the sentence for the client, and @q empty: -EBADMSG for what is no such message, with
 * the name of Spark's exception before it; -ENOMSG for another message of the protocol.
 */
int rest_request_parse(struct rest_request *q, const char *json, size_t len, struct fst_error *error);

/*
 * The driver that it asks for, in @memory. @master_url is this master's; @rest_port: where a list of masters in
 * spark.master names the REST servers' port, the driver is told the masters' own. -EBADMSG with @error as above.
 */
int rest_request_driver(const struct rest_request *q, const char *master_url, int rest_port,
                        Firesteel__Standalone__DriverDescription **out, struct arena *memory, struct fst_error *error);

/*
 * The same for the core of a master: @spec, with the packed description as its body; all of it in @memory, or borrowed
 * from @q.
 */
int rest_request_spec(const struct rest_request *q, const char *master_url, int rest_port, struct driver_spec *spec,
                      struct arena *memory, struct fst_error *error);
