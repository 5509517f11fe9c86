/* See r_files.h. */
#include "image/r_files.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "image/listed_files.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char r_files_program[] =
#include "image/r_files.inc"
        ;

/* R's start script changes the words of -e, so the program must be a file. */
static int r_files_write_program(const char *path, struct fst_error *error)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "%s", path);
        int r = write_all(fd, r_files_program, sizeof(r_files_program) - 1);
        close(fd);
        return r < 0 ? error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

int r_files_find(struct listed_files *files, const char *command, struct fst_error *error)
{
        if (!*command)
                return error_set(error, -EINVAL, "--r= needs a program: leave the sign out for Rscript");
        _cleanup_free_ char *program = mem_printf("%s/list.R", files->folder);
        int r = r_files_write_program(program, error);
        if (r < 0)
                return r;
        char *words[] = {"env", "LC_ALL=C.UTF-8", (char *)command, program, files->folder, NULL};
        return listed_files_run(files, words, command, "R", error);
}
