/* See python_files.h. */
#include "image/python_files.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "image/image_layer.h"
#include "process/command.h"
#include "process/exit_cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MAX_LIST ((size_t)64 << 20)

static const char python_files_program[] =
#include "image/python_files.inc"
        ;

void python_files_deinit(struct python_files *files)
{
        exit_cleanup_remove(files->compiled);
        free(files->program);
        free(files->name);
        free(files->packages);
        free(files->compiled);
        string_list_deinit(&files->from);
        string_list_deinit(&files->to);
        string_list_deinit(&files->libraries);
        *files = PYTHON_FILES_INIT;
}

static int python_files_bad_list(const char *interpreter, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s wrote an invalid list of its files", interpreter);
}

/* Reads the list, and ends its fields with NULs in place. */
static int python_files_read(struct python_files *files, const char *interpreter, struct buf *list,
                             struct fst_error *error)
{
        char *rest = list->data, *line;
        for (size_t n = 0; rest && (line = strsep(&rest, "\n")); n++) {
                char *from = line;
                const char *kind = strsep(&from, "\t");
                if (n == 0) {
                        files->program = mem_strdup(line);
                } else if (n == 1) {
                        files->name = mem_strdup(line);
                        files->packages = mem_printf(PYTHON_FOLDER "/lib/%s/site-packages", line);
                } else if (strcmp(kind, "L") == 0 && from) {
                        string_list_add(&files->libraries, from);
                } else if (strcmp(kind, "F") == 0 && from && strchr(from, '\t')) {
                        string_list_add(&files->from, strsep(&from, "\t"));
                        string_list_add(&files->to, from);
                } else if (*kind || rest) {
                        return python_files_bad_list(interpreter, error);
                }
        }
        return files->from.len ? 0 : python_files_bad_list(interpreter, error);
}

int python_files_find(struct python_files *files, const char *interpreter, struct fst_error *error)
{
        if (!*interpreter)
                return error_set(error, -EINVAL, "--python= needs an interpreter: leave the sign out for python3");
        const char *folder = getenv("TMPDIR");
        _cleanup_free_ char *prefix = mem_printf("%s/firesteel-python", folder && *folder ? folder : "/tmp");
        int r = exit_cleanup_make_directory(prefix, &files->compiled, error), status = 0;
        if (r < 0)
                return r;
        char *words[] = {"env", "PYTHONHASHSEED=0",           (char *)interpreter, "-B",
                         "-c",  (char *)python_files_program, files->compiled,     PYTHON_FOLDER,
                         NULL};
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        r = command_run(&(struct command){.words = words, .captured = &said, .no_input = true, .own_group = true},
                        &status);
        if (r < 0)
                return error_set(error, r, "cannot run %s: %s", interpreter, strerror(-r));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                while (said.len && said.data[said.len - 1] == '\n')
                        buf_truncate(&said, said.len - 1);
                return error_set(error, -ENOENT, "%s cannot be the Python of the image: %s", interpreter,
                                 said.len ? buf_text(&said) : "it ended without a message");
        }
        _cleanup_free_ char *path = mem_printf("%s/list", files->compiled);
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        r = file_text_read(path, MAX_LIST, &list, error);
        return r < 0 ? r : python_files_read(files, interpreter, &list, error);
}

int python_files_add(const struct python_files *files, struct image_layer *layer, const struct image_layer *system,
                     const char *folder, struct fst_error *error)
{
        _cleanup_free_ char *program = mem_printf(PYTHON_FOLDER "/bin/%s", files->name);
        int r = image_layer_file(layer, program, files->program, true, error);
        for (size_t i = 0; i < files->from.len && r == 0; i++)
                r = image_layer_file(layer, files->to.data[i], files->from.data[i],
                                     text_ends_with(files->to.data[i], ".so"), error);
        for (size_t i = 0; i < files->libraries.len && r == 0; i++) {
                const char *from = files->libraries.data[i];
                _cleanup_free_ char *to = mem_printf("%s/%s", folder, text_base_name(from));
                if (!image_layer_has(system, to) && !image_layer_has(layer, to))
                        r = image_layer_file(layer, to, from, true, error);
        }
        image_layer_link(layer, "/usr/local/bin/python3", program);
        image_layer_link(layer, "/usr/local/bin/python", program);
        return r;
}
