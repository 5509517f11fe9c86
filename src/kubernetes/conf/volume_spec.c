/* Reads volume settings. */
#include "kubernetes/conf/volume_spec.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/conf/kube_conf.h"

#include <stdlib.h>

static const char *const type_names[] = {
        [VOLUME_HOST_PATH] = "hostPath",
        [VOLUME_CLAIM] = "persistentVolumeClaim",
        [VOLUME_EMPTY_DIR] = "emptyDir",
        [VOLUME_NFS] = "nfs",
};

/* The settings of one volume, below "TYPE.NAME.". */
struct volume_settings {
        const struct strmap *all;
        const char *stem;
};

static const char *volume_spec_setting(const struct volume_settings *s, const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s%s", s->stem, name);
        return strmap_get(s->all, key);
}

/* Copies the value. Returns -EINVAL if it is not set. */
static int volume_spec_require(const struct volume_settings *s, const char *name, enum volume_type type, char **out,
                               struct fst_error *error)
{
        const char *value = volume_spec_setting(s, name);
        if (!value)
                return error_set(error, -EINVAL, "%s%s is required for %s", s->stem, name, type_names[type]);
        *out = mem_strdup(value);
        return 0;
}

static char *copy_or_empty(const char *value)
{
        return mem_strdup(value ? value : "");
}

/* Rejects a size below 1 KiB without a unit, as Spark does. */
static int check_size(const char *size, struct fst_error *error)
{
        if (!size || size[strspn(size, "0123456789")] || strtoull(size, NULL, 10) >= 1024)
                return 0;
        if (!*size)
                return error_set(error, -EINVAL, "For input string: \"\"");
        return error_set(error, -EINVAL, "Volume size `%s` is smaller than 1KiB. Missing units?", size);
}

static void put_settings_below(const struct volume_settings *s, const char *name, struct strmap *out)
{
        _cleanup_free_ char *stem = mem_printf("%s%s", s->stem, name);
        for (struct strmap_entry *e = NULL; (e = strmap_next(s->all, e));)
                if (text_starts_with(e->key, stem))
                        strmap_set(out, e->key + strlen(stem), e->value);
}

/* Reads the options of the volume's type. */
static int volume_spec_read_options(const struct volume_settings *s, struct volume_spec *v, struct fst_error *error)
{
        int r = 0;
        switch (v->type) {
        case VOLUME_HOST_PATH:
                r = volume_spec_require(s, "options.path", v->type, &v->path, error);
                v->host_type = copy_or_empty(volume_spec_setting(s, "options.type"));
                return r;
        case VOLUME_CLAIM:
                r = volume_spec_require(s, "options.claimName", v->type, &v->claim, error);
                v->storage_class = mem_strdup_if(volume_spec_setting(s, "options.storageClass"));
                break;
        case VOLUME_EMPTY_DIR:
                v->medium = mem_strdup_if(volume_spec_setting(s, "options.medium"));
                break;
        case VOLUME_NFS:
                r = volume_spec_require(s, "options.path", v->type, &v->path, error);
                return r < 0 ? r : volume_spec_require(s, "options.server", v->type, &v->server, error);
        }
        v->size = mem_strdup_if(volume_spec_setting(s, "options.sizeLimit"));
        return r < 0 ? r : check_size(v->size, error);
}

static int volume_spec_read_type(const char *name, enum volume_type *out, struct fst_error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(type_names); i++)
                if (strcmp(type_names[i], name) == 0) {
                        *out = (enum volume_type)i;
                        return 0;
                }
        return error_set(error, -EINVAL, "Kubernetes Volume type `%s` is not supported", name);
}

static int read_volume(const struct volume_settings *s, const char *type, struct volume_spec *v,
                       struct fst_error *error)
{
        const char *path = volume_spec_setting(s, "mount.path"), *read_only = volume_spec_setting(s, "mount.readOnly");
        if (volume_spec_setting(s, "mount.subPath") && volume_spec_setting(s, "mount.subPathExpr"))
                return error_set(error, -EINVAL,
                                 "These config options are mutually exclusive: %smount.subPath, %smount.subPathExpr",
                                 s->stem, s->stem);
        if (!path)
                return error_set(error, -EINVAL, "key not found: %smount.path", s->stem);
        v->mount_path = mem_strdup(path);
        v->sub_path = copy_or_empty(volume_spec_setting(s, "mount.subPath"));
        v->sub_path_expr = copy_or_empty(volume_spec_setting(s, "mount.subPathExpr"));
        if (read_only && strcasecmp(read_only, "true") != 0 && strcasecmp(read_only, "false") != 0)
                return error_set(error, -EINVAL, "For input string: \"%s\"", read_only);
        v->read_only = read_only && strcasecmp(read_only, "true") == 0;
        put_settings_below(s, "label.", &v->labels);
        put_settings_below(s, "annotation.", &v->annotations);
        int r = volume_spec_read_type(type, &v->type, error);
        return r < 0 ? r : volume_spec_read_options(s, v, error);
}

static bool volume_spec_is_there(const struct volume_specs *specs, size_t from, const char *type, const char *name)
{
        for (size_t i = from; i < specs->len; i++)
                if (strcmp(specs->data[i].name, name) == 0 && strcmp(type_names[specs->data[i].type], type) == 0)
                        return true;
        return false;
}

int volume_specs_read(const struct kube_conf *c, const char *prefix, struct volume_specs *out, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap all = STRMAP_INIT;
        size_t before = out->len;
        kube_pairs(c, prefix, &all);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));) {
                size_t type_len = strcspn(e->key, "."), name_at = type_len + 1;
                if (!e->key[type_len] || !e->key[name_at])
                        continue;
                size_t name_len = strcspn(e->key + name_at, ".");
                _cleanup_free_ char *type = mem_strndup(e->key, type_len);
                _cleanup_free_ char *name = mem_strndup(e->key + name_at, name_len);
                _cleanup_free_ char *stem = mem_printf("%s.%s.", type, name);
                if (volume_spec_is_there(out, before, type, name))
                        continue;
                vec_push(out, (struct volume_spec){.name = steal(name)});
                int r = read_volume(&(struct volume_settings){&all, stem}, type, &out->data[out->len - 1], error);
                if (r < 0)
                        return r;
        }
        return 0;
}

void volume_specs_deinit(struct volume_specs *specs)
{
        for (size_t i = 0; i < specs->len; i++) {
                struct volume_spec *v = &specs->data[i];
                char *const texts[] = {v->name,          v->mount_path, v->sub_path, v->sub_path_expr,
                                       v->path,          v->host_type,  v->server,   v->claim,
                                       v->storage_class, v->size,       v->medium};
                for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
                        free(texts[k]);
                strmap_deinit(&v->labels);
                strmap_deinit(&v->annotations);
        }
        vec_deinit(specs);
}
