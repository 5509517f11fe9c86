/*
 * r_packages_zip; see r_packages.h. Entries are sorted by name, so the same packages give the same list of entries.
 * Links are followed, and a link cycle is an error.
 */
#include "submit/packages/r_packages.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/codec/archive_library.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct zipping {
        const struct archive_library *lib;
        struct archive *zip;
        size_t base; /* length of the directory part of each path */
};

struct level {
        const struct stat *st;
        const struct level *above;
};

static int r_library_zip_failed(struct zipping *z, const char *path, struct fst_error *error)
{
        return error_set(error, -EIO, "%s: %s", path, archive_library_why(z->lib, z->zip));
}

static int r_library_zip_copy_file(struct zipping *z, int fd, const char *path, struct fst_error *error)
{
        char piece[1 << 14];
        ssize_t n;
        while ((n = read(fd, piece, sizeof(piece))) > 0)
                if (z->lib->archive_write_data(z->zip, piece, (size_t)n) < 0)
                        return r_library_zip_failed(z, path, error);
        return n < 0 ? error_errno(error, "%s", path) : 0;
}

static int r_library_zip_add_file(struct zipping *z, const char *path, struct fst_error *error)
{
        struct stat st;
        int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                r = error_errno(error, "%s", path);
        struct archive_entry *entry = r == 0 ? z->lib->archive_entry_new() : NULL;
        if (entry) {
                z->lib->archive_entry_copy_stat(entry, &st);
                z->lib->archive_entry_set_pathname(entry, path + z->base);
                r = z->lib->archive_write_header(z->zip, entry) < ARCHIVE_WARN
                            ? r_library_zip_failed(z, path, error)
                            : r_library_zip_copy_file(z, fd, path, error);
                z->lib->archive_entry_free(entry);
        } else if (r == 0) {
                r = error_set(error, -ENOMEM, "not enough memory to zip %s", path);
        }
        if (fd >= 0)
                close(fd);
        return r;
}

static int r_library_zip_taken(const struct dirent *entry)
{
        return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !strstr(entry->d_name, ".zip");
}

static int r_library_zip_add(struct zipping *z, const char *path, const struct level *above, struct fst_error *error)
{
        struct dirent **list;
        struct stat st;
        if (stat(path, &st) < 0)
                return errno == ENOENT ? 0 : error_errno(error, "%s", path); /* a dangling link */
        if (S_ISREG(st.st_mode))
                return r_library_zip_add_file(z, path, error);
        if (!S_ISDIR(st.st_mode))
                return 0;
        for (const struct level *l = above; l; l = l->above)
                if (l->st->st_ino == st.st_ino && l->st->st_dev == st.st_dev)
                        return error_set(error, -ELOOP, "%s is a link to a directory that contains it", path);
        const struct level here = {.st = &st, .above = above};
        int r = 0, n = scandir(path, &list, r_library_zip_taken, alphasort);
        if (n < 0)
                return error_errno(error, "%s", path);
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *below = mem_printf("%s/%s", path, list[i]->d_name);
                if (r == 0)
                        r = r_library_zip_add(z, below, &here, error);
                free(list[i]);
        }
        free(list);
        return r;
}

int r_packages_zip(const char *directory, const char *name, bool slash, char **path, struct fst_error *error)
{
        struct zipping z = {.base = strlen(directory) + !slash};
        int r = archive_library_load(&z.lib, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *file = mem_printf("%s/%s", directory, name);
        z.zip = z.lib->archive_write_new();
        if (!z.zip)
                return error_set(error, -ENOMEM, "not enough memory to write %s", file);
        z.lib->archive_write_set_format_zip(z.zip);
        if (z.lib->archive_write_open_filename(z.zip, file) != ARCHIVE_OK)
                r = r_library_zip_failed(&z, file, error);
        if (r == 0)
                r = r_library_zip_add(&z, directory, NULL, error);
        if (r == 0 && z.lib->archive_write_close(z.zip) != ARCHIVE_OK)
                r = r_library_zip_failed(&z, file, error);
        z.lib->archive_write_free(z.zip);
        if (r < 0)
                unlink(file);
        else
                *path = steal(file);
        return r;
}
