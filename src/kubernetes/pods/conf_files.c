/* Collects configuration files and builds their config maps. */
#include "kubernetes/pods/conf_files.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/spark_pod.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define COMPONENT "KubernetesClientUtils"

static int conf_files_by_name(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the size of a regular file, or -1. */
static int64_t file_size(const char *folder, const char *name)
{
        struct stat st;
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
        return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
}

void folder_files(const char *folder, struct string_list *names)
{
        DIR *dir = opendir(folder);
        size_t before = names->len;
        if (!dir)
                return;
        for (struct dirent *entry; (entry = readdir(dir));)
                if (file_size(folder, entry->d_name) >= 0)
                        string_list_add(names, entry->d_name);
        closedir(dir);
        if (names->len > before)
                qsort(names->data + before, names->len - before, sizeof(*names->data), conf_files_by_name);
}

int file_content_put(json_t *data, const char *name, const char *path, size_t most, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        int r = file_text_read(path, most, &content, error);
        if (r < 0)
                return r;
        json_t *text = json_stringn(buf_text(&content), content.len);
        if (!text)
                return error_set(error, -EILSEQ, "%s: the content is not UTF-8", path);
        return json_object_set_new(data, name, text) == 0
                       ? 0
                       : error_set(error, -EILSEQ, "%s: the name is not UTF-8", path);
}

static bool is_archive(const char *name)
{
        return text_ends_with(name, ".gz") || text_ends_with(name, ".zip") || text_ends_with(name, ".jar") ||
               text_ends_with(name, ".tar");
}

/* Skips spark-defaults.conf and similar files, whose settings are in the driver's properties, and templates. */
static bool is_settings(const char *name)
{
        return text_ends_with(name, ".template") ||
               (text_starts_with(name, "spark") &&
                (text_ends_with(name, "conf") || text_ends_with(name, "properties")) &&
                strlen(name) >= strlen("sparkconf"));
}

/* Counts characters as Java does. */
static int64_t java_length(const char *text, size_t len)
{
        int64_t n = 0;
        for (size_t i = 0; i < len; i++)
                n += ((text[i] & 0xc0) != 0x80) + ((unsigned char)text[i] >= 0xf0);
        return n;
}

struct conf_file {
        const char *name;
        int64_t size; /* size of name and content */
};

static int by_size(const void *a, const void *b)
{
        const struct conf_file *x = a, *y = b;
        return x->size != y->size ? (x->size < y->size ? -1 : 1) : strcmp(x->name, y->name);
}

static void put_skipped(struct buf *list, const char *name)
{
        buf_printf(list, "%s%s", list->len ? "," : "", name);
}

/* Reads those of the @n files that fit into @data. */
static void take_files(const char *folder, const struct conf_file *files, size_t n, int64_t most, json_t *data)
{
        _cleanup_(buf_deinit) struct buf skipped = BUF_INIT, taken = BUF_INIT;
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", folder, files[i].name);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                int r = file_content_put(data, files[i].name, path, (size_t)most, &error);
                if (r < 0) {
                        log_warn(COMPONENT,
                                 r == -EILSEQ ? "Unable to read a non UTF-8 encoded file %s. Skipping..."
                                              : "Unable to read %s. Skipping...",
                                 path);
                        continue;
                }
                const json_t *content = json_object_get(data, files[i].name);
                int64_t size = java_length(files[i].name, strlen(files[i].name)) +
                               java_length(json_string_value(content), json_string_length(content));
                if (sum + size < most) {
                        sum += size;
                        put_skipped(&taken, files[i].name);
                } else {
                        json_object_del(data, files[i].name);
                        put_skipped(&skipped, files[i].name);
                }
        }
        if (taken.len)
                log_info(COMPONENT, "Spark configuration files loaded from %s : %s", folder, buf_text(&taken));
        if (skipped.len)
                log_warn(COMPONENT,
                         "Skipped conf file(s) %s, due to size constraint. Please see, config: "
                         "`spark.kubernetes.configMap.maxSize` for more details.",
                         buf_text(&skipped));
}

static void read_folder(const char *folder, int64_t most, json_t *data)
{
        _cleanup_(string_list_deinit) struct string_list names = {0};
        VEC(struct conf_file) files = {0};
        folder_files(folder, &names);
        for (size_t i = 0; i < names.len; i++) {
                const char *name = names.data[i];
                int64_t size = file_size(folder, name) + java_length(name, strlen(name));
                if (size <= most && !is_archive(name) && !is_settings(name))
                        vec_push(&files, (struct conf_file){name, size});
        }
        if (files.len)
                qsort(files.data, files.len, sizeof(*files.data), by_size);
        take_files(folder, files.data, files.len, most, data);
        vec_deinit(&files);
}

/* Writes properties as Java does, without the comment with the time. */
static void put_properties(const struct kube_conf *c, const struct strmap *properties, json_t *data)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *map = kube_config_map_name(c);
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(properties);
        buf_printf(&text, "#Java properties built from Kubernetes config map with name: %s\n", map);
        for (size_t i = 0; i < properties->count; i++)
                properties_store(&text, sorted[i]->key, sorted[i]->value);
        kube_put(data, KUBE_CONF_FILE, buf_text(&text));
}

int conf_files_read(const struct kube_conf *c, const struct strmap *properties, json_t **out, struct fst_error *error)
{
        const char *folder = c->env("SPARK_CONF_DIR"), *home = conf_get_raw(c->conf, "spark.home");
        _cleanup_free_ char *below_home = home ? mem_printf("%s/conf", home) : NULL;
        int64_t most;
        int r = kube_int(c, "spark.kubernetes.configMap.maxSize", &most, error);
        if (r < 0)
                return r;
        json_t *data = json_object();
        if (folder || below_home)
                read_folder(folder ? folder : below_home, MAX(most, (int64_t)0), data);
        if (properties && properties->count)
                put_properties(c, properties, data);
        *out = data;
        return 0;
}

int conf_files_map(const struct kube_conf *c, const json_t *files, const struct strmap *labels, json_t **out,
                   struct fst_error *error)
{
        _cleanup_free_ char *namespace = NULL;
        _cleanup_free_ char *name = kube_config_map_name(c);
        int r = kube_string(c, "spark.kubernetes.namespace", &namespace, error);
        if (r < 0)
                return r;
        json_t *map = kube_immutable("ConfigMap", name), *metadata = kube_child(map, "metadata");
        kube_put(metadata, "namespace", namespace);
        if (labels)
                kube_put_below(metadata, "labels", labels);
        json_object_set_new(map, "data", json_deep_copy(files));
        kube_put(kube_child(map, "data"), "spark.kubernetes.namespace", namespace);
        *out = map;
        return 0;
}

json_t *conf_files_volume(const struct kube_conf *c, const char *name, const json_t *files)
{
        _cleanup_free_ char *map = kube_config_map_name(c);
        _cleanup_(string_list_deinit) struct string_list names = {0};
        json_t *volume = config_map_volume(name, map);
        const char *key;
        json_t *content;
        json_object_foreach((json_t *)files, key, content)
                string_list_add(&names, key);
        if (names.len)
                qsort(names.data, names.len, sizeof(*names.data), conf_files_by_name);
        for (size_t i = 0; i < names.len; i++) {
                json_t *item = key_to_path(names.data[i], names.data[i]);
                json_object_set_new(item, "mode", json_integer(0644));
                json_array_append_new(kube_children(kube_child(volume, "configMap"), "items"), item);
        }
        return volume;
}
