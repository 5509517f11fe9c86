/* See library_path.h. */
#include "process/library_path.h"

#include "base/buf.h"
#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *library_path_without(const char *list, const char *folder)
{
        struct buf out = BUF_INIT;
        for (const char *at = list;; at++) {
                size_t n = strcspn(at, ":");
                _cleanup_free_ char *one = mem_strndup(at, n), *real = realpath(one, NULL);
                if (n && strcmp(real ? real : one, folder) != 0)
                        buf_printf(&out, "%s%s", out.len ? ":" : "", one);
                at += n;
                if (!*at)
                        return buf_steal(&out);
        }
}

/* Cuts the last component off. */
static void library_path_cut(char *path)
{
        char *slash = strrchr(path, '/');
        if (slash)
                *slash = '\0';
}

char *library_path_of_programs(void)
{
        const char *list = getenv("LD_LIBRARY_PATH");
        char program[PATH_MAX];
        const ssize_t n = list && *list ? readlink("/proc/self/exe", program, sizeof(program) - 1) : -1;
        if (n < 0)
                return NULL;
        program[n] = '\0';
        library_path_cut(program);
        library_path_cut(program);
        _cleanup_free_ char *own = mem_printf("%s/lib", program), *folder = realpath(own, NULL);
        char *rest = library_path_without(list, folder ? folder : own);
        if (strcmp(rest, list) == 0)
                free(steal(rest));
        return rest;
}
