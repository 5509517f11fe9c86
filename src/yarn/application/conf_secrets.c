/* See conf_secrets.h. */
#include "yarn/application/conf_secrets.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "hadoop/credentials.h"
#include "yarn/application/conf_archive.h"
#include "yarn/application/container_links.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIAS "firesteel.conf/"
#define FILE_MODE 0400
#define FOLDER_MODE 0700

/* ---------------------------------------------------------------------------------------------------------- packing */

struct conf_packing {
        struct hadoop_credentials found;
        size_t size;
};

static int conf_packing_add(void *context, const char *name, const void *data, size_t n, struct fst_error *error)
{
        struct conf_packing *p = context;
        _cleanup_free_ char *alias = mem_printf(ALIAS "%s", name);
        p->size += strlen(alias) + n;
        if (p->size <= CONF_SECRETS_MAX_SIZE)
                hadoop_credentials_add_secret(&p->found, alias, data, n);
        return 0;
}

int conf_secrets_put(const struct conf_archive *archive, const struct hadoop_conf *hadoop,
                     struct hadoop_credentials *credentials, struct fst_error *error)
{
        struct conf_packing p = {0};
        int r = conf_archive_list(archive, hadoop, conf_packing_add, &p, error);
        if (r == 0 && p.size > CONF_SECRETS_MAX_SIZE)
                r = CONF_SECRETS_E_TOO_LARGE;
        for (size_t i = 0; r == 0 && i < p.found.secrets.len; i++) {
                const struct hadoop_secret *s = &p.found.secrets.data[i];
                hadoop_credentials_add_secret(credentials, s->alias, s->value.data, s->value.len);
        }
        hadoop_credentials_deinit(&p.found);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- unpacking */

static int conf_secrets_write(int folder, const char *name, const struct buf *text, struct fst_error *error)
{
        unlinkat(folder, name, 0);
        const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        if (fd < 0)
                return error_errno(error, "%s", name);
        size_t done = 0;
        ssize_t n = 0;
        while (done < text->len && (n = write(fd, text->data + done, text->len - done)) >= 0)
                done += (size_t)n;
        const int r = n < 0 ? error_errno(error, "writing %s", name) : 0;
        return close(fd) < 0 && r == 0 ? error_errno(error, "writing %s", name) : r;
}

/* Opens the directory @name in @parent, which it creates. */
static int conf_secrets_enter(int parent, const char *name, struct fst_error *error)
{
        if (mkdirat(parent, name, FOLDER_MODE) < 0 && errno != EEXIST)
                return error_errno(error, "%s", name);
        const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? error_errno(error, "%s", name) : fd;
}

/* @name is a file name, or one in a directory: "__hadoop_conf__/core-site.xml". */
static int conf_secrets_unpack_file(int folder, const char *name, const struct buf *text, struct fst_error *error)
{
        const char *slash = strchr(name, '/'), *last = slash ? slash + 1 : name;
        if (*name == '.' || *name == '/' || !*last || *last == '.' || strchr(last, '/'))
                return error_set(error, -EBADMSG, "the credentials hold a configuration file with the name \"%s\"",
                                 name);
        if (!slash)
                return conf_secrets_write(folder, name, text, error);
        _cleanup_free_ char *directory = mem_strndup(name, (size_t)(slash - name));
        const int fd = conf_secrets_enter(folder, directory, error);
        if (fd < 0)
                return fd;
        const int r = conf_secrets_write(fd, last, text, error);
        close(fd);
        return r;
}

static int conf_secrets_unpack_all(const struct hadoop_credentials *c, const char *folder, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/" YARN_CONF_LINK, folder);
        int fd = -1, r = 0;
        for (size_t i = 0; r == 0 && i < c->secrets.len; i++) {
                const struct hadoop_secret *s = &c->secrets.data[i];
                if (!text_starts_with(s->alias, ALIAS))
                        continue;
                if (fd < 0)
                        fd = conf_secrets_enter(AT_FDCWD, path, error);
                r = fd < 0 ? fd : conf_secrets_unpack_file(fd, s->alias + strlen(ALIAS), &s->value, error);
        }
        if (fd >= 0)
                close(fd);
        return r;
}

int conf_secrets_unpack(const char *path, const char *folder, struct fst_error *error)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        if (!path || !*path)
                return 0;
        const int r = hadoop_credentials_load(&c, path, error);
        return r < 0 ? r : conf_secrets_unpack_all(&c, folder, error);
}
