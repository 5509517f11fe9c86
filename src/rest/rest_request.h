/* A submission to a REST server (rest/rest_messages.h): the body of POST /v1/submissions/create, read as Spark reads
 * it. Pure.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

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
