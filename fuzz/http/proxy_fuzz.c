/*
 * Addresses that peers choose, in the reverse proxy: the address of a worker's pages, and the Location of a reply. The
 * input has these two lines.
 */
#include "base/mem.h"
#include "base/string_prefix.h"
#include "web/proxy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char context[] = "/spark/proxy/worker-1";
        _cleanup_free_ char *text = mem_strndup(size ? (const char *)data : "", size);
        char *location = strchr(text, '\n');
        if (location)
                *location++ = '\0';
        _cleanup_free_ char *origin = web_proxy_origin(text);
        if (!origin)
                return 0;
        if (strncmp(origin, text, strlen(origin)) != 0 || strpbrk(strstr(origin, "://") + 3, "/?#"))
                abort();
        _cleanup_free_ char *here = location ? web_proxy_location(origin, context, location) : NULL;
        /* A path of the worker becomes a path of the proxy. */
        if (here && location[0] == '/' && location[1] != '/' && !text_starts_with(here, context))
                abort();
        return 0;
}
