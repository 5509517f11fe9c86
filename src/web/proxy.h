/*
 * A reverse proxy for pages behind a site of ours (spark.ui.reverseProxy): /proxy/ID/path of the site is /path of
 * whatever ID stands for. Who may not look at the site does not get here.
 *
 *      struct web_proxy_options options = {.loop = loop, .conf = conf, .find = find, .owner = owner};
 *      struct web_proxy *proxy = web_proxy_new(&options);
 *      if (web_proxy_is(q))
 *              return web_proxy_serve(proxy, q);
 *
 * The other side is told in X-Forwarded-Context where its pages are seen, so that its links lead through the proxy; in
 * X-Forwarded-Host and -For who asks; and by the header of firesteel.RemoteUserFilter, where that filter is set here,
 * which user that is. That header of a request itself goes nowhere.
 *
 * Requests wait in threads of libuv's, and answers are taken into memory, 32 MiB at most: this is for pages.
 */
#pragma once

#include "web/web_site.h"

struct web_proxy;

struct web_proxy_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        /* The address of the pages of @id, "http://host:8081", or NULL; the caller's. */
        char *(*find)(void *owner, const char *id);
        void *owner;
};

struct web_proxy *web_proxy_new(const struct web_proxy_options *options);

/* Before its site. What is under way is answered 503; the loop has to turn until its threads are back. NULL is allowed.
 */
void web_proxy_free(struct web_proxy *p);

/* "http://host:port" of "http://host:port/path"; NULL for another scheme. The caller owns it. */
char *web_proxy_origin(const char *url);

/*
 * The Location of an answer of @origin as a browser must ask for it: what leads to @origin, or to a path, leads below
 * @context. The caller owns it.
 */
char *web_proxy_location(const char *origin, const char *context, const char *location);

/* Whether the request is for the proxy. */
bool web_proxy_is(const struct web_request *q);

/* Answer @q: 404 for an id that there is not, 502 if the other side cannot be reached, 504 if it does not answer. */
void web_proxy_serve(struct web_proxy *p, struct web_request *q);
