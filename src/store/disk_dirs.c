/* Local directories like those of Spark's DiskBlockManager: same names, hashing and order. */
#include "store/disk_dirs.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "store/file_cipher.h"
#include "store/owned_local_dir.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIN_ROOM ((uint64_t)1 << 20) /* a directory with less room counts as full */

struct disk_dir {
        char *root;
        int lock;
        atomic_int failed; /* errno that disabled the directory; 0: in use */
        atomic_bool low;   /* the low room was logged */
};

struct disk_dirs {
        VEC(struct disk_dir *) dirs;
        unsigned subdirectories;
        bool lasting;         /* without lock files */
        struct file_key *key; /* NULL: files are not encrypted */
        pthread_mutex_t lock; /* protects the re-creation of a root */
        bool left;            /* set by disk_dirs_leave: nothing is created any more */
};

/* @lock: the descriptor of local_root_make; unchanged if the root is lasting. */
static int root_make(const char *root, bool lasting, int *lock)
{
        if (!lasting)
                return local_root_make(root, lock);
        return mkdir(root, 0700) < 0 ? -errno : 0;
}

/*
 * True if @base is created by another process of the application: the worker that passed it in SPARK_EXECUTOR_DIRS, or
 * the executor whose root it is. If @base is missing, that process has ended and its files were swept.
 */
static bool is_made_by_other_process(const char *base)
{
        const char *list = getenv("SPARK_EXECUTOR_DIRS"), *slash = strrchr(base, '/');
        size_t n = strlen(base);
        for (const char *at = list; at && *at; at += *at == ':') {
                size_t length = strcspn(at, ":");
                if (length == n && memcmp(at, base, n) == 0)
                        return true;
                at += length;
        }
        return text_starts_with(slash ? slash + 1 : base, LOCAL_ROOT_BLOCKS);
}

static int dir_new(const char *base, const char *prefix, bool lasting, struct disk_dir **dir)
{
        int lock = -1, r = is_made_by_other_process(base) ? 0 : make_dirs(base, 0755);
        if (r < 0)
                return r;
        local_root_sweep(base);
        _cleanup_free_ char *root = local_root_path(base, prefix);
        r = root_make(root, lasting, &lock);
        if (r < 0)
                return r;
        struct disk_dir *d = new0(struct disk_dir);
        d->root = steal(root);
        d->lock = lock;
        *dir = d;
        return 0;
}

char *disk_dirs_configured(const char *local_dir)
{
        const char *value;
        if (getenv("CONTAINER_ID") && (value = getenv("LOCAL_DIRS")))
                return mem_strdup(value);
        if ((value = getenv("SPARK_EXECUTOR_DIRS"))) {
                char *list = mem_strdup(value);
                for (char *c = list; (c = strchr(c, ':'));)
                        *c = ',';
                return list;
        }
        if ((value = getenv("SPARK_LOCAL_DIRS")))
                return mem_strdup(value);
        return mem_strdup(local_dir && *local_dir ? local_dir : "/tmp");
}

static int dirs_new(const char *list, const char *prefix, int subdirectories, bool lasting, struct disk_dirs **dirs,
                    struct fst_error *error)
{
        if (subdirectories < 1 || subdirectories > 4096)
                return error_set(error, -EINVAL, "spark.diskStore.subDirectories is %d: give a number from 1 to 4096",
                                 subdirectories);
        struct disk_dirs *d = new0(struct disk_dirs);
        d->subdirectories = (unsigned)subdirectories;
        d->lasting = lasting;
        pthread_mutex_init(&d->lock, NULL);
        _cleanup_free_ char *copy = mem_strdup(list);
        int r = -EINVAL;
        char *rest = copy;
        for (char *base; (base = strsep(&rest, ","));) {
                base += strspn(base, " ");
                size_t n = strlen(base);
                while (n > 1 && (base[n - 1] == ' ' || base[n - 1] == '/'))
                        base[--n] = '\0';
                if (n == 0)
                        continue;
                struct disk_dir *dir = NULL;
                r = dir_new(base, prefix, lasting, &dir);
                if (r < 0) {
                        log_error("DiskBlockManager", "Failed to create local dir in %s: %s. Ignoring this directory.",
                                  base, strerror(-r));
                        continue;
                }
                log_info("DiskBlockManager", "Created local directory at %s", dir->root);
                vec_push(&d->dirs, dir);
        }
        if (d->dirs.len == 0) {
                disk_dirs_remove(d);
                return error_set(
                        error, r,
                        "Failed to create any local dir in \"%s\": %s; set spark.local.dir or SPARK_LOCAL_DIRS to "
                        "directories that this user may write to",
                        list, strerror(-r));
        }
        *dirs = d;
        return 0;
}

int disk_dirs_new(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error)
{
        return dirs_new(list, LOCAL_ROOT_BLOCKS, subdirectories, false, dirs, error);
}

int disk_dirs_new_lasting(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error)
{
        return dirs_new(list, LOCAL_ROOT_BLOCKS, subdirectories, true, dirs, error);
}

int disk_dirs_for_executors(const char *list, struct disk_dirs **dirs, struct fst_error *error)
{
        return dirs_new(list, LOCAL_ROOT_EXECUTORS, 1, false, dirs, error);
}

void disk_dirs_sweep(const char *list)
{
        _cleanup_free_ char *copy = mem_strdup(list);
        char *rest = copy;
        for (char *dir; (dir = strsep(&rest, ", "));)
                if (*dir)
                        local_root_sweep(dir);
}

void disk_dirs_sweep_executors(void)
{
        const char *value = getenv("SPARK_EXECUTOR_DIRS");
        _cleanup_free_ char *copy = mem_strdup(value ? value : "");
        char *rest = copy;
        for (char *dir; (dir = strsep(&rest, ":"));) {
                char *slash = strrchr(dir, '/');
                if (!slash || slash == dir)
                        continue;
                *slash = '\0';
                local_root_sweep(dir);
        }
}

static void roots_remove(const struct disk_dirs *dirs)
{
        for (size_t i = 0; i < dirs->dirs.len; i++) {
                const char *root = dirs->dirs.data[i]->root;
                _cleanup_free_ char *base = local_root_base(root);
                local_root_remove(root);
                local_root_sweep(base);
        }
}

void disk_dirs_leave(struct disk_dirs *dirs)
{
        pthread_mutex_lock(&dirs->lock);
        dirs->left = true;
        pthread_mutex_unlock(&dirs->lock);
        if (!dirs->lasting)
                roots_remove(dirs);
}

static void dirs_free(struct disk_dirs *dirs, bool remove)
{
        if (!dirs)
                return;
        int saved = errno;
        if (remove)
                roots_remove(dirs);
        for (size_t i = 0; i < dirs->dirs.len; i++) {
                struct disk_dir *d = dirs->dirs.data[i];
                if (d->lock >= 0)
                        close(d->lock);
                free(d->root);
                free(d);
        }
        vec_deinit(&dirs->dirs);
        pthread_mutex_destroy(&dirs->lock);
        file_key_free(dirs->key);
        free(dirs);
        errno = saved;
}

void disk_dirs_free(struct disk_dirs *dirs)
{
        dirs_free(dirs, dirs && !dirs->lasting);
}

void disk_dirs_remove(struct disk_dirs *dirs)
{
        dirs_free(dirs, true);
}

void disk_dirs_encrypt(struct disk_dirs *dirs, struct file_key *key)
{
        if (key)
                dirs->key = key;
}

const struct file_key *disk_dirs_key(const struct disk_dirs *dirs)
{
        return dirs->key;
}

size_t disk_dirs_count(const struct disk_dirs *dirs)
{
        return dirs->dirs.len;
}

const char *disk_dirs_root(const struct disk_dirs *dirs, size_t i)
{
        return dirs->dirs.data[i]->root;
}

/* Computes Java's String.hashCode without its sign, as Spark does to distribute names. */
static unsigned name_hash(const char *name)
{
        uint32_t h = 0;
        for (; *name; name++)
                h = 31 * h + (unsigned char)*name;
        return h == 0x80000000u ? 0 : (int32_t)h < 0 ? -h : h;
}

static void dir_failed(struct disk_dir *d, int code)
{
        if (!atomic_exchange(&d->failed, -code))
                log_warn("DiskBlockManager", "%s is not used for new files any more: %s", d->root, strerror(-code));
}

/* True if the directory has little room or no free inodes, so that a write need not fail first. */
static bool dir_is_low(struct disk_dir *d)
{
        struct statvfs st;
        if (statvfs(d->root, &st) < 0)
                return false; /* creating the file reports the error */
        bool low = (uint64_t)st.f_bavail * st.f_frsize < MIN_ROOM || (st.f_files && st.f_favail == 0);
        if (low != atomic_exchange(&d->low, low) && low)
                log_warn("DiskBlockManager",
                         "%s has little room left: new files go to other directories until that changes", d->root);
        return low;
}

/* Returns "/a (No space left on device), /b (Input/output error)", with the paths of the configuration. */
static char *list_failures(const struct disk_dirs *dirs)
{
        char *text = mem_strdup("");
        for (size_t i = 0; i < dirs->dirs.len; i++) {
                const struct disk_dir *d = dirs->dirs.data[i];
                int code = atomic_load(&d->failed);
                char *longer = mem_printf("%s%s%.*s%s%s%s", text, i ? ", " : "", (int)(strrchr(d->root, '/') - d->root),
                                          d->root, code ? " (" : "", code ? strerror(code) : "", code ? ")" : "");
                free(text);
                text = longer;
        }
        return text;
}

/* Creates a root again that another program removed (a cleaner of /tmp), unless disk_dirs_leave was called. */
static int root_recreate(struct disk_dirs *dirs, struct disk_dir *d)
{
        int r = 0;
        pthread_mutex_lock(&dirs->lock);
        if (dirs->left) {
                r = -ENOENT;
        } else if (access(d->root, F_OK) < 0) {
                int lock = -1;
                r = root_make(d->root, dirs->lasting, &lock);
                if (r == 0 && d->lock >= 0)
                        close(d->lock);
                if (r == 0)
                        d->lock = lock;
        }
        pthread_mutex_unlock(&dirs->lock);
        return r;
}

static int dir_create(struct disk_dirs *dirs, struct disk_dir *d, unsigned subdirectory, const char *name, int *fd,
                      char **path)
{
        _cleanup_free_ char *sub = mem_printf("%s/%02x", d->root, subdirectory);
        _cleanup_free_ char *file = mem_printf("%s/%s", sub, name);
        for (int attempt = 0; attempt < 2; attempt++) {
                int f = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
                if (f >= 0) {
                        *fd = f;
                        *path = steal(file);
                        return 0;
                }
                if (errno != ENOENT)
                        return -errno;
                int r = root_recreate(dirs, d);
                if (r)
                        return r;
                if (mkdir(sub, 0700) < 0 && errno != EEXIST)
                        return -errno;
        }
        return -ENOENT;
}

int disk_dirs_create(struct disk_dirs *dirs, const char *name, int *fd, char **path, struct fst_error *error)
{
        size_t n = dirs->dirs.len;
        unsigned hash = name_hash(name);
        int r = 0;
        /*
         * Tries directories with room first, then other working ones. If none is left it tries failed ones, which may
         * have room again.
         */
        for (size_t i = 0; i < 3 * n; i++) {
                struct disk_dir *d = dirs->dirs.data[(hash + i) % n];
                if (i < 2 * n ? d->failed != 0 : !d->failed)
                        continue;
                if (n > 1 && i < 2 * n && dir_is_low(d) != (i >= n))
                        continue;
                r = dir_create(dirs, d, (unsigned)(hash / n % dirs->subdirectories), name, fd, path);
                if (r == 0)
                        return 0;
                if (r == -EEXIST)
                        return error_set(error, r, "%s already exists in %s", name, d->root);
                if (r == -EMFILE || r == -ENFILE)
                        break; /* the error is not the directory's */
                dir_failed(d, r);
        }
        if (r == -EMFILE || r == -ENFILE)
                return error_set(error, r, "creating %s in %s: %s", name, dirs->dirs.data[hash % n]->root,
                                 strerror(-r));
        _cleanup_free_ char *reasons = list_failures(dirs);
        return error_set(error, r,
                         "creating %s: no directory of spark.local.dir works: %s; make room there or set "
                         "spark.local.dir to larger disks",
                         name, reasons);
}

char *disk_dirs_find(const char *const *roots, size_t n, int subdirectories, const char *name)
{
        unsigned hash = name_hash(name);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *path = mem_printf("%s/%02x/%s", roots[(hash + i) % n],
                                                       (unsigned)(hash / n % (unsigned)subdirectories), name);
                if (access(path, R_OK) == 0)
                        return steal(path);
        }
        return NULL;
}

int disk_dirs_create_unique(struct disk_dirs *dirs, const char *prefix, int *fd, char **path, struct fst_error *error)
{
        char uuid[UUID_TEXT];
        uuid_draw(uuid);
        _cleanup_free_ char *name = mem_printf("%s%s", prefix, uuid);
        return disk_dirs_create(dirs, name, fd, path, error);
}

size_t disk_dirs_left(const struct disk_dirs *dirs)
{
        size_t left = 0;
        for (size_t i = 0; i < dirs->dirs.len; i++)
                left += atomic_load(&dirs->dirs.data[i]->failed) == 0;
        return left;
}

int disk_dirs_failed(struct disk_dirs *dirs, const char *doing, const char *path, int code, struct fst_error *error)
{
        for (size_t i = 0; dirs && i < dirs->dirs.len; i++) {
                const char *root = dirs->dirs.data[i]->root;
                if (strncmp(path, root, strlen(root)) == 0 && path[strlen(root)] == '/')
                        dir_failed(dirs->dirs.data[i], code);
        }
        if (!dirs || dirs->dirs.len < 2)
                return error_set(error, code, "%s %s: %s; make room there or set spark.local.dir to a larger disk",
                                 doing, path, strerror(-code));
        if (disk_dirs_left(dirs))
                return error_set(error, code, "%s %s: %s; the next attempt uses another directory of spark.local.dir",
                                 doing, path, strerror(-code));
        _cleanup_free_ char *reasons = list_failures(dirs);
        return error_set(error, code,
                         "%s %s: %s; no directory of spark.local.dir works any more: %s; make room there or set "
                         "spark.local.dir to larger disks",
                         doing, path, strerror(-code), reasons);
}
