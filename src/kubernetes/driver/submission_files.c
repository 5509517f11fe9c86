/* Fetches templates and uploads local files for a submission. */
#include "kubernetes/driver/submission_files.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/fs/file_copy.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"
#include "io/fs/uri.h"
#include "launch/remote_files.h"
#include "net/kerberos.h"
#include "process/exit_cleanup.h"

#include <stdlib.h>
#include <unistd.h>

static int open_remote(struct submission_files *f, struct fst_error *error)
{
        return f->remote ? 0
                         : remote_files_new(&(struct remote_files_options){.conf = f->conf, .env = conf_environment},
                                            &f->remote, error);
}

static void select_tickets(const struct submission_files *f, bool use)
{
        if (f->ticket_cache)
                kerberos_use(use ? f->ticket_cache : NULL);
}

static int submission_files_fetch(void *owner, const char *uri, char **path, struct fst_error *error)
{
        struct submission_files *f = owner;
        _cleanup_free_ char *here = NULL;
        int r = open_remote(f, error);
        if (r == 0) {
                select_tickets(f, true);
                r = remote_files_download(f->remote, uri, &here, error);
                select_tickets(f, false);
        }
        if (r == 0)
                *path = uri_local_path(here);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- uploads */

/* Finds the file system of @target. */
static int find_file_system(struct submission_files *f, const char *target, const struct file_system **fs,
                            struct fst_error *error)
{
        struct remote_fs *remote;
        if (file_system_of(target, fs, NULL) == 0)
                return 0;
        int r = open_remote(f, error);
        if (r == 0)
                r = remote_files_systems(f->remote, &remote, error);
        if (r == 0 && remote_fs_of(remote, target, fs, NULL) < 0)
                r = error_set(error, -EPROTONOSUPPORT,
                              "cannot write to \"%.*s:\" (supported: file:, hdfs:, webhdfs:, swebhdfs:, s3a:, "
                              "s3: and s3n:)",
                              (int)path_scheme_len(target), target);
        return r;
}

static int submission_files_copy_file(struct submission_files *f, const char *source, const char *target,
                                      struct fst_error *error)
{
        const struct file_system *there, *here;
        _cleanup_free_ char *from = NULL, *to = NULL;
        struct open_file file = OPEN_FILE_INIT;
        int r = path_resolve(source, &from, error);
        if (r == 0)
                r = path_resolve(target, &to, error);
        if (r == 0)
                r = file_system_of(from, &here, error);
        if (r == 0)
                r = find_file_system(f, to, &there, error);
        if (r == 0)
                r = here->open(here, from, &file, error);
        if (r != 0)
                return r;
        r = file_copy(&file, there, to, error);
        here->close(&file, NULL);
        return r;
}

static int submission_files_upload(void *owner, const char *uri, const char *target, struct fst_error *error)
{
        _cleanup_free_ char *local = uri_local_path(uri);
        select_tickets(owner, true);
        int r = submission_files_copy_file(owner, local ? local : uri, target, error);
        select_tickets(owner, false);
        if (r < 0 && access(local ? local : uri, R_OK) == 0)
                error_set(error, r,
                          "%s; set spark.kubernetes.file.upload.path to a directory that you may write to, "
                          "or put the file where pods can read it, and pass its URI",
                          error_message(error));
        return r;
}

void submission_files_init(struct submission_files *f, const struct strmap *conf)
{
        *f = (struct submission_files){.conf = conf};
}

void submission_files_deinit(struct submission_files *f)
{
        _cleanup_free_ char *directory = f->remote ? remote_files_take_directory(f->remote) : NULL;
        exit_cleanup_remove(directory);
        remote_files_free(f->remote);
}

struct kube_files submission_files_of(struct submission_files *f)
{
        return (struct kube_files){.owner = f, .fetch = submission_files_fetch, .upload = submission_files_upload};
}
