/* entrypoint_download; see entrypoint.h. */
#include "conf/conf.h"
#include "image/entry/entrypoint.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "conf/properties.h"
#include "launch/remote_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void entrypoint_download_started(void *context, const char *url, const char *path)
{
        fprintf(stderr, "Downloading %s to %s.\n", url, path);
}

static int entrypoint_download_download(const struct strmap *conf, const char *list_key, const char *folder_key,
                                        const char *fallback, struct fst_error *error)
{
        const char *list = strmap_get(conf, list_key), *said = strmap_get(conf, folder_key);
        const char *folder = said ? said : fallback;
        _cleanup_free_ char *local = NULL;
        struct remote_files *files;
        if (!list || !*list)
                return 0;
        int r = make_dirs(folder, 0755);
        if (r)
                return error_set(error, r, "%s: cannot create %s: %s", folder_key, folder, strerror(-r));
        r = remote_files_new(&(struct remote_files_options){.conf = conf,
                                                            .env = conf_environment,
                                                            .directory = folder,
                                                            .started = entrypoint_download_started},
                             &files, error);
        if (r)
                return r;
        r = remote_files_download_list(files, list, &local, error);
        remote_files_free(files);
        if (r == -ENOENT) /* its message contains only the name, as Java's does */
                return error_wrap(error, r, "%s: a file that does not exist cannot be downloaded", list_key);
        return r < 0 ? error_wrap(error, r, "%s", list_key) : 0;
}

int entrypoint_download(const char *path, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        int r = properties_load(&conf, path, error);
        if (r == 0)
                r = entrypoint_download_download(&conf, "spark.kubernetes.initContainer.remoteJars",
                                                 "spark.kubernetes.mountDependencies.jarsDownloadDir",
                                                 "/var/spark-data/spark-jars", error);
        if (r == 0)
                r = entrypoint_download_download(&conf, "spark.kubernetes.initContainer.remoteFiles",
                                                 "spark.kubernetes.mountDependencies.filesDownloadDir",
                                                 "/var/spark-data/spark-files", error);
        return r;
}
