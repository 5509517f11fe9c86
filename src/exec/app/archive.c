/*
 * See archive.h. Archives are untrusted: no entry and no link in it may leave the directory. libarchive checks links.
 * This file checks names, because it makes them absolute.
 */
#include "exec/app/archive.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/codec/archive_library.h"

#include <limits.h>
#include <stdbool.h>

#define FLAGS                                                                                                          \
        (ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS |                               \
         ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_UNLINK)

struct archive_unpacking {
        const struct archive_library *lib;
        struct archive *in, *out;
        const char *into;
        const struct archive_limits *limits;
        int64_t bytes, entries; /* unpacked so far */
};

int archive_limits_read(const struct fst_conf *conf, struct archive_limits *limits, struct fst_error *error)
{
        struct archive_limits read;
        int r = conf_get_bytes(conf, "spark.firesteel.archives.maxSize", &read.bytes, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.firesteel.archives.maxEntries", &read.entries, error);
        if (r == 0)
                *limits = read;
        return r;
}

/* True if the path of entry @name stays within the target directory. */
static bool stays_below(const char *name)
{
        if (!name || name[0] == '/' || name[0] == '\0')
                return false;
        for (const char *at = name; *at; at += strcspn(at, "/"), at += *at == '/')
                if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == '\0'))
                        return false;
        return true;
}

static int set_too_large_error(const struct archive_unpacking *u, struct fst_error *error)
{
        return error_set(error, -EFBIG,
                         "it unpacks to more than %lld bytes: raise spark.firesteel.archives.maxSize if you trust it",
                         (long long)u->limits->bytes);
}

/* Counts the bytes written: the size in the header may be missing or wrong. */
static int unpack_data(struct archive_unpacking *u, const char *name, struct fst_error *error)
{
        const void *data;
        size_t size;
        la_int64_t offset;
        int r;
        while ((r = u->lib->archive_read_data_block(u->in, &data, &size, &offset)) != ARCHIVE_EOF) {
                if (r < ARCHIVE_WARN)
                        return error_set(error, -EIO, "entry '%s': %s", name, archive_library_why(u->lib, u->in));
                if ((int64_t)size > u->limits->bytes - u->bytes)
                        return set_too_large_error(u, error);
                u->bytes += (int64_t)size;
                if (u->lib->archive_write_data_block(u->out, data, size, offset) < ARCHIVE_WARN)
                        return error_set(error, -EIO, "entry '%s': %s", name, archive_library_why(u->lib, u->out));
        }
        return 0;
}

static int unpack_entry(struct archive_unpacking *u, struct archive_entry *entry, struct fst_error *error)
{
        const struct archive_library *lib = u->lib;
        const char *into = u->into;
        if (++u->entries > u->limits->entries)
                return error_set(error, -EFBIG,
                                 "it has more than %lld entries: raise spark.firesteel.archives.maxEntries if you "
                                 "trust it",
                                 (long long)u->limits->entries);
        const char *name = lib->archive_entry_pathname(entry), *link = lib->archive_entry_hardlink(entry);
        if (!stays_below(name) || (link && !stays_below(link)))
                return error_set(error, -EINVAL, "entry '%s' would lie outside of the archive's directory",
                                 name ? name : "");
        _cleanup_free_ char *full = mem_printf("%s/%s", into, name);
        lib->archive_entry_set_pathname(entry, full);
        if (link) {
                _cleanup_free_ char *target = mem_printf("%s/%s", into, link);
                lib->archive_entry_set_hardlink(entry, target);
        }
        if (lib->archive_write_header(u->out, entry) < ARCHIVE_WARN)
                return error_set(error, -EIO, "entry '%s': %s", full, archive_library_why(lib, u->out));
        int r = unpack_data(u, full, error);
        if (lib->archive_write_finish_entry(u->out) < ARCHIVE_WARN && r == 0)
                r = error_set(error, -EIO, "entry '%s': %s", full, archive_library_why(lib, u->out));
        return r;
}

static int unpack_entries(struct archive_unpacking *u, const char *path, struct fst_error *error)
{
        const struct archive_library *lib = u->lib;
        struct archive *in = u->in, *out = u->out;
        struct archive_entry *entry;
        int r, e = 0;
        lib->read_all(in);
        lib->archive_write_disk_set_options(out, FLAGS);
        if (lib->archive_read_open_filename(in, path, 1 << 16) != ARCHIVE_OK)
                return error_set(error, -EINVAL, "%s", archive_library_why(lib, in));
        while (e == 0 && (r = lib->archive_read_next_header(in, &entry)) != ARCHIVE_EOF) {
                if (r < ARCHIVE_WARN)
                        return error_set(error, -EINVAL, "%s", archive_library_why(lib, in));
                e = unpack_entry(u, entry, error);
        }
        return e;
}

int archive_unpack(const char *path, const char *into, const struct archive_limits *limits, struct fst_error *error)
{
        const struct archive_library *lib;
        int r = archive_library_load(&lib, error);
        if (r < 0)
                return error_wrap(error, r, "%s", path);
        /* The directory's own path may contain symbolic links. Only links of the archive are untrusted. */
        _cleanup_free_ char *real = realpath(into, NULL);
        if (!real)
                return error_errno(error, "%s", into);
        struct archive *in = lib->archive_read_new(), *out = lib->archive_write_disk_new();
        struct archive_unpacking u = {.lib = lib, .in = in, .out = out, .into = real, .limits = limits};
        r = in && out ? unpack_entries(&u, path, error) : error_set(error, -ENOMEM, "no memory");
        if (in)
                lib->archive_read_free(in);
        if (out)
                lib->archive_write_free(out);
        return r ? error_wrap(error, r, "unpacking %s", path) : 0;
}
