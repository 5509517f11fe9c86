/*
 * What requests pass before anything is done for them: spark.ui.filters and spark.master.rest.filters, lists of names
 * of Spark's filter classes. They say who asks, or refuse.
 *
 *      org.apache.spark.ui.JWSFilter    a token signed with a shared key: "Authorization: Bearer …" (HS256, 384, 512)
 *              spark.org.apache.spark.ui.JWSFilter.param.secretKey            the key, base64url
 *              spark.org.apache.spark.ui.JWSFilter.param.requireExpiration    true: tokens must end
 *          its claim "sub" is the user (Spark takes it for nobody)
 *      firesteel.RemoteUserFilter       a proxy in front of us knows who asks, and says so in a header
 *              spark.firesteel.RemoteUserFilter.param.header      X-Remote-User
 *              spark.firesteel.RemoteUserFilter.param.proxies     addresses that are believed: 127.0.0.1,::1
 *
 * A filter that there is not here must not be passed over: it is refused when the process starts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct filters;
struct fst_conf;
struct fst_error;
struct http_call;

/* @key is the list's. *@out NULL: there is none. -EINVAL with @error. */
int filters_new(const struct fst_conf *conf, const char *key, struct filters **out, struct fst_error *error);
void filters_free(struct filters *f); /* NULL is allowed */

/*
 * 0 and *@user, which the caller owns, or NULL if nobody is known; or the HTTP status of the refusal and its sentence,
 * which is static. @header answers the request's headers; @peer is "10.0.0.1:4000"; @now_s the time of day.
 */
struct filter_request {
        const char *(*header)(const void *context, const char *name);
        const void *context;
        const char *peer;
        int64_t now_s;
};

int filters_pass(const struct filters *f, const struct filter_request *request, char **user, const char **refusal);

/* The same for a call. */
int filters_pass_call(const struct filters *f, const struct http_call *call, char **user, const char **refusal);

/* Whether requests without a valid token are refused: JWSFilter is among them. @f may be NULL. */
bool filters_ask_for_token(const struct filters *f);

/* The header of firesteel.RemoteUserFilter; NULL: it is not among them. @f may be NULL. */
const char *filters_user_header(const struct filters *f);
