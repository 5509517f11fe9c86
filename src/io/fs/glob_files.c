/* See glob_files.h. The pattern is matched component by component: one without magic is looked up, one with magic is
 * matched against the directory's entries. Braces that contain slashes are expanded first. */
#include "io/fs/glob_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/glob.h"
#include "io/fs/path.h"

#include <string.h>

static bool glob_files_match_any(const struct glob_words *patterns, const char *name)
{
        for (size_t i = 0; i < patterns->len; i++)
                if (glob_match(patterns->data[i], name))
                        return true;
        return false;
}

/* Matches one component below each of @from and appends the results to @to. */
static int glob_files_match_component(const struct file_system *fs, const char *component, bool last,
                                      struct file_list *from, struct file_list *to, struct fst_error *error)
{
        _cleanup_(glob_words_deinit) struct glob_words patterns = {0};
        bool magic = glob_has_magic(component);
        int r = glob_check(component, error);
        if (r == 0 && magic)
                r = glob_expand(component, false, &patterns, error);
        _cleanup_free_ char *plain = glob_unquote(component);

        for (size_t i = 0; r == 0 && i < from->len; i++) {
                if (!magic) {
                        _cleanup_free_ char *path = path_join(from->data[i].path, plain);
                        struct file_status status;
                        r = fs->stat(fs, path, &status, error);
                        if (r == 0)
                                vec_push(to, status);
                        else if (r == -ENOENT)
                                r = 0; /* nothing matches */
                        if (r == 0)
                                error_deinit(error);
                        continue;
                }
                if (!from->data[i].directory)
                        continue;
                struct file_list entries = {0};
                r = fs->list(fs, from->data[i].path, &entries, error);
                if (r == -ENOENT || r == -ENOTDIR) {
                        error_deinit(error);
                        r = 0;
                }
                for (size_t k = 0; k < entries.len; k++) {
                        if (glob_files_match_any(&patterns, path_name(entries.data[k].path)) &&
                            (last || entries.data[k].directory))
                                vec_push(to, entries.data[k]);
                        else
                                file_status_deinit(&entries.data[k]);
                }
                vec_deinit(&entries);
        }
        return r;
}

/* Appends the matches of a pattern without braces to @found. */
static int glob_files_match_path(const struct file_system *fs, const char *pattern, struct file_list *found,
                                 struct fst_error *error)
{
        const char *rest = path_local(pattern);
        struct file_list at = {0};
        struct file_status root = {.path = mem_strndup(pattern, (size_t)(rest - pattern) + 1), .directory = true};
        vec_push(&at, root);

        int r = 0;
        while (r == 0 && at.len > 0) {
                rest += strspn(rest, "/");
                if (!*rest)
                        break;
                size_t n = strcspn(rest, "/");
                _cleanup_free_ char *component = mem_strndup(rest, n);
                rest += n;
                struct file_list next = {0};
                /* A path without magic needs only one look-up, at any depth. */
                if (at.len == 1 && !glob_has_magic(component) && strchr(rest, '/') && !strchr(component, '\\')) {
                        char *path = path_join(at.data[0].path, component);
                        free(at.data[0].path);
                        at.data[0].path = path;
                        continue;
                }
                r = glob_files_match_component(fs, component, !*rest, &at, &next, error);
                file_list_deinit(&at);
                at = next;
        }
        for (size_t i = 0; i < at.len; i++) {
                if (r < 0)
                        file_status_deinit(&at.data[i]);
                else
                        vec_push(found, at.data[i]);
        }
        vec_deinit(&at);
        return r;
}

int glob_files(const struct file_system *fs, const char *pattern, struct file_list *found, struct fst_error *error)
{
        _cleanup_(glob_words_deinit) struct glob_words patterns = {0};
        struct file_list matched = {0};
        int r = glob_expand(pattern, true, &patterns, error);
        for (size_t i = 0; r == 0 && i < patterns.len; i++)
                r = glob_files_match_path(fs, patterns.data[i], &matched, error);
        if (r < 0) {
                file_list_deinit(&matched);
                return r;
        }
        file_list_append_sorted(found, &matched);
        return 0;
}
