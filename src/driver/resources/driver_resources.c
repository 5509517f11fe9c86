/*
 * See driver_resources.h. As in Spark, every driver discovers its resources, with any master. Only the driver's own
 * code uses them: tasks of a local master get none.
 */
#include "driver/resources/driver_resources.h"

#include "base/buf.h"
#include "base/log.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "exec/resource_discovery.h"

#define PREFIX "spark.driver.resource."
#define LINE "=============================================================="

static void driver_resources_log(const struct executor_resources *resources)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (!resources->n)
                return;
        for (size_t i = 0; i < resources->n; i++) {
                const Firesteel__Resource *r = resources->list[i];
                buf_printf(&text, "%s%s -> [name: %s, addresses: ", i ? "\n" : "", r->name, r->name);
                for (size_t k = 0; k < r->n_addresses; k++)
                        buf_printf(&text, "%s%s", k ? "," : "", r->addresses[k]);
                buf_puts(&text, "]");
        }
        log_info("ResourceUtils", LINE);
        log_info("ResourceUtils", "Custom resources for spark.driver:\n%s", buf_text(&text));
        log_info("ResourceUtils", LINE);
}

int driver_resources_discover(struct fst_context *sc, struct fst_error *error)
{
        int r = executor_resources_read(conf_get_raw(sc->conf, "spark.driver.resourcesFile"), &sc->resources, error);
        if (r == 0)
                r = resource_discover(sc->conf, PREFIX, &sc->resources, error);
        if (r == 0)
                driver_resources_log(&sc->resources);
        return r;
}

FST_API int fst_context_resource(const fst_context *sc, const char *name, const char **addresses, size_t max)
{
        sc = context_given((fst_context *)sc, rdd_site("context_resource"));
        if (context_missing(name, "context_resource", "a name"))
                return -EINVAL;
        const Firesteel__Resource *found = resource_find(&sc->resources, name);
        for (size_t i = 0; found && i < max && i < found->n_addresses; i++)
                addresses[i] = found->addresses[i];
        return found ? (int)found->n_addresses : 0;
}
