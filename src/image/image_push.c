/* See image_push.h. The manifest is sent last, because it makes the image visible. */
#include "image/image_push.h"

#include "base/error.h"
#include "base/mem.h"
#include "image/image_name.h"
#include "image/oci_archive.h"
#include "image/registry.h"
#include "image/registry_login.h"
#include "text/json.h"

#include <jansson.h>

static int image_push_push_blob(struct registry *registry, const struct oci_archive *archive, const json_t *part,
                                struct image_pushed *done, struct fst_error *error)
{
        const char *digest = json_text_at(part, "digest");
        struct oci_part blob;
        int r = digest ? oci_archive_blob(archive, digest, &blob, error)
                       : error_set(error, -EINVAL, "%s: the manifest is invalid", archive->path);
        if (r == 0)
                r = registry_has_blob(registry, digest, error);
        done->layers++;
        if (r != 0)
                return r < 0 ? r : 0;
        r = registry_put_blob(registry, digest, blob.data, blob.len, error);
        if (r == 0) {
                done->sent++;
                done->bytes += blob.len;
        }
        return r;
}

static int image_push_push_all(struct registry *registry, const struct oci_archive *archive, const char *tag,
                               struct image_pushed *done, struct fst_error *error)
{
        json_t *manifest = json_loadb(archive->manifest.data, archive->manifest.len, 0, NULL), *layer;
        size_t i;
        int r = 0;
        json_array_foreach(json_object_get(manifest, "layers"), i, layer) {
                r = image_push_push_blob(registry, archive, layer, done, error);
                if (r < 0)
                        break;
        }
        int layers = done->layers;
        if (r == 0)
                r = image_push_push_blob(registry, archive, json_object_get(manifest, "config"), done, error);
        done->layers = layers;
        json_decref(manifest);
        return r < 0 ? r
                     : registry_put_manifest(registry, tag, archive->type, archive->manifest.data,
                                             archive->manifest.len, error);
}

static int image_push_push_to(const struct image_push *push, const struct oci_archive *archive,
                              const struct image_name *name, struct image_pushed *done, struct fst_error *error)
{
        struct registry *registry;
        _cleanup_free_ char *login = NULL;
        size_t host_len = strcspn(name->full, "/");
        _cleanup_free_ char *host = mem_strndup(name->full, host_len);
        const char *repository_at = name->full + host_len + 1;
        _cleanup_free_ char *repository = mem_strndup(repository_at, strlen(repository_at) - strlen(name->tag) - 1);
        int r = registry_login_find(host, &login, error);
        if (r < 0)
                return r;
        r = registry_open(
                &(struct registry_options){
                        .host = host, .repository = repository, .login = login, .plain_http = push->plain_http},
                &registry, error);
        if (r < 0)
                return r;
        r = image_push_push_all(registry, archive, name->tag, done, error);
        registry_close(registry);
        return r;
}

int image_push(const struct image_push *push, struct image_pushed *out, struct fst_error *error)
{
        struct oci_archive archive;
        struct image_name name = {0};
        struct image_pushed done = {0};
        int r = oci_archive_open(push->archive, &archive, error);
        if (r < 0)
                return r;
        const char *said = push->name ? push->name : archive.name;
        r = said ? image_name_parse(said, &name, error)
                 : error_set(error, -EINVAL, "%s does not contain the image's name: give --tag NAME", push->archive);
        if (r == 0)
                r = image_push_push_to(push, &archive, &name, &done, error);
        if (r == 0) {
                done.name = mem_strdup(name.full);
                done.digest = mem_strdup(archive.digest);
                *out = done;
        }
        image_name_deinit(&name);
        oci_archive_close(&archive);
        return r;
}

void image_pushed_deinit(struct image_pushed *p)
{
        free(p->name);
        free(p->digest);
        *p = (struct image_pushed){0};
}
