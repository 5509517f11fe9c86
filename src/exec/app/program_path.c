/* See program_path.h. The paths cover a build directory and an installation. */
#include "exec/app/program_path.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* access() alone would take an installation's directory lib/firesteel for the program. */
static bool program_path_is_program(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_find(void)
{
        char self[4096];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[n > 0 ? n : 0] = '\0';
        const char *name = strrchr(self, '/');
        if (name && (strcmp(name, "/firesteel") == 0))
                return mem_strdup(self);
        Dl_info info;
        if (dladdr((void *)program_find, &info) && info.dli_fname) {
                static const char *const candidates[] = {"firesteel", "../bin/firesteel", "../src/firesteel"};
                const char *slash = strrchr(info.dli_fname, '/');
                for (size_t i = 0; slash && i < ARRAY_SIZE(candidates); i++) {
                        char *path =
                                mem_printf("%.*s%s", (int)(slash + 1 - info.dli_fname), info.dli_fname, candidates[i]);
                        if (program_path_is_program(path))
                                return path;
                        free(path);
                }
        }
        return NULL;
}
