/* See spec_changes.h. */
#include "operator/render/spec_changes.h"

#include "base/error.h"
#include "base/mem.h"
#include "operator/render/batch_scheduler.h"
#include "operator/render/exposed_objects.h"
#include "operator/render/prometheus_rules.h"
#include "operator/render/spec_edit.h"

static bool text_is_set(const char *text)
{
        return text && *text;
}

/* The UI behind a path of an ingress must know that path. */
static int spec_change_ui(struct spark_application *app, const struct render_options *o, struct fst_error *error)
{
        struct ingress_url url;
        if (!o->ui_service || !text_is_set(o->ingress_url_format))
                return 0;
        int r = ingress_url_make(o->ingress_url_format, app, NULL, &url, error);
        if (r < 0)
                return error_wrap(error, r, "failed to configure web UI");
        static const char redirect[] = "proxyRedirectUri"; /* only drivers in a JVM read it */
        if (*url.path) {
                json_t *conf = kube_child(spec_of(app), "sparkConf");
                _cleanup_free_ char *key = mem_printf("spark.ui.%s", redirect);
                kube_put_new(conf, "spark.ui.proxyBase", url.path);
                kube_put_new(conf, key, "/");
        }
        ingress_url_deinit(&url);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

char *spec_prometheus_map(const struct spark_application *app)
{
        const struct monitoring_fields *m = &app->spec.monitoring;
        if (!m->prometheus.json || (text_is_set(m->metrics_properties_file) && text_is_set(m->prometheus.config_file)))
                return NULL;
        return mem_printf("%s-prom-conf", app->name);
}

static json_t *spec_prometheus_object(const struct spark_application *app, const char *name)
{
        const struct monitoring_fields *m = &app->spec.monitoring;
        json_t *map = owned_object(app, "v1", "ConfigMap", name), *data = kube_child(map, "data");
        kube_put(kube_child(kube_child(map, "metadata"), "labels"), LABEL_CREATED, "true");
        if (!text_is_set(m->metrics_properties_file))
                kube_put(data, "metrics.properties",
                         m->metrics_properties ? m->metrics_properties : prometheus_metrics_properties);
        _cleanup_free_ char *rules = prometheus_rules_make();
        if (!text_is_set(m->prometheus.config_file))
                kube_put(data, "prometheus.yaml", m->prometheus.configuration ? m->prometheus.configuration : rules);
        return map;
}

static void spec_expose_metrics(struct spark_application *app, bool driver, const char *port, const char *agent)
{
        json_t *role = spec_role(app, driver), *annotations = kube_child(role, "annotations");
        const char *options = json_string_value(json_object_get(role, "javaOptions"));
        _cleanup_free_ char *both = options ? mem_printf("%s %s", options, agent) : mem_strdup(agent);
        kube_put(annotations, "prometheus.io/scrape", "true");
        kube_put(annotations, "prometheus.io/port", port);
        kube_put(annotations, "prometheus.io/path", "/metrics");
        kube_put(role, "javaOptions", both);
}

static void spec_change_metrics(struct spark_application *app, json_t *before)
{
        const struct monitoring_fields *m = &app->spec.monitoring;
        if (!m->prometheus.json)
                return;
        json_t *conf = kube_child(spec_of(app), "sparkConf");
        bool own_file = text_is_set(m->metrics_properties_file), own_rules = text_is_set(m->prometheus.config_file);
        bool driver = m->expose_driver_metrics == FIELD_TRUE, executor = m->expose_executor_metrics == FIELD_TRUE;
        int64_t number = m->prometheus.port.set ? m->prometheus.port.value : PROMETHEUS_PORT;
        _cleanup_free_ char *port = mem_printf("%lld", (long long)number);
        _cleanup_free_ char *agent =
                mem_printf("-javaagent:%s=%s:%s", m->prometheus.jmx_exporter_jar ? m->prometheus.jmx_exporter_jar : "",
                           port, own_rules ? m->prometheus.config_file : METRICS_DIR "/prometheus.yaml");
        _cleanup_free_ char *namespace = mem_printf("%s.%s", app->namespace, app->name);
        _cleanup_free_ char *map = spec_prometheus_map(app);
        if (map)
                json_array_append_new(before, spec_prometheus_object(app, map));
        kube_put(conf, "spark.metrics.namespace", namespace);
        kube_put(conf, "spark.metrics.conf", own_file ? m->metrics_properties_file : METRICS_DIR "/metrics.properties");
        if (driver)
                spec_expose_metrics(app, true, port, agent);
        if (executor)
                spec_expose_metrics(app, false, port, agent);
}

int spec_changes_make(struct spark_application *app, const struct render_options *o, json_t *before,
                      struct fst_error *error)
{
        int r = spec_change_ui(app, o, error);
        if (r < 0)
                return r;
        spec_change_metrics(app, before);
        r = batch_scheduler_apply(app, o, before, error);
        app->labels = json_object_get(json_object_get(app->object, "metadata"), "labels");
        app->spec = (struct spark_application_spec){0};
        field_read(&spark_application_fields, spec_of(app), &app->spec);
        return r;
}
