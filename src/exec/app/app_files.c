/*
 * See app_files.h. The first thread that needs a file makes it without the lock while others wait. After a failure the
 * next caller tries again. Entries are removed only at the end, so their paths stay valid.
 */
#include "exec/app/app_files.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "process/interruptible_wait.h"
#include "base/vec.h"
#include "exec/app/archive.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum app_file_state { ANNOUNCED, MAKING, HERE };

struct app_file {
        char *name, *path;
        char *packed; /* copy of a packed archive, on the driver */
        enum app_file_use use;
        enum app_file_state state;
        bool in_place; /* not in the directory of `files` */
        bool has_hash;
        uint8_t hash[FILE_HASH_SIZE];
        uint64_t size;
};

struct app_files {
        char *dir;
        char *container; /* the directory of a container with more files, or NULL */
        struct file_cache *cache;
        struct archive_limits archives;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        VEC(struct app_file *) all;
        pthread_mutex_t linking; /* taken before `lock` */
        size_t linked;           /* number of entries of `all` that were linked or tried */
        size_t gathered;         /* number of entries of `all` that are in `dir`; guarded by `linking` */
};

int app_files_new(const char *dir, struct file_cache *cache, const struct archive_limits *archives,
                  struct app_files **files, struct fst_error *error)
{
        if (mkdir(dir, 0700) < 0)
                return error_errno(error, "cannot make the directory %s for the application's files", dir);
        struct app_files *f = new0(struct app_files);
        f->dir = mem_strdup(dir);
        f->cache = cache;
        f->archives = *archives;
        pthread_mutex_init(&f->lock, NULL);
        pthread_mutex_init(&f->linking, NULL);
        cond_init_monotonic(&f->changed);
        *files = f;
        return 0;
}

static void app_file_free(struct app_file *file)
{
        free(file->name);
        free(file->path);
        free(file->packed);
        free(file);
}

void app_files_free(struct app_files *f)
{
        if (!f)
                return;
        remove_tree(f->dir);
        for (size_t i = 0; i < f->all.len; i++)
                app_file_free(f->all.data[i]);
        vec_deinit(&f->all);
        pthread_cond_destroy(&f->changed);
        pthread_mutex_destroy(&f->linking);
        pthread_mutex_destroy(&f->lock);
        free(f->container);
        free(f->dir);
        free(f);
}

/* ------------------------------------------------------------------------------------------------------- entries */

static int check_name(const char *name, struct fst_error *error)
{
        if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strlen(name) > 255)
                return error_set(error, -EINVAL,
                                 "'%s' is not a valid name for a file of the application: use a "
                                 "name without directories",
                                 name);
        return 0;
}

static struct app_file *find_app_file(struct app_files *f, const char *name)
{
        for (size_t i = 0; i < f->all.len; i++)
                if (strcmp(f->all.data[i]->name, name) == 0)
                        return f->all.data[i];
        return NULL;
}

static struct app_file *app_file_new(struct app_files *f, const char *name, enum app_file_use use)
{
        struct app_file *file = new0(struct app_file);
        file->name = mem_strdup(name);
        file->path = mem_printf("%s/%s", f->dir, name);
        file->use = use;
        return file;
}

int app_files_announce(struct app_files *f, const char *name, const uint8_t hash[static FILE_HASH_SIZE], uint64_t size,
                       enum app_file_use use, struct fst_error *error)
{
        int r = check_name(name, error);
        if (r)
                return r;
        pthread_mutex_lock(&f->lock);
        struct app_file *file = find_app_file(f, name);
        if (file && (!file->has_hash || memcmp(file->hash, hash, FILE_HASH_SIZE) != 0 || file->use != use)) {
                r = error_set(error, -EEXIST, "there is another file named %s", name);
        } else if (!file) {
                file = app_file_new(f, name, use);
                file->has_hash = true;
                memcpy(file->hash, hash, FILE_HASH_SIZE);
                file->size = size;
                vec_push(&f->all, file);
        }
        pthread_mutex_unlock(&f->lock);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- copying */

static int copy_bytes(int from, int to)
{
        char part[1 << 16];
        ssize_t n;
        while ((n = read(from, part, sizeof(part))) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                for (ssize_t at = 0; n > 0 && at < n;) {
                        ssize_t w = write(to, part + at, (size_t)(n - at));
                        if (w < 0 && errno != EINTR)
                                return -errno;
                        at += MAX(w, 0);
                }
                if (n < 0)
                        return -errno;
        }
        return 0;
}

static int copy_file(const char *path, const char *copy, struct fst_error *error)
{
        struct stat st;
        int from = open(path, O_RDONLY | O_CLOEXEC), to, r;
        if (from < 0)
                return error_errno(error, "%s", path);
        if (fstat(from, &st) == 0 && S_ISDIR(st.st_mode)) {
                close(from);
                return error_set(error, -EISDIR,
                                 "%s is a directory: pack it into an archive (fst_add_archive, "
                                 "--archives)",
                                 path);
        }
        to = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
        r = to < 0 ? -errno : copy_bytes(from, to);
        if (to >= 0 && close(to) < 0 && r == 0)
                r = -errno;
        close(from);
        if (r)
                unlink(copy);
        return r ? error_set(error, r, "copying %s to %s: %s", path, copy, strerror(-r)) : 0;
}

/* Reads up to @n bytes, fewer only at the end of the file. Returns negative on a read error. */
static ssize_t read_part(int fd, char *part, size_t n)
{
        size_t have = 0;
        while (have < n) {
                ssize_t r = read(fd, part + have, n - have);
                if (r < 0 && errno != EINTR)
                        return -errno;
                if (r == 0)
                        break;
                have += (size_t)MAX(r, 0);
        }
        return (ssize_t)have;
}

static bool same_bytes(const char *a, const char *b)
{
        int x = open(a, O_RDONLY | O_CLOEXEC), y = open(b, O_RDONLY | O_CLOEXEC);
        bool same = x >= 0 && y >= 0;
        char p[1 << 14], q[1 << 14];
        for (ssize_t n = 1; same && n > 0;) {
                n = read_part(x, p, sizeof(p));
                same = n >= 0 && read_part(y, q, sizeof(q)) == n && memcmp(p, q, (size_t)n) == 0;
        }
        if (x >= 0)
                close(x);
        if (y >= 0)
                close(y);
        return same;
}

static int unpack_app_file(const struct app_files *f, const struct app_file *file, const char *packed,
                           struct fst_error *error)
{
        if (mkdir(file->path, 0700) < 0 && errno != EEXIST)
                return error_errno(error, "cannot make the directory %s", file->path);
        return archive_unpack(packed, file->path, &f->archives, error);
}

int app_files_put(struct app_files *f, const char *path, const char *name, enum app_file_use use,
                  struct fst_error *error)
{
        const char *slash = strrchr(path, '/');
        if (!name)
                name = slash ? slash + 1 : path;
        int r = check_name(name, error);
        if (r)
                return r;
        struct app_file *file = app_file_new(f, name, use), *other;
        if (use == APP_ARCHIVE)
                file->packed = mem_printf("%s/.%s.packed", f->dir, name);
        pthread_mutex_lock(&f->lock);
        if ((other = find_app_file(f, name))) {
                bool same = other->use == use && same_bytes(path, other->packed ? other->packed : other->path);
                r = same ? 0
                         : error_set(error, -EEXIST,
                                     "there is another file named %s already: give one of them "
                                     "another name",
                                     name);
        } else {
                r = copy_file(path, file->packed ? file->packed : file->path, error);
                if (r == 0 && file->packed)
                        r = unpack_app_file(f, file, file->packed, error);
                if (r == 0) {
                        file->state = HERE;
                        vec_push(&f->all, steal(file));
                }
        }
        pthread_mutex_unlock(&f->lock);
        if (file)
                app_file_free(file);
        return r;
}

/* ------------------------------------------------------------------------------------------------------ in place */

void app_files_set_container(struct app_files *f, const char *dir)
{
        free(f->container);
        f->container = mem_strdup(dir);
}

/* Under the lock. @path exists. */
static struct app_file *app_file_add_in_place(struct app_files *f, const char *name, const char *path,
                                              enum app_file_use use)
{
        struct app_file *file = app_file_new(f, name, use);
        free(file->path);
        file->path = mem_strdup(path);
        file->in_place = true;
        file->state = HERE;
        vec_push(&f->all, file);
        return file;
}

int app_files_add_in_place(struct app_files *f, const char *name, const char *path, enum app_file_use use,
                           struct fst_error *error)
{
        int r = check_name(name, error);
        if (r)
                return r;
        if (access(path, F_OK) < 0)
                return error_errno(error, "%s", path);
        pthread_mutex_lock(&f->lock);
        const struct app_file *other = find_app_file(f, name);
        if (!other)
                app_file_add_in_place(f, name, path, use);
        else if (strcmp(other->path, path) != 0)
                r = error_set(error, -EEXIST, "there is another file named %s", name);
        pthread_mutex_unlock(&f->lock);
        return r;
}

/* Under the lock. The file @name of the container, or NULL. */
static struct app_file *find_container_file(struct app_files *f, const char *name)
{
        if (!f->container || check_name(name, NULL) < 0)
                return NULL;
        _cleanup_free_ char *path = mem_printf("%s/%s", f->container, name);
        return access(path, F_OK) == 0 ? app_file_add_in_place(f, name, path, APP_FILE) : NULL;
}

/* -------------------------------------------------------------------------------------------------------- lookup */

/* Fetches an announced file. Called without the lock, by the only thread that makes this file. */
static int make_app_file(struct app_files *f, const struct app_file *file, const int *stopped, struct fst_error *error)
{
        _cleanup_free_ char *cached = NULL;
        if (!f->cache)
                return error_set(error, -ENOENT, "the file is not here, and this process cannot fetch files");
        int r = file_cache_get(f->cache, file->hash, file->size, stopped, &cached, error);
        if (r)
                return r;
        if (file->use == APP_ARCHIVE)
                return unpack_app_file(f, file, cached, error);
        unlink(file->path);
        if (link(cached, file->path) == 0)
                return 0;
        return copy_file(cached, file->path, error); /* the cache is on another file system */
}

static int no_such_file(struct app_files *f, const char *name, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        for (size_t i = 0; i < f->all.len && i < 20; i++)
                if (f->all.data[i]->use != APP_MODULE)
                        buf_printf(&names, "%s%s", names.len ? ", " : "", f->all.data[i]->name);
        return error_set(error, -ENOENT,
                         "the application has no file %s (it has: %s); add it with fst_add_file or --files", name,
                         names.len ? buf_text(&names) : "none");
}

int app_files_path(struct app_files *f, const char *name, const int *stopped, const char **path,
                   struct fst_error *error)
{
        pthread_mutex_lock(&f->lock);
        struct app_file *file = find_app_file(f, name);
        if (!file)
                file = find_container_file(f, name);
        int r = file ? 0 : no_such_file(f, name, error);
        while (r == 0 && file->state == MAKING)
                if (!stop_wait(&f->changed, &f->lock, stopped))
                        r = error_set(error, -ECANCELED, "waiting for the file %s", name);
        if (r == 0 && file->state == ANNOUNCED) {
                file->state = MAKING;
                pthread_mutex_unlock(&f->lock);
                r = make_app_file(f, file, stopped, error);
                pthread_mutex_lock(&f->lock);
                file->state = r ? ANNOUNCED : HERE;
                pthread_cond_broadcast(&f->changed);
                if (r)
                        error_wrap(error, r, "the application's file %s", name);
        }
        pthread_mutex_unlock(&f->lock);
        if (r == 0)
                *path = file->path;
        return r;
}

const char *app_files_directory(const struct app_files *files)
{
        return files->dir;
}

int app_files_source(struct app_files *f, const char *name, const char **path)
{
        pthread_mutex_lock(&f->lock);
        const struct app_file *file = find_app_file(f, name);
        bool there = file && file->state == HERE;
        if (there)
                *path = file->packed ? file->packed : file->path;
        pthread_mutex_unlock(&f->lock);
        return there ? 0 : -ENOENT;
}

static int link_app_file(const char *path, const char *dir, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *to = mem_printf("%s/%s", dir, name);
        char there[4096];
        if (symlink(path, to) == 0)
                return 0;
        if (errno != EEXIST)
                return error_errno(error, "cannot link %s", to);
        ssize_t n = readlink(to, there, sizeof(there) - 1);
        if (n > 0 && (size_t)n == strlen(path) && memcmp(there, path, (size_t)n) == 0)
                return 0;
        return error_set(error, -EEXIST, "%s is in the way of the application's file of that name", to);
}

/* Returns the first file that was not linked yet, or NULL. */
static const struct app_file *next_to_link(struct app_files *f)
{
        pthread_mutex_lock(&f->lock);
        const struct app_file *file = f->linked < f->all.len ? f->all.data[f->linked] : NULL;
        pthread_mutex_unlock(&f->lock);
        return file;
}

bool app_files_are_linked(struct app_files *f)
{
        return !next_to_link(f);
}

int app_files_link(struct app_files *f, const char *dir, struct fst_error *error)
{
        int r = 0;
        pthread_mutex_lock(&f->linking);
        for (const struct app_file *file; (file = next_to_link(f));) {
                const char *path;
                if (file->use != APP_MODULE && !file->in_place) {
                        struct fst_error *first = r ? NULL : error;
                        int fetched = app_files_path(f, file->name, NULL, &path, first);
                        int linked = fetched ? 0 : link_app_file(path, dir, file->name, first);
                        r = r ? r : fetched ? fetched : linked;
                        if (fetched)
                                break;
                }
                pthread_mutex_lock(&f->lock);
                f->linked++;
                pthread_mutex_unlock(&f->lock);
        }
        pthread_mutex_unlock(&f->linking);
        return r;
}

/* The entry @i, or NULL after the last. */
static const struct app_file *app_files_at(struct app_files *f, size_t i)
{
        pthread_mutex_lock(&f->lock);
        const struct app_file *file = i < f->all.len ? f->all.data[i] : NULL;
        pthread_mutex_unlock(&f->lock);
        return file;
}

int app_files_dir(struct app_files *f, const int *stopped, const char **dir, struct fst_error *error)
{
        int r = 0;
        pthread_mutex_lock(&f->linking);
        for (const struct app_file *file; r == 0 && (file = app_files_at(f, f->gathered)); f->gathered += r == 0) {
                const char *path;
                if (file->use == APP_MODULE)
                        continue;
                r = app_files_path(f, file->name, stopped, &path, error);
                if (r == 0 && file->in_place)
                        r = link_app_file(path, f->dir, file->name, error);
        }
        pthread_mutex_unlock(&f->linking);
        if (r == 0)
                *dir = f->dir;
        return r;
}
