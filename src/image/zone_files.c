/* See zone_files.h. The first name in the order of names is the file, so that the order in directories has no effect.
 */
#include "image/zone_files.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "image/image_layer.h"

#include <dirent.h>
#include <sys/stat.h>

#define ZONE_MAGIC "TZif"
#define MAX_ZONE_FILE ((size_t)1 << 20)
#define MAX_ZONE_DEPTH 8

struct zone_file {
        char *name; /* "Europe/Berlin" */
        struct buf content;
};

struct zone_files {
        VEC(struct zone_file) list;
};

static void zone_files_deinit(struct zone_files *files)
{
        for (size_t i = 0; i < files->list.len; i++) {
                free(files->list.data[i].name);
                buf_deinit(&files->list.data[i].content);
        }
        vec_deinit(&files->list);
}

static int zone_file_read(struct zone_files *files, const char *path, const char *name, struct fst_error *error)
{
        struct zone_file file = {.content = BUF_INIT};
        int r = file_text_read(path, MAX_ZONE_FILE, &file.content, error);
        if (r < 0 || file.content.len < strlen(ZONE_MAGIC) ||
            memcmp(file.content.data, ZONE_MAGIC, strlen(ZONE_MAGIC)) != 0) {
                buf_deinit(&file.content);
                return r;
        }
        file.name = mem_strdup(name);
        vec_push(&files->list, file);
        return 0;
}

/* Whether a name at the top is one of the machine's own zone, or a set that repeats all zones. */
static bool zone_name_is_left_out(const char *name)
{
        static const char *const names[] = {"posix", "right", "localtime", "posixrules"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(name, names[i]) == 0)
                        return true;
        return false;
}

static int zone_folder_read(struct zone_files *files, const char *folder, const char *prefix, int depth,
                            struct fst_error *error)
{
        struct dirent **entries;
        int n = scandir(folder, &entries, NULL, NULL), r = n < 0 ? error_errno(error, "%s", folder) : 0;
        for (int i = 0; i < n; i++) {
                const char *entry = entries[i]->d_name;
                _cleanup_free_ char *path = mem_printf("%s/%s", folder, entry);
                _cleanup_free_ char *name = mem_printf("%s%s", prefix, entry);
                struct stat st;
                if (r == 0 && entry[0] != '.' && !zone_name_is_left_out(name) && stat(path, &st) == 0) {
                        if (S_ISREG(st.st_mode) && st.st_size <= (off_t)MAX_ZONE_FILE) {
                                r = zone_file_read(files, path, name, error);
                        } else if (S_ISDIR(st.st_mode) && depth < MAX_ZONE_DEPTH) {
                                _cleanup_free_ char *inner = mem_printf("%s/", name);
                                r = zone_folder_read(files, path, inner, depth + 1, error);
                        }
                }
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
        return r;
}

static int zone_file_compare_names(const void *a, const void *b)
{
        return strcmp(((const struct zone_file *)a)->name, ((const struct zone_file *)b)->name);
}

/* Adds file @at as a link to the first file with the same content, or as a file. */
static void zone_file_add(struct image_layer *layer, const struct zone_files *files, size_t at)
{
        const struct zone_file *file = &files->list.data[at], *first = files->list.data;
        while (first->content.len != file->content.len ||
               memcmp(first->content.data, file->content.data, file->content.len) != 0)
                first++;
        _cleanup_free_ char *path = mem_printf(ZONE_FOLDER "/%s", file->name);
        _cleanup_free_ char *target = mem_printf(ZONE_FOLDER "/%s", first->name);
        if (first == file)
                image_layer_bytes(layer, path, 0644, file->content.data, file->content.len);
        else
                image_layer_link(layer, path, target);
}

int zone_files_add(struct image_layer *layer, const char *from, struct fst_error *error)
{
        _cleanup_(zone_files_deinit) struct zone_files files = {0};
        struct stat st;
        if (stat(from, &st) < 0)
                return errno == ENOENT ? 0 : error_errno(error, "%s", from);
        int r = zone_folder_read(&files, from, "", 0, error);
        if (r < 0)
                return r;
        if (files.list.len > 0)
                qsort(files.list.data, files.list.len, sizeof(*files.list.data), zone_file_compare_names);
        for (size_t i = 0; i < files.list.len; i++)
                zone_file_add(layer, &files, i);
        return 0;
}
