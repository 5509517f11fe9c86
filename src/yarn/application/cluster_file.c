/* See cluster_file.h. */
#include "yarn/application/cluster_file.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fs/file_copy.h"
#include "io/fs/file_systems.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "yarn/application/local_resource.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FOLDER ".firesteel"

static int cluster_file_upload(const struct file_system *fs, const char *local, const char *path,
                               struct fst_error *error)
{
        _cleanup_free_ char *from = mem_printf("file:%s", local);
        struct open_file file = OPEN_FILE_INIT;
        int r = local_fs.open(&local_fs, from, &file, error);
        if (r < 0)
                return r;
        r = file_copy(&file, fs, path, error);
        local_fs.close(&file, NULL);
        return r;
}

/* The directory by default: in the user's home directory, not in the working directory if that is local. */
static int cluster_file_folder(const char *folder, char **out, const struct file_system **fs, struct fst_error *error)
{
        const char *home = getenv("HOME");
        if (folder && *folder)
                return file_system_resolve(folder, out, fs, error);
        const int r = file_system_resolve(DEFAULT_FOLDER, out, fs, error);
        if (r < 0 || strcmp((*fs)->scheme, "file") != 0 || !home || *home != '/')
                return r;
        free(*out);
        *out = mem_printf("file:%s/" DEFAULT_FOLDER, home);
        return 0;
}

/* 1 with *@out, 0 if there is no such file, or negative. */
static int cluster_file_look(const struct file_system *fs, const char *path, struct local_resource *out,
                             struct fst_error *error)
{
        struct file_statuses seen = {0};
        const struct file_status *status;
        int r = file_statuses_get(&seen, fs, path, &status, NULL);
        if (r != -ENOENT)
                r = local_resource_look(out, &seen, fs, path, error);
        file_statuses_deinit(&seen);
        return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* A file that another application stored meanwhile stays: its time is already in use. */
static int cluster_file_move(const struct file_system *fs, const char *from, const char *path,
                             struct local_resource *out, struct fst_error *error)
{
        int r = cluster_file_look(fs, path, out, error);
        if (r != 0) {
                fs->remove(fs, from, NULL);
                return r < 0 ? r : 0;
        }
        r = fs->rename(fs, from, path, error);
        if (r == 0)
                r = cluster_file_look(fs, path, out, error);
        return r == 1 ? 0 : r == 0 ? error_set(error, -ENOENT, "%s is gone after it was uploaded", path) : r;
}

int cluster_file_store(const char *folder, const char *local, const char *sha256, const char *suffix,
                       struct local_resource *out, struct fst_error *error)
{
        const struct file_system *fs;
        _cleanup_free_ char *directory = NULL;
        char id[UUID_TEXT];
        int r = cluster_file_folder(folder, &directory, &fs, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *name = mem_printf("%s%s", sha256, suffix);
        _cleanup_free_ char *path = path_join(directory, name);
        r = cluster_file_look(fs, path, out, error);
        if (r != 0) {
                if (r > 0)
                        log_info("Client", "Using %s, which is there already", path);
                return r < 0 ? r : 0;
        }
        uuid_draw(id);
        _cleanup_free_ char *temporary = mem_printf("%s._COPYING_.%s", path, id);
        log_info("Client", "Uploading resource file:%s -> %s", local, path);
        r = cluster_file_upload(fs, local, temporary, error);
        r = r < 0 ? r : cluster_file_move(fs, temporary, path, out, error);
        if (r < 0)
                fs->remove(fs, temporary, NULL);
        return r < 0 ? error_wrap(error, r, "uploading %s", local) : 0;
}
