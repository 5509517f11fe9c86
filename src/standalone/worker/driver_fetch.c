/* Fetches a driver's application into its directory. */
#include "standalone/worker/driver_fetch.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "io/fs/uri.h"
#include "launch/remote_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int driver_fetch_copy_bytes(int in, int out)
{
        char piece[65536];
        for (;;) {
                ssize_t n = read(in, piece, sizeof(piece));
                if (n < 0 && errno == EINTR)
                        continue;
                int r = n < 0 ? -errno : write_all(out, piece, (size_t)n);
                if (n <= 0 || r)
                        return r;
        }
}

/* Copies under a temporary name first, so that the final name always has the whole file. */
static int driver_fetch_copy_file(const char *from, const char *to, struct fst_error *error)
{
        _cleanup_free_ char *temporary = mem_printf("%s.part", to);
        int in = open(from, O_RDONLY | O_CLOEXEC);
        if (in < 0)
                return error_errno(error, "%s", from);
        int out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        int r = out < 0 ? -errno : driver_fetch_copy_bytes(in, out);
        if (out >= 0 && close(out) < 0 && r == 0)
                r = -errno;
        close(in);
        if (r == 0 && rename(temporary, to) < 0)
                r = -errno;
        if (r && out >= 0)
                unlink(temporary);
        return r ? error_set(error, r, "copying %s to %s: %s", from, to, strerror(-r)) : 0;
}

static int driver_fetch_download(const char *url, const char *directory, const struct strmap *conf, char **path,
                                 struct fst_error *error)
{
        struct remote_files_options options = {.conf = conf, .env = conf_environment, .directory = directory};
        struct remote_files *files;
        _cleanup_free_ char *local = NULL;
        int r = remote_files_new(&options, &files, error);
        if (r)
                return r;
        r = remote_files_download(files, url, &local, error);
        remote_files_free(files);
        if (r == 0)
                *path = uri_local_path(local);
        return r;
}

int driver_jar_fetch(const char *url, const char *directory, const struct strmap *conf, char **path,
                     struct fst_error *error)
{
        _cleanup_free_ char *local = uri_local_path(url);
        const char *name = text_base_name(local ? local : url);
        if (text_starts_with(url, "local:")) {
                *path = mem_strdup(url + strlen("local:"));
                return 0;
        }
        _cleanup_free_ char *place = mem_printf("%s/%s", directory, name);
        if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return error_set(error, -EINVAL, "%s does not name a file to fetch for the driver", url);
        if (local && access(place, F_OK) == 0) {
                *path = steal(place);
                return 0;
        }
        log_info("DriverRunner", "Copying user jar %s to %s", url, place);
        int r = local ? driver_fetch_copy_file(local, place, error)
                      : driver_fetch_download(url, directory, conf, path, error);
        if (r == 0 && local)
                *path = steal(place);
        return r;
}
