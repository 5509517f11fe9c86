/*
 * A reverse proxy for the pages of other daemons (spark.ui.reverseProxy): /proxy/ID/path of this site is /path of the
 * daemon ID. Only users who may view this site reach the proxy.
 *
 *      struct web_proxy_options options = {.loop = loop, .conf = conf, .find = find, .owner = owner};
 *      struct web_proxy *proxy = web_proxy_new(&options);
 *      if (web_proxy_is(q))
 *              return web_proxy_serve(proxy, q);
 *
 * X-Forwarded-Context tells the backend where its pages are visible, so that its links lead through the proxy.
 * X-Forwarded-Host and -For name the client. If firesteel.RemoteUserFilter is enabled here, its header names the user.
 * The same header of the client's request is dropped.
 *
 * Requests block in threads of libuv's pool, and responses are held in memory, at most 32 MiB, because the proxy is
 * meant for pages.
 */
#pragma once

#include "web/web_site.h"

struct web_proxy;

struct web_proxy_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        /* Returns the address of the pages of @id, "http://host:8081", owned by the caller, or NULL. */
        char *(*find)(void *owner, const char *id);
        void *owner;
};

struct web_proxy *web_proxy_new(const struct web_proxy_options *options);

/*
 * Call before the site is freed. Pending requests are answered with 503. The loop must run until their threads end.
 * NULL is allowed.
 */
void web_proxy_free(struct web_proxy *p);

/* "http://host:port" of "http://host:port/path", or NULL for another scheme. Owned by the caller. */
char *web_proxy_origin(const char *url);

/*
 * Rewrites the Location of a response from @origin for the browser: a path, or a URL of @origin, moves below @context.
 * Owned by the caller.
 */
char *web_proxy_location(const char *origin, const char *context, const char *location);

/* Whether the request is for the proxy. */
bool web_proxy_is(const struct web_request *q);

/* Answers @q: 404 for an unknown id, 502 if the backend is unreachable, 504 if it does not reply in time. */
void web_proxy_serve(struct web_proxy *p, struct web_request *q);
