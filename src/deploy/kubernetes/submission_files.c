/* See submission_files.h. */
#include "deploy/kubernetes/submission_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "deploy/submit/remote_files.h"
#include "io/file_system.h"
#include "io/paths.h"
#include "io/uri.h"

#include <stdlib.h>

static const char *variable(const char *name)
{
        return getenv(name);
}

static int fetch(void *owner, const char *uri, char **path, struct fst_error *error)
{
        struct submission_files *f = owner;
        _cleanup_free_ char *here = NULL;
        int r = 0;
        if (!f->remote)
                r = remote_files_new(&(struct remote_files_options){.conf = f->conf, .env = variable}, &f->remote,
                                     error);
        if (r == 0)
                r = remote_files_download(f->remote, uri, &here, error);
        if (r == 0)
                *path = uri_local_path(here);
        return r;
}

static int copy(struct open_file *from, struct open_file *to, struct fst_error *error)
{
        _cleanup_free_ char *block = mem_alloc(1 << 16);
        for (uint64_t at = 0;;) {
                ssize_t n = from->fs->read_at(from, block, 1 << 16, at, error);
                if (n <= 0)
                        return (int)n;
                int r = to->fs->write(to, block, (size_t)n, error);
                if (r < 0)
                        return r;
                at += (uint64_t)n;
        }
}

static int upload(void *owner, const char *uri, const char *target, struct fst_error *error)
{
        const struct file_system *there, *here;
        struct open_file from = OPEN_FILE_INIT, to = OPEN_FILE_INIT;
        _cleanup_free_ char *local = uri_local_path(uri), *source = NULL, *destination = NULL;
        int r = path_resolve(target, &destination, error);
        if (r == 0 && file_system_of(destination, &there, NULL) < 0)
                return error_set(error, -ENOTSUP,
                                 "files are uploaded to folders (file:) only, and %s is none: put %s there by other "
                                 "means, and name it by its URI",
                                 target, local ? local : uri);
        if (r == 0)
                r = path_resolve(local ? local : uri, &source, error);
        if (r == 0)
                r = file_system_of(source, &here, error);
        if (r == 0)
                r = here->open(here, source, &from, error);
        if (r < 0)
                return r;
        r = there->create(there, destination, &to, error);
        if (r == 0) {
                r = copy(&from, &to, error);
                int closed = there->close(&to, r == 0 ? error : NULL);
                r = r < 0 ? r : closed;
        }
        here->close(&from, NULL);
        return r;
}

void submission_files_init(struct submission_files *f, const struct strmap *conf)
{
        *f = (struct submission_files){.conf = conf};
}

void submission_files_deinit(struct submission_files *f)
{
        _cleanup_free_ char *directory = f->remote ? remote_files_take_directory(f->remote) : NULL;
        scratch_remove(directory);
        remote_files_free(f->remote);
}

struct kube_files submission_files_of(struct submission_files *f)
{
        return (struct kube_files){.owner = f, .fetch = fetch, .upload = upload};
}
