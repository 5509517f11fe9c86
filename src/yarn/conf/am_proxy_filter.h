/*
 * The pages of a driver on YARN: only the cluster's proxy may ask for them (web/am_ip_filter.h), under
 * /proxy/APPLICATION/. Follows addAmIpFilter of Spark's ApplicationMaster.
 */
#pragma once

struct fst_conf;
struct fst_error;
struct yarn_conf;

/*
 * Puts the filter before those of spark.ui.filters and sets its parameters and spark.ui.proxyBase. The proxy is
 * yarn.web-proxy.address, or else each ResourceManager. Returns 0, or -EINVAL with @error for an invalid address.
 */
int am_proxy_filter_set(struct fst_conf *conf, const struct yarn_conf *yarn, const char *app_id,
                        struct fst_error *error);
