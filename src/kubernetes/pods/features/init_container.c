/*
 * The init container of Spark 2.3. It downloads remote jars and files into volumes that it shares with the Spark
 * container. DriverInitContainerBootstrapStep, DependencyResolutionStep and InitContainerBootstrap of that version.
 */
#include "kubernetes/pods/features/init_container.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "kubernetes/pods/feature_step.h"
#include "kubernetes/conf/file_upload.h"
#include "kubernetes/conf/kube_settings.h"
#include "io/fs/uri.h"

#include <errno.h>

#define JARS_FOLDER "spark.kubernetes.mountDependencies.jarsDownloadDir"
#define FILES_FOLDER "spark.kubernetes.mountDependencies.filesDownloadDir"
#define PROPERTIES "spark-init.properties"
#define PROPERTIES_FOLDER "/etc/spark-init"
#define JARS_VOLUME "download-jars-volume"
#define FILES_VOLUME "download-files-volume"
#define PROPERTIES_VOLUME "spark-init-properties"

/* Remote files and the directories for them. */
struct init_downloads {
        struct string_list jars, files;
        char *jars_folder, *files_folder;
};

static void downloads_deinit(struct init_downloads *d)
{
        string_list_deinit(&d->jars);
        string_list_deinit(&d->files);
        free(d->jars_folder);
        free(d->files_folder);
}

bool pods_are_classic(const struct kube_conf *c)
{
        return kube_is_set(c, INIT_IMAGE);
}

int classic_files(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error)
{
        int r = kube_list(c, key, out, error);
        if (r == 0 && c->role == KUBE_DRIVER && c->resource && strcmp(key, "spark.jars") == 0)
                string_list_add(out, c->resource);
        return r;
}

static bool is_in_image(const char *uri)
{
        struct uri parts;
        return strcmp(uri, "spark-internal") == 0 || (uri_parse(uri, &parts) && uri_has_scheme(&parts, "local"));
}

static int read_downloads(const struct kube_conf *c, struct init_downloads *d, struct fst_error *error)
{
        int r = classic_files(c, "spark.jars", &d->jars, error);
        if (r == 0)
                r = classic_files(c, "spark.files", &d->files, error);
        if (r == 0)
                r = kube_string(c, JARS_FOLDER, &d->jars_folder, error);
        return r < 0 ? r : kube_string(c, FILES_FOLDER, &d->files_folder, error);
}

/* Appends the @uris that must be downloaded. */
static void put_remote(const struct string_list *uris, struct buf *list)
{
        for (size_t i = 0; i < uris->len; i++)
                if (!is_in_image(uris->data[i]))
                        buf_printf(list, "%s%s", list->len ? "," : "", uris->data[i]);
}

/* Builds the config map of the init container, or NULL without downloads. The caller owns it. */
static char *init_container_map_name(const struct kube_conf *c, const struct init_downloads *d)
{
        _cleanup_(buf_deinit) struct buf remote = BUF_INIT;
        const char *given = conf_get_raw(c->conf, INIT_MAP);
        if (c->role == KUBE_EXECUTOR)
                return given ? mem_strdup(given) : NULL;
        put_remote(&d->jars, &remote);
        put_remote(&d->files, &remote);
        return remote.len ? mem_printf("%s-init-config", c->prefix) : NULL;
}

static int init_container_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(downloads_deinit) struct init_downloads d = {0};
        int r = read_downloads(c, &d, error);
        const struct string_list *lists[] = {&d.jars, &d.files};
        for (size_t k = 0; r == 0 && c->role == KUBE_DRIVER && k < ARRAY_SIZE(lists); k++)
                for (size_t i = 0; i < lists[k]->len; i++)
                        if (file_is_local(lists[k]->data[i]))
                                return error_set(error, -EINVAL,
                                                 "The Kubernetes mode does not yet support referencing application "
                                                 "dependencies in the local file system.");
        return r;
}

static json_t *init_container_mount(const char *volume, const char *path)
{
        return json_pack("{s:s,s:o}", "name", volume, "mountPath", kube_text(path));
}

static int add_container(const struct kube_conf *c, const struct init_downloads *d, struct spark_pod *pod,
                         struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        _cleanup_free_ char *image = NULL;
        _cleanup_free_ char *policy = NULL;
        int r = kube_string(c, INIT_IMAGE, &image, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.container.image.pullPolicy", &policy, error);
        if (r < 0)
                return r;
        json_t *init = json_pack(
                "{s:s,s:o,s:o,s:[o,o,o],s:[s,s]}", "name", "spark-init", "image", kube_text(image), "imagePullPolicy",
                kube_text(policy), "volumeMounts", init_container_mount(PROPERTIES_VOLUME, PROPERTIES_FOLDER),
                init_container_mount(JARS_VOLUME, d->jars_folder), init_container_mount(FILES_VOLUME, d->files_folder),
                "args", "init", PROPERTIES_FOLDER "/" PROPERTIES);
        kube_environment(c, &environment);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&environment, e));)
                json_array_append_new(kube_children(init, "env"),
                                      json_pack("{s:o,s:o}", "name", kube_text(e->key), "value", kube_text(e->value)));
        json_array_append_new(kube_children(pod_spec(pod), "initContainers"), init);
        return 0;
}

static void add_volumes(const struct kube_conf *c, const struct init_downloads *d, const char *map,
                        struct spark_pod *pod)
{
        const char *key = conf_get_raw(c->conf, INIT_MAP_KEY);
        json_t *volume = config_map_volume(PROPERTIES_VOLUME, map);
        json_array_append_new(kube_children(kube_child(volume, "configMap"), "items"),
                              key_to_path(key ? key : PROPERTIES, PROPERTIES));
        pod_add_volume(pod, volume);
        pod_add_volume(pod, json_pack("{s:s,s:{}}", "name", JARS_VOLUME, "emptyDir"));
        pod_add_volume(pod, json_pack("{s:s,s:{}}", "name", FILES_VOLUME, "emptyDir"));
        pod_add_mount(pod, JARS_VOLUME, d->jars_folder);
        pod_add_mount(pod, FILES_VOLUME, d->files_folder);
}

/* Adds the paths of the jars: in the image, or in the download directory. */
static void add_class_path(const struct kube_conf *c, const struct init_downloads *d, struct spark_pod *pod)
{
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        if (c->role == KUBE_EXECUTOR) {
                buf_printf(&path, "%s/*", d->jars_folder);
        } else {
                for (size_t i = 0; i < d->jars.len; i++) {
                        struct uri parts;
                        if (!uri_parse(d->jars.data[i], &parts) || strcmp(d->jars.data[i], "spark-internal") == 0)
                                continue;
                        _cleanup_free_ char *whole = uri_decode(parts.path);
                        const char *slash = strrchr(whole, '/');
                        if (path.len)
                                buf_putc(&path, ':');
                        if (uri_has_scheme(&parts, "local"))
                                buf_puts(&path, whole);
                        else
                                buf_printf(&path, "%s/%s", d->jars_folder, slash ? slash + 1 : whole);
                }
        }
        if (path.len)
                pod_add_env(pod, "SPARK_MOUNTED_CLASSPATH", buf_text(&path));
}

static int init_container_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(downloads_deinit) struct init_downloads d = {0};
        int r = read_downloads(c, &d, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *map = init_container_map_name(c, &d);
        add_class_path(c, &d, pod);
        if (!map)
                return 0;
        add_volumes(c, &d, map, pod);
        pod_add_env(pod, "SPARK_MOUNTED_FILES_DIR", d.files_folder);
        return add_container(c, &d, pod, error);
}

/* Sets @key to the list with URIs in the image replaced by paths. */
static void put_resolved(const struct string_list *uris, const char *key, struct strmap *out)
{
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        for (size_t i = 0; i < uris->len; i++) {
                struct uri parts;
                if (strcmp(uris->data[i], "spark-internal") == 0)
                        continue;
                bool local = is_in_image(uris->data[i]) && uri_parse(uris->data[i], &parts);
                _cleanup_free_ char *path = local ? uri_decode(parts.path) : NULL;
                buf_printf(&list, "%s%s", list.len ? "," : "", local ? path : uris->data[i]);
        }
        if (list.len)
                strmap_set(out, key, buf_text(&list));
}

static int init_container_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        _cleanup_(downloads_deinit) struct init_downloads d = {0};
        int r = read_downloads(c, &d, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *map = init_container_map_name(c, &d);
        put_resolved(&d.jars, "spark.jars", out);
        put_resolved(&d.files, "spark.files", out);
        if (map) {
                strmap_set(out, INIT_MAP, map);
                strmap_set(out, INIT_MAP_KEY, PROPERTIES);
        }
        return 0;
}

static int init_container_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_(downloads_deinit) struct init_downloads d = {0};
        _cleanup_(buf_deinit) struct buf jars = BUF_INIT, files = BUF_INIT, text = BUF_INIT;
        int r = read_downloads(c, &d, error);
        if (r < 0 || c->role == KUBE_EXECUTOR)
                return r;
        _cleanup_free_ char *map = init_container_map_name(c, &d);
        if (!map)
                return 0;
        put_remote(&d.jars, &jars);
        put_remote(&d.files, &files);
        buf_printf(&text,
                   "#Java properties built from Kubernetes config map with name: %s and config map key: " PROPERTIES
                   "\n",
                   map);
        if (files.len)
                properties_store(&text, "spark.kubernetes.initContainer.remoteFiles", buf_text(&files));
        if (jars.len)
                properties_store(&text, "spark.kubernetes.initContainer.remoteJars", buf_text(&jars));
        properties_store(&text, FILES_FOLDER, d.files_folder);
        properties_store(&text, JARS_FOLDER, d.jars_folder);
        json_array_append_new(out, json_pack("{s:s,s:s,s:{s:o},s:{s:o}}", "apiVersion", "v1", "kind", "ConfigMap",
                                             "metadata", "name", kube_text(map), "data", PROPERTIES,
                                             kube_text(buf_text(&text))));
        return 0;
}

const struct feature_step init_container_step = {
        .class_name = "org.apache.spark.deploy.k8s.submit.steps.DriverInitContainerBootstrapStep",
        .check = init_container_check,
        .configure = init_container_configure,
        .properties = init_container_properties,
        .resources = init_container_resources,
};
