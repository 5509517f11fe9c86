/* See cluster_file.h. */
#include "yarn/application/cluster_file.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fs/file_copy.h"
#include "io/fs/file_systems.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "net/sha256.h"
#include "yarn/application/local_resource.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_FOLDER ".firesteel"
#define PRIVATE_PERMISSION 0700u
#define MAX_KNOWN 1000 /* files, and digests, that are remembered */
#define BLOCK ((size_t)256 << 10)

static int cluster_file_upload(const struct file_system *fs, const char *local, const char *path,
                               struct fst_error *error)
{
        _cleanup_free_ char *from = mem_printf("file:%s", local);
        struct open_file file = OPEN_FILE_INIT;
        int r = local_fs.open(&local_fs, from, &file, error);
        if (r < 0)
                return r;
        r = file_copy(&file, fs, path, error);
        local_fs.close(&file, NULL);
        return r;
}

/* The directory by default: in the user's home directory, not in the working directory if that is local. */
int cluster_folder_open(const char *text, struct cluster_folder *out, struct fst_error *error)
{
        const char *home = getenv("HOME");
        *out = (struct cluster_folder){0};
        if (text && *text)
                return file_system_resolve(text, &out->path, &out->fs, error);
        const int r = file_system_resolve(DEFAULT_FOLDER, &out->path, &out->fs, error);
        if (r < 0 || strcmp(out->fs->scheme, "file") != 0 || !home || *home != '/')
                return r;
        free(out->path);
        out->path = mem_printf("file:%s/" DEFAULT_FOLDER, home);
        return 0;
}

void cluster_folder_deinit(struct cluster_folder *folder)
{
        free(folder->path);
        free(folder->owner);
        *folder = (struct cluster_folder){0};
}

/* Creates the directory of a private folder. One that others may enter could hold their files. */
static int cluster_folder_secure(const struct cluster_folder *folder, struct fst_error *error)
{
        struct file_status status = {0};
        if (!folder->is_private || !folder->fs->set_permission)
                return 0;
        int r = folder->fs->stat(folder->fs, folder->path, &status, NULL);
        if (r == -ENOENT) {
                r = folder->fs->mkdirs(folder->fs, folder->path, error);
                return r < 0 ? r : folder->fs->set_permission(folder->fs, folder->path, PRIVATE_PERMISSION, error);
        }
        if (r < 0)
                return error_set(error, r, "%s: %s", folder->path, strerror(-r));
        if (status.permission != PRIVATE_PERMISSION || !status.directory)
                r = error_set(
                        error, -EACCES,
                        "%s has the mode %03o, so other users could replace an application's files: remove it, or "
                        "make it a directory of your own with the mode 700",
                        folder->path, status.permission);
        file_status_deinit(&status);
        return r;
}

/* 1 with *@out, 0 if there is no such file, or negative. */
static int cluster_file_look(const struct file_system *fs, const char *path, struct local_resource *out,
                             struct fst_error *error)
{
        struct file_statuses seen = {0};
        const struct file_status *status;
        int r = file_statuses_get(&seen, fs, path, &status, NULL);
        if (r != -ENOENT)
                r = local_resource_look(out, &seen, fs, path, error);
        file_statuses_deinit(&seen);
        return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* A file that another application stored meanwhile stays: its time is already in use. */
static int cluster_file_move(const struct file_system *fs, const char *from, const char *path,
                             struct local_resource *out, struct fst_error *error)
{
        int r = cluster_file_look(fs, path, out, error);
        if (r != 0) {
                fs->remove(fs, from, NULL);
                return r < 0 ? r : 0;
        }
        r = fs->rename(fs, from, path, error);
        if (r == 0)
                r = cluster_file_look(fs, path, out, error);
        return r == 1 ? 0 : r == 0 ? error_set(error, -ENOENT, "%s is gone after it was uploaded", path) : r;
}

/* Looks for the file, and uploads it unless it is there. */
static int cluster_file_provide(const struct cluster_folder *folder, const char *local, const char *path,
                                struct local_resource *out, struct fst_error *error)
{
        const struct file_system *fs = folder->fs;
        char id[UUID_TEXT];
        int r = cluster_folder_secure(folder, error);
        if (r == 0)
                r = cluster_file_look(fs, path, out, error);
        if (r != 0) {
                if (r > 0)
                        log_info("Client", "Using %s, which is there already", path);
                return r < 0 ? r : 0;
        }
        uuid_draw(id);
        _cleanup_free_ char *temporary = mem_printf("%s._COPYING_.%s", path, id);
        log_info("Client", "Uploading resource file:%s -> %s", local, path);
        r = cluster_file_upload(fs, local, temporary, error);
        r = r < 0 ? r : cluster_file_move(fs, temporary, path, out, error);
        if (r < 0)
                fs->remove(fs, temporary, NULL);
        return r < 0 ? error_wrap(error, r, "uploading %s", local) : 0;
}

/* ----------------------------------------------------------------------------------------------- what is remembered */

struct known_file {
        char *owner, *path;
        struct local_resource file;
        int64_t until; /* now_ns; 0: a thread looks for it */
};

struct known_digest {
        char *path;
        struct stat st;
        char sha256[CLUSTER_FILE_DIGEST];
};

/* The files that this process has found on the cluster. */
static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        VEC(struct known_file) files;
        VEC(struct known_digest) digests;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct known_file *known_file_find(const char *owner, const char *path)
{
        for (size_t i = 0; i < known.files.len; i++)
                if (strcmp(known.files.data[i].path, path) == 0 && strcmp(known.files.data[i].owner, owner) == 0)
                        return &known.files.data[i];
        return NULL;
}

static void known_file_remove(struct known_file *file)
{
        local_resource_deinit(&file->file);
        free(file->owner);
        free(file->path);
        *file = known.files.data[--known.files.len];
}

/* Makes room for one file more, of those that no thread looks for. */
static void known_files_limit(void)
{
        for (size_t i = 0; known.files.len >= MAX_KNOWN && i < known.files.len; i++)
                if (known.files.data[i].until)
                        known_file_remove(&known.files.data[i]);
}

static void known_file_copy(const struct local_resource *from, struct local_resource *to)
{
        free(to->path);
        to->path = mem_strdup(from->path);
        to->size = from->size;
        to->modified_ms = from->modified_ms;
        to->is_public = from->is_public;
}

/* Under the lock. True: @out is filled. False: the caller looks for the file, and others wait for it. */
static bool known_file_begin(const char *owner, const char *path, struct local_resource *out)
{
        struct known_file *file;
        while ((file = known_file_find(owner, path)) && !file->until)
                pthread_cond_wait(&known.changed, &known.lock);
        if (file && file->until > now_ns()) {
                known_file_copy(&file->file, out);
                return true;
        }
        if (file)
                known_file_remove(file);
        known_files_limit();
        vec_push(&known.files, (struct known_file){.owner = mem_strdup(owner), .path = mem_strdup(path)});
        return false;
}

static void known_file_end(const char *owner, const char *path, const struct local_resource *found)
{
        pthread_mutex_lock(&known.lock);
        struct known_file *file = known_file_find(owner, path);
        if (found) {
                known_file_copy(found, &file->file);
                file->until = now_ns() + ms_to_ns(CLUSTER_FILE_MEMORY_MS);
        } else {
                known_file_remove(file);
        }
        pthread_cond_broadcast(&known.changed);
        pthread_mutex_unlock(&known.lock);
}

int cluster_file_store(const struct cluster_folder *folder, const char *local, const char *sha256, const char *suffix,
                       struct local_resource *out, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s%s", sha256, suffix), *path = path_join(folder->path, name);
        if (!folder->owner)
                return cluster_file_provide(folder, local, path, out, error);
        pthread_mutex_lock(&known.lock);
        const bool has = known_file_begin(folder->owner, path, out);
        pthread_mutex_unlock(&known.lock);
        if (has)
                return 0;
        const int r = cluster_file_provide(folder, local, path, out, error);
        known_file_end(folder->owner, path, r < 0 ? NULL : out);
        return r;
}

void cluster_files_forget(const char *path)
{
        pthread_mutex_lock(&known.lock);
        for (size_t i = known.files.len; i-- > 0;)
                if (strcmp(known.files.data[i].path, path) == 0 && known.files.data[i].until)
                        known_file_remove(&known.files.data[i]);
        pthread_mutex_unlock(&known.lock);
}

/* ---------------------------------------------------------------------------------------------------------- digests */

static int cluster_file_hash(int fd, const char *path, char sha256[static CLUSTER_FILE_DIGEST], struct fst_error *error)
{
        const struct sha256_ops *ops;
        uint8_t digest[SHA256_SIZE];
        int r = sha256_load(&ops, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *block = mem_alloc(BLOCK);
        struct sha256 *sha = ops->begin();
        ssize_t n = 0;
        r = sha ? 0 : -ENOMEM;
        while (r == 0 && (n = read(fd, block, BLOCK)) > 0)
                ops->add(sha, block, (size_t)n);
        if (r == 0 && n < 0)
                r = -errno;
        if (sha)
                ops->end(sha, digest);
        if (r < 0)
                return error_set(error, r, "reading %s: %s", path, strerror(-r));
        sha256_text(digest, sha256);
        return 0;
}

static bool known_digest_get(const char *path, const struct stat *st, char sha256[static CLUSTER_FILE_DIGEST])
{
        bool has = false;
        pthread_mutex_lock(&known.lock);
        for (size_t i = 0; i < known.digests.len && !has; i++) {
                const struct known_digest *d = &known.digests.data[i];
                has = strcmp(d->path, path) == 0 && d->st.st_size == st->st_size && d->st.st_ino == st->st_ino &&
                      d->st.st_dev == st->st_dev && d->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
                      d->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
                if (has)
                        memcpy(sha256, d->sha256, CLUSTER_FILE_DIGEST);
        }
        pthread_mutex_unlock(&known.lock);
        return has;
}

static void known_digest_put(const char *path, const struct stat *st, const char *sha256)
{
        struct known_digest made = {.path = mem_strdup(path), .st = *st};
        memcpy(made.sha256, sha256, CLUSTER_FILE_DIGEST);
        pthread_mutex_lock(&known.lock);
        for (size_t i = known.digests.len; i-- > 0;)
                if (known.digests.len >= MAX_KNOWN || strcmp(known.digests.data[i].path, path) == 0) {
                        free(known.digests.data[i].path);
                        known.digests.data[i] = known.digests.data[--known.digests.len];
                }
        vec_push(&known.digests, made);
        pthread_mutex_unlock(&known.lock);
}

int cluster_file_digest(const char *path, char sha256[static CLUSTER_FILE_DIGEST], struct fst_error *error)
{
        struct stat before, after;
        if (stat(path, &before) < 0)
                return error_errno(error, "%s", path);
        if (known_digest_get(path, &before, sha256))
                return 0;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_errno(error, "%s", path);
        const int r = cluster_file_hash(fd, path, sha256, error);
        /* A file that was changed a moment ago may change again without another time. */
        if (r == 0 && fstat(fd, &after) == 0 && time(NULL) - after.st_mtim.tv_sec > 2)
                known_digest_put(path, &after, sha256);
        close(fd);
        return r;
}
