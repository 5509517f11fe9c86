/*
 * See jar_manifest.h. A manifest follows Java's rules: a line has at most 511 bytes with its end, "Name: value" has one
 * blank, a continuation line starts with a blank, empty lines separate sections, and each section but the first starts
 * with "Name". A last line without an end is ignored.
 */
#include "launch/jar_manifest.h"

#include "io/codec/archive_library.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/uri.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

#define LINE_MAX_BYTES 512 /* including its end */
#define MANIFEST_MAX (8u << 20)

struct manifest {
        const char *at, *end;
        int line;
};

/*
 * Stores the next line in @text and @n, without its end. Returns false at the end of the text. Sets *@r to -EINVAL for
 * a long line.
 */
static bool jar_manifest_next_line(struct manifest *m, const char **text, size_t *n, int *r)
{
        const char *at = m->at;
        while (at < m->end && *at != '\n' && *at != '\r')
                at++;
        if (at == m->end && at - m->at < LINE_MAX_BYTES)
                return false;
        m->line++;
        size_t ending = m->end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
        if ((size_t)(at - m->at) + ending > LINE_MAX_BYTES) {
                *r = -E2BIG;
                return false;
        }
        *text = m->at;
        *n = (size_t)(at - m->at);
        m->at = at + ending;
        return true;
}

static bool jar_manifest_good_name(const char *name, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
                        return false;
        return n > 0 && n <= 70;
}

/* Parses one section up to its empty line. Stores the last value of @wanted (NULL: none) in @value. */
static int jar_manifest_read_section(struct manifest *m, const char *wanted, struct buf *value, bool *found,
                                     struct fst_error *error)
{
        const char *text;
        size_t n;
        int r = 0;
        bool any = false, ours = false;
        while (jar_manifest_next_line(m, &text, &n, &r) && n > 0) {
                if (text[0] == ' ') {
                        if (!any)
                                return error_set(error, -EINVAL, "misplaced continuation line (line %d)", m->line);
                        if (ours)
                                buf_append(value, text + 1, n - 1);
                        continue;
                }
                const char *colon = memchr(text, ':', n);
                if (!colon || (size_t)(colon - text) + 1 >= n || colon[1] != ' ')
                        return error_set(error, -EINVAL, "invalid header field (line %d)", m->line);
                size_t name = (size_t)(colon - text);
                if (!jar_manifest_good_name(text, name))
                        return error_set(error, -EINVAL, "invalid header field name: %.*s (line %d)", (int)name, text,
                                         m->line);
                any = true;
                ours = wanted && strlen(wanted) == name && strncasecmp(wanted, text, name) == 0;
                if (ours) {
                        *found = true;
                        buf_reset(value);
                        buf_append(value, colon + 2, n - name - 2);
                }
        }
        return r < 0 ? error_set(error, -EINVAL, "line too long (line %d)", m->line) : 0;
}

int manifest_attribute(const char *text, size_t len, const char *name, char **out, struct fst_error *error)
{
        struct manifest m = {.at = text, .end = text + len};
        _cleanup_(buf_deinit) struct buf value = BUF_INIT;
        bool found = false;
        const char *line;
        size_t n;
        int r = jar_manifest_read_section(&m, name, &value, &found, error);
        if (r < 0)
                return r;
        while (jar_manifest_next_line(&m, &line, &n, &r)) {
                if (n == 0)
                        continue;
                if (n < 6 || strncasecmp(line, "Name: ", 6) != 0)
                        return error_set(error, -EINVAL, "invalid manifest format (line %d)", m.line);
                while (m.at < m.end && *m.at == ' ' && jar_manifest_next_line(&m, &line, &n, &r))
                        ;
                r = r < 0 ? r : jar_manifest_read_section(&m, NULL, NULL, NULL, error);
                if (r == -EINVAL)
                        return r;
        }
        if (r < 0)
                return error_set(error, -EINVAL, "line too long (line %d)", m.line);
        *out = found ? mem_strndup(buf_text(&value), value.len) : NULL;
        return 0;
}

/* Reads the manifest into @text. Returns 1, or 0 if there is none. */
static int jar_manifest_find_manifest(const struct archive_library *lib, struct archive *jar, bool streamed,
                                      struct buf *text, struct fst_error *error)
{
        struct archive_entry *entry;
        int r;
        for (int i = 0; (r = lib->archive_read_next_header(jar, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN; i++) {
                const char *name = lib->archive_entry_pathname(entry);
                if (!name)
                        continue;
                if (strcasecmp(name, "META-INF/MANIFEST.MF") != 0) {
                        if (streamed && (i > 0 || strcasecmp(name, "META-INF/") != 0))
                                return 0;
                        continue;
                }
                char piece[4096];
                ssize_t n;
                while ((n = lib->archive_read_data(jar, piece, sizeof(piece))) > 0) {
                        if (text->len + (size_t)n > MANIFEST_MAX)
                                return error_set(error, -EINVAL, "the jar's manifest is larger than %u bytes",
                                                 MANIFEST_MAX);
                        buf_append(text, piece, (size_t)n);
                }
                return n < 0 ? error_set(error, -EINVAL, "%s", archive_library_why(lib, jar)) : 1;
        }
        return 0;
}

int jar_manifest_attribute(const char *path, const char *name, bool streamed, char **out, struct fst_error *error)
{
        const struct archive_library *lib;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (access(path, F_OK) != 0)
                return error_set(error, -ENOENT, "File file:%s does not exist", path);
        int r = archive_library_load(&lib, error);
        if (r < 0)
                return error_wrap(error, r, "%s", path);
        struct archive *jar = lib->archive_read_new();
        if (!jar)
                return error_set(error, -ENOMEM, "not enough memory to read %s", path);
        /* The streaming reader sees the entries in the order of the jar. */
        if (streamed)
                lib->archive_read_support_format_zip_streamable(jar);
        else
                lib->archive_read_support_format_zip_seekable(jar);
        if (lib->archive_read_open_filename(jar, path, 1 << 14) == ARCHIVE_OK)
                r = jar_manifest_find_manifest(lib, jar, streamed, &text, error);
        lib->archive_read_free(jar);
        if (r < 0)
                return r;
        if (r == 0)
                return error_set(error, -ENODATA,
                                 "Cannot invoke \"java.util.jar.Manifest.getMainAttributes()\" because the return "
                                 "value of \"java.util.jar.JarInputStream.getManifest()\" is null");
        return manifest_attribute(buf_text(&text), text.len, name, out, error);
}

int jar_main_class_2_4(const char *resource, char **class, struct fst_error *error)
{
        struct uri uri;
        bool is_uri = uri_parse(resource, &uri) && uri.scheme.text;
        if (!is_uri || !uri_has_scheme(&uri, "file")) {
                _cleanup_free_ char *scheme = is_uri ? mem_strndup(uri.scheme.text, uri.scheme.len) : NULL;
                return error_set(error, -EINVAL,
                                 "Cannot load main class from JAR %s with URI %s. Please specify a class through "
                                 "--class.",
                                 resource, scheme ? scheme : "null");
        }
        _cleanup_free_ char *path = uri_decode(uri.path);
        int r = jar_manifest_attribute(path, "Main-Class", false, class, NULL);
        return r < 0 ? error_set(error, r, "Cannot load main class from JAR %s", resource) : 0;
}
