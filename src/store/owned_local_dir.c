/*
 * See owned_local_dir.h. A root gets its final name only after its file is locked, and loses it before the file is
 * removed. Its names before and after also mark it as ours, so a partial root is recognised wherever its process was
 * killed. A process that still writes to a root which others remove (an executor that outlives its worker for a moment)
 * does not find its path any more.
 */
#include "store/owned_local_dir.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME ".firesteel.lock"
#define UNFINISHED_PREFIX ".firesteel-new-"
#define REMOVED_PREFIX ".firesteel-gone-"
#define NEW_ATTEMPTS 16 /* each fails only if another process sweeps within microseconds */

char *local_root_path(const char *base, const char *prefix)
{
        char uuid[UUID_TEXT];
        uuid_draw(uuid);
        return mem_printf("%s/%s%s", base, prefix, uuid);
}

char *local_root_base(const char *root)
{
        size_t n = (size_t)(strrchr(root, '/') - root);
        return n ? mem_strndup(root, n) : mem_strdup("/");
}

/* Only its user may be able to change a root's content, or a link could lead the sweeper elsewhere. */
static bool owned_local_dir_is_ours(const char *path)
{
        struct stat st;
        return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

void local_root_remove(const char *root)
{
        _cleanup_free_ char *base = local_root_base(root), *gone = local_root_path(base, REMOVED_PREFIX);
        remove_tree(rename(root, gone) == 0 ? gone : root);
}

/* Removes @root if it has our file and no living process has locked it. Returns -ENOENT if it has no such file. */
static int root_sweep(const char *root)
{
        _cleanup_free_ char *name = mem_printf("%s/%s", root, LOCK_NAME);
        struct stat st;
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
                log_info("DiskBlockManager", "Removing %s of a process that has ended", root);
                local_root_remove(root);
        }
        close(fd);
        return 0;
}

void local_root_sweep(const char *base)
{
        DIR *d = opendir(base);
        if (!d)
                return;
        for (struct dirent *e; (e = readdir(d));) {
                bool unfinished = text_starts_with(e->d_name, UNFINISHED_PREFIX),
                     gone = text_starts_with(e->d_name, REMOVED_PREFIX);
                if (!unfinished && !gone && !text_starts_with(e->d_name, LOCAL_ROOT_BLOCKS) &&
                    !text_starts_with(e->d_name, LOCAL_ROOT_EXECUTORS))
                        continue;
                _cleanup_free_ char *path = mem_printf("%s/%s", base, e->d_name);
                if (!owned_local_dir_is_ours(path))
                        continue;
                if (gone)
                        remove_tree(path); /* other processes may remove it at the same time */
                else if (root_sweep(path) == -ENOENT && unfinished)
                        rmdir(path);
        }
        closedir(d);
}

/* Locks the file of the new directory @path. Returns -EAGAIN if another process took it for an ended process's. */
static int root_lock(const char *path, int *lock)
{
        _cleanup_free_ char *name = mem_printf("%s/%s", path, LOCK_NAME);
        struct stat st;
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return errno == ENOENT ? -EAGAIN : -errno;
        int r = flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 ? -errno : st.st_nlink == 0 ? -EAGAIN : 0;
        if (r)
                close(fd);
        else
                *lock = fd;
        return r;
}

int local_root_make(const char *root, int *lock)
{
        _cleanup_free_ char *base = local_root_base(root);
        int r = -EAGAIN;
        for (int attempt = 0; attempt < NEW_ATTEMPTS && r == -EAGAIN; attempt++) {
                _cleanup_free_ char *path = local_root_path(base, UNFINISHED_PREFIX);
                if (mkdir(path, 0700) < 0)
                        return -errno;
                r = root_lock(path, lock);
                if (r == 0 && rename(path, root) < 0) {
                        r = errno == ENOENT ? -EAGAIN : -errno; /* another process had begun to remove it */
                        close(*lock);
                }
                if (r < 0)
                        remove_tree(path);
        }
        return r;
}
