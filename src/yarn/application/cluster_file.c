/* See cluster_file.h. */
#include "yarn/application/cluster_file.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FOLDER ".firesteel"
#define PIECE (1 << 20)
#define READ_BY_OTHERS 0004
#define ENTER_BY_OTHERS 0001

void cluster_file_deinit(struct cluster_file *file)
{
        free(file->path);
        file->path = NULL;
}

static int cluster_file_write_all(const char *local, struct open_file *file, struct fst_error *error)
{
        FILE *in = fopen(local, "re");
        if (!in)
                return error_errno(error, "%s", local);
        _cleanup_free_ char *piece = mem_alloc(PIECE);
        int r = 0;
        for (size_t n; r == 0 && (n = fread(piece, 1, PIECE, in)) > 0;)
                r = file->fs->write(file, piece, n, error);
        if (r == 0 && ferror(in))
                r = error_set(error, -EIO, "%s cannot be read", local);
        fclose(in);
        return r;
}

static int cluster_file_upload(const struct file_system *fs, const char *local, const char *path,
                               struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->create(fs, path, &file, error);
        if (r < 0)
                return r;
        r = cluster_file_write_all(local, &file, error);
        if (r < 0)
                fs->discard(&file);
        else
                r = fs->close(&file, error);
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

/* Whether all users may read the file and enter the directories above it; YARN then shares one copy on each node. */
static int cluster_file_is_public(const struct file_system *fs, const char *path, unsigned permission, bool *out,
                                  struct fst_error *error)
{
        bool others = permission & READ_BY_OTHERS;
        for (char *parent = path_parent(path), *next; parent; parent = next) {
                struct file_status status = {0};
                const int r = others ? fs->stat(fs, parent, &status, error) : 0;
                others = others && r == 0 && (status.permission & ENTER_BY_OTHERS);
                file_status_deinit(&status);
                next = path_parent(parent);
                free(parent);
                if (r < 0) {
                        free(next);
                        return r;
                }
        }
        *out = others;
        return 0;
}

/* 1 with *@out, 0 if there is no such file, or negative. */
static int cluster_file_look(const struct file_system *fs, const char *path, struct cluster_file *out,
                             struct fst_error *error)
{
        struct file_status status = {0};
        int r = fs->stat(fs, path, &status, error);
        if (r == -ENOENT)
                return 0;
        bool others = false;
        r = r < 0 ? r : cluster_file_is_public(fs, path, status.permission, &others, error);
        if (r < 0)
                return r;
        *out = (struct cluster_file){.path = mem_strdup(path),
                                     .size = (int64_t)status.size,
                                     .modified_ms = status.modified_ms,
                                     .visibility = others ? CLUSTER_FILE_PUBLIC : CLUSTER_FILE_PRIVATE};
        file_status_deinit(&status);
        return 1;
}

/* A file that another application stored meanwhile stays: its time is already in use. */
static int cluster_file_move(const struct file_system *fs, const char *from, const char *path, struct cluster_file *out,
                             struct fst_error *error)
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
                       struct cluster_file *out, struct fst_error *error)
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

/* The part of the list @text, separated by commas, at @position; or NULL. */
static const char *cluster_file_part(const char *text, size_t position)
{
        for (; text && position > 0; position--) {
                text = strchr(text, ',');
                text = text ? text + 1 : NULL;
        }
        return text;
}

int cluster_file_of_cache(const struct fst_conf *conf, const char *link, struct cluster_file *out,
                          struct fst_error *error)
{
        const char *names = conf_get_raw(conf, "spark.yarn.cache.filenames");
        _cleanup_free_ char *suffix = mem_printf("#%s", link);
        const size_t n = strlen(suffix);
        size_t position = 0;
        for (const char *at = names; at; at = cluster_file_part(names, ++position)) {
                const size_t len = strcspn(at, ",");
                const char *size = cluster_file_part(conf_get_raw(conf, "spark.yarn.cache.sizes"), position);
                const char *time = cluster_file_part(conf_get_raw(conf, "spark.yarn.cache.timestamps"), position);
                const char *kind = cluster_file_part(conf_get_raw(conf, "spark.yarn.cache.visibilities"), position);
                if (len <= n || strncmp(at + len - n, suffix, n) != 0 || !size || !time || !kind)
                        continue;
                *out = (struct cluster_file){.path = mem_strndup(at, len - n),
                                             .size = strtoll(size, NULL, 10),
                                             .modified_ms = strtoll(time, NULL, 10),
                                             .visibility = strncmp(kind, "PUBLIC", 6) == 0 ? CLUSTER_FILE_PUBLIC
                                                                                           : CLUSTER_FILE_PRIVATE};
                return 0;
        }
        return error_set(error, -ENOENT, "the submission has distributed no file %s", link);
}
