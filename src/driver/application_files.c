/* See application_files.h. */
#include "driver/application_files.h"

#include "base/log.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "driver/backend/cluster_manager.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "io/fs/uri.h"
#include "store/disk_dirs.h"

#include <limits.h>
#include <unistd.h>

struct added_file {
        char *name;
        enum app_file_use use;
};

struct application_files {
        pthread_mutex_t lock; /* held while a file is added */
        VEC(struct added_file) all;
        application_file_added_fn added;
        void *owner;
};

struct application_files *application_files_new(void)
{
        struct application_files *f = new0(struct application_files);
        pthread_mutex_init(&f->lock, NULL);
        return f;
}

void application_files_free(struct application_files *f)
{
        if (!f)
                return;
        for (size_t i = 0; i < f->all.len; i++)
                free(f->all.data[i].name);
        vec_deinit(&f->all);
        pthread_mutex_destroy(&f->lock);
        free(f);
}

/* Create the directory for the first file. */
static int application_files_make_directory(fst_context *sc, struct fst_error *error)
{
        if (sc->env.files)
                return 0;
        _cleanup_free_ char *dir = mem_printf("%s/userFiles", disk_dirs_root(sc->env.dirs, 0));
        struct archive_limits archives;
        int r = archive_limits_read(sc->conf, &archives, error);
        return r ? r : app_files_new(dir, NULL, &archives, &sc->env.files, error);
}

const char *application_files_directory(fst_context *sc, struct fst_error *error)
{
        pthread_mutex_lock(&sc->files->lock);
        int r = application_files_make_directory(sc, error);
        pthread_mutex_unlock(&sc->files->lock);
        return r ? NULL : app_files_directory(sc->env.files);
}

static void application_files_notify(fst_context *sc, const struct added_file *file)
{
        const char *path;
        if (sc->files->added && app_files_source(sc->env.files, file->name, &path) == 0)
                sc->files->added(sc->files->owner, file->name, path, file->use);
}

/* Adds "file:/a/b", "file:///a/b" or "/a/b". With @named it may end in "#name". A "local:" name adds nothing, as in
 * Spark. */
static int application_files_add(fst_context *sc, const char *uri, enum app_file_use use, bool named,
                                 struct fst_error *error)
{
        _cleanup_free_ char *path = NULL, *without_alias = mem_strdup(uri);
        const char *colon = strstr(uri, ":/");
        if (text_starts_with(uri, "local:")) { /* Spark's line */
                log_warn("SparkContext",
                         "File with 'local' scheme %s is not supported to add to file server, since it is already "
                         "available on every node.",
                         uri);
                return 0;
        }
        char *alias = named ? strrchr(without_alias, '#') : NULL;
        if (alias)
                *alias++ = '\0';
        if (text_starts_with(uri, "file:"))
                path = uri_local_path(without_alias);
        else if (colon && !memchr(uri, '/', (size_t)(colon - uri)))
                return error_set(error, -ENOTSUP, "%s: only local files can be added to an application", uri);
        if (!path)
                path = mem_strdup(without_alias);
        pthread_mutex_lock(&sc->files->lock);
        int r = application_files_make_directory(sc, error);
        if (r == 0)
                r = app_files_put(sc->env.files, path, alias, use, error);
        if (r == 0) {
                const char *slash = strrchr(path, '/'), *name = alias ? alias : slash ? slash + 1 : path;
                struct added_file file = {mem_strdup(name), use};
                vec_push(&sc->files->all, file);
                log_info("SparkContext", "Added file %s as %s", uri, name);
                application_files_notify(sc, &file);
        }
        pthread_mutex_unlock(&sc->files->lock);
        return r;
}

/* In cluster mode on YARN, the container's directory has the file: under its link, or its name. */
static int application_files_add_localized(fst_context *sc, const char *uri, enum app_file_use use,
                                           struct fst_error *error)
{
        const char *hash = strrchr(uri, '#'), *slash = strrchr(uri, '/');
        const char *name = hash && hash[1] ? hash + 1 : slash ? slash + 1 : uri;
        char here[PATH_MAX];
        if (!getcwd(here, sizeof(here)))
                return error_errno(error, "the working directory");
        _cleanup_free_ char *path = mem_printf("%s/%s", here, name);
        pthread_mutex_lock(&sc->files->lock);
        int r = application_files_make_directory(sc, error);
        r = r ? r : app_files_add_in_place(sc->env.files, name, path, use, error);
        if (r == 0)
                vec_push(&sc->files->all, (struct added_file){mem_strdup(name), use});
        pthread_mutex_unlock(&sc->files->lock);
        return r;
}

int application_files_add_module(fst_context *sc, const char *name, const char *path, struct fst_error *error)
{
        pthread_mutex_lock(&sc->files->lock);
        int r = application_files_make_directory(sc, error);
        r = r ? r : app_files_add_in_place(sc->env.files, name, path, APP_MODULE, error);
        if (r == 0) {
                struct added_file file = {mem_strdup(name), APP_MODULE};
                vec_push(&sc->files->all, file);
                application_files_notify(sc, &file);
        }
        pthread_mutex_unlock(&sc->files->lock);
        return r;
}

/* How the elements of a list become files of the application. */
enum list_kind { LIST_OF_SPARK, LIST_OF_MANAGER, LIST_LOCALIZED };

static int application_files_add_list(fst_context *sc, const char *key, enum app_file_use use, enum list_kind kind,
                                      struct fst_error *error)
{
        _cleanup_free_ char *list = NULL;
        char *rest;
        int r = conf_get_string(sc->conf, key, &list, error);
        for (char *one = list ? strtok_r(list, ",", &rest) : NULL; one && r == 0; one = strtok_r(NULL, ",", &rest)) {
                one += strspn(one, " ");
                for (size_t n = strlen(one); n > 0 && one[n - 1] == ' ';)
                        one[--n] = '\0';
                if (!*one)
                        continue;
                r = kind == LIST_LOCALIZED
                            ? application_files_add_localized(sc, one, use, error)
                            : application_files_add(sc, one, use, kind == LIST_OF_MANAGER || use == APP_ARCHIVE, error);
        }
        return r ? error_wrap(error, r, "%s", key) : 0;
}

int application_files_configured(fst_context *sc, struct fst_error *error)
{
        const char *master = conf_get_raw(sc->conf, "spark.master");
        int r = application_files_add_list(sc, "spark.files", APP_FILE, LIST_OF_SPARK, error);
        r = r ? r : application_files_add_list(sc, "spark.archives", APP_ARCHIVE, LIST_OF_SPARK, error);
        const struct cluster_manager_class *manager = master ? cluster_manager_by_prefix(master) : NULL;
        if (r || !manager || !manager->files_key)
                return r;
        const char *mode = conf_get_raw(sc->conf, "spark.submit.deployMode");
        const enum list_kind kind = mode && strcmp(mode, "cluster") == 0 ? LIST_LOCALIZED : LIST_OF_MANAGER;
        r = application_files_add_list(sc, manager->files_key, APP_FILE, kind, error);
        return r ? r : application_files_add_list(sc, manager->archives_key, APP_ARCHIVE, kind, error);
}

void application_files_set_added(fst_context *sc, application_file_added_fn added, void *owner)
{
        pthread_mutex_lock(&sc->files->lock);
        sc->files->added = added;
        sc->files->owner = owner;
        for (size_t i = 0; i < sc->files->all.len; i++)
                application_files_notify(sc, &sc->files->all.data[i]);
        pthread_mutex_unlock(&sc->files->lock);
}

static int application_files_add_public(fst_context *sc, const char *what, const char *path, enum app_file_use use)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = sc->status;
        if (r == 0)
                r = path ? application_files_add(sc, path, use, use == APP_ARCHIVE, &error)
                         : error_set(&error, -EINVAL, "it was given NULL instead of a path");
        return r ? context_action_failed(sc, what, r, &error) : 0;
}

FST_API int fst_add_file(fst_context *sc, const char *path)
{
        sc = context_given(sc, rdd_site("add_file"));
        return application_files_add_public(sc, "add_file", path, APP_FILE);
}

FST_API int fst_add_archive(fst_context *sc, const char *path)
{
        sc = context_given(sc, rdd_site("add_archive"));
        return application_files_add_public(sc, "add_archive", path, APP_ARCHIVE);
}

static int application_files_list_names(fst_context *sc, enum app_file_use use, const char **names, size_t max)
{
        size_t n = 0;
        pthread_mutex_lock(&sc->files->lock);
        for (size_t i = 0; i < sc->files->all.len; i++) {
                if (sc->files->all.data[i].use != use)
                        continue;
                if (n < max)
                        names[n] = sc->files->all.data[i].name;
                n++;
        }
        pthread_mutex_unlock(&sc->files->lock);
        return (int)n;
}

FST_API int fst_list_files(fst_context *sc, const char **names, size_t max)
{
        sc = context_given(sc, rdd_site("list_files"));
        if (max > 0 && context_missing(names, "list_files", "an array of names"))
                return -EINVAL;
        return application_files_list_names(sc, APP_FILE, names, max);
}

FST_API int fst_list_archives(fst_context *sc, const char **names, size_t max)
{
        sc = context_given(sc, rdd_site("list_archives"));
        if (max > 0 && context_missing(names, "list_archives", "an array of names"))
                return -EINVAL;
        return application_files_list_names(sc, APP_ARCHIVE, names, max);
}

FST_API const char *fst_context_file(fst_context *sc, const char *name)
{
        sc = context_given(sc, rdd_site("file"));
        if (context_missing(name, "file", "a name"))
                return NULL;
        struct fst_error error = FST_ERROR_INIT;
        const char *path = NULL;
        int r = sc->status ? sc->status : sc->services.file(sc->services.owner, name, NULL, &path, &error);
        if (r)
                log_error("SparkContext", "%s", error_message(&error));
        error_deinit(&error);
        return r ? NULL : path;
}
