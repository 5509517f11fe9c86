/* Reads and merges kubeconfig files. */
#include "kubernetes/api/kubeconfig_file.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "text/json.h"
#include "text/yaml.h"

#include <unistd.h>

struct kubeconfig_files {
        VEC(struct kube_file) list;
};

struct kube_file {
        json_t *tree;
        char *path, *folder;
};

void kube_files_free(struct kubeconfig_files *files)
{
        if (!files)
                return;
        for (size_t i = 0; i < files->list.len; i++) {
                json_decref(files->list.data[i].tree);
                free(files->list.data[i].path);
                free(files->list.data[i].folder);
        }
        vec_deinit(&files->list);
        free(files);
}

static void files_freep(struct kubeconfig_files **files)
{
        kube_files_free(*files);
}

size_t kube_files_count(const struct kubeconfig_files *files)
{
        return files->list.len;
}

static int add_text(struct kubeconfig_files *files, const char *path, const char *folder, const char *text, size_t len,
                    struct fst_error *error)
{
        json_t *tree;
        int r = yaml_parse(text, len, &tree, error);
        if (r < 0)
                return error_wrap(error, r, "kubeconfig file %s", path);
        if (!json_is_object(tree) && !json_is_null(tree)) {
                json_decref(tree);
                return error_set(error, -EINVAL, "kubeconfig file %s: not a kubeconfig file", path);
        }
        vec_push(&files->list, (struct kube_file){tree, mem_strdup(path), mem_strdup(folder)});
        return 0;
}

static char *folder_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        if (slash)
                return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
        char *here = getcwd(NULL, 0);
        return here ? here : mem_strdup(".");
}

static int kubeconfig_file_add_file(struct kubeconfig_files *files, const char *path, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct fst_error why = FST_ERROR_INIT;
        int r = file_text_read(path, YAML_MAX_BYTES, &text, &why);
        if (r == -ENOENT) {
                error_deinit(&why);
                return 0;
        }
        if (r < 0) {
                error_set(error, r, "%s", error_message(&why));
                error_deinit(&why);
                return r;
        }
        _cleanup_free_ char *folder = folder_of(path);
        return add_text(files, path, folder, buf_text(&text), text.len, error);
}

int kube_files_read(const char *paths, struct kubeconfig_files **out, struct fst_error *error)
{
        _cleanup_(files_freep) struct kubeconfig_files *files = new0(struct kubeconfig_files);
        for (const char *p = paths; *p; p += *p == ':') {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *path = mem_strndup(p, n);
                int r = n > 0 ? kubeconfig_file_add_file(files, path, error) : 0;
                if (r < 0)
                        return r;
                p += n;
        }
        *out = steal(files);
        return 0;
}

int kube_files_parse(const char *text, size_t len, const char *folder, struct kubeconfig_files **out,
                     struct fst_error *error)
{
        _cleanup_(files_freep) struct kubeconfig_files *files = new0(struct kubeconfig_files);
        int r = add_text(files, "(text)", folder, text, len, error);
        if (r == 0)
                *out = steal(files);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- lookup */

static const char *text_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));
        return text && *text ? text : NULL;
}

/* Returns @what (an object) of the entry @name in the first file whose @list has it, or NULL. */
static const json_t *kubeconfig_entry_find(const struct kubeconfig_files *files, const char *list, const char *name,
                                           const char *what, const struct kube_file **where)
{
        for (size_t i = 0; i < files->list.len; i++) {
                const json_t *all = json_object_get(files->list.data[i].tree, list);
                for (size_t j = 0; j < json_array_size(all); j++) {
                        const json_t *item = json_array_get(all, j);
                        const char *its = text_of(item, "name");
                        if (!its || strcmp(its, name) != 0)
                                continue;
                        *where = &files->list.data[i];
                        const json_t *value = json_object_get(item, what);
                        return json_is_object(value) ? value : NULL;
                }
        }
        return NULL;
}

static int kubeconfig_entry_unknown(const struct kubeconfig_files *files, const char *list, const char *what,
                                    const char *name, const char *context, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        for (size_t i = 0; i < files->list.len; i++) {
                const json_t *all = json_object_get(files->list.data[i].tree, list);
                for (size_t j = 0; j < json_array_size(all) && names.len < 1000; j++) {
                        const char *its = text_of(json_array_get(all, j), "name");
                        if (its)
                                buf_printf(&names, "%s%s", names.len ? ", " : "", its);
                }
        }
        return error_set(error, -EINVAL, "kubeconfig: unknown %s \"%s\"%s%s%s (known: %s)", what, name,
                         context ? ", named by context \"" : "", context ? context : "", context ? "\"" : "",
                         names.len ? buf_text(&names) : "none");
}

/* --------------------------------------------------------------------------------------------------------- entries */

static void kubeconfig_file_set(char **field, const char *text)
{
        free(*field);
        *field = text ? mem_strdup(text) : NULL;
}

static void set_path(char **field, const char *path, const struct kube_file *where)
{
        free(*field);
        *field = !path ? NULL : path[0] == '/' ? mem_strdup(path) : mem_printf("%s/%s", where->folder, path);
}

/* `KEY-data` is base64 of PEM and wins over the path `KEY`. */
static int kubeconfig_file_set_pem(const json_t *object, const char *key, const struct kube_file *where, char **file,
                                   char **data, struct fst_error *error)
{
        _cleanup_free_ char *data_key = mem_printf("%s-data", key);
        const char *text = text_of(object, data_key);
        if (!text) {
                set_path(file, text_of(object, key), where);
                return 0;
        }
        _cleanup_(buf_deinit) struct buf bare = BUF_INIT, pem = BUF_INIT;
        for (const char *p = text; *p; p++)
                if (!strchr(" \t\r\n", *p))
                        buf_putc(&bare, *p);
        if (!base64_decode(buf_text(&bare), bare.len, &pem) || strlen(buf_text(&pem)) != pem.len)
                return error_set(error, -EINVAL, "kubeconfig file %s: %s is not PEM in base64", where->path, data_key);
        free(*data);
        *data = buf_steal(&pem);
        return 0;
}

static char **list_of(const json_t *array)
{
        size_t n = 0;
        char **list = new_array(char *, json_array_size(array) + 1);
        for (size_t i = 0; i < json_array_size(array); i++) {
                const json_t *item = json_array_get(array, i);
                if (json_is_string(item))
                        list[n++] = mem_strdup(json_string_value(item));
        }
        return list;
}

static struct kube_exec *exec_of(const json_t *exec, const struct kube_file *where)
{
        struct kube_exec *x = new0(struct kube_exec);
        const char *command = text_of(exec, "command"), *version = text_of(exec, "apiVersion");
        if (command && strchr(command, '/'))
                set_path(&x->command, command, where);
        else
                kubeconfig_file_set(&x->command, command ? command : "");
        x->arguments = list_of(json_object_get(exec, "args"));
        kubeconfig_file_set(&x->api_version, version ? version : "client.authentication.k8s.io/v1");
        kubeconfig_file_set(&x->install_hint, text_of(exec, "installHint"));
        x->cluster_info = json_is_true(json_object_get(exec, "provideClusterInfo"));
        const json_t *env = json_object_get(exec, "env");
        size_t n = 0;
        x->env = new_array(char *, json_array_size(env) + 1);
        for (size_t i = 0; i < json_array_size(env); i++) {
                const char *name = text_of(json_array_get(env, i), "name");
                const char *value = json_string_value(json_object_get(json_array_get(env, i), "value"));
                if (name)
                        x->env[n++] = mem_printf("%s=%s", name, value ? value : "");
        }
        return x;
}

static void read_impersonation(const json_t *user, struct kube_config *out)
{
        const char *as = text_of(user, "as"), *uid = text_of(user, "as-uid"), *key;
        const json_t *groups = json_object_get(user, "as-groups");
        json_t *extra = json_object_get(user, "as-user-extra"), *values;
        VEC(char *) lines = {0};
        if (!as)
                return;
        vec_push(&lines, mem_printf("Impersonate-User: %s", as));
        if (uid)
                vec_push(&lines, mem_printf("Impersonate-Uid: %s", uid));
        for (size_t i = 0; i < json_array_size(groups); i++)
                if (json_is_string(json_array_get(groups, i)))
                        vec_push(&lines,
                                 mem_printf("Impersonate-Group: %s", json_string_value(json_array_get(groups, i))));
        json_object_foreach(extra, key, values) {
                for (size_t i = 0; i < json_array_size(values); i++)
                        if (json_is_string(json_array_get(values, i)))
                                vec_push(&lines, mem_printf("Impersonate-Extra-%s: %s", key,
                                                            json_string_value(json_array_get(values, i))));
        }
        vec_push(&lines, NULL);
        out->impersonate = lines.data;
}

static int read_cluster(const json_t *cluster, const struct kube_file *where, struct kube_config *out,
                        struct fst_error *error)
{
        const char *server = text_of(cluster, "server");
        if (server)
                out->server = kube_server_of_master(server);
        kubeconfig_file_set(&out->tls_server_name, text_of(cluster, "tls-server-name"));
        kubeconfig_file_set(&out->proxy_url, text_of(cluster, "proxy-url"));
        out->insecure = json_is_true(json_object_get(cluster, "insecure-skip-tls-verify"));
        return kubeconfig_file_set_pem(cluster, "certificate-authority", where, &out->ca_file, &out->ca_data, error);
}

static int kubeconfig_file_read_user(const json_t *user, const struct kube_file *where, struct kube_config *out,
                                     struct fst_error *error)
{
        int r = kubeconfig_file_set_pem(user, "client-certificate", where, &out->cert_file, &out->cert_data, error);
        if (r == 0)
                r = kubeconfig_file_set_pem(user, "client-key", where, &out->key_file, &out->key_data, error);
        if (r < 0)
                return r;
        kubeconfig_file_set(&out->token, text_of(user, "token"));
        set_path(&out->token_file, text_of(user, "tokenFile"), where);
        kubeconfig_file_set(&out->user, text_of(user, "username"));
        kubeconfig_file_set(&out->password, json_text_at(user, "password"));
        const json_t *exec = json_object_get(user, "exec");
        if (json_is_object(exec))
                out->exec = exec_of(exec, where);
        if (out->exec && !out->exec->command[0])
                return error_set(error, -EINVAL, "kubeconfig file %s: exec has no command", where->path);
        const json_t *provider = json_at(user, "auth-provider.config");
        if (!out->token && provider) {
                const char *token = text_of(provider, "access-token");
                kubeconfig_file_set(&out->token, token ? token : text_of(provider, "id-token"));
        }
        read_impersonation(user, out);
        return 0;
}

int kube_files_context(const struct kubeconfig_files *files, const char *context, struct kube_config *out,
                       struct fst_error *error)
{
        const struct kube_file *where = NULL;
        const char *name = context && *context ? context : NULL;
        for (size_t i = 0; i < files->list.len && !name; i++)
                name = text_of(files->list.data[i].tree, "current-context");
        if (!name)
                return 0;
        const json_t *entry = kubeconfig_entry_find(files, "contexts", name, "context", &where);
        if (!entry)
                return kubeconfig_entry_unknown(files, "contexts", "context", name, NULL, error);
        struct kube_config c = KUBE_CONFIG_INIT;
        const char *cluster = text_of(entry, "cluster"), *user = text_of(entry, "user");
        kubeconfig_file_set(&c.context, name);
        kubeconfig_file_set(&c.namespace, text_of(entry, "namespace"));
        int r = 0;
        if (cluster) {
                const json_t *found = kubeconfig_entry_find(files, "clusters", cluster, "cluster", &where);
                r = found ? read_cluster(found, where, &c, error)
                          : kubeconfig_entry_unknown(files, "clusters", "cluster", cluster, name, error);
        }
        if (r == 0 && user) {
                const json_t *found = kubeconfig_entry_find(files, "users", user, "user", &where);
                r = found ? kubeconfig_file_read_user(found, where, &c, error)
                          : kubeconfig_entry_unknown(files, "users", "user", user, name, error);
        }
        if (r < 0)
                kube_config_deinit(&c);
        else
                *out = c;
        return r;
}
