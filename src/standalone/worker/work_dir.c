/* See work_dir.h. */
#include "standalone/worker/work_dir.h"

#include "base/error.h"
#include "base/log.h"
#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int work_dir_make(const char *path, struct fst_error *error)
{
        int r = make_dirs(path, 0755);
        return r ? error_set(error, r, "Failed to create directory %s: %s", path, strerror(-r)) : 0;
}

static int64_t changed_ms(const struct stat *st)
{
        return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

/* Returns true if @name or anything in it changed at @since or later. Unreadable entries count as new. */
static bool has_new_files(int parent, const char *name, int64_t since)
{
        struct stat st;
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                if (fd >= 0)
                        close(fd);
                return true;
        }
        bool found = fstat(fd, &st) < 0 || changed_ms(&st) >= since;
        for (struct dirent *e; !found && (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue; /* removed meanwhile */
                found = S_ISDIR(st.st_mode) ? has_new_files(fd, e->d_name, since) : changed_ms(&st) >= since;
        }
        closedir(d);
        return found;
}

int work_dir_clean(const char *path, int64_t before, bool (*used)(void *context, const char *name), void *context,
                   struct fst_error *error)
{
        int removed = 0;
        DIR *d = opendir(path);
        if (!d)
                return error_errno(error, "Failed to list files in %s", path);
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                    !S_ISDIR(st.st_mode) || used(context, e->d_name) || has_new_files(dirfd(d), e->d_name, before))
                        continue;
                _cleanup_free_ char *directory = mem_printf("%s/%s", path, e->d_name);
                log_info("Worker", "Removing directory: %s", directory);
                remove_tree(directory);
                removed++;
        }
        closedir(d);
        return removed;
}
