/*
 * Hadoop's AmIpFilter: only YARN's proxy may ask for the pages of an application. Browsers that connect to the driver
 * are redirected to the proxy, which knows the user and sends the name in the cookie "proxy-user".
 *
 * The proxy's hosts are resolved at the start, and again every five minutes if an unknown address connects. Of several
 * ResourceManagers, browsers are redirected to the active one (active_proxy.h).
 * All functions run on one thread. Resolving blocks it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct am_ip_filter;
struct fst_error;

#define AM_IP_FILTER "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter"

/*
 * @hosts: PROXY_HOSTS, names or addresses separated by commas. @bases: PROXY_URI_BASES, "http://rm:8088/proxy/APP,…".
 * @managers: RM_HA_URLS, "rm:8088,…", the ResourceManagers among them in the order in which they are asked which one is
 * active; NULL: all, in their own order. Returns 0, or -EINVAL with @error naming the missing parameter.
 */
int am_ip_filter_new(const char *hosts, const char *bases, const char *managers, int64_t now_s,
                     struct am_ip_filter **out, struct fst_error *error);
void am_ip_filter_free(struct am_ip_filter *f); /* NULL is allowed */

/* Whether @peer ("10.0.0.1:4000", "[::1]:4000") is one of the proxy's hosts. @now_s: seconds of any clock. */
bool am_ip_filter_is_proxy(struct am_ip_filter *f, const char *peer, int64_t now_s);

/* The user whom the proxy names in the Cookie header @cookies (NULL: no header). NULL: none. The caller owns it. */
char *am_ip_filter_user(const char *cookies);

/* Where the proxy serves @path with @query ("" for none). May wait as active_proxy_base. The caller owns it. */
char *am_ip_filter_location(struct am_ip_filter *f, const char *path, const char *query);
