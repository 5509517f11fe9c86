/* Maps keys of Spark 2.1 and 2.2 on Kubernetes to today's keys. */
#include "kubernetes/conf/deprecated_keys.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/deprecated.h"

/* Keys with a list of pairs, which became one key for each pair. */
static const struct {
        const char *key, *prefix;
} lists[] = {
        {"spark.kubernetes.driver.annotations", "spark.kubernetes.driver.annotation."},
        {"spark.kubernetes.driver.labels", "spark.kubernetes.driver.label."},
        {"spark.kubernetes.executor.annotations", "spark.kubernetes.executor.annotation."},
        {"spark.kubernetes.executor.labels", "spark.kubernetes.executor.label."},
};

static void split_list(struct strmap *conf, const char *key, const char *prefix)
{
        const char *value = strmap_get(conf, key);
        if (!value)
                return;
        _cleanup_free_ char *copy = mem_strdup(value);
        char *rest = copy, *pair;
        log_warn("SparkConf", "The configuration key %s is from Spark 2.2 on Kubernetes. Please use %sNAME instead.",
                 key, prefix);
        while ((pair = strsep(&rest, ","))) {
                char *equals = strchr(pair, '=');
                pair += strspn(pair, " ");
                if (!equals)
                        continue;
                *equals = '\0';
                _cleanup_free_ char *name = mem_printf("%s%s", prefix, pair);
                strmap_set_if_missing(conf, name, equals + 1);
        }
        strmap_remove(conf, key);
}

void older_spellings_replace(struct strmap *conf)
{
        _cleanup_free_ struct strmap_entry **entries = strmap_sorted(conf);
        size_t n = conf->count;
        for (size_t i = 0; i < n; i++) {
                struct deprecated d;
                _cleanup_free_ char *key = mem_strdup(entries[i]->key);
                if (!text_starts_with(key, "spark.kubernetes.") || !deprecated_find(key, &d) || !d.instead)
                        continue;
                _cleanup_free_ char *value = mem_strdup(entries[i]->value);
                deprecated_warn(key);
                strmap_set_if_missing(conf, d.instead, value);
                strmap_remove(conf, key);
        }
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                split_list(conf, lists[i].key, lists[i].prefix);
}
