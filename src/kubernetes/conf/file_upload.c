/* Uploads local files as Spark's KubernetesUtils.uploadAndTransformFileUris does. */
#include "kubernetes/conf/file_upload.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "launch/resolve_uri.h"
#include "io/fs/uri.h"

#include <errno.h>

#define PATH_KEY "spark.kubernetes.file.upload.path"

bool file_is_local(const char *uri)
{
        if (strcmp(uri, "spark-internal") == 0)
                return false;
        _cleanup_free_ char *resolved = submit_resolve_uri(uri, COMPAT_4_3);
        struct uri parts;
        return uri_parse(resolved, &parts) && (!parts.scheme.text || uri_has_scheme(&parts, "file"));
}

/* Returns a unique directory name for the file: the caller's UUID with its end replaced by a hash of the path. */
static char *directory_name(const struct kube_conf *c, const char *path)
{
        uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
        for (const char *p = path; *p; p++)
                hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
        return mem_printf("spark-upload-%.24s%012llx", c->uuid, (unsigned long long)(hash & 0xffffffffffffu));
}

/* Finds the local path and the target URI of @uri. The caller owns both. */
static int find_target(const struct kube_conf *c, const char *uri, char **file, char **path, char **target,
                       struct fst_error *error)
{
        _cleanup_free_ char *base = NULL;
        struct uri parts;
        int r = kube_string(c, PATH_KEY, &base, error);
        if (r < 0)
                return r;
        if (!base)
                return error_set(error, -EINVAL, "Please specify " PATH_KEY " property.");
        _cleanup_free_ char *resolved = submit_resolve_uri(uri, COMPAT_4_3);
        if (!uri_parse(resolved, &parts))
                return error_set(error, -EINVAL, "%s is not a valid URI", uri);
        *path = uri_decode(parts.path);
        const char *slash = strrchr(*path, '/');
        _cleanup_free_ char *directory = directory_name(c, *path);
        *target = mem_printf("%s/%s/%s", base, directory, slash ? slash + 1 : *path);
        *file = steal(resolved);
        return 0;
}

int file_upload_target(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error)
{
        _cleanup_free_ char *file = NULL, *path = NULL;
        return find_target(c, uri, &file, &path, out, error);
}

int file_upload(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error)
{
        _cleanup_free_ char *file = NULL, *path = NULL, *target = NULL;
        int r = find_target(c, uri, &file, &path, &target, error);
        if (r == 0 && c->files.upload) {
                r = c->files.upload(c->files.owner, file, target, error);
                if (r < 0)
                        return error_wrap(error, r, "Uploading file %s failed...", path);
        }
        if (r == 0)
                *out = steal(target);
        return r;
}

int file_upload_list(const struct kube_conf *c, const char *key, struct strmap *out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list files = {0};
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        bool keeps_fragments = strcmp(key, "spark.archives") == 0;
        int r = kube_list(c, key, &files, error);
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                if (!file_is_local(files.data[i]))
                        continue;
                size_t n = keeps_fragments ? strcspn(files.data[i], "#") : strlen(files.data[i]);
                _cleanup_free_ char *file = mem_strndup(files.data[i], n);
                _cleanup_free_ char *target = NULL;
                r = file_upload(c, file, &target, error);
                if (r == 0)
                        buf_printf(&list, "%s%s%s", list.len ? "," : "", target, files.data[i] + n);
        }
        if (r < 0 || !list.len)
                return r;
        for (size_t i = 0; i < files.len; i++)
                if (!file_is_local(files.data[i]))
                        buf_printf(&list, ",%s", files.data[i]);
        strmap_set(out, key, buf_text(&list));
        return 0;
}
