/*
 * See archive.h. An archive is untrusted: no entry, and no link in it, may lead out of the directory. libarchive looks
 * at links; names are looked at here, because they are made absolute.
 */
#include "exec/app/archive.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/codec/archive_library.h"

#include <limits.h>
#include <stdbool.h>

#define FLAGS                                                                                                          \
        (ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS |                               \
         ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_UNLINK)

/* Whether an entry's name stays below where it is unpacked. */
static bool stays_below(const char *name)
{
        if (!name || name[0] == '/' || name[0] == '\0')
                return false;
        for (const char *at = name; *at; at += strcspn(at, "/"), at += *at == '/')
                if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == '\0'))
                        return false;
        return true;
}

static int unpack_entry(const struct archive_library *lib, struct archive *in, struct archive *out,
                        struct archive_entry *entry, const char *into, struct fst_error *error)
{
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
        if (lib->archive_read_extract2(in, entry, out) < ARCHIVE_WARN)
                return error_set(error, -EIO, "entry '%s': %s", full, archive_library_why(lib, out));
        return 0;
}

static int unpack(const struct archive_library *lib, struct archive *in, struct archive *out, const char *path,
                  const char *into, struct fst_error *error)
{
        struct archive_entry *entry;
        int r, e = 0;
        lib->read_all(in);
        lib->archive_write_disk_set_options(out, FLAGS);
        if (lib->archive_read_open_filename(in, path, 1 << 16) != ARCHIVE_OK)
                return error_set(error, -EINVAL, "%s", archive_library_why(lib, in));
        while (e == 0 && (r = lib->archive_read_next_header(in, &entry)) != ARCHIVE_EOF) {
                if (r < ARCHIVE_WARN)
                        return error_set(error, -EINVAL, "%s", archive_library_why(lib, in));
                e = unpack_entry(lib, in, out, entry, into, error);
        }
        return e;
}

int archive_unpack(const char *path, const char *into, struct fst_error *error)
{
        const struct archive_library *lib;
        int r = archive_library_load(&lib, error);
        if (r < 0)
                return error_wrap(error, r, "%s", path);
        /* The directory's own path may lead over links: only those of the archive are suspect. */
        _cleanup_free_ char *real = realpath(into, NULL);
        if (!real)
                return error_errno(error, "%s", into);
        struct archive *in = lib->archive_read_new(), *out = lib->archive_write_disk_new();
        r = in && out ? unpack(lib, in, out, path, real, error) : error_set(error, -ENOMEM, "no memory");
        if (in)
                lib->archive_read_free(in);
        if (out)
                lib->archive_write_free(out);
        return r ? error_wrap(error, r, "unpacking %s", path) : 0;
}
