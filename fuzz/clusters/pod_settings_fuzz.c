/*
 * Settings of volumes, labels, annotations, secrets, selectors and sizes make pods or are refused with a message. Each
 * line is a letter for the kind of setting, the rest of its name, "=", and its value. No setting names a file. Labels
 * of Spark's own have Spark's values.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/conf/kube_conf.h"

#include <stdlib.h>
#include <string.h>

static const char *const prefixes[] = {
        "spark.kubernetes.driver.volumes.",
        "spark.kubernetes.executor.volumes.",
        "spark.kubernetes.driver.label.",
        "spark.kubernetes.executor.label.",
        "spark.kubernetes.driver.annotation.",
        "spark.kubernetes.executor.annotation.",
        "spark.kubernetes.driver.secretKeyRef.",
        "spark.kubernetes.executor.secretKeyRef.",
        "spark.kubernetes.driver.secrets.",
        "spark.kubernetes.executor.secrets.",
        "spark.kubernetes.node.selector.",
        "spark.kubernetes.driverEnv.",
        "spark.executorEnv.",
        "spark.driver.resource.",
        "spark.executor.resource.",
        "spark.kubernetes.driver.request.cores",
        "spark.kubernetes.executor.limit.cores",
        "spark.executor.memory",
        "spark.kubernetes.executor.podNamePrefix",
        "spark.app.name",
        "spark.kubernetes.scheduler.name",
        "spark.kubernetes.container.image.pullSecrets",
};

static const char *no_variable(const char *name)
{
        return NULL;
}

static void read_settings(char *text, struct fst_conf *conf)
{
        char *next;
        for (char *line = text; line; line = next) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                char *value = strchr(line, '=');
                if (*line < 'a' || (size_t)(*line - 'a') >= ARRAY_SIZE(prefixes) || !value)
                        continue;
                *value++ = '\0';
                _cleanup_free_ char *key = mem_printf("%s%s", prefixes[*line - 'a'], line + 1);
                strmap_set(&conf->set, key, value);
        }
}

static void check_pod(json_t *pod, const char *role)
{
        const json_t *labels = json_object_get(json_object_get(pod, "metadata"), "labels");
        const char *said = json_string_value(json_object_get(labels, "spark-role"));
        char *text = json_dumps(pod, JSON_COMPACT);
        if (!said || strcmp(said, role) != 0 || !text)
                abort();
        free(text);
}

static int build_driver(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(driver_spec_deinit) struct driver_pod_spec spec = {0};
        json_t *pod = NULL, *map = NULL;
        int r = driver_spec_build(c, &spec, error);
        if (r == 0)
                r = driver_spec_finish(c, &spec, &pod, &map, error);
        if (r == 0)
                check_pod(pod, "driver");
        json_decref(pod);
        json_decref(map);
        return r;
}

static int build_executor(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(executor_spec_deinit) struct executor_pod_spec spec = {0};
        int r = executor_spec_build(c, &spec, error);
        if (r == 0) {
                json_t *pod = executor_spec_pod(&spec);
                check_pod(pod, "executor");
                json_decref(pod);
        }
        return r;
}

static void build_pod(const struct fst_conf *conf, enum kube_role role)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct kube_conf c = {
                .role = role,
                .conf = conf,
                .env = no_variable,
                .app_id = "spark-1",
                .unique = "0123456789abcdef",
                .uuid = "01234567-89ab-4def-8123-456789abcdef",
                .user = "me",
                .main_class = "a.B",
                .resource = "local:///a.jar",
                .executor_id = "1",
        };
        int r = kube_conf_complete(&c, &error);
        if (r == 0)
                r = role == KUBE_DRIVER ? build_driver(&c, &error) : build_executor(&c, &error);
        if (r < 0 && !*error_message(&error))
                abort();
        kube_conf_deinit(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup(size ? (const char *)data : "", size);
        struct fst_conf driver, executor;
        log_set_level(LOG_OFF);
        conf_init(&driver);
        strmap_set(&driver.set, "spark.kubernetes.container.image", "i");
        read_settings(text, &driver);
        conf_init(&executor);
        strmap_merge(&executor.set, &driver.set);
        strmap_set(&executor.set, "spark.driver.host", "h"); /* not allowed for a driver */
        build_pod(&driver, KUBE_DRIVER);
        build_pod(&executor, KUBE_EXECUTOR);
        conf_deinit(&driver);
        conf_deinit(&executor);
        return 0;
}
