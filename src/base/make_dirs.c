/* See make_dirs.h. */
#include "base/make_dirs.h"

#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

static bool is_dir(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int make_dirs(const char *path, mode_t mode)
{
        if (mkdir(path, mode) == 0)
                return 0;
        if (errno == EEXIST)
                return is_dir(path) ? 0 : -ENOTDIR;
        if (errno != ENOENT || !*path)
                return -errno;
        _cleanup_free_ char *copy = mem_strdup(path);
        for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                /* a folder that may not be written to may be there all the same */
                if (mkdir(copy, mode) < 0 && !is_dir(copy))
                        return errno == EEXIST ? -ENOTDIR : -errno;
                *slash = '/';
        }
        if (mkdir(copy, mode) == 0 || is_dir(copy))
                return 0;
        return errno == EEXIST ? -ENOTDIR : -errno;
}
