/* See listed_files.h. */
#include "image/listed_files.h"

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

void listed_files_deinit(struct listed_files *files)
{
        exit_cleanup_remove(files->folder);
        free(files->folder);
        string_list_deinit(&files->from);
        string_list_deinit(&files->to);
        string_list_deinit(&files->links);
        string_list_deinit(&files->targets);
        string_list_deinit(&files->libraries);
        string_list_deinit(&files->environment);
        *files = LISTED_FILES_INIT;
}

int listed_files_init(struct listed_files *files, struct fst_error *error)
{
        const char *folder = getenv("TMPDIR");
        _cleanup_free_ char *prefix = mem_printf("%s/firesteel-image", folder && *folder ? folder : "/tmp");
        return exit_cleanup_make_directory(prefix, &files->folder, error);
}

/* Reads a line, whose fields end with NULs afterwards. Returns whether it is valid. */
static bool listed_files_read_line(struct listed_files *files, char *line)
{
        const char *kind = strsep(&line, "\t"), *first = line ? strsep(&line, "\t") : NULL;
        if (!first || !*first || kind[0] == '\0' || kind[1] != '\0' || (line && strchr(line, '\t')))
                return false;
        struct string_list *one = *kind == 'L' ? &files->libraries : *kind == 'E' ? &files->environment : NULL;
        struct string_list *two = *kind == 'F' ? &files->from : *kind == 'K' ? &files->links : NULL;
        if (one && !line) {
                string_list_add(one, first);
                return *kind == 'L' || strchr(first, '=');
        }
        if (!two || !line || !*line)
                return false;
        string_list_add(two, first);
        string_list_add(*kind == 'F' ? &files->to : &files->targets, line);
        return true;
}

static int listed_files_read(struct listed_files *files, const char *interpreter, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/list", files->folder);
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        int r = file_text_read(path, MAX_LIST, &list, error);
        if (r < 0)
                return r;
        bool valid = true;
        for (char *rest = list.data, *line; valid && rest && (line = strsep(&rest, "\n"));)
                valid = (!*line && !rest) || listed_files_read_line(files, line);
        return valid && files->from.len
                       ? 0
                       : error_set(error, -EBADMSG, "%s wrote an invalid list of its files", interpreter);
}

int listed_files_run(struct listed_files *files, char *const *words, const char *interpreter, const char *language,
                     struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        int status = 0;
        int r = command_run(&(struct command){.words = words, .captured = &said, .no_input = true, .own_group = true},
                            &status);
        if (r < 0)
                return error_set(error, r, "cannot run %s: %s", interpreter, strerror(-r));
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return listed_files_read(files, interpreter, error);
        while (said.len && said.data[said.len - 1] == '\n')
                buf_truncate(&said, said.len - 1);
        return error_set(error, -ENOENT, "%s cannot be the %s of the image: %s", interpreter, language,
                         said.len ? buf_text(&said) : "it ended without a message");
}

int listed_files_add(const struct listed_files *files, struct image_layer *layer, const struct image_layer *system,
                     const char *folder, struct fst_error *error)
{
        int r = 0;
        for (size_t i = 0; i < files->from.len && r == 0; i++) {
                const char *to = files->to.data[i];
                r = image_layer_file(layer, to, files->from.data[i], text_ends_with(to, ".so") || strstr(to, "/bin/"),
                                     error);
        }
        for (size_t i = 0; i < files->libraries.len && r == 0; i++) {
                const char *from = files->libraries.data[i];
                _cleanup_free_ char *to = mem_printf("%s/%s", folder, text_base_name(from));
                if (!image_layer_has(system, to) && !image_layer_has(layer, to))
                        r = image_layer_file(layer, to, from, true, error);
        }
        for (size_t i = 0; i < files->links.len; i++)
                image_layer_link(layer, files->links.data[i], files->targets.data[i]);
        return r;
}
