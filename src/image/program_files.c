/* See program_files.h. */
#include "image/program_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/module_loader.h"
#include "base/string_prefix.h"
#include "io/codec/archive_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <limits.h>
#include <unistd.h>

void program_files_deinit(struct program_files *files)
{
        free(files->program);
        free(files->library);
        string_list_deinit(&files->modules);
        string_list_deinit(&files->libraries);
        free(files->loader);
        free(files->folder);
        *files = PROGRAM_FILES_INIT;
}

static int program_files_load_modules(struct program_files *files, struct fst_error *error)
{
        const struct archive_library *lib;
        int r = on_demand_list(&files->modules, error);
        for (size_t i = 0; i < files->modules.len && r == 0; i++)
                if (!dlopen(files->modules.data[i], RTLD_LAZY | RTLD_LOCAL))
                        r = error_set(error, -ELIBBAD, "cannot load %s: %s", files->modules.data[i], dlerror());
        return r ? r : archive_library_load(&lib, error);
}

/* The executable's first entry has no name. The loader's is the path that the kernel used. */
static int program_files_visit(struct dl_phdr_info *info, size_t size, void *context)
{
        struct program_files *files = context;
        const char *path = info->dlpi_name, *name = text_base_name(path);
        if (path[0] != '/')
                return 0;
        if (text_starts_with(name, "libfiresteel.so"))
                files->library = files->library ? files->library : mem_strdup(path);
        else if (text_starts_with(name, "ld-linux") || text_starts_with(name, "ld-musl") ||
                 text_starts_with(name, "ld64.so"))
                files->loader = files->loader ? files->loader : mem_strdup(path);
        else if (!text_starts_with(name, "libfiresteel-"))
                string_list_add(&files->libraries, path);
        if (text_starts_with(name, "libc.so"))
                files->folder = mem_strndup(path, (size_t)(name - path) - 1);
        return 0;
}

int program_files_find(struct program_files *files, struct fst_error *error)
{
        char path[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
        if (n < 0)
                return error_errno(error, "/proc/self/exe");
        path[n] = '\0';
        files->program = mem_strdup(path);
        int r = program_files_load_modules(files, error);
        if (r)
                return r;
        dl_iterate_phdr(program_files_visit, files);
        const char *missing = !files->loader ? "its loader" : !files->folder ? "the C library" : NULL;
        return missing ? error_set(error, -ENOENT, "%s: %s is not among the loaded libraries", path, missing) : 0;
}
