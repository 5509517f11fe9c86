/* Any bytes are a jar or an error with a message, and extracted files lie in their directory. */
#include "submit/packages/r_sources.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "unit/temp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_error(int r, struct fst_error *error)
{
        if (r < 0 && !error->message)
                abort();
        error_deinit(error);
}

static int count_entries(const char *path)
{
        int n = 0;
        DIR *dir = opendir(path);
        if (!dir)
                abort();
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        char top[TEMP_DIR_SIZE];
        bool has = false;
        temp_dir_new(top);
        _cleanup_free_ char *jar = mem_printf("%s/jar", top), *into = mem_printf("%s/into", top);
        int fd = open(jar, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) < 0 || mkdir(into, 0700) < 0)
                abort();
        check_error(r_sources_are_in(jar, &has, &error), &error);
        check_error(r_sources_extract(jar, into, NULL, &error), &error);
        if (count_entries(top) != 4) /* ".", "..", the jar and the directory */
                abort();
        remove_tree(top);
        return 0;
}
