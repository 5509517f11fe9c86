/* See app_cache.h. */
#include "exec/app/app_cache.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "exec/app/app_compiler.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "firesteel-cache 1\n"
#define MAX_FILE (64u << 20)

/*
 * Granularity of file times in ns. A file that changed this close to the compilation may have changed again with the
 * same time.
 */
#define STAMP_GRAIN 20000000

void app_cache_hash(const void *data, size_t len, char out[static APP_CACHE_HASH])
{
        XXH128_hash_t h = XXH3_128bits(data, len);
        snprintf(out, APP_CACHE_HASH, "%016" PRIx64 "%016" PRIx64, h.high64, h.low64);
}

int app_cache_read(const char *path, struct buf *out)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        struct stat st;
        int r = fstat(fd, &st) < 0 ? -errno : st.st_size > MAX_FILE ? -EFBIG : S_ISREG(st.st_mode) ? 0 : -EINVAL;
        for (size_t had = out->len; r == 0;) {
                buf_reserve(out,
                            (size_t)st.st_size + 1 > out->len - had ? (size_t)st.st_size + 1 - (out->len - had) : 4096);
                ssize_t n = read(fd, out->data + out->len, out->cap - out->len - 1);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        r = n < 0 ? -errno : 0;
                        break;
                }
                out->len += (size_t)n;
                out->data[out->len] = 0;
                if (out->len - had > MAX_FILE)
                        r = -EFBIG;
        }
        close(fd);
        return r;
}

/* ---------------------------------------------------------------------------------------------- the directory */

/* Makes the directory "@parent/@name/apps" if it is missing. Returns 0 if it exists and belongs to this user only. */
static int try_folder(struct app_cache *cache, const char *parent, const char *name)
{
        _cleanup_free_ char *owner = mem_printf("%s/%s", parent, name);
        _cleanup_free_ char *folder = mem_printf("%s/apps", owner);
        struct stat st;
        if (lstat(folder, &st) < 0) {
                int r = make_dirs(folder, 0700);
                if (r < 0)
                        return r;
                if (lstat(folder, &st) < 0)
                        return -errno;
        }
        struct stat above;
        if (lstat(owner, &above) < 0)
                return -errno;
        if (!S_ISDIR(above.st_mode) || above.st_uid != geteuid() || (above.st_mode & (S_IWGRP | S_IWOTH)) ||
            !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
                return -EPERM;
        if (access(folder, W_OK) < 0)
                return -errno;
        cache->folder = steal(folder);
        return 0;
}

int app_cache_init(struct app_cache *cache, const char *local_dir, struct fst_error *error)
{
        const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
        if (xdg && xdg[0] == '/' && try_folder(cache, xdg, "firesteel") == 0)
                return 0;
        if (home && home[0] == '/') {
                _cleanup_free_ char *parent = mem_printf("%s/.cache", home);
                if (try_folder(cache, parent, "firesteel") == 0)
                        return 0;
        }
        char name[40];
        snprintf(name, sizeof(name), "firesteel-%u", (unsigned)geteuid());
        const char *parent = local_dir && local_dir[0] ? local_dir : "/tmp";
        int r = try_folder(cache, parent, name);
        if (r < 0)
                return error_set(
                        error, r,
                        "no directory for the compiled application: %s/%s: %s (set XDG_CACHE_HOME to a directory "
                        "that you can write to)",
                        parent, name, r == -EPERM ? "other users can write to it, or own it" : strerror(-r));
        return 0;
}

void app_cache_deinit(struct app_cache *cache)
{
        free(cache->folder);
        cache->folder = NULL;
}

/* --------------------------------------------------------------------------------------------- dependencies */

static int64_t file_stamp(const struct stat *st)
{
        return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static char *absolute_dependency(const char *source_dir, const char *path)
{
        return path[0] == '/' ? mem_strdup(path) : mem_printf("%s/%s", source_dir, path);
}

static int app_cache_hash_file(const char *path, char out[static APP_CACHE_HASH])
{
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        int r = app_cache_read(path, &content);
        if (r == 0)
                app_cache_hash(buf_text(&content), content.len, out);
        return r;
}

/* Reads the number at *@at and the space after it. */
static bool dependency_number(char **at, int64_t *number)
{
        char *start = *at;
        errno = 0;
        *number = strtoll(start, at, 10);
        return *at > start && errno == 0 && *(*at)++ == ' ';
}

/*
 * Parses one line of KEY.deps, "hash stamp size path" (@line is modified) and appends path and current hash to
 * @identity. Returns false if the file is gone or the line is malformed.
 */
static bool app_cache_add_dependency(char *line, const char *source_dir, struct buf *identity)
{
        char hash[APP_CACHE_HASH], *path = line + APP_CACHE_HASH;
        int64_t stamp, size;
        if (strspn(line, "0123456789abcdef") != APP_CACHE_HASH - 1 || line[APP_CACHE_HASH - 1] != ' ' ||
            !dependency_number(&path, &stamp) || !dependency_number(&path, &size) || !*path)
                return false;
        memcpy(hash, line, APP_CACHE_HASH - 1);
        hash[APP_CACHE_HASH - 1] = 0;
        _cleanup_free_ char *file = absolute_dependency(source_dir, path);
        struct stat st;
        if (stat(file, &st) < 0)
                return false;
        if ((stamp == 0 || stamp != file_stamp(&st) || size != st.st_size) && app_cache_hash_file(file, hash) < 0)
                return false;
        buf_puts(identity, hash);
        buf_putc(identity, ' ');
        buf_puts(identity, path);
        buf_putc(identity, '\n');
        return true;
}

static char *object_path(const struct app_cache *cache, const struct buf *identity, const char *name)
{
        char object[APP_CACHE_HASH];
        app_cache_hash(buf_text(identity), identity->len, object);
        return mem_printf("%s/%s/%s", cache->folder, object, name);
}

int app_cache_find(const struct app_cache *cache, const char *key, const char *name, const char *source_dir, char **out)
{
        _cleanup_free_ char *list = mem_printf("%s/%s.deps", cache->folder, key);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT, identity = BUF_INIT;
        *out = NULL;
        if (app_cache_read(list, &text) < 0 || strncmp(buf_text(&text), FIRST_LINE, strlen(FIRST_LINE)) != 0)
                return 0;
        buf_printf(&identity, "%s\n", key);
        char *rest = text.data + strlen(FIRST_LINE);
        for (char *line; (line = strsep(&rest, "\n")) && *line;) {
                if (!app_cache_add_dependency(line, source_dir, &identity))
                        return 0;
        }
        _cleanup_free_ char *object = object_path(cache, &identity, name);
        if (access(object, R_OK) == 0)
                *out = steal(object);
        return 0;
}

struct dependency_list {
        const char *source_dir;
        int64_t started;
        struct buf identity, text;
};

static int list_dependency(void *context, const char *path)
{
        struct dependency_list *l = context;
        if (strchr(path, '\n')) /* a newline cannot be listed, so this source is compiled every time */
                return -EINVAL;
        _cleanup_free_ char *file = absolute_dependency(l->source_dir, path);
        char hash[APP_CACHE_HASH];
        struct stat st;
        if (stat(file, &st) < 0)
                return -errno;
        int r = app_cache_hash_file(file, hash);
        if (r < 0)
                return r;
        int64_t stamp = file_stamp(&st);
        buf_printf(&l->text, "%s %" PRId64 " %" PRId64 " %s\n", hash, stamp + STAMP_GRAIN < l->started ? stamp : 0,
                   (int64_t)st.st_size, path);
        buf_printf(&l->identity, "%s %s\n", hash, path);
        return 0;
}

static int app_cache_write_file(const struct app_cache *cache, const char *path, const struct buf *content)
{
        _cleanup_free_ char *temporary = mem_printf("%s/tmp-XXXXXX", cache->folder);
        int fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0)
                return -errno;
        int r = write(fd, content->data, content->len) == (ssize_t)content->len ? 0 : -EIO;
        if (close(fd) < 0)
                r = -errno;
        if (r == 0 && rename(temporary, path) < 0)
                r = -errno;
        if (r < 0)
                unlink(temporary);
        return r;
}

int app_cache_store(const struct app_cache *cache, const char *key, const char *name, const char *source_dir,
                    const char *object, const char *rule, int64_t started, char **out, struct fst_error *error)
{
        struct dependency_list l = {.source_dir = source_dir, .started = started};
        buf_puts(&l.text, FIRST_LINE);
        buf_printf(&l.identity, "%s\n", key);
        int listed = app_compiler_dependencies(rule, list_dependency, &l);
        _cleanup_free_ char *path = object_path(cache, &l.identity, name);
        _cleanup_free_ char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
        _cleanup_free_ char *list = mem_printf("%s/%s.deps", cache->folder, key);
        int r = 0;
        if ((mkdir(folder, 0700) < 0 && errno != EEXIST) || rename(object, path) < 0)
                r = error_errno(error, "keeping the compiled application as %s", path);
        /*
         * Store the object before the list: a list must always lead to an object. An object without a list is only
         * compiled again.
         */
        if (r == 0 && listed == 0)
                app_cache_write_file(cache, list, &l.text);
        if (r == 0)
                *out = steal(path);
        buf_deinit(&l.text);
        buf_deinit(&l.identity);
        return r;
}
