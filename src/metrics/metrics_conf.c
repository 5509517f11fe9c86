/* See metrics_conf.h. */
#include "metrics/metrics_conf.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "metrics/metrics_misspelled.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <strings.h>
#include <unistd.h>

#define CONF_PREFIX "spark.metrics.conf."

static void metrics_conf_load(struct strmap *lines, const struct fst_conf *conf, const char *conf_dir)
{
        const char *given = conf_get_value(conf, "spark.metrics.conf");
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *path = given      ? mem_strdup(given)
                                    : conf_dir ? mem_printf("%s/metrics.properties", conf_dir)
                                               : NULL;
        if (!path || (!given && access(path, F_OK) != 0))
                return;
        static atomic_bool has_told; /* the file is read for each instance */
        if (properties_load(lines, path, &error) && !atomic_exchange(&has_told, true))
                log_error("MetricsConfig", "Error loading configuration file %s: %s", path, error_message(&error));
}

/* The part @name of @list, made if it is missing. */
static struct metrics_part *metrics_conf_part(metrics_part_list *list, const char *name, size_t length)
{
        for (size_t i = 0; i < list->len; i++)
                if (strncmp(list->data[i].name, name, length) == 0 && !list->data[i].name[length])
                        return &list->data[i];
        vec_push(list, (struct metrics_part){.name = mem_strndup(name, length)});
        return &list->data[list->len - 1];
}

/* @line ends with "sink.NAME.OPTION", where @key begins: NAME reaches to the last dot. */
static void metrics_conf_option(struct metrics_conf *m, const char *line, const char *key, const char *value)
{
        metrics_part_list *list;
        if (text_starts_with(key, "sink."))
                list = &m->sinks;
        else if (text_starts_with(key, "source."))
                list = &m->sources;
        else
                return;
        const char *name = strchr(key, '.') + 1, *option = strrchr(name, '.');
        if (!option || option == name || !option[1])
                return;
        struct metrics_part *part = metrics_conf_part(list, name, (size_t)(option - name));
        strmap_set(&part->options, option + 1, value);
        strmap_set(&part->keys, option + 1, line);
}

/* Applies the lines of @instance. */
static void metrics_conf_apply(struct metrics_conf *m, const struct strmap *lines, const char *instance)
{
        size_t length = strlen(instance);
        for (const struct strmap_entry *e = NULL; (e = strmap_next(lines, e));)
                if (strncmp(e->key, instance, length) == 0 && e->key[length] == '.')
                        metrics_conf_option(m, e->key, e->key + length + 1, e->value);
}

void metrics_conf_read_lines(struct strmap *lines, const struct fst_conf *conf, const char *conf_dir)
{
        strmap_set(lines, "*.sink.servlet.class", "org.apache.spark.metrics.sink.MetricsServlet");
        strmap_set(lines, "*.sink.servlet.path", "/metrics/json");
        strmap_set(lines, "master.sink.servlet.path", "/metrics/master/json");
        strmap_set(lines, "applications.sink.servlet.path", "/metrics/applications/json");
        metrics_conf_load(lines, conf, conf_dir);
        for (const struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));)
                if (text_starts_with(e->key, CONF_PREFIX))
                        strmap_set(lines, e->key + strlen(CONF_PREFIX), e->value);
}

void metrics_conf_read(struct metrics_conf *out, const char *instance, const struct fst_conf *conf,
                       const char *conf_dir)
{
        _cleanup_(strmap_deinit) struct strmap lines = STRMAP_INIT;
        metrics_conf_read_lines(&lines, conf, conf_dir);
        for (const struct strmap_entry *e = NULL; (e = strmap_next(&lines, e));)
                metrics_warn_invalid_line(e->key);
        metrics_report_missing_classes(&lines);
        *out = (struct metrics_conf){0};
        metrics_conf_apply(out, &lines, "*");
        metrics_conf_apply(out, &lines, instance);
}

static void metrics_conf_free_parts(metrics_part_list *list)
{
        for (size_t i = 0; i < list->len; i++) {
                free(list->data[i].name);
                strmap_deinit(&list->data[i].options);
                strmap_deinit(&list->data[i].keys);
        }
        vec_deinit(list);
}

void metrics_conf_deinit(struct metrics_conf *m)
{
        metrics_conf_free_parts(&m->sinks);
        metrics_conf_free_parts(&m->sources);
}

int metrics_conf_period(const struct metrics_part *sink, int64_t *period_ms, struct fst_error *error)
{
        static const struct {
                const char *name;
                double ms;
        } units[] = {{"NANOSECONDS", 1e-6}, {"MICROSECONDS", 1e-3}, {"MILLISECONDS", 1}, {"SECONDS", 1e3},
                     {"MINUTES", 6e4},      {"HOURS", 36e5},        {"DAYS", 864e5}};
        const char *text = strmap_get(&sink->options, "period"), *unit = strmap_get(&sink->options, "unit");
        const char *key = strmap_get(&sink->keys, "period"), *period_key = key ? key : "period";
        char *end;
        errno = 0;
        intmax_t period = strtoimax(text ? text : "10", &end, 10);
        if (*end || errno || period > INT32_MAX || period < INT32_MIN || (text && !*text))
                return error_set(error, -EINVAL, "%s: For input string: \"%s\"", period_key, text);
        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
                if (strcasecmp(unit ? unit : "SECONDS", units[i].name) != 0)
                        continue;
                double ms = (double)period * units[i].ms;
                if (ms < 1000)
                        return error_set(error, -EINVAL,
                                         "%s: Polling period %" PRIdMAX " %s below than minimal polling period of 1 "
                                         "second",
                                         period_key, period, units[i].name);
                *period_ms = (int64_t)ms;
                return 0;
        }
        return error_set(error, -EINVAL,
                         "%s is \"%s\": use nanoseconds, microseconds, milliseconds, seconds, minutes, hours or days",
                         strmap_get(&sink->keys, "unit"), unit);
}

int metrics_conf_prefix(const struct fst_conf *conf, const char *app_id, const char *executor_id, char **out,
                        struct fst_error *error)
{
        _cleanup_free_ char *namespace = NULL;
        int r = conf_get_string(conf, "spark.metrics.namespace", &namespace, error);
        if (r == 0)
                *out = mem_printf("%s.%s", namespace ? namespace : app_id, executor_id);
        return r;
}
