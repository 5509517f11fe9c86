/* See log_links.h. */
#include "yarn/application/log_links.h"

#include "base/mem.h"
#include "base/strmap.h"
#include "yarn/conf/yarn_conf.h"

#include <stdlib.h>
#include <string.h>

/* Takes @value. */
static void log_links_set(struct strmap *out, const char *prefix, const char *name, char *value)
{
        _cleanup_free_ char *key = mem_printf("%s%s", prefix, name);
        strmap_set(out, key, value);
        free(value);
}

void log_links_add(const struct log_links *l, const char *urls, const char *attributes, struct strmap *out)
{
        static const char *const logs[][2] = {{"STDERR", "stderr"}, {"STDOUT", "stdout"}};
        const char *scheme = yarn_conf_http_scheme(l->conf);
        const size_t host = strcspn(l->http_address, ":");
        const char *port = l->http_address[host] ? l->http_address + host + 1 : "";
        for (size_t i = 0; i < ARRAY_SIZE(logs); i++)
                log_links_set(out, urls, logs[i][0],
                              mem_printf("%s%s/node/containerlogs/%s/%s/%s?start=-4096", scheme, l->http_address,
                                         l->container, l->user, logs[i][1]));
        log_links_set(out, attributes, "HTTP_SCHEME", mem_strdup(scheme));
        log_links_set(out, attributes, "NM_HOST", mem_strndup(l->http_address, host));
        log_links_set(out, attributes, "NM_PORT", mem_strdup(l->node_port));
        log_links_set(out, attributes, "NM_HTTP_PORT", mem_strdup(port));
        log_links_set(out, attributes, "NM_HTTP_ADDRESS", mem_strdup(l->http_address));
        log_links_set(out, attributes, "CLUSTER_ID", yarn_conf_get(l->conf, "yarn.resourcemanager.cluster-id", ""));
        log_links_set(out, attributes, "CONTAINER_ID", mem_strdup(l->container));
        log_links_set(out, attributes, "USER", mem_strdup(l->user));
        log_links_set(out, attributes, "LOG_FILES", mem_strdup("stderr,stdout"));
}
