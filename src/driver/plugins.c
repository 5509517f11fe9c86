/* See plugins.h. */
#include "driver/plugins.h"

#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <string.h>

static const char *const built_in[] = {PLUGIN_EXECUTOR_ROLL, PLUGIN_EXECUTOR_RESIZE, PLUGIN_EXECUTOR_PVC_RESIZE};

/* Advances *@at to the next name in a list and returns its length; 0 at the end. */
static size_t plugin_next(const char **at)
{
        *at += strspn(*at, ", ");
        return strcspn(*at, ", ");
}

static bool plugin_equals(const char *at, size_t n, const char *plugin)
{
        return n == strlen(plugin) && strncmp(at, plugin, n) == 0;
}

bool plugin_is_named(const struct fst_conf *conf, const char *plugin)
{
        const char *at = conf_get_raw(conf, "spark.plugins");
        for (size_t n; at && (n = plugin_next(&at)); at += n)
                if (plugin_equals(at, n, plugin))
                        return true;
        return false;
}

void plugins_warn(const struct fst_conf *conf, bool is_kubernetes)
{
        const char *at = conf_get_raw(conf, "spark.plugins");
        for (size_t n; at && (n = plugin_next(&at)); at += n) {
                bool known = false;
                for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
                        known |= plugin_equals(at, n, built_in[i]);
                if (!known)
                        log_warn("SparkContext",
                                 "spark.plugins: the plugin %.*s has no effect, because it is not built in (built in "
                                 "are ExecutorRollPlugin, ExecutorResizePlugin and ExecutorPVCResizePlugin of "
                                 "org.apache.spark.scheduler.cluster.k8s)",
                                 (int)n, at);
                else if (!is_kubernetes)
                        log_warn("SparkContext",
                                 "spark.plugins: the plugin %.*s has no effect, because this application does not run "
                                 "on Kubernetes",
                                 (int)n, at);
        }
}
