/*
 * See r_sources.h. An entry's name is resolved before anything is created, and everything is created below a new
 * directory that no other process writes to. Links of the jar become files, so no link can lead outside.
 */
#include "submit/packages/r_sources.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "launch/jar_manifest.h"
#include "io/codec/archive_library.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_KEY "Spark-HasRPackage"
#define SOURCES "R/pkg"
#define ENTRIES_MAX 100000
#define BYTES_MAX (1ull << 30)

struct extraction {
        const struct archive_library *lib;
        struct archive *jar;
        const char *into;
        FILE *out;
        uint64_t bytes;
};

/* Opens @path from the directory at its end, as JarFile does, which ignores the bytes before the entries. */
static int r_sources_open_jar(const char *path, const struct archive_library **lib, struct archive **jar,
                              struct fst_error *error)
{
        struct stat st;
        if (stat(path, &st) < 0 || access(path, R_OK) < 0)
                return error_errno(error, "%s", path);
        if (S_ISDIR(st.st_mode))
                return error_set(error, -EISDIR, "%s (Is a directory)", path);
        if (st.st_size == 0)
                return error_set(error, -EINVAL, "zip file is empty");
        int r = archive_library_load(lib, error);
        if (r < 0)
                return error_wrap(error, r, "%s", path);
        *jar = (*lib)->archive_read_new();
        if (!*jar)
                return error_set(error, -ENOMEM, "not enough memory to read %s", path);
        (*lib)->archive_read_support_format_zip_seekable(*jar);
        if ((*lib)->archive_read_open_filename(*jar, path, 1 << 14) == ARCHIVE_OK)
                return 0;
        (*lib)->archive_read_free(*jar); /* accept no other archive format */
        return error_set(error, -EINVAL, "zip END header not found");
}

static int r_sources_check_jar(const char *path, struct fst_error *error)
{
        const struct archive_library *lib;
        struct archive *jar;
        struct archive_entry *entry;
        int r = r_sources_open_jar(path, &lib, &jar, error);
        if (r < 0)
                return r;
        if (lib->archive_read_next_header(jar, &entry) < ARCHIVE_WARN)
                r = error_set(error, -EINVAL, "%s: %s", path, archive_library_why(lib, jar));
        lib->archive_read_free(jar);
        return r;
}

static bool r_sources_is_true(const char *value)
{
        while (*value && (unsigned char)*value <= ' ')
                value++;
        size_t n = strlen(value);
        while (n > 0 && (unsigned char)value[n - 1] <= ' ')
                n--;
        return n == 4 && memcmp(value, "true", 4) == 0;
}

int r_sources_are_in(const char *jar, bool *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = r_sources_check_jar(jar, error);
        if (r == 0)
                r = jar_manifest_attribute(jar, MANIFEST_KEY, false, &value, error);
        if (r == -ENODATA) {
                error_deinit(error);
                r = 0;
        }
        if (r == 0)
                *out = value && r_sources_is_true(value);
        return r;
}

/*
 * Stores @name in @out without empty components, "." and "..". Returns false if the result is empty or leads above the
 * start.
 */
static bool r_sources_resolve(const char *name, struct buf *out)
{
        for (size_t n; *name; name += n + (name[n] == '/')) {
                n = strcspn(name, "/");
                if (n == 0 || (n == 1 && name[0] == '.'))
                        continue;
                if (n == 2 && memcmp(name, "..", 2) == 0) {
                        const char *slash = out->len ? strrchr(out->data, '/') : NULL;
                        if (!slash)
                                return false;
                        buf_truncate(out, (size_t)(slash - out->data));
                        continue;
                }
                buf_putc(out, '/');
                buf_append(out, name, n);
        }
        return out->len > 0;
}

/* Creates the directories above @path, and @path itself with @all. The first @base bytes of @path exist. */
static int r_sources_make_directories(char *path, size_t base, bool all, struct fst_error *error)
{
        for (char *at = path + base + 1; *at; at++) {
                at += strcspn(at, "/");
                bool last = !*at;
                if (last && !all)
                        return 0;
                *at = 0;
                int r = mkdir(path, 0700) < 0 && errno != EEXIST ? error_errno(error, "%s", path) : 0;
                if (!last)
                        *at = '/';
                if (r < 0 || last)
                        return r;
        }
        return 0;
}

static int r_sources_copy_data(struct extraction *x, int fd, const char *path, struct fst_error *error)
{
        char piece[1 << 14];
        ssize_t n;
        while ((n = x->lib->archive_read_data(x->jar, piece, sizeof(piece))) > 0) {
                x->bytes += (uint64_t)n;
                if (x->bytes > BYTES_MAX)
                        return error_set(error, -E2BIG, "the R sources of the jar are larger than %llu bytes",
                                         BYTES_MAX);
                for (ssize_t done = 0, more; done < n; done += more) {
                        more = write(fd, piece + done, (size_t)(n - done));
                        if (more < 0 && errno != EINTR)
                                return error_errno(error, "%s", path);
                        more = MAX(more, 0);
                }
        }
        return n < 0 ? error_set(error, -EIO, "%s", archive_library_why(x->lib, x->jar)) : 0;
}

static int r_sources_extract_file(struct extraction *x, const char *name, char *path, struct fst_error *error)
{
        int r = r_sources_make_directories(path, strlen(x->into), false, error);
        if (r < 0)
                return r;
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "%s", path);
        if (x->out)
                fprintf(x->out, "Extracting %s to %s\n", name, path);
        r = r_sources_copy_data(x, fd, path, error);
        if (close(fd) < 0 && r == 0)
                r = error_errno(error, "%s", path);
        return r;
}

/* A name with a trailing slash is a directory. Any other entry is a file, whatever its type in the jar. */
static int r_sources_extract_entry(struct extraction *x, const char *name, struct fst_error *error)
{
        const char *from = strstr(name, SOURCES);
        _cleanup_(buf_deinit) struct buf below = BUF_INIT;
        if (!from)
                return 0;
        if (!r_sources_resolve(from, &below))
                return error_set(error, -EINVAL, "Malicious zip entry escaping target dir: %s", name);
        _cleanup_free_ char *path = mem_printf("%s%s", x->into, buf_text(&below));
        if (name[strlen(name) - 1] != '/')
                return r_sources_extract_file(x, name, path, error);
        if (x->out)
                fprintf(x->out, "Creating directory: %s\n", path);
        return r_sources_make_directories(path, strlen(x->into), true, error);
}

int r_sources_extract(const char *jar, const char *into, FILE *out, struct fst_error *error)
{
        struct extraction x = {.into = into, .out = out};
        struct archive_entry *entry;
        int status, n = 0, r = r_sources_open_jar(jar, &x.lib, &x.jar, error);
        if (r < 0)
                return r;
        while (r == 0 && (status = x.lib->archive_read_next_header(x.jar, &entry)) != ARCHIVE_EOF) {
                const char *name = x.lib->archive_entry_pathname(entry);
                if (status < ARCHIVE_WARN)
                        r = error_set(error, -EIO, "%s: %s", jar, archive_library_why(x.lib, x.jar));
                else if (++n > ENTRIES_MAX)
                        r = error_set(error, -E2BIG, "%s has more than %d entries", jar, ENTRIES_MAX);
                else if (name)
                        r = r_sources_extract_entry(&x, name, error);
        }
        x.lib->archive_read_free(x.jar);
        return r;
}
