/*
 * Concurrent HTTP/1.1 requests without TLS, proxies, redirections and libcurl: the operations of http_module.h that
 * net/http/http_async.h needs, for clients that are plain (struct http_async_options).
 *
 * libcurl costs a process some 12 ms and 6 MB of resident memory, most of it for libraries that such requests never
 * use. This file costs neither, and it can send requests before earlier ones are answered (HTTP_PIPELINE).
 *
 * It refuses (-EINVAL) URLs that are not http:// or have a name and a password, and the settings follow, negotiate,
 * aws_sigv4, proxy and progress.
 */
#pragma once

#include "net/http/http_module.h"

/* Only the multi_* functions are there. */
extern const struct http_ops http_plain_multi_ops;
