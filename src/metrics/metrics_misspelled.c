/* See metrics_misspelled.h. */
#include "metrics/metrics_misspelled.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "base/strmap.h"
#include "text/edit_distance.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WARNINGS 100 /* in a process */

/* Returns whether this is the first warning of @key. */
static bool metrics_warning_is_new(const char *key)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static struct string_list told;
        pthread_mutex_lock(&lock);
        bool is_new = told.len < MAX_WARNINGS;
        for (size_t i = 0; i < told.len && is_new; i++)
                is_new = strcmp(told.data[i], key) != 0;
        if (is_new)
                string_list_add(&told, key);
        pthread_mutex_unlock(&lock);
        return is_new;
}

/* Returns the known name nearest to @name, which the caller owns. NULL: none is near. */
static char *metrics_nearest_name(const char *name, size_t length, const char *known)
{
        const char *nearest = NULL;
        size_t nearest_length = 0;
        int limit = length == 3 ? 1 : edit_distance_limit(length); /* "snk" */
        for (const char *p = known, *end; limit > 0 && (end = strchr(p, ' ')); p = end + 1) {
                int distance = edit_distance(name, length, p, (size_t)(end - p), limit);
                if (distance <= limit) {
                        nearest = p;
                        nearest_length = (size_t)(end - p);
                        limit = distance - 1;
                }
        }
        return nearest ? mem_strndup(nearest, nearest_length) : NULL;
}

static bool metrics_name_is_known(const char *name, size_t length, const char *known)
{
        for (const char *p = known, *end; (end = strchr(p, ' ')); p = end + 1)
                if ((size_t)(end - p) == length && memcmp(p, name, length) == 0)
                        return true;
        return false;
}

void metrics_warn_unknown_name(const char *key, const char *noun, const char *name, size_t length, const char *known)
{
        if (metrics_name_is_known(name, length, known) || !metrics_warning_is_new(key))
                return;
        _cleanup_free_ char *nearest = metrics_nearest_name(name, length, known);
        if (nearest)
                log_warn("MetricsConfig", "%s has no effect: \"%.*s\" is not %s. Did you mean %s?", key, (int)length,
                         name, noun, nearest);
        else
                log_warn("MetricsConfig", "%s has no effect: \"%.*s\" is not %s. Use one of: %.*s", key, (int)length,
                         name, noun, (int)(strlen(known) - 1), known);
}

void metrics_warn_invalid_line(const char *key)
{
        const char *kind = strchr(key, '.');
        const char *name = kind ? strchr(kind + 1, '.') : NULL;
        const char *option = name ? strrchr(name + 1, '.') : NULL;
        if (kind)
                metrics_warn_unknown_name(key, "an instance", key, (size_t)(kind - key), METRICS_INSTANCES);
        if (name)
                metrics_warn_unknown_name(key, "sink or source", kind + 1, (size_t)(name - kind) - 1, METRICS_KINDS);
        if ((!option || option == name + 1 || !option[1]) && metrics_warning_is_new(key))
                log_warn("MetricsConfig",
                         "%s has no effect: write INSTANCE.sink.NAME.OPTION or INSTANCE.source.NAME.OPTION", key);
}

/* Returns whether a line gives the sink @name of @instance a class. */
static bool metrics_sink_has_class(const struct strmap *lines, const char *instance, const char *name)
{
        static const char *const instances[] = {"*",
                                                "driver",
                                                "executor",
                                                "master",
                                                "worker",
                                                "applications",
                                                "shuffleService",
                                                "applicationMaster",
                                                "mesos_cluster"};
        for (size_t i = 0; i < ARRAY_SIZE(instances); i++) {
                _cleanup_free_ char *key = mem_printf("%s.sink.%s.class", instances[i], name);
                if ((i == 0 || strcmp(instance, "*") == 0 || strcmp(instance, instances[i]) == 0) &&
                    strmap_get(lines, key))
                        return true;
        }
        return false;
}

void metrics_report_missing_classes(const struct strmap *lines)
{
        for (const struct strmap_entry *e = NULL; (e = strmap_next(lines, e));) {
                const char *kind = strchr(e->key, '.'), *option = strrchr(e->key, '.');
                if (!kind || !text_starts_with(kind, ".sink.") || option <= kind + 6 || !option[1])
                        continue; /* another form: metrics_warn_invalid_line reports it */
                _cleanup_free_ char *instance = mem_strndup(e->key, (size_t)(kind - e->key));
                _cleanup_free_ char *name = mem_strndup(kind + 6, (size_t)(option - kind) - 6);
                _cleanup_free_ char *sink = mem_printf("%s.sink.%s", instance, name);
                if (!metrics_sink_has_class(lines, instance, name) && metrics_warning_is_new(sink))
                        log_error("MetricsConfig", "%s has no effect: the sink \"%s\" has no class. Add %s.class=CLASS",
                                  e->key, name, sink);
        }
}
