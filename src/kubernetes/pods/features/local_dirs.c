/*
 * Directories for shuffle and spill: mounted volumes named spark-local-dir-…, else one empty directory for each of
 * SPARK_LOCAL_DIRS, spark.local.dir, or a new one. LocalDirsFeatureStep. Differs from Spark: the directories keep the
 * given order, which Spark shuffles.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "text/json.h"

static void put_mounted(const struct spark_pod *pod, struct buf *list)
{
        json_t *mount;
        size_t i;
        json_array_foreach(json_object_get(pod->container, "volumeMounts"), i, mount) {
                const char *name = json_text_at(mount, "name");
                const char *path = json_text_at(mount, "mountPath");
                if (name && path && text_starts_with(name, "spark-local-dir-"))
                        buf_printf(list, "%s%s", list->len ? "," : "", path);
        }
}

static void add_directory(struct spark_pod *pod, const char *path, int number, bool in_memory)
{
        _cleanup_free_ char *name = mem_printf("spark-local-dir-%d", number);
        json_t *volume = json_pack("{s:s,s:{}}", "name", name, "emptyDir");
        if (in_memory)
                kube_put(kube_child(volume, "emptyDir"), "medium", "Memory");
        pod_add_volume(pod, volume);
        pod_add_mount(pod, name, path);
}

/* Returns the directories as one text, without empty ones at the end, as Java's split(",") does. */
static char *local_dirs_choose(const struct kube_conf *c)
{
        const char *set = c->env("SPARK_LOCAL_DIRS");
        if (!set)
                set = conf_get_raw(c->conf, "spark.local.dir");
        char *list = set ? mem_strdup(set) : mem_printf("/var/data/spark-%s", c->uuid);
        for (size_t n = strlen(list); n && list[n - 1] == ',';)
                list[--n] = '\0';
        return list;
}

static int local_dirs_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        bool in_memory;
        int r = kube_bool(c, "spark.kubernetes.local.dirs.tmpfs", &in_memory, error);
        if (r < 0)
                return r;
        put_mounted(pod, &list);
        if (list.len == 0) {
                _cleanup_free_ char *all = local_dirs_choose(c);
                char *rest = all, *path;
                buf_puts(&list, all);
                for (int number = 1; (path = strsep(&rest, ",")); number++)
                        add_directory(pod, path, number, in_memory);
        }
        pod_add_env(pod, "SPARK_LOCAL_DIRS", buf_text(&list));
        return 0;
}

static int local_dirs_check(const struct kube_conf *c, struct fst_error *error)
{
        bool in_memory;
        return kube_bool(c, "spark.kubernetes.local.dirs.tmpfs", &in_memory, error);
}

const struct feature_step local_dirs_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.LocalDirsFeatureStep",
        .check = local_dirs_check,
        .configure = local_dirs_configure,
};
