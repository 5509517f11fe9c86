/*
 * See fetch.h. A file is written under a unique name beside its own (fetch_part_name), so a partial file of an
 * interrupted process is never mistaken for it. It is synced before it is renamed, because a cached file is not
 * verified again and half a jar after a power failure would stay.
 */
#include "ivy/fetch.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"
#include "base/vec.h"
#include "net/crypto.h"
#include "net/http/http.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void fetcher_deinit(struct fetcher *f)
{
        http_client_free(f->client);
        f->client = NULL;
}

/* --- unreachable hosts -------------------------------------------------------------------------------------- */

void silent_hosts_deinit(struct silent_hosts *s)
{
        for (size_t i = 0; i < s->hosts.len; i++)
                free(s->hosts.data[i]);
        vec_deinit(&s->hosts);
}

/* The part of "http://name:password@host:port/path" up to the path. */
static size_t fetch_host_length(const char *url)
{
        const char *host = strstr(url, "://");
        return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/") : strlen(url);
}

static bool fetch_is_silent(struct silent_hosts *s, const char *url)
{
        size_t len = fetch_host_length(url);
        bool is = false;
        if (!s)
                return false;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->hosts.len && !is; i++)
                is = strncmp(s->hosts.data[i], url, len) == 0 && s->hosts.data[i][len] == '\0';
        pthread_mutex_unlock(&s->lock);
        return is;
}

/* Whether the error of http_perform means that the host will not reply the next time either. */
static void fetch_add_silent_host(struct silent_hosts *s, const char *url, int r)
{
        if (!s || (r != -EHOSTUNREACH && r != -ECONNREFUSED && r != -ETIMEDOUT && r != -ENETUNREACH))
                return;
        pthread_mutex_lock(&s->lock);
        vec_push(&s->hosts, mem_strndup(url, fetch_host_length(url)));
        pthread_mutex_unlock(&s->lock);
}

void fetch_list_deinit(struct fetch_list *l)
{
        for (size_t i = 0; i < l->len; i++)
                free(l->data[i]);
        vec_deinit(l);
}

static void fetch_close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

static int fetch_hex_digit(char c)
{
        return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10 : -1;
}

/* The local path of "file:/x", "file:///x" (unescaped) or "/x", or NULL for a remote location. Owned by the caller. */
static char *fetch_local_path(const char *location)
{
        if (strncmp(location, "file:", 5) != 0)
                return strstr(location, "://") ? NULL : mem_strdup(location);
        const char *at = location + 5;
        if (strncmp(at, "//", 2) == 0) {
                const char *slash = strchr(at + 2, '/');
                at = slash ? slash : at;
        }
        char *path = mem_alloc(strlen(at) + 1), *to = path;
        for (; *at; at++) {
                int high = *at == '%' && at[1] ? fetch_hex_digit(at[1]) : -1,
                    low = high >= 0 ? fetch_hex_digit(at[2]) : -1;
                *to++ = low >= 0 ? (char)(high * 16 + low) : *at;
                at += low >= 0 ? 2 : 0;
        }
        *to = '\0';
        return path;
}

/* Finds the host that curl connects to: "http://known.host:x@other/" is at "other". */
static const char *fetch_password_for(const struct fetcher *f, const char *url)
{
        const char *host = strstr(url, "://");
        host = host ? host + 3 : url;
        const char *at = memrchr(host, '@', strcspn(host, "/?#"));
        host = at ? at + 1 : host;
        size_t len = strcspn(host, "/:?#");
        for (const struct credential *c = f->credentials; c; c = c->next)
                if (strlen(c->host) == len && strncmp(c->host, host, len) == 0)
                        return c->user_password;
        return NULL;
}

static int fetch_perform(struct fetcher *f, struct http_request *request, struct http_answer *answer,
                         struct fst_error *error)
{
        int r = f->client ? 0 : http_client_new(&f->client, error);
        if (r < 0)
                return r;
        if (fetch_is_silent(f->silent, request->url)) {
                _cleanup_free_ char *url = http_printable_url(request->url);
                return error_set(error, -EHOSTDOWN, "%s: the host was unreachable before", url);
        }
        request->follow = true;
        request->user_password = fetch_password_for(f, request->url);
        r = http_perform(f->client, request, answer, error);
        fetch_add_silent_host(f->silent, request->url, r);
        if (r == 0 && answer->status != 200) {
                _cleanup_free_ char *url = http_printable_url(request->url);
                r = error_set(error, -ENOENT, "%s: HTTP status %d", url, answer->status);
        }
        return r;
}

static int fetch_open_local(const char *path, int *fd, off_t *size, struct fst_error *error)
{
        struct stat st;
        *fd = open(path, O_RDONLY | O_CLOEXEC);
        if (*fd < 0 || fstat(*fd, &st) < 0) {
                if (errno == ENOTDIR)
                        errno = ENOENT;
                return error_errno(error, "%s", path);
        }
        if (!S_ISREG(st.st_mode))
                return error_set(error, -ENOENT, "%s is not a regular file", path);
        *size = st.st_size;
        return 0;
}

static int fetch_read_local(const char *path, struct buf *text, struct fst_error *error)
{
        _cleanup_(fetch_close_fd) int fd = -1;
        off_t size;
        int r = fetch_open_local(path, &fd, &size, error);
        if (r < 0)
                return r;
        if (size > FETCH_MAX_TEXT)
                return error_set(error, -EFBIG, "%s is larger than %u MiB", path, FETCH_MAX_TEXT >> 20);
        buf_reset(text);
        buf_reserve(text, (size_t)size);
        while (text->len < (size_t)size) {
                ssize_t n = read(fd, text->data + text->len, (size_t)size - text->len);
                if (n < 0)
                        return error_errno(error, "reading %s", path);
                if (n == 0)
                        break;
                text->len += (size_t)n;
        }
        text->data[text->len] = '\0';
        return 0;
}

int fetch_text(struct fetcher *f, const char *location, struct buf *text, struct fst_error *error)
{
        _cleanup_free_ char *path = fetch_local_path(location);
        if (path)
                return fetch_read_local(path, text, error);
        _cleanup_(http_answer_deinit) struct http_answer answer = HTTP_ANSWER_INIT;
        struct http_request request = {.url = location, .max_answer = FETCH_MAX_TEXT};
        int r = fetch_perform(f, &request, &answer, error);
        if (r < 0)
                return r;
        buf_reset(text);
        buf_append(text, buf_text(&answer.body), answer.body.len);
        return 0;
}

int fetch_exists(struct fetcher *f, const char *location, struct fst_error *error)
{
        _cleanup_free_ char *path = fetch_local_path(location);
        struct stat st;
        if (path)
                return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? 0 : -ENOENT;
        _cleanup_(http_answer_deinit) struct http_answer answer = HTTP_ANSWER_INIT;
        struct http_request request = {.url = location, .method = "HEAD"};
        return fetch_perform(f, &request, &answer, error);
}

int fetch_make_folder(const char *path, struct fst_error *error)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *folder = slash && slash > path ? mem_strndup(path, (size_t)(slash - path)) : NULL;
        int r = folder ? make_dirs(folder, 0777) : 0;
        return r ? error_set(error, r, "cannot create the directory %s: %s", folder, strerror(-r)) : 0;
}

/* A file being written. It is unlinked unless it was committed. */
struct fetch_part {
        char *name;
        int fd;
        size_t size;
};

static void fetch_part_deinit(struct fetch_part *p)
{
        if (p->fd >= 0)
                close(p->fd);
        if (p->name)
                unlink(p->name);
        exit_cleanup_forget(p->name);
        free(p->name);
}

char *fetch_part_name(const char *path)
{
        static unsigned last; /* of this process; atomic */
        return mem_printf("%s.%ld-%u.part", path, (long)getpid(), __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED));
}

static int fetch_part_open(struct fetch_part *p, const char *path, struct fst_error *error)
{
        int r = fetch_make_folder(path, error);
        if (r < 0)
                return r;
        p->name = fetch_part_name(path);
        exit_cleanup_add(p->name);
        p->fd = open(p->name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (p->fd >= 0)
                return 0;
        return error_errno(error, "writing %s", p->name);
}

static int fetch_part_commit(struct fetch_part *p, const char *path, struct fst_error *error)
{
        int fd = p->fd;
        if (fdatasync(fd) < 0 && errno != EINVAL) /* some file systems do not support it */
                return error_errno(error, "writing %s", path);
        p->fd = -1;
        if (close(fd) < 0 || rename(p->name, path) < 0)
                return error_errno(error, "writing %s", path);
        exit_cleanup_forget(p->name);
        free(steal(p->name));
        return 0;
}

int fetch_store(const char *path, const void *data, size_t len, struct fst_error *error)
{
        _cleanup_(fetch_part_deinit) struct fetch_part part = {.fd = -1};
        int r = fetch_part_open(&part, path, error);
        if (r == 0 && (r = write_all(part.fd, data, len)) < 0)
                r = error_set(error, r, "cannot write %s: %s", path, strerror(-r));
        return r < 0 ? r : fetch_part_commit(&part, path, error);
}

static int fetch_take(void *context, const char *data, size_t n)
{
        struct fetch_part *part = context;
        part->size += n;
        return write_all(part->fd, data, n);
}

static int fetch_copy_local(const char *from, struct fetch_part *part, struct fst_error *error)
{
        _cleanup_(fetch_close_fd) int fd = -1;
        off_t size;
        int r = fetch_open_local(from, &fd, &size, error);
        _cleanup_free_ char *block = mem_alloc(1 << 16);
        ssize_t n = 1;
        while (r == 0 && n > 0) {
                n = read(fd, block, 1 << 16);
                if (n < 0)
                        return error_errno(error, "reading %s", from);
                r = fetch_take(part, block, (size_t)n);
                if (r < 0)
                        error_set(error, r, "cannot write %s: %s", part->name, strerror(-r));
        }
        return r;
}

/* The digest in a checksum file: its first word, or the last one of "MD5 (x) = digest". */
static char *fetch_checksum_word(const char *text, size_t digits)
{
        for (const char *at = text; *at; at++) {
                size_t n = strspn(at, "0123456789abcdefABCDEF");
                bool starts = at == text || !isalnum((unsigned char)at[-1]);
                if (starts && n == digits && !isalnum((unsigned char)at[n])) {
                        char *word = mem_strndup(at, n);
                        for (char *c = word; *c; c++)
                                *c = (char)tolower((unsigned char)*c);
                        return word;
                }
                at += n > 0 ? n - 1 : 0;
        }
        return NULL;
}

static int fetch_digest_of(const struct fetch_part *part, const char *algorithm, char text[2 * DIGEST_MAX + 1],
                           size_t *digits, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t digest[DIGEST_MAX];
        size_t len = 0;
        int r = crypto_load(&crypto, error);
        if (r < 0)
                return r;
        void *data = part->size ? mmap(NULL, part->size, PROT_READ, MAP_PRIVATE, part->fd, 0) : NULL;
        if (data == MAP_FAILED)
                return error_errno(error, "reading %s", part->name);
        r = crypto->digest(algorithm, data ? data : "", part->size, digest, &len);
        if (data)
                munmap(data, part->size);
        if (r < 0)
                return error_set(error, -EINVAL, "Unknown checksum algorithm: %s", algorithm);
        for (size_t i = 0; i < len; i++)
                sprintf(text + 2 * i, "%02x", digest[i]);
        *digits = 2 * len;
        return 0;
}

/* Returns 1 if there is no such checksum. */
static int fetch_check_one(struct fetcher *f, const struct fetch_part *part, const char *location,
                           const char *algorithm, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *beside = mem_printf("%s.%s", location, algorithm);
        int r = fetch_text(f, beside, &text, error);
        if (r == -ENOENT) {
                error_deinit(error);
                return 1;
        }
        char computed[2 * DIGEST_MAX + 1];
        size_t digits = 0;
        if (r == 0)
                r = fetch_digest_of(part, algorithm, computed, &digits, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *expected = fetch_checksum_word(buf_text(&text), digits);
        if (!expected || strcmp(expected, computed) != 0)
                return error_set(error, -EBADMSG, "invalid %s: expected=%s computed=%s", algorithm,
                                 expected ? expected : "(none in the checksum file)", computed);
        return 0;
}

static int fetch_check(struct fetcher *f, const struct fetch_part *part, const char *location, const char *checksums,
                       struct fst_error *error)
{
        _cleanup_free_ char *list = mem_printf("%s,sha256", checksums);
        char *state, *algorithm = strtok_r(list, ", ", &state);
        int r = 1;
        if (strcmp(algorithm, "none") == 0 || checksums[strspn(checksums, ", ")] == '\0')
                return 0;
        for (; r > 0 && algorithm; algorithm = strtok_r(NULL, ", ", &state))
                if (strcmp(algorithm, "none") != 0)
                        r = fetch_check_one(f, part, location, algorithm, error);
        return r > 0 ? 0 : r;
}

int fetch_file(struct fetcher *f, const char *location, const char *path, const char *checksums, size_t *size,
               struct fst_error *error)
{
        _cleanup_(fetch_part_deinit) struct fetch_part part = {.fd = -1};
        _cleanup_free_ char *local = fetch_local_path(location);
        int r = fetch_part_open(&part, path, error);
        if (r < 0)
                return r;
        if (local) {
                r = fetch_copy_local(local, &part, error);
        } else {
                _cleanup_(http_answer_deinit) struct http_answer answer = HTTP_ANSWER_INIT;
                struct http_request request = {.url = location, .sink = fetch_take, .context = &part};
                r = fetch_perform(f, &request, &answer, error);
        }
        if (r == 0 && checksums)
                r = fetch_check(f, &part, location, checksums, error);
        if (r == 0)
                r = fetch_part_commit(&part, path, error);
        if (r == 0)
                *size = part.size;
        return r;
}

static int fetch_local_names(const char *folder, struct fetch_list *names, struct fst_error *error)
{
        DIR *dir = opendir(folder);
        if (!dir)
                return error_errno(error, "%s", folder);
        for (struct dirent *e; (e = readdir(dir));)
                if (e->d_name[0] != '.')
                        vec_push(names, mem_strdup(e->d_name));
        closedir(dir);
        return 0;
}

int fetch_names(struct fetcher *f, const char *folder, struct fetch_list *names, struct fst_error *error)
{
        _cleanup_free_ char *path = fetch_local_path(folder);
        if (path)
                return fetch_local_names(path, names, error);
        _cleanup_(buf_deinit) struct buf page = BUF_INIT;
        int r = fetch_text(f, folder, &page, error);
        /* Finds links to direct children: href="NAME/" or href="NAME". */
        for (const char *at = r == 0 ? buf_text(&page) : ""; (at = strcasestr(at, "href="));) {
                at += strlen("href=");
                at += *at == '"' || *at == '\'';
                size_t n = strcspn(at, "/\"'>?# ");
                const char *end = at + n + (at[n] == '/');
                if (n > 0 && *at != '.' && (*end == '"' || *end == '\'' || *end == '>'))
                        vec_push(names, mem_strndup(at, n));
        }
        return r;
}
