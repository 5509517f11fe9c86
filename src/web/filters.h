/*
 * The filters of a site: spark.ui.filters and spark.master.rest.filters, lists of Spark's filter classes. A filter runs
 * before a request is served. It identifies the user, or refuses the request.
 *
 *      org.apache.spark.ui.JWSFilter    a token signed with a shared key: "Authorization: Bearer …" (HS256, 384, 512)
 *              spark.org.apache.spark.ui.JWSFilter.param.secretKey            the key, base64url
 *              spark.org.apache.spark.ui.JWSFilter.param.requireExpiration    true: tokens must expire
 *          its claim "sub" is the user (Spark ignores it)
 *      firesteel.RemoteUserFilter       a proxy in front of the site names the user in a header
 *              spark.firesteel.RemoteUserFilter.param.header      X-Remote-User
 *              spark.firesteel.RemoteUserFilter.param.proxies     trusted addresses: 127.0.0.1,::1
 *      org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter     web/am_ip_filter.h; only in spark.ui.filters
 *              spark.CLASS.param.PROXY_HOSTS          hosts of YARN's proxy
 *              spark.CLASS.param.PROXY_URI_BASES      where it serves the pages
 *
 * An unknown filter must not be ignored: the process refuses to start with it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct filters;
struct fst_conf;
struct fst_error;
struct http_call;

/* Reads the filters of the list @key. *@out is NULL if the list is empty. Returns -EINVAL with @error. */
int filters_new(const struct fst_conf *conf, const char *key, struct filters **out, struct fst_error *error);
void filters_free(struct filters *f); /* NULL is allowed */

/*
 * Returns 0 and *@user, owned by the caller, or NULL for an unknown user. Or returns the HTTP status of the refusal and
 * its message, which is static. @header returns the request's headers, @peer is "10.0.0.1:4000", @now_s the time of
 * day.
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

/* Where a request is redirected that did not come through YARN's proxy, or NULL. The caller owns it. @f may be NULL. */
char *filters_redirect(const struct filters *f, const struct http_call *call);

/* Whether requests without a valid token are refused, because JWSFilter is enabled. @f may be NULL. */
bool filters_ask_for_token(const struct filters *f);

/* The header of firesteel.RemoteUserFilter, or NULL if it is not enabled. @f may be NULL. */
const char *filters_user_header(const struct filters *f);
