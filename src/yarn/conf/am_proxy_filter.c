/* See am_proxy_filter.h. */
#include "yarn/conf/am_proxy_filter.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "web/am_ip_filter.h"
#include "yarn/conf/yarn_conf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILTERS "spark.ui.filters"
#define PARAMETER "spark." AM_IP_FILTER ".param."

#define EVERY_ADDRESS "0.0.0.0:" /* the ResourceManager listens on all addresses of this host */

/* The proxy's "host:port" as browsers reach it. The caller owns it. */
static char *am_proxy_filter_host(const char *proxy)
{
        char name[HOST_NAME_MAX + 1] = "";
        if (!text_starts_with(proxy, EVERY_ADDRESS) || gethostname(name, sizeof(name) - 1) < 0 || !*name)
                return mem_strdup(proxy);
        return mem_printf("%s:%s", name, proxy + strlen(EVERY_ADDRESS));
}

static void am_proxy_filter_enable(struct fst_conf *conf)
{
        const char *others = conf_get_value(conf, FILTERS);
        if (others && strstr(others, AM_IP_FILTER))
                return;
        _cleanup_free_ char *all =
                others && *others ? mem_printf("%s,%s", AM_IP_FILTER, others) : mem_strdup(AM_IP_FILTER);
        conf_set(conf, FILTERS, all);
}

int am_proxy_filter_set(struct fst_conf *conf, const struct yarn_conf *yarn, const char *app_id,
                        struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list proxies = {0};
        _cleanup_(buf_deinit) struct buf hosts = BUF_INIT;
        _cleanup_(buf_deinit) struct buf bases = BUF_INIT;
        _cleanup_(buf_deinit) struct buf managers = BUF_INIT;
        _cleanup_free_ char *own = yarn_conf_get(yarn, "yarn.web-proxy.address", NULL);
        _cleanup_free_ char *base = mem_printf("/proxy/%s", app_id);
        int r = 0;
        if (own && *own)
                string_list_add(&proxies, own);
        else
                r = yarn_conf_addresses(yarn, YARN_RM_WEB, &proxies, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < proxies.len; i++) {
                _cleanup_free_ char *proxy = am_proxy_filter_host(proxies.data[i]);
                const char *port = strrchr(proxy, ':');
                buf_printf(&hosts, "%s%.*s", i ? "," : "", (int)(port ? port - proxy : (long)strlen(proxy)), proxy);
                buf_printf(&managers, "%s%s", i ? "," : "", proxy);
                buf_printf(&bases, "%s%s%s%s", i ? "," : "", yarn_conf_http_scheme(yarn), proxy, base);
        }
        am_proxy_filter_enable(conf);
        conf_set(conf, PARAMETER "PROXY_HOSTS", buf_text(&hosts));
        conf_set(conf, PARAMETER "PROXY_URI_BASES", buf_text(&bases));
        if (proxies.len > 1)
                conf_set(conf, PARAMETER "RM_HA_URLS", buf_text(&managers));
        conf_set(conf, "spark.ui.proxyBase", base);
        return 0;
}
