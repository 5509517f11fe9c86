/* The environment, with secrets redacted; see api.h. */
#include "conf/redact.h"
#include "ui/api/api_internal.h"

static const char *api_runtime_text(const struct status_application *a, const char *key)
{
        const char *text = strmap_get(&a->runtime, key);
        return text ? text : "";
}

/* A list of pairs, by keys. @redactor NULL: as they are. */
static void api_put_pairs(struct json_out *j, const char *name, const struct strmap *map,
                          const struct redactor *redactor)
{
        json_list(j, name);
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(map);
        for (size_t i = 0; i < map->count; i++) {
                const struct strmap_entry *e = sorted[i];
                json_list(j, NULL);
                json_text(j, NULL, e->key);
                json_text(j, NULL, redactor ? redactor_value(redactor, e->key, e->value) : e->value);
                json_list_end(j);
        }
        json_list_end(j);
}

static void api_put_requests(struct json_out *j, const struct status_profile *p, bool of_task)
{
        json_begin_in(j, of_task ? "taskResources" : "executorResources");
        for (size_t i = 0; i < p->requests.len; i++) {
                const struct profile_request *q = &p->requests.data[i];
                if (q->of_task != of_task)
                        continue;
                json_begin_in(j, q->name);
                json_text(j, "resourceName", q->name);
                if (of_task)
                        json_double(j, "amount", q->amount);
                else
                        json_int(j, "amount", (int64_t)q->amount);
                if (!of_task) {
                        json_text(j, "discoveryScript", q->discovery_script ? q->discovery_script : "");
                        json_text(j, "vendor", q->vendor ? q->vendor : "");
                }
                json_end(j);
        }
        json_end(j);
}

void api_serve_environment(struct api_call *c, const char *rest)
{
        const struct status_application *a = &c->s->application;
        const struct redactor *redactor = c->view->redactor;
        struct json_out *j = &c->json;
        if (*rest)
                return api_fail_path(c);
        json_begin(j);
        json_begin_in(j, "runtime");
        json_text(j, "javaVersion", api_runtime_text(a, "Java Version"));
        json_text(j, "javaHome", api_runtime_text(a, "Java Home"));
        json_text(j, "scalaVersion", api_runtime_text(a, "Scala Version"));
        json_end(j);
        api_put_pairs(j, "sparkProperties", &a->spark_properties, redactor);
        api_put_pairs(j, "hadoopProperties", &a->hadoop_properties, redactor);
        api_put_pairs(j, "systemProperties", &a->system_properties, redactor);
        api_put_pairs(j, "metricsProperties", &a->metrics_properties, redactor);
        api_put_pairs(j, "classpathEntries", &a->classpath, NULL);
        json_list(j, "resourceProfiles");
        for (size_t i = 0; i < c->s->profiles.len; i++) {
                json_begin(j);
                json_int(j, "id", c->s->profiles.data[i].id);
                api_put_requests(j, &c->s->profiles.data[i], false);
                api_put_requests(j, &c->s->profiles.data[i], true);
                json_end(j);
        }
        json_list_end(j);
        json_end(j);
}
