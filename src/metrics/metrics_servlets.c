/* See metrics_servlets.h. */
#include "metrics/metrics_servlets.h"

#include "base/log.h"
#include "base/mem.h"
#include "metrics/metrics_conf.h"

#include <stdbool.h>

/* Returns the length of @path without slashes at its end. */
static size_t metrics_servlet_length(const char *path)
{
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/')
                n--;
        return n;
}

static char *metrics_servlets_path(const struct metrics_conf *m, const char *instance, const char *sink,
                                   const char *form)
{
        const bool is_part = strcmp(instance, "master") == 0 || strcmp(instance, "applications") == 0;
        char *path = mem_printf("/metrics/%s%s%s", is_part ? instance : "", is_part ? "/" : "", form);
        for (size_t i = 0; i < m->sinks.len; i++) {
                const struct metrics_part *part = &m->sinks.data[i];
                const char *given = strcmp(part->name, sink) == 0 ? strmap_get(&part->options, "path") : NULL;
                if (!given)
                        continue;
                if (*given != '/' || !given[1]) {
                        log_warn("MetricsSystem", "%s is \"%s\": a path begins with a slash, such as %s, which is used",
                                 strmap_get(&part->keys, "path"), given, path);
                        continue;
                }
                free(path);
                path = mem_strndup(given, metrics_servlet_length(given));
        }
        return path;
}

void metrics_servlets_read(struct metrics_servlets *s, const char *instance, const struct fst_conf *conf,
                           const char *conf_dir)
{
        struct metrics_conf m;
        metrics_conf_read(&m, instance, conf, conf_dir);
        s->json = metrics_servlets_path(&m, instance, "servlet", "json");
        s->prometheus = metrics_servlets_path(&m, instance, "prometheusServlet", "prometheus");
        metrics_conf_deinit(&m);
}

void metrics_servlets_deinit(struct metrics_servlets *s)
{
        free(s->json);
        free(s->prometheus);
}

enum metrics_servlet metrics_servlets_find(const struct metrics_servlets *s, const char *path)
{
        const size_t n = metrics_servlet_length(path);
        if (s->json && strlen(s->json) == n && strncmp(s->json, path, n) == 0)
                return METRICS_SERVLET_JSON;
        if (s->prometheus && strlen(s->prometheus) == n && strncmp(s->prometheus, path, n) == 0)
                return METRICS_SERVLET_PROMETHEUS;
        return METRICS_SERVLET_NONE;
}
