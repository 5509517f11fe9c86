/* Builds the JVM options of executors. */
#include "kubernetes/pods/java_options.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/spark_pod.h"
#include "exec/executor.h"
#include "text/shell_words.h"

int value_with_default(const struct kube_conf *c, const char *default_key, const char *key, const char *between,
                       char **out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        _cleanup_free_ char *before = NULL;
        int r = kube_is_set(c, default_key) ? kube_string(c, default_key, &before, error) : 0;
        if (r == 0)
                r = kube_string(c, key, &value, error);
        if (r == 0)
                *out = before && value ? mem_printf("%s%s%s", before, between, value)
                       : before        ? steal(before)
                                       : steal(value);
        return r;
}

int java_options_read(const struct kube_conf *c, struct string_list *out, struct fst_error *error)
{
        _cleanup_free_ char *options = NULL;
        int r = value_with_default(c, "spark.executor.defaultJavaOptions", "spark.executor.extraJavaOptions", " ",
                                   &options, error);
        if (r < 0)
                return r;
        if (options) {
                _cleanup_free_ char *substituted = kube_substitute_ids(c, options);
                command_string_split(substituted, out);
        }
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&c->conf->set);
        for (size_t i = 0; i < c->conf->set.count; i++)
                if (executor_startup_key(sorted[i]->key))
                        string_list_take(out, mem_printf("-D%s=%s", sorted[i]->key, sorted[i]->value));
        return 0;
}

void java_options_put(const struct string_list *options, struct spark_pod *pod)
{
        for (size_t i = 0; i < options->len; i++) {
                _cleanup_free_ char *name = mem_printf("SPARK_JAVA_OPT_%zu", i);
                pod_add_env(pod, name, options->data[i]);
        }
}
