/* See metrics_daemon.h. */
#include "metrics/metrics_daemon.h"

#include "base/error.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_system.h"

#include <pthread.h>
#include <stdlib.h>

#define PUBLISH_MS 1000

struct metrics_daemon {
        struct metrics_daemon_options options;
        struct metrics_registry *registry;
        struct metrics_system *system;
        uv_timer_t timer;
        pthread_mutex_t lock;
        struct metrics_snapshot published; /* under the lock */
};

static void metrics_daemon_publish(uv_timer_t *timer)
{
        struct metrics_daemon *d = timer->data;
        struct metrics_snapshot fresh = METRICS_SNAPSHOT_INIT;
        d->options.measure(d->options.owner, &fresh);
        pthread_mutex_lock(&d->lock);
        struct metrics_snapshot old = d->published;
        d->published = fresh;
        pthread_mutex_unlock(&d->lock);
        metrics_snapshot_deinit(&old);
}

static void metrics_source_published(void *owner, struct metrics_snapshot *out)
{
        struct metrics_daemon *d = owner;
        pthread_mutex_lock(&d->lock);
        for (size_t i = 0; i < d->published.samples.len; i++)
                metrics_add(out, d->published.samples.data[i].name, &d->published.samples.data[i]);
        pthread_mutex_unlock(&d->lock);
}

static void metrics_daemon_free(struct metrics_daemon *d)
{
        metrics_registry_free(d->registry);
        metrics_snapshot_deinit(&d->published);
        pthread_mutex_destroy(&d->lock);
        free(d);
}

static void metrics_daemon_on_closed(uv_handle_t *timer)
{
        metrics_daemon_free(timer->data);
}

int metrics_daemon_start(const struct metrics_daemon_options *options, struct metrics_daemon **out,
                         struct fst_error *error)
{
        struct metrics_daemon *d = new0(struct metrics_daemon);
        d->options = *options;
        pthread_mutex_init(&d->lock, NULL);
        d->registry = metrics_registry_new(NULL);
        metrics_registry_add_source(d->registry, metrics_source_published, d);
        int r = metrics_system_start(&(struct metrics_system_options){.instance = options->instance,
                                                                      .conf = options->conf,
                                                                      .conf_dir = getenv("SPARK_CONF_DIR"),
                                                                      .app_id = options->app_id,
                                                                      .registry = d->registry},
                                     &d->system, error);
        if (r || !d->system) {
                metrics_daemon_free(d);
                if (r == 0)
                        *out = NULL;
                return r;
        }
        uv_timer_init(options->loop, &d->timer);
        d->timer.data = d;
        uv_unref((uv_handle_t *)&d->timer);
        uv_timer_start(&d->timer, metrics_daemon_publish, 0, PUBLISH_MS);
        *out = d;
        return 0;
}

void metrics_daemon_stop(struct metrics_daemon *d)
{
        if (!d)
                return;
        metrics_daemon_publish(&d->timer);
        metrics_system_stop(d->system);
        uv_close((uv_handle_t *)&d->timer, metrics_daemon_on_closed);
}
