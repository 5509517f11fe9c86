/* The driver that a submission to the REST server of a standalone master describes.
 *
 * Pure, except that values of the form {{NAME}} read environment variables.
 */
#pragma once

#include "rpc/wire_memory.h"
#include "standalone/core/master_core.h"
#include "standalone/wire/standalone.pb-c.h"

struct fst_error;
struct rest_request;

/* Builds the requested driver in @memory. @master_url is this master's. If spark.master lists masters with the REST
 * servers' port (@rest_port), the driver gets the masters' own ports. -EBADMSG with @error worded for the client.
 */
int rest_request_driver(const struct rest_request *q, const char *master_url, int rest_port,
                        Firesteel__Standalone__DriverDescription **out, struct arena *memory, struct fst_error *error);

/* The same for the core of a master: @spec, with the packed description as its body, in @memory or borrowed from @q.
 */
int rest_request_spec(const struct rest_request *q, const char *master_url, int rest_port, struct driver_spec *spec,
                      struct arena *memory, struct fst_error *error);
