/* Services, ingresses and disruption budgets of drivers. */
#include "operator/render/exposed_objects.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "net/crypto.h"
#include "operator/render/application_objects.h"
#include "operator/render/spec_edit.h"

#include <ctype.h>
#include <stdlib.h>

#define UI_PORT 4040
#define UI_PORT_NAME "spark-driver-ui-port"
#define REWRITE "nginx.ingress.kubernetes.io/rewrite-target"

/* ------------------------------------------------------------------------------------------------------------ names */

static char *exposed_name(const char *application, const char *suffix)
{
        char *name = mem_printf("%s-%s", application, suffix);
        const struct crypto_ops *crypto;
        uint8_t digest[DIGEST_MAX];
        size_t len = 0;
        if (strlen(name) <= MAX_KUBE_LABEL)
                return name;
        if (crypto_load(&crypto, NULL) < 0 || crypto->digest("md5", name, strlen(name), digest, &len) < 0)
                len = 0;
        int kept = (int)(MAX_KUBE_LABEL - strlen(suffix) - 10);
        char *cut = len >= 4 ? mem_printf("%.*s-%02x%02x%02x%02x-%s", kept, application, digest[0], digest[1],
                                          digest[2], digest[3], suffix)
                             : mem_printf("%.*s-%s", kept, application, suffix);
        free(name);
        return cut;
}

char *ui_service_name(const char *application)
{
        return exposed_name(application, "ui-svc");
}

char *ui_ingress_name(const char *application)
{
        return exposed_name(application, "ui-ingress");
}

/* ------------------------------------------------------------------------------------------------------------- URLs */

/* Replaces "{{$NAME}}", with blanks after the braces allowed, in @text. */
static char *url_substitute(const char *text, const char *name, const char *value)
{
        struct buf out = BUF_INIT;
        for (const char *open; (open = strstr(text, "{{"));) {
                const char *at = open + 2;
                while (isspace((unsigned char)*at))
                        at++;
                const char *end = *at == '$' && text_starts_with(at + 1, name) ? at + 1 + strlen(name) : NULL;
                while (end && isspace((unsigned char)*end))
                        end++;
                buf_append(&out, text, (size_t)(open - text));
                if (end && text_starts_with(end, "}}")) {
                        buf_puts(&out, value);
                        text = end + 2;
                } else {
                        buf_puts(&out, "{{");
                        text = open + 2;
                }
        }
        buf_puts(&out, text);
        return buf_steal(&out);
}

static bool url_has_scheme(const char *url)
{
        const char *c = url;
        while (isalnum((unsigned char)*c) || (c > url && strchr("+-.", *c) && *c))
                c++;
        return c > url && isalpha((unsigned char)url[0]) && text_starts_with(c, "://");
}

int ingress_url_make(const char *format, const struct spark_application *app, const char *application_id,
                     struct ingress_url *out, struct fst_error *error)
{
        _cleanup_free_ char *named = url_substitute(format, "appName", app->name);
        _cleanup_free_ char *placed = url_substitute(named, "appNamespace", app->namespace);
        char *url = url_substitute(placed, "appId", application_id ? application_id : "");
        if (!url_has_scheme(url)) {
                char *whole = mem_printf("http://%s", url);
                free(url);
                url = whole;
        }
        const char *host = strstr(url, "://") + 3;
        size_t n = strcspn(host, "/?#");
        bool bad = n == 0;
        for (const char *c = url; *c; c++)
                bad = bad || isspace((unsigned char)*c) || iscntrl((unsigned char)*c);
        if (bad) {
                int r = error_set(error, -EINVAL,
                                  "failed to get ingress url: \"%s\" is not a URL with a host; write "
                                  "host.example/{{$appNamespace}}/{{$appName}}",
                                  format);
                free(url);
                return r;
        }
        *out = (struct ingress_url){
                .whole = url,
                .host = mem_strndup(host, n),
                .path = mem_strndup(host + n, host[n] == '/' ? strcspn(host + n, "?#") : 0),
        };
        return 0;
}

void ingress_url_deinit(struct ingress_url *url)
{
        free(url->host);
        free(url->path);
        free(url->whole);
        *url = (struct ingress_url){0};
}

/* ------------------------------------------------------------------------------------------------- the UI's service */

/* The labels that the application's objects have by default. */
static void exposed_put_labels(json_t *object, const struct spark_application *app, const struct render_options *o)
{
        json_t *labels = kube_child(kube_child(object, "metadata"), "labels");
        kube_put(labels, LABEL_APP_NAME, app->name);
        kube_put(labels, LABEL_SUBMISSION_ID, o->submission_id);
}

/* Returns the port of the driver's UI. */
static int32_t ui_target_port(const struct spark_application *app)
{
        const char *text = json_string_value(json_object_get(app->spec.spark_conf, "spark.ui.port"));
        char *end;
        long port = text ? strtol(text, &end, 10) : 0;
        return text && *text && !*end && port > 0 && port < 65536 ? (int32_t)port : UI_PORT;
}

/* @options: sparkUIOptions or one of driverIngressOptions. */
static json_t *exposed_service(const struct spark_application *app, const struct render_options *o, const char *name,
                               const char *port_name, int64_t port, int64_t target, const char *type,
                               const json_t *labels, const json_t *annotations)
{
        json_t *service = owned_object(app, "v1", "Service", name), *metadata = kube_child(service, "metadata");
        if (json_object_size(labels) > 0)
                json_object_set_new(metadata, "labels", json_deep_copy(labels));
        else
                exposed_put_labels(service, app, o);
        kube_put(kube_child(metadata, "labels"), LABEL_CREATED, "true");
        if (json_object_size(annotations) > 0)
                json_object_set_new(metadata, "annotations", json_deep_copy(annotations));
        json_object_set_new(service, "spec",
                            json_pack("{s:[{s:s,s:I,s:I}],s:{s:s,s:s},s:s}", "ports", "name", port_name, "port",
                                      (json_int_t)port, "targetPort", (json_int_t)target, "selector", LABEL_APP_NAME,
                                      app->name, KUBE_LABEL_ROLE, "driver", "type", type ? type : "ClusterIP"));
        return service;
}

static json_t *exposed_ingress(const struct spark_application *app, const struct render_options *o, const char *name,
                               const struct ingress_url *url, const char *service, int64_t port, const json_t *tls,
                               const json_t *annotations)
{
        json_t *ingress = owned_object(app, "networking.k8s.io/v1", "Ingress", name);
        json_t *metadata = kube_child(ingress, "metadata"), *spec = kube_child(ingress, "spec");
        bool below = *url->path && strcmp(url->path, "/") != 0;
        _cleanup_free_ char *path = mem_printf("%s%s", url->path, below ? "(/|$)(.*)" : "");
        const json_t *chosen = json_object_size(annotations) > 0 ? annotations : o->ingress_annotations;
        const json_t *hosts = json_array_size(tls) > 0 ? tls : o->ingress_tls;
        exposed_put_labels(ingress, app, o);
        if (json_object_size(chosen) > 0)
                json_object_set_new(metadata, "annotations", json_deep_copy(chosen));
        if (below)
                kube_put(kube_child(metadata, "annotations"), REWRITE, "/$2");
        json_object_set_new(spec, "rules",
                            json_pack("[{s:s,s:{s:[{s:s,s:s,s:{s:{s:s,s:{s:I}}}}]}}]", "host", url->host, "http",
                                      "paths", "path", path, "pathType", "ImplementationSpecific", "backend", "service",
                                      "name", service, "port", "number", (json_int_t)port));
        if (json_array_size(hosts) > 0)
                json_object_set_new(spec, "tls", json_deep_copy(hosts));
        if (o->ingress_class_name && *o->ingress_class_name)
                kube_put(spec, "ingressClassName", o->ingress_class_name);
        return ingress;
}

static int exposure_add_ui(const struct spark_application *app, const struct render_options *o, const char *id,
                           struct application_exposure *out, struct fst_error *error)
{
        const struct ui_fields *ui = &app->spec.ui;
        int32_t target = ui_target_port(app);
        out->ui_port = !ui->json ? target : ui->service_port.set ? (int32_t)ui->service_port.value : UI_PORT;
        out->ui_service = ui_service_name(app->name);
        json_array_append_new(
                out->objects,
                exposed_service(app, o, out->ui_service, ui->service_port_name ? ui->service_port_name : UI_PORT_NAME,
                                out->ui_port, target, ui->service_type, ui->service_labels, ui->service_annotations));
        if (!o->ingress_url_format || !*o->ingress_url_format)
                return 0;
        struct ingress_url url;
        int r = ingress_url_make(o->ingress_url_format, app, id, &url, error);
        if (r < 0)
                return r;
        out->ui_ingress = ui_ingress_name(app->name);
        out->ui_ingress_address = mem_strdup(url.whole);
        json_array_append_new(out->objects, exposed_ingress(app, o, out->ui_ingress, &url, out->ui_service,
                                                            out->ui_port, ui->ingress_tls, ui->ingress_annotations));
        ingress_url_deinit(&url);
        return 0;
}

/* --------------------------------------------------------------------------------------------------- other exposure */

static int exposure_add_driver_ingress(const struct spark_application *app, const struct render_options *o,
                                       const char *id, const json_t *json, json_t *objects, struct fst_error *error)
{
        struct driver_ingress_fields d = {0};
        struct ingress_url url;
        field_read(&driver_ingress_table, json, &d);
        long long port = (long long)d.service_port.value;
        _cleanup_free_ char *service = mem_printf("%s-driver-%lld", app->name, port);
        _cleanup_free_ char *name = mem_printf("%s-ing-%lld", app->name, port);
        _cleanup_free_ char *port_name = mem_printf("driver-ing-%lld", port);
        json_array_append_new(objects,
                              exposed_service(app, o, service, d.service_port_name ? d.service_port_name : port_name,
                                              port, port, d.service_type, d.service_labels, d.service_annotations));
        if (!d.ingress_url_format || !*d.ingress_url_format)
                return 0;
        int r = ingress_url_make(d.ingress_url_format, app, id, &url, error);
        if (r < 0)
                return r;
        json_array_append_new(objects,
                              exposed_ingress(app, o, name, &url, service, port, d.ingress_tls, d.ingress_annotations));
        ingress_url_deinit(&url);
        return 0;
}

static json_t *exposure_disruption_budget(const struct spark_application *app)
{
        _cleanup_free_ char *name = spark_application_driver_pod(app);
        json_t *budget = owned_object(app, "policy/v1", "PodDisruptionBudget", name);
        json_t *labels = kube_child(kube_child(budget, "metadata"), "labels");
        kube_put(labels, LABEL_LAUNCHED, "true");
        kube_put(labels, LABEL_APP_NAME, app->name);
        json_object_set_new(budget, "spec",
                            json_pack("{s:i,s:{s:{s:s,s:s}}}", "minAvailable", 1, "selector", "matchLabels",
                                      LABEL_APP_NAME, app->name, KUBE_LABEL_ROLE, "driver"));
        return budget;
}

int application_exposure_make(const struct spark_application *app, const struct render_options *o,
                              const char *application_id, struct application_exposure *out, struct fst_error *error)
{
        json_t *option;
        size_t i;
        int r = 0;
        *out = (struct application_exposure){.objects = json_array()};
        if (o->ui_service)
                r = exposure_add_ui(app, o, application_id, out, error);
        json_array_foreach((json_t *)app->spec.driver_ingress_options, i, option) {
                if (r == 0)
                        r = exposure_add_driver_ingress(app, o, application_id, option, out->objects, error);
        }
        if (o->driver_disruption_budget && app->spec.driver_pod_disruption_budget == FIELD_TRUE)
                json_array_append_new(out->objects, exposure_disruption_budget(app));
        return r;
}

void application_exposure_deinit(struct application_exposure *e)
{
        json_decref(e->objects);
        free(e->ui_service);
        free(e->ui_ingress);
        free(e->ui_ingress_address);
        *e = (struct application_exposure){0};
}
