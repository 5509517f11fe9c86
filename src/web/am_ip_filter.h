/*
 * Hadoop's AmIpFilter: only YARN's proxy may ask for the pages of an application. Browsers that connect to the driver
 * are redirected to the proxy, which knows the user and sends the name in the cookie "proxy-user".
 *
 * The proxy's hosts are resolved at the start, and again every five minutes if an unknown address connects.
 * All functions run on one thread. Resolving blocks it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct am_ip_filter;
struct fst_error;

#define AM_IP_FILTER "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter"

/*
 * @hosts: PROXY_HOSTS, names or addresses separated by commas. @bases: PROXY_URI_BASES, "http://rm:8088/proxy/APP,…",
 * of which redirects use the first. Returns 0, or -EINVAL with @error naming the missing parameter.
 */
int am_ip_filter_new(const char *hosts, const char *bases, int64_t now_s, struct am_ip_filter **out,
                     struct fst_error *error);
void am_ip_filter_free(struct am_ip_filter *f); /* NULL is allowed */

/* Whether @peer ("10.0.0.1:4000", "[::1]:4000") is one of the proxy's hosts. @now_s: seconds of any clock. */
bool am_ip_filter_is_proxy(struct am_ip_filter *f, const char *peer, int64_t now_s);

/* The user whom the proxy names in the Cookie header @cookies (NULL: no header). NULL: none. The caller owns it. */
char *am_ip_filter_user(const char *cookies);

/* Where the proxy serves @path with @query ("" for none). The caller owns it. */
char *am_ip_filter_location(const struct am_ip_filter *f, const char *path, const char *query);
