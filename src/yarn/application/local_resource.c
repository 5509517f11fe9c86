/* See local_resource.h. Follows ClientDistributedCacheManager of Spark 4.3. */
#include "yarn/application/local_resource.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/strmap.h"
#include "conf/conf.h"
#include "io/fs/path.h"
#include "io/fs/uri.h"
#include "conf/conf_list.h"
#include "yarn/protocol/yarn.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_BY_OTHERS 0004
#define ENTER_BY_OTHERS 0001

enum { TYPE_ARCHIVE = 1, TYPE_FILE = 2 };
enum { VISIBILITY_PUBLIC = 1, VISIBILITY_PRIVATE = 2 };

void local_resource_deinit(struct local_resource *r)
{
        free(r->link);
        free(r->path);
        *r = (struct local_resource){0};
}

void local_resources_deinit(struct local_resources *all)
{
        for (size_t i = 0; i < all->list.len; i++)
                local_resource_deinit(&all->list.data[i]);
        vec_deinit(&all->list);
}

void local_resources_add_copy(struct local_resources *all, const struct local_resource *r)
{
        struct local_resource copy = *r;
        copy.link = r->link ? mem_strdup(r->link) : NULL;
        copy.path = mem_strdup(r->path);
        vec_push(&all->list, copy);
}

const struct local_resource *local_resources_find(const struct local_resources *all, const char *link)
{
        for (size_t i = 0; i < all->list.len; i++)
                if (strcmp(all->list.data[i].link, link) == 0)
                        return &all->list.data[i];
        return NULL;
}

/* ------------------------------------------------------------------------------------------------------ the message */

/* The parts of a full path, as Java's URI has them: a host of its own only if the authority is host and port. */
static Firesteel__Yarn__Url *local_resource_url(struct arena *arena, const char *path)
{
        Firesteel__Yarn__Url *url = arena_alloc(arena, sizeof(*url));
        firesteel__yarn__url__init(url);
        const size_t scheme = path_scheme_len(path);
        const char *rest = scheme ? path + scheme + 1 : path;
        if (scheme)
                url->scheme = arena_copy(arena, path, scheme);
        url->has_port = true;
        url->port = -1;
        if (strncmp(rest, "//", 2) == 0) {
                const char *authority = rest + 2, *at = memchr(authority, '@', strcspn(authority, "/"));
                if (at)
                        url->user_info = arena_copy(arena, authority, (size_t)(at - authority));
                const char *host = at ? at + 1 : authority;
                size_t n = strcspn(host, "/");
                const char *colon = memrchr(host, ':', n);
                if (colon && colon[1] >= '0' && colon[1] <= '9') {
                        url->port = atoi(colon + 1);
                        n = (size_t)(colon - host);
                }
                if (n)
                        url->host = arena_copy(arena, host, n);
        }
        url->file = (char *)path_local(path);
        return url;
}

Firesteel__Yarn__NamedResource *local_resource_message(const struct local_resource *r, struct arena *arena)
{
        Firesteel__Yarn__NamedResource *named = arena_alloc(arena, sizeof(*named));
        Firesteel__Yarn__LocalResource *local = arena_alloc(arena, sizeof(*local));
        firesteel__yarn__named_resource__init(named);
        firesteel__yarn__local_resource__init(local);
        local->resource = local_resource_url(arena, r->path);
        local->has_size = local->has_timestamp = local->has_type = local->has_visibility = true;
        local->size = r->size;
        local->timestamp = r->modified_ms;
        local->type = r->archive ? TYPE_ARCHIVE : TYPE_FILE;
        local->visibility = r->is_public ? VISIBILITY_PUBLIC : VISIBILITY_PRIVATE;
        named->key = r->link;
        named->value = local;
        return named;
}

/* ----------------------------------------------------------------------------------------------- spark.yarn.cache.* */

/* The URI of a full path with "#link". */
static void local_resource_put_uri(struct buf *out, const char *path, const char *link)
{
        const char *local = path_local(path);
        buf_append(out, path, (size_t)(local - path));
        uri_put_path(out, local);
        buf_putc(out, '#');
        uri_put_fragment(out, link);
}

void local_resources_describe(const struct local_resources *all, const char *conf_archive, struct strmap *out)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT, sizes = BUF_INIT, times = BUF_INIT, kinds = BUF_INIT,
                                         types = BUF_INIT;
        for (size_t i = 0; i < all->list.len; i++) {
                const struct local_resource *file = &all->list.data[i];
                const char *comma = names.len ? "," : "";
                if (file->driver_only)
                        continue;
                buf_puts(&names, comma);
                local_resource_put_uri(&names, file->path, file->link);
                buf_printf(&sizes, "%s%lld", comma, (long long)file->size);
                buf_printf(&times, "%s%lld", comma, (long long)file->modified_ms);
                buf_printf(&kinds, "%s%s", comma, file->is_public ? "PUBLIC" : "PRIVATE");
                buf_printf(&types, "%s%s", comma, file->archive ? "ARCHIVE" : "FILE");
        }
        strmap_set(out, "spark.yarn.cache.filenames", buf_text(&names));
        strmap_set(out, "spark.yarn.cache.sizes", buf_text(&sizes));
        strmap_set(out, "spark.yarn.cache.timestamps", buf_text(&times));
        strmap_set(out, "spark.yarn.cache.visibilities", buf_text(&kinds));
        strmap_set(out, "spark.yarn.cache.types", buf_text(&types));
        if (conf_archive)
                strmap_set(out, "spark.yarn.cache.confArchive", conf_archive);
}

/* Reads the URI of a full path with "#link". False: it has no link. */
static bool local_resource_read_uri(struct local_resource *r, const char *text)
{
        struct uri parts;
        const char *hash = strrchr(text, '#');
        if (!hash || !uri_parse(text, &parts) || !parts.scheme.text || !parts.path.text || !parts.fragment.text)
                return false;
        _cleanup_free_ char *path = uri_decode(parts.path);
        r->link = uri_decode(parts.fragment);
        r->path = mem_printf("%.*s%s", (int)(parts.path.text - text), text, path);
        return true;
}

int local_resources_read(struct local_resources *all, const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const keys[] = {"spark.yarn.cache.filenames", "spark.yarn.cache.sizes",
                                           "spark.yarn.cache.timestamps", "spark.yarn.cache.visibilities",
                                           "spark.yarn.cache.types"};
        struct string_list lists[ARRAY_SIZE(keys)] = {0};
        int r = 0;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                conf_list_split(conf_get_raw(conf, keys[i]), &lists[i]);
        for (size_t i = 1; i < ARRAY_SIZE(keys) && r == 0; i++)
                if (lists[i].len != lists[0].len)
                        r = error_set(error, -EINVAL,
                                      "%s has %zu elements, but %s has %zu: submit the application again", keys[i],
                                      lists[i].len, keys[0], lists[0].len);
        for (size_t i = 0; i < lists[0].len && r == 0; i++) {
                struct local_resource file = {.size = strtoll(lists[1].data[i], NULL, 10),
                                              .modified_ms = strtoll(lists[2].data[i], NULL, 10),
                                              .is_public = strcmp(lists[3].data[i], "PUBLIC") == 0,
                                              .archive = strcmp(lists[4].data[i], "ARCHIVE") == 0};
                if (local_resource_read_uri(&file, lists[0].data[i]))
                        vec_push(&all->list, file);
                else
                        r = error_set(error, -EINVAL, "%s: \"%s\" is not a URI with a link (scheme:path#link)", keys[0],
                                      lists[0].data[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                string_list_deinit(&lists[i]);
        return r;
}

/* ----------------------------------------------------------------------------------------------- on the file system */

void file_statuses_deinit(struct file_statuses *s)
{
        for (size_t i = 0; i < s->list.len; i++)
                file_status_deinit(&s->list.data[i]);
        vec_deinit(&s->list);
}

int file_statuses_get(struct file_statuses *s, const struct file_system *fs, const char *path,
                      const struct file_status **out, struct fst_error *error)
{
        struct file_status status;
        for (size_t i = 0; i < s->list.len; i++)
                if (strcmp(s->list.data[i].path, path) == 0) {
                        *out = &s->list.data[i];
                        return 0;
                }
        const int r = fs->stat(fs, path, &status, error);
        if (r < 0)
                return r;
        vec_push(&s->list, status);
        *out = &s->list.data[s->list.len - 1];
        return 0;
}

/* Whether all users may enter the directories above @path: 1, 0, or negative with @error. */
static int local_resource_is_reachable(struct file_statuses *s, const struct file_system *fs, const char *path,
                                       struct fst_error *error)
{
        int r = 1;
        for (char *parent = path_parent(path), *next; parent; parent = next) {
                const struct file_status *status;
                const int found = r == 1 ? file_statuses_get(s, fs, parent, &status, error) : 0;
                if (found < 0)
                        r = found;
                else if (r == 1 && !(status->permission & ENTER_BY_OTHERS))
                        r = 0;
                next = path_parent(parent);
                free(parent);
        }
        return r;
}

int local_resource_look(struct local_resource *r, struct file_statuses *s, const struct file_system *fs,
                        const char *path, struct fst_error *error)
{
        const struct file_status *status;
        int found = file_statuses_get(s, fs, path, &status, error);
        if (found < 0)
                return found;
        r->size = (int64_t)status->size;
        r->modified_ms = status->modified_ms;
        if (status->permission & READ_BY_OTHERS)
                found = local_resource_is_reachable(s, fs, path, error);
        if (found < 0)
                return found;
        r->is_public = found > 0;
        free(r->path);
        r->path = mem_strdup(path);
        return 0;
}
