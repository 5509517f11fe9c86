/* See shuffle_service_metrics.h. */
#include "shuffle/shuffle_service_metrics.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_system.h"
#include "shuffle/shuffle_service.h"

#include <stdlib.h>

#define SOURCE "shuffleService."

struct shuffle_metrics {
        struct shuffle_service *service;
        struct metrics_registry *registry;
        struct metrics_system *system;
        struct metric_timer *open, *registered;
        struct metric_meter *sent;
        uint64_t counted_bytes; /* under the registry's lock */
};

static void metrics_source_shuffle_service(void *owner, struct metrics_snapshot *out)
{
        struct shuffle_metrics *m = owner;
        struct shuffle_service_counters c = shuffle_service_counters(m->service);
        metrics_gauge(out, SOURCE "registeredExecutorsSize", (int64_t)c.executors);
        metrics_counter(out, SOURCE "numActiveConnections", c.open_connections);
        metrics_counter(out, SOURCE "numRegisteredConnections", c.open_connections);
        metrics_counter(out, SOURCE "numCaughtExceptions", (int64_t)c.refused);
        metric_meter_mark(m->sent, (int64_t)(c.bytes_sent - m->counted_bytes), now_ns());
        m->counted_bytes = c.bytes_sent;
}

int shuffle_metrics_start(struct shuffle_service *service, const struct fst_conf *conf, struct shuffle_metrics **out,
                          struct fst_error *error)
{
        struct shuffle_metrics *m = new0(struct shuffle_metrics);
        int64_t now = now_ns();
        m->service = service;
        m->registry = metrics_registry_new(NULL);
        metrics_registry_add_source(m->registry, metrics_source_shuffle_service, m);
        m->sent = metrics_registry_meter(m->registry, SOURCE "blockTransferRateBytes", now);
        m->open = metrics_registry_timer(m->registry, SOURCE "openBlockRequestLatencyMillis", now);
        m->registered = metrics_registry_timer(m->registry, SOURCE "registerExecutorRequestLatencyMillis", now);
        int r = metrics_system_start(&(struct metrics_system_options){.instance = "shuffleService",
                                                                      .conf = conf,
                                                                      .conf_dir = getenv("SPARK_CONF_DIR"),
                                                                      .registry = m->registry},
                                     &m->system, error);
        if (r || !m->system)
                shuffle_metrics_free(steal(m));
        if (r == 0)
                *out = m;
        return r;
}

void shuffle_metrics_stop(struct shuffle_metrics *m)
{
        if (m)
                metrics_system_stop(steal(m->system));
}

void shuffle_metrics_free(struct shuffle_metrics *m)
{
        if (!m)
                return;
        metrics_registry_free(m->registry);
        free(m);
}

void shuffle_metrics_count(struct shuffle_metrics *m, enum shuffle_request request, int64_t ns)
{
        if (!m || request == SHUFFLE_REQUEST_OTHER)
                return;
        metric_timer_update(request == SHUFFLE_REQUEST_OPEN ? m->open : m->registered, ns, now_ns());
}
