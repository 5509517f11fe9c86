/*
 * See remote_files.h. Spark's DependencyUtils and SparkSubmit decide which names are resolved and which are downloaded.
 * net/http/http.h and io/fs/remote_fs.h transfer the data.
 */
#include "launch/remote_files.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "process/exit_cleanup.h"
#include "base/strmap.h"
#include "conf/units.h"
#include "launch/resolve_uri.h"
#include "conf/conf.h"
#include "exec/app/archive.h"
#include "io/fs/file_systems.h"
#include "io/fs/glob.h"
#include "io/fs/glob_files.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"
#include "io/fs/uri.h"
#include "net/http/http.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct remote_files {
        struct remote_files_options options;
        struct hadoop_conf conf;
        bool conf_loaded;
        struct remote_fs *fs;
        char *directory;
};

/* A comma list under construction. */
static void remote_files_put_name(struct buf *list, const char *name)
{
        buf_printf(list, "%s%s", list->len ? "," : "", name);
}

/* The next name of a comma list, trimmed, owned by the caller. NULL at the end. */
static char *remote_files_next_name(const char **list)
{
        *list += strspn(*list, ", \t\r\n");
        size_t n = strcspn(*list, ",");
        const char *name = *list;
        *list += n;
        while (n > 0 && strchr(" \t\r\n", name[n - 1]))
                n--;
        return n ? mem_strndup(name, n) : NULL;
}

static bool remote_files_has_word(const char *list, const char *word, size_t len)
{
        char *name;
        bool found = false;
        while (list && !found && (name = remote_files_next_name(&list))) {
                found = strcmp(name, "*") == 0 || (strlen(name) == len && strncmp(name, word, len) == 0);
                free(name);
        }
        return found;
}

static const char *remote_files_setting(const struct remote_files *files, const char *key)
{
        return files->options.conf ? strmap_get(files->options.conf, key) : NULL;
}

/* The version whose rules apply. The caller has validated it. */
static enum submit_compat remote_files_compat(const struct remote_files *files)
{
        enum submit_compat compat = COMPAT_4_3;
        submit_compat_parse(remote_files_setting(files, "spark.firesteel.compat"), &compat, NULL);
        return compat;
}

int remote_files_new(const struct remote_files_options *options, struct remote_files **out, struct fst_error *error)
{
        struct remote_files *files = new0(struct remote_files);
        files->options = *options;
        hadoop_conf_init(&files->conf, options->env);
        *out = files;
        return 0;
}

void remote_files_free(struct remote_files *files)
{
        if (!files)
                return;
        remote_fs_free(files->fs);
        hadoop_conf_deinit(&files->conf);
        free(files->directory);
        free(files);
}

char *remote_files_take_directory(struct remote_files *files)
{
        return steal(files->directory);
}

int remote_files_hadoop_conf(struct remote_files *files, const struct hadoop_conf **out, struct fst_error *error)
{
        if (!files->conf_loaded) {
                int r = hadoop_conf_load(&files->conf, files->options.conf, error);
                if (r < 0)
                        return r;
                files->conf_loaded = true;
        }
        *out = &files->conf;
        return 0;
}

static int remote_files_open_fs(struct remote_files *files, struct fst_error *error)
{
        const struct hadoop_conf *conf;
        int r = files->fs ? 0 : remote_files_hadoop_conf(files, &conf, error);
        return r < 0 || files->fs ? r : remote_fs_new(conf, &files->fs, error);
}

int remote_files_systems(struct remote_files *files, struct remote_fs **out, struct fst_error *error)
{
        int r = remote_files_open_fs(files, error);
        if (r == 0)
                *out = files->fs;
        return r;
}

/* Hadoop's message for a scheme without a file system. Spark 2.4's does not quote. */
static int remote_files_no_file_system(const struct remote_files *files, const struct uri *uri, struct fst_error *error)
{
        int n = (int)uri->scheme.len;
        if (remote_files_compat(files) == COMPAT_2_4)
                return error_set(error, -EPROTONOSUPPORT, "No FileSystem for scheme: %.*s", n, uri->scheme.text);
        return error_set(error, -EPROTONOSUPPORT, "No FileSystem for scheme \"%.*s\"", n, uri->scheme.text);
}

/* Parses a name as a URI. Returns -EINVAL for a URI that Java refuses, too. */
static int remote_files_read_name(const struct remote_files *files, const char *name, char **text, struct uri *uri,
                                  struct fst_error *error)
{
        *text = submit_resolve_uri(name, remote_files_compat(files));
        if (uri_parse(*text, uri))
                return 0;
        int r = error_set(error, -EINVAL, "%s is no URI", *text);
        free(steal(*text));
        return r;
}

static bool remote_files_is_web(const struct uri *uri)
{
        return uri_has_scheme(uri, "http") || uri_has_scheme(uri, "https") || uri_has_scheme(uri, "ftp");
}

static bool remote_files_is_here(const struct uri *uri)
{
        return uri_has_scheme(uri, "file") || uri_has_scheme(uri, "local");
}

/* The full path (io/fs/path.h) of a URI, owned by the caller. */
static char *remote_files_full_path(const struct uri *uri)
{
        _cleanup_free_ char *path = uri_decode(uri->path);
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/')
                path[--n] = '\0';
        if (uri->authority.text && !uri_has_scheme(uri, "file"))
                return mem_printf("%.*s://%.*s%s", (int)uri->scheme.len, uri->scheme.text, (int)uri->authority.len,
                                  uri->authority.text, *path ? path : "/");
        return mem_printf("%.*s:%s", (int)uri->scheme.len, uri->scheme.text, path);
}

/* The names in which %XX is encoded again. */
static char *remote_files_path_uri(const char *path)
{
        struct buf out = BUF_INIT;
        const char *name = path_local(path);
        buf_append(&out, path, (size_t)(name - path));
        uri_put_path(&out, name);
        return buf_steal(&out);
}

/* --------------------------------------------------------------------------------------------------------- patterns */

/* Hadoop's local file system hides checksum files. */
static bool remote_files_is_checksum(const char *path)
{
        const char *name = path_name(path);
        size_t n = strlen(name);
        return strncmp(path, "file:", 5) == 0 && n > 5 && name[0] == '.' && strcmp(name + n - 4, ".crc") == 0;
}

/* As Hadoop's makeQualified: a path without a host is on fs.defaultFS, if that has its scheme. Replaces *@path. */
static void remote_files_qualify(const struct remote_files *files, char **path)
{
        _cleanup_free_ char *set = hadoop_conf_get(&files->conf, "fs.defaultFS");
        const size_t scheme = path_scheme_len(*path) + 1;
        if (!set || strncmp(*path, set, scheme) != 0 || strncmp(set + scheme, "//", 2) != 0 ||
            strncmp(*path + scheme, "//", 2) == 0)
                return;
        const size_t host = scheme + 2 + strcspn(set + scheme + 2, "/");
        char *whole = mem_printf("%.*s%s", (int)host, set, *path + scheme);
        free(*path);
        *path = whole;
}

/* Stores the matches of the pattern in @list and their number in *@n. A plain name without a match stays
 * as @base. */
static int remote_files_match(struct remote_files *files, const struct uri *uri, const char *base, struct buf *list,
                              size_t *n, struct fst_error *error)
{
        _cleanup_free_ char *pattern = remote_files_full_path(uri);
        _cleanup_(file_list_deinit) struct file_list found = {0};
        const struct file_system *fs;
        int r;
        if (uri_has_scheme(uri, "file")) {
                r = file_system_of(pattern, &fs, error);
        } else {
                r = remote_files_open_fs(files, error);
                r = r < 0 ? r : remote_fs_of(files->fs, pattern, &fs, error);
                if (r == -EPROTONOSUPPORT)
                        return remote_files_no_file_system(files, uri, error);
                if (r == 0)
                        remote_files_qualify(files, &pattern);
        }
        r = r < 0 ? r : glob_files(fs, pattern, &found, error);
        if (r < 0)
                return r;
        if (found.len == 0 && !glob_has_magic(path_local(pattern))) {
                remote_files_put_name(list, base);
                *n = 1;
        }
        /* Hadoop writes a local file that matched no pattern with an empty host: file:///x. */
        bool is_plain_file = uri_has_scheme(uri, "file") && !glob_has_magic(path_local(pattern));
        for (size_t i = 0; i < found.len; i++) {
                if (found.data[i].directory || remote_files_is_checksum(found.data[i].path))
                        continue;
                _cleanup_free_ char *name = remote_files_path_uri(found.data[i].path);
                _cleanup_free_ char *plain = is_plain_file ? mem_printf("file://%s", path_local(name)) : NULL;
                remote_files_put_name(list, plain ? plain : name);
                ++*n;
        }
        return 0;
}

/* The message of Hadoop or Java for a path that Spark cannot read. */
static int remote_files_check_name(const struct remote_files *files, const char *name, const struct uri *uri,
                                   struct fst_error *error)
{
        if (uri_has_scheme(uri, "file")) {
                if (uri->authority.len > 0)
                        return error_set(error, -EINVAL, "Wrong FS: file://%.*s%.*s, expected: file:///",
                                         (int)uri->authority.len, uri->authority.text, (int)uri->path.len,
                                         uri->path.text);
                return uri->opaque ? error_set(error, -EINVAL,
                                               "%s is not the name of a file: its path must begin with /", name)
                                   : 0;
        }
        return uri->opaque ? remote_files_no_file_system(files, uri, error) : 0;
}

/* Spark removes the fragment by making a new URI of the rest. Its brackets are then unquoted, which Java refuses. */
static int remote_files_check_brackets(const char *base, const struct uri *uri, struct fst_error *error)
{
        _cleanup_free_ char *path = uri->opaque ? mem_strdup("") : uri_decode(uri->path);
        if (!strpbrk(path, "[]"))
                return 0;
        _cleanup_(buf_deinit) struct buf shown = BUF_INIT;
        size_t at = 0;
        for (const char *p = base; *p; p++) {
                bool open = strncasecmp(p, "%5B", 3) == 0, closed = strncasecmp(p, "%5D", 3) == 0;
                if ((open || closed) && at == 0)
                        at = shown.len;
                buf_putc(&shown, open ? '[' : closed ? ']' : *p);
                p += open || closed ? 2 : 0;
        }
        return error_set(error, -EINVAL, "Illegal character in path at index %zu: %s", at, buf_text(&shown));
}

/* Question marks are unquoted too: one in a file's name then starts a query, which file systems ignore. */
static void remote_files_show_query(char *text)
{
        char *fragment = text + strcspn(text, "#"), *out = text;
        for (const char *p = text; *p; p++, out++) {
                bool quoted = p < fragment && strncasecmp(p, "%3F", 3) == 0;
                *out = quoted ? '?' : *p;
                p += quoted ? 2 : 0;
        }
        *out = '\0';
}

static int remote_files_resolve_glob(struct remote_files *files, const char *name, struct buf *list,
                                     struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf matched = BUF_INIT;
        _cleanup_free_ char *text = NULL;
        struct uri uri;
        size_t n = 0;
        int r = remote_files_read_name(files, name, &text, &uri, error);
        if (r < 0)
                return r;
        remote_files_show_query(text);
        if (!uri_parse(text, &uri))
                return error_set(error, -EINVAL, "%s is no URI", text);
        _cleanup_free_ char *base = mem_strndup(text, strcspn(text, "#"));
        r = remote_files_check_brackets(base, &uri, error);
        if (r < 0)
                return r;
        if (remote_files_is_web(&uri) || uri_has_scheme(&uri, "local")) {
                remote_files_put_name(list, text);
                return 0;
        }
        r = remote_files_check_name(files, name, &uri, error);
        if (r < 0)
                return r;
        r = remote_files_match(files, &uri, base, &matched, &n, error);
        if (r < 0)
                return r;
        if (uri.fragment.text && n > 1)
                return error_set(error, -EINVAL, "%s resolves ambiguously to multiple files: %s", base,
                                 buf_text(&matched));
        if (n == 0)
                return 0;
        if (uri.fragment.text)
                buf_printf(&matched, "#%s", uri.fragment.text);
        remote_files_put_name(list, buf_text(&matched));
        return 0;
}

int remote_files_resolve_globs(struct remote_files *files, const char *list, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        char *name;
        while ((name = remote_files_next_name(&list))) {
                int r = remote_files_resolve_glob(files, name, &all, error);
                free(name);
                if (r < 0)
                        return r;
        }
        *out = buf_steal(&all);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- downloads */

static int remote_files_make_directory(struct remote_files *files, struct fst_error *error)
{
        const char *root = files->options.env("TMPDIR");
        if (files->directory)
                return 0;
        if (files->options.directory) {
                files->directory = mem_strdup(files->options.directory);
                return 0;
        }
        _cleanup_free_ char *prefix = mem_printf("%s/spark", root && *root ? root : "/tmp");
        int r = exit_cleanup_make_directory(prefix, &files->directory, error);
        return r < 0 ? error_wrap(error, r, "downloads") : 0;
}

struct remote_download {
        int fd;
        const char *path;
};

static int remote_files_write_piece(void *context, const char *data, size_t n)
{
        struct remote_download *d = context;
        while (n > 0) {
                ssize_t written = write(d->fd, data, n);
                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                data += written;
                n -= (size_t)written;
        }
        return 0;
}

static int remote_files_fetch_web(struct remote_files *files, const char *url, struct remote_download *d,
                                  struct fst_error *error)
{
        _cleanup_(http_answer_deinit) struct http_answer answer = HTTP_ANSWER_INIT;
        const char *said = remote_files_setting(files, "spark.files.fetchTimeout");
        int64_t ms = 60000;
        int r = said ? units_parse_time(said, UNIT_S, UNIT_MS, &ms, error) : 0;
        r = r < 0 ? r : remote_files_open_fs(files, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *bare = mem_strndup(url, strcspn(url, "#"));
        r = http_perform(remote_fs_client(files->fs),
                         &(struct http_request){.url = bare,
                                                .follow = true,
                                                .connect_timeout_ms = ms,
                                                .sink = remote_files_write_piece,
                                                .context = d},
                         &answer, error);
        if (r == -ECONNREFUSED) {
                log_warn("submit", "%s", error_message(error));
                return error_set(error, r, "Connection refused"); /* Java's exception has no more text */
        }
        if (r < 0)
                return r;
        if (answer.status < 200 || answer.status > 299) {
                _cleanup_free_ char *shown = http_printable_url(bare);
                if (answer.status == 404 || answer.status == 410) /* Java's FileNotFoundException has no more text */
                        return error_set(error, -ENOENT, "%s", shown);
                return error_set(error, -EIO, "Server returned HTTP response code: %d for URL: %s", answer.status,
                                 shown);
        }
        return 0;
}

/* Returns 1 if both files have the same content, 0 if not, or -errno. */
static int remote_files_same_content(const char *one, const char *two)
{
        char a[16384], b[16384];
        size_t n = 1, m = 1;
        FILE *first = fopen(one, "re"), *second = fopen(two, "re");
        int r = first && second ? 1 : -errno;
        while (r == 1 && n > 0) {
                n = fread(a, 1, sizeof(a), first);
                m = fread(b, 1, sizeof(b), second);
                r = n == m && memcmp(a, b, n) == 0;
        }
        if (first)
                fclose(first);
        if (second)
                fclose(second);
        return r;
}

/* Renames a download to its final name. An existing file of that name must have the same content. */
static int remote_files_settle(struct remote_files *files, const char *url, const char *temporary, const char *path,
                               struct fst_error *error)
{
        const char *overwrite = remote_files_setting(files, "spark.files.overwrite");
        if (access(path, F_OK) == 0 && !(overwrite && strcasecmp(overwrite, "true") == 0)) {
                int same = remote_files_same_content(temporary, path);
                if (same < 0)
                        return error_set(error, same, "cannot compare %s with %s: %s", temporary, path,
                                         strerror(-same));
                if (!same)
                        return error_set(error, -EEXIST, "File %s exists and does not match contents of %s", path, url);
        }
        return rename(temporary, path) < 0 ? error_errno(error, "cannot rename %s to %s", temporary, path) : 0;
}

static int remote_files_fetch(struct remote_files *files, const char *url, const struct uri *uri, const char *path,
                              struct fst_error *error)
{
        _cleanup_free_ char *temporary = mem_printf("%s/.fetch-XXXXXX", files->directory);
        _cleanup_free_ char *shown = http_printable_url(url);
        if (files->options.started)
                files->options.started(files->options.context, shown, path);
        struct remote_download d = {.fd = mkostemp(temporary, O_CLOEXEC), .path = temporary};
        if (d.fd < 0)
                return error_errno(error, "%s", temporary);
        fchmod(d.fd, 0644);
        int r;
        if (remote_files_is_web(uri)) {
                r = remote_files_fetch_web(files, url, &d, error);
        } else {
                _cleanup_free_ char *full = remote_files_full_path(uri);
                r = remote_files_open_fs(files, error);
                r = r < 0 ? r : remote_fs_fetch(files->fs, full, remote_files_write_piece, &d, error);
                if (r == -EPROTONOSUPPORT)
                        remote_files_no_file_system(files, uri, error);
        }
        if (close(d.fd) < 0 && r == 0)
                r = error_errno(error, "writing %s", temporary);
        if (r == 0)
                r = remote_files_settle(files, shown, temporary, path, error);
        if (r < 0)
                unlink(temporary);
        return r;
}

/* The path of a URI's file in the directory, owned by the caller, or NULL for a URI without a name. */
static char *remote_files_target_path(const struct remote_files *files, const struct uri *uri)
{
        _cleanup_free_ char *full = uri->opaque ? NULL : remote_files_full_path(uri);
        const char *name = full ? path_name(full) : "";
        if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return NULL;
        return mem_printf("%s/%s", files->directory, name);
}

static char *remote_files_file_uri(const char *path)
{
        struct buf out = BUF_INIT;
        buf_puts(&out, "file:");
        uri_put_path(&out, path);
        return buf_steal(&out);
}

/* @again: accept an existing file of that name in the directory. */
static int remote_files_download_uri(struct remote_files *files, const char *name, bool again, char **out,
                                     struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        struct uri uri;
        int r = remote_files_read_name(files, name, &text, &uri, error);
        if (r < 0)
                return r;
        if (remote_files_is_here(&uri)) {
                *out = mem_strdup(name);
                return 0;
        }
        r = remote_files_make_directory(files, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = remote_files_target_path(files, &uri);
        if (!path)
                return error_set(error, -EINVAL, "%s names no file", text);
        bool there = again && access(path, F_OK) == 0;
        bool pretend = remote_files_is_web(&uri) && files->options.env("SPARK_TESTING");
        r = there || pretend ? 0 : remote_files_fetch(files, text, &uri, path, error);
        if (r == 0)
                *out = remote_files_file_uri(path);
        return r;
}

int remote_files_download(struct remote_files *files, const char *name, char **out, struct fst_error *error)
{
        return remote_files_download_uri(files, name, false, out, error);
}

int remote_files_download_list(struct remote_files *files, const char *list, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        char *name;
        while ((name = remote_files_next_name(&list))) {
                _cleanup_free_ char *here = NULL;
                int r = remote_files_download_uri(files, name, false, &here, error);
                free(name);
                if (r < 0)
                        return r;
                remote_files_put_name(&all, here);
        }
        *out = buf_steal(&all);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------------- YARN */

/* Whether Hadoop has a file system for the scheme: its own, or one that fs.SCHEME.impl names. */
static int remote_files_is_known(struct remote_files *files, const struct uri *uri, bool *known,
                                 struct fst_error *error)
{
        static const char *const schemes[] = {"hdfs",  "webhdfs", "swebhdfs", "viewfs", "har", "ftp", "s3a",  "wasb",
                                              "wasbs", "abfs",    "abfss",    "adl",    "gs",  "obs", "http", "https"};
        size_t n = ARRAY_SIZE(schemes) - (remote_files_compat(files) == COMPAT_2_4 ? 2 : 0);
        const struct hadoop_conf *conf;
        *known = false;
        for (size_t i = 0; i < n; i++)
                if (uri_has_scheme(uri, schemes[i]))
                        *known = true;
        int r = *known ? 0 : remote_files_hadoop_conf(files, &conf, error);
        if (r < 0 || *known)
                return r;
        _cleanup_free_ char *key = mem_printf("fs.%.*s.impl", (int)uri->scheme.len, uri->scheme.text);
        _cleanup_free_ char *value = hadoop_conf_get(conf, key);
        *known = value != NULL;
        return 0;
}

static int remote_files_localize(struct remote_files *files, const char *name, struct buf *list,
                                 struct fst_error *error)
{
        _cleanup_free_ char *text = NULL, *here = NULL;
        struct uri uri;
        bool known;
        int r = remote_files_read_name(files, name, &text, &uri, error);
        if (r < 0)
                return r;
        if (remote_files_is_here(&uri)) {
                remote_files_put_name(list, name);
                return 0;
        }
        bool forced = remote_files_has_word(remote_files_setting(files, "spark.yarn.dist.forceDownloadSchemes"),
                                            uri.scheme.text, uri.scheme.len);
        r = forced ? 0 : remote_files_is_known(files, &uri, &known, error);
        if (r < 0)
                return r;
        if (forced || !known) {
                r = remote_files_download_uri(files, name, true, &here, error);
                if (r < 0)
                        return r;
        }
        remote_files_put_name(list, here ? here : text);
        return 0;
}

int remote_files_localize_for_yarn(struct remote_files *files, const char *list, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        char *name;
        while ((name = remote_files_next_name(&list))) {
                int r = remote_files_localize(files, name, &all, error);
                free(name);
                if (r < 0)
                        return r;
        }
        *out = buf_steal(&all);
        return 0;
}

/* ------------------------------------------------------------------------------------------------- the driver's pod */

static int remote_files_copy_file(const char *from, const char *to, struct fst_error *error)
{
        char piece[1 << 14];
        int in = open(from, O_RDONLY | O_CLOEXEC);
        if (in < 0)
                return error_errno(error, "%s", from);
        struct remote_download d = {.fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), .path = to};
        int r = d.fd < 0 ? error_errno(error, "%s", to) : 0;
        ssize_t n;
        while (r == 0 && (n = read(in, piece, sizeof(piece))) != 0) {
                r = n < 0 ? -errno : remote_files_write_piece(&d, piece, (size_t)n);
                if (r < 0)
                        error_set(error, r, "cannot copy %s to %s: %s", from, to, strerror(-r));
        }
        close(in);
        if (d.fd >= 0 && close(d.fd) < 0 && r == 0)
                r = error_errno(error, "writing %s", to);
        return r;
}

/* Java's exceptions contain only the path. */
static int remote_files_missing_file_set_error(const char *uri, const char *path, struct fst_error *error)
{
        if (text_starts_with(uri, "local:"))
                return error_set(
                        error, -ENOENT,
                        "%s: the driver's container has no file %s. A local: name is a file of the image: add it "
                        "to the image (firesteel image build --add), or correct the name",
                        uri, path);
        return error_set(error, -ENOENT, "%s: the driver's container has no file %s. Correct the name", uri, path);
}

static int remote_files_unpack(struct remote_files *files, const char *from, const char *into, struct fst_error *error)
{
        struct archive_limits limits;
        struct fst_conf conf;
        conf_init(&conf);
        for (struct strmap_entry *e = NULL; files->options.conf && (e = strmap_next(files->options.conf, e));)
                if (strncmp(e->key, "spark.firesteel.archives.", 25) == 0)
                        conf_set(&conf, e->key, e->value);
        int r = archive_limits_read(&conf, &limits, error);
        conf_deinit(&conf);
        return r ? r : archive_unpack(from, into, &limits, error);
}

/*
 * Copies the file at path @source, the download of @uri, to @name in the working directory: *@to.
 * Spark removes the existing file of that name before it copies, so it fails if both are the same file. Firesteel keeps
 * the file, and fails as well.
 */
static int remote_files_copy_to_working_dir(struct remote_files *files, const char *uri, const char *source,
                                            const char *name, bool archive, char **to, struct fst_error *error)
{
        _cleanup_free_ char *from = realpath(source, NULL), *here = getcwd(NULL, 0);
        const struct file_system *fs;
        if (!here || (!from && errno != ENOENT))
                return error_errno(error, "%s", source);
        if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/'))
                return error_set(error, -EINVAL, "'%s' is not a valid file name in the working directory", name);
        _cleanup_free_ char *place = path_join(here, name), *full = mem_printf("file:%s", place);
        _cleanup_free_ char *bare = http_printable_url(uri);
        _cleanup_free_ char *shown = mem_printf("%s%s", bare, uri + strcspn(uri, "#"));
        if (files->options.moved)
                files->options.moved(files->options.context, shown, from ? from : source, place);
        if (!from)
                return remote_files_missing_file_set_error(shown, source, error);
        if (strcmp(from, place) == 0)
                return error_set(
                        error, -ENOENT,
                        "%s: this file lies in the working directory already, where its copy is to go. Move it "
                        "elsewhere",
                        from);
        int r = file_system_of(full, &fs, error);
        r = r < 0 ? r : fs->remove(fs, full, error);
        if (r == 0 && !archive)
                r = remote_files_copy_file(from, place, error);
        if (r == 0 && archive)
                r = fs->mkdirs(fs, full, error);
        if (r == 0 && archive)
                r = remote_files_unpack(files, from, place, error);
        if (r == 0)
                *to = steal(place);
        return r;
}

/*
 * The name of the result. An archive keeps the name of its source. A file gets its new name, except with Spark 3.5,
 * which keeps the source's.
 */
static void remote_files_put_moved(const struct remote_files *files, const struct uri *local, const char *to,
                                   bool archives, const struct uri *uri, struct buf *list)
{
        _cleanup_free_ char *placed =
                archives || remote_files_compat(files) == COMPAT_3_5 ? NULL : remote_files_file_uri(to);
        _cleanup_free_ char *name = placed ? steal(placed)
                                           : mem_printf("%.*s:%.*s", (int)local->scheme.len, local->scheme.text,
                                                        (int)local->path.len, local->path.text);
        remote_files_put_name(list, name);
        if (uri->fragment.text)
                buf_printf(list, "#%.*s", (int)uri->fragment.len, uri->fragment.text);
}

static int remote_files_move_to_working_dir(struct remote_files *files, const char *text, const struct uri *uri,
                                            bool archives, struct buf *list, struct fst_error *error)
{
        _cleanup_free_ char *bare = mem_strndup(text, strcspn(text, "#")), *got = NULL, *to = NULL;
        struct uri local;
        int r = remote_files_download_uri(files, bare, false, &got, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *again = submit_resolve_uri(got, remote_files_compat(files));
        if (!uri_parse(again, &local) || local.opaque)
                return error_set(error, -EINVAL, "%s names no file", got);
        _cleanup_free_ char *path = uri_decode(local.path), *named = uri_decode(uri->fragment);
        const char *slash = strrchr(path, '/');
        r = remote_files_copy_to_working_dir(files, text, path,
                                             *named  ? named
                                             : slash ? slash + 1
                                                     : path,
                                             archives, &to, error);
        if (r == 0)
                remote_files_put_moved(files, &local, to, archives, uri, list);
        return r;
}

int remote_files_to_working_directory(struct remote_files *files, const char *list, bool archives, const char *avoid,
                                      char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        _cleanup_(buf_deinit) struct buf remote = BUF_INIT;
        char *name;
        if (remote_files_compat(files) == COMPAT_3_5) /* which did not know schemes to avoid */
                avoid = NULL;
        while ((name = remote_files_next_name(&list))) {
                _cleanup_free_ char *given = name, *text = NULL;
                struct uri uri;
                int r = remote_files_read_name(files, given, &text, &uri, error);
                if (r == 0 && remote_files_has_word(avoid, uri.scheme.text, uri.scheme.len))
                        remote_files_put_name(&remote, text);
                else if (r == 0)
                        r = remote_files_move_to_working_dir(files, text, &uri, archives, &all, error);
                if (r < 0)
                        return r;
        }
        if (remote.len)
                remote_files_put_name(&all, buf_text(&remote));
        *out = buf_steal(&all);
        return 0;
}
