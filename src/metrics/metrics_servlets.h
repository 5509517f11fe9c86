/*
 * The paths below which a site shows its metrics: of the sinks servlet (JSON) and prometheusServlet in
 * metrics.properties, which are not sinks here but pages.
 */
#pragma once

struct fst_conf;

enum metrics_servlet { METRICS_SERVLET_NONE, METRICS_SERVLET_JSON, METRICS_SERVLET_PROMETHEUS };

struct metrics_servlets {
        char *json, *prometheus; /* without a slash at their end */
};

/*
 * Reads the paths of @instance as metrics_conf_read does. The defaults are /metrics/json and /metrics/prometheus, for
 * "master" and "applications" /metrics/INSTANCE/json and so on. Warns of a path that does not begin with a slash, whose
 * default then applies.
 */
void metrics_servlets_read(struct metrics_servlets *s, const char *instance, const struct fst_conf *conf,
                           const char *conf_dir);
void metrics_servlets_deinit(struct metrics_servlets *s);

/* The servlet of a request's path, with or without a slash at its end. */
enum metrics_servlet metrics_servlets_find(const struct metrics_servlets *s, const char *path);
