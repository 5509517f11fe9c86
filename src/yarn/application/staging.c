/* See staging.h. */
#include "yarn/application/staging.h"

#include "yarn/application/container_links.h"
#include "yarn/application/cluster_file.h"
#include "yarn/application/conf_archive.h"
#include "yarn/application/conf_secrets.h"
#include "yarn/application/program_archive.h"
#include "yarn/application/yarn_settings.h"
#include "conf/conf_list.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/codec/zip_file.h"
#include "io/fs/file_copy.h"
#include "io/fs/glob_files.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"
#include "io/fs/uri.h"
#include "launch/remote_files.h"
#include "launch/resolve_uri.h"
#include "launch/spark_home.h"

#include <netdb.h>
#include <strings.h>
#include <unistd.h>

#define COMPONENT "Client"
#define DIRECTORY_PERMISSION 0700
#define FILE_PERMISSION 0644
#define DEFAULT_REPLICATION 3 /* Hadoop's dfs.replication */
#define EMPTY_PATH "Can not create a Path from an empty string"
#define DEFAULT_CACHE ".firesteel"
#define BLOCK ((size_t)256 << 10)

/* -------------------------------------------------------------------------------------------------- file systems */

static int staging_system_of(struct staging *s, const char *path, const struct file_system **fs,
                             struct fst_error *error)
{
        if (strncmp(path, "file:", 5) == 0) {
                *fs = &local_fs;
                return 0;
        }
        if (s->options.remote)
                return remote_fs_of(s->options.remote, path, fs, error);
        const int r = s->remote ? 0 : remote_fs_new(s->options.hadoop, &s->remote, error);
        return r == 0 ? remote_fs_of(s->remote, path, fs, error) : r;
}

/* The full path of @name, which may lack scheme and host: those of fs.defaultFS then. Owned, NULL with @error. */
static char *staging_qualify(const struct staging *s, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *set = hadoop_conf_get(s->options.hadoop, "fs.defaultFS");
        const char *system = set && *set ? set : "file:///";
        const size_t scheme = path_scheme_len(system);
        size_t n = strlen(system);
        char *path = NULL;
        while (n > scheme + 1 && system[n - 1] == '/')
                n--;
        _cleanup_free_ char *whole =
                *name == '/' && name[1] != '/' ? mem_printf("%.*s:%s", (int)scheme, system, name) : mem_strdup(name);
        if (path_resolve(whole, &path, error) < 0)
                return NULL;
        /* "hdfs:/x" is on the default file system. */
        const char *local = path + scheme + 1;
        if (strncmp(path, system, scheme + 1) != 0 || strncmp(local, "//", 2) == 0)
                return path;
        char *qualified = mem_printf("%.*s%s", (int)n, system, local);
        free(path);
        return qualified;
}

/* The parts of a URI decoded, without query and fragment. Owned. */
static char *staging_uri_text(const char *uri)
{
        struct uri parts;
        if (!uri_parse(uri, &parts) || !parts.scheme.text)
                return mem_strdup(uri);
        _cleanup_free_ char *path = uri_decode(parts.path);
        return parts.authority.text && parts.authority.len
                       ? mem_printf("%.*s://%.*s%s", (int)parts.scheme.len, parts.scheme.text, (int)parts.authority.len,
                                    parts.authority.text, path)
                       : mem_printf("%.*s:%s", (int)parts.scheme.len, parts.scheme.text, path);
}

/* The full path of a URI. Owned, NULL with @error. */
static char *staging_path_of_uri(const struct staging *s, const char *uri, struct fst_error *error)
{
        _cleanup_free_ char *whole = staging_uri_text(uri);
        return staging_qualify(s, whole, error);
}

/* The URI of a full path. Owned. */
static char *staging_uri_of_path(const char *path)
{
        struct buf uri = BUF_INIT;
        const char *local = path_local(path);
        buf_append(&uri, path, (size_t)(local - path));
        uri_put_path(&uri, local);
        return buf_steal(&uri);
}

/* The canonical name of host @name, or @name. Owned. */
static char *staging_canonical_host(const char *name)
{
        const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        char *canonical = NULL;
        if (getaddrinfo(name, NULL, &hints, &found) == 0 && found && found->ai_canonname)
                canonical = mem_strdup(found->ai_canonname);
        if (found)
                freeaddrinfo(found);
        return canonical ? canonical : mem_strdup(name);
}

bool staging_is_same_system(const char *a, const char *b)
{
        const size_t scheme = path_scheme_len(a);
        if (scheme != path_scheme_len(b) || strncasecmp(a, b, scheme) != 0)
                return false;
        const char *host_a = a + scheme + 1, *host_b = b + scheme + 1;
        const bool has_a = strncmp(host_a, "//", 2) == 0, has_b = strncmp(host_b, "//", 2) == 0;
        if (!has_a || !has_b)
                return has_a == has_b;
        _cleanup_free_ char *first = mem_strndup(host_a + 2, strcspn(host_a + 2, "/"));
        _cleanup_free_ char *second = mem_strndup(host_b + 2, strcspn(host_b + 2, "/"));
        if (strcasecmp(first, second) == 0)
                return true;
        char *port_a = strrchr(first, ':'), *port_b = strrchr(second, ':');
        if (!port_a || !port_b || strcmp(port_a, port_b) != 0)
                return false;
        *port_a = *port_b = '\0';
        _cleanup_free_ char *canonical_a = staging_canonical_host(first), *canonical_b = staging_canonical_host(second);
        return strcasecmp(canonical_a, canonical_b) == 0;
}

/* ---------------------------------------------------------------------------------------------------- construction */

/* The user's home directory in the default file system. Owned. */
static char *staging_home(const struct staging *s, struct fst_error *error)
{
        _cleanup_free_ char *set = hadoop_conf_get(s->options.hadoop, "fs.defaultFS");
        _cleanup_free_ char *prefix = hadoop_conf_get(s->options.hadoop, "dfs.user.home.dir.prefix");
        const bool local = !set || !*set || strncmp(set, "file:", 5) == 0;
        const char *home = s->options.env("HOME");
        _cleanup_free_ char *path = local && home && *home == '/'
                                            ? mem_strdup(home)
                                            : mem_printf("%s/%s", prefix ? prefix : "/user", s->options.user);
        return staging_qualify(s, path, error);
}

/* The directory with @options.user's staging directories, as it is shown, and its full path. */
static int staging_place(struct staging *s, const char *set, char **shown, char **path, struct fst_error *error)
{
        _cleanup_free_ char *home = NULL, *named = set ? mem_printf("%s/%s", set, s->options.user) : NULL;
        const bool is_relative = set && *set != '/' && !path_scheme_len(set);
        if (set && !*set)
                return error_set(error, -EINVAL, EMPTY_PATH);
        if (!set || is_relative)
                home = staging_home(s, error);
        else if (*set == '/')
                home = mem_strdup(named);
        else
                path_resolve(named, &home, error);
        if (!home)
                return -EINVAL;
        *shown = is_relative ? mem_strdup(named) : mem_strdup(home);
        *path = is_relative ? mem_printf("%s/%s", home, named) : steal(home);
        return 0;
}

int staging_init(struct staging *s, const struct staging_options *options, struct fst_error *error)
{
        *s = (struct staging){.options = *options};
        _cleanup_free_ char *shown = NULL, *place = NULL;
        int r = staging_place(s, options->settings->staging_dir, &shown, &place, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *whole = mem_printf("%s/.sparkStaging/%s", place, options->application_id);
        s->text = mem_printf("%s/.sparkStaging/%s", shown, options->application_id);
        s->path = staging_qualify(s, whole, error);
        r = s->path ? staging_system_of(s, s->path, &s->fs, error) : -EINVAL;
        if (r < 0)
                return r;
        _cleanup_free_ char *copies = hadoop_conf_get(options->hadoop, "dfs.replication");
        s->replication = options->settings->has_replication ? (int)options->settings->replication
                         : copies && atoi(copies) > 0       ? atoi(copies)
                                                            : DEFAULT_REPLICATION;
        return 0;
}

void staging_deinit(struct staging *s)
{
        local_resource_deinit(&s->program);
        local_resources_deinit(&s->resources);
        file_statuses_deinit(&s->seen);
        strmap_deinit(&s->uris);
        strmap_deinit(&s->names);
        strmap_deinit(&s->overrides);
        free(s->text);
        free(s->path);
        remote_fs_free(s->remote);
        *s = (struct staging){0};
}

void staging_remove(struct staging *s)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct file_status status = {0};
        if (!s->created || s->options.settings->preserve_staging)
                return;
        /* The ApplicationMaster removes it, too. */
        if (s->fs->stat(s->fs, s->path, &status, NULL) == -ENOENT)
                return;
        file_status_deinit(&status);
        if (s->fs->remove(s->fs, s->path, &error) < 0)
                log_warn(COMPONENT, "Failed to cleanup staging dir %s: %s", s->text, error_message(&error));
        else
                log_info(COMPONENT, "Deleted staging directory %s", s->text);
        s->created = false;
}

static int staging_create(struct staging *s, struct fst_error *error)
{
        if (s->created)
                return 0;
        int r = s->fs->mkdirs(s->fs, s->path, error);
        s->created = r == 0;
        if (r == 0 && s->fs->set_permission)
                r = s->fs->set_permission(s->fs, s->path, DIRECTORY_PERMISSION, error);
        return r;
}

/* Records the file at the full path @path. */
static int staging_add_file(struct staging *s, const char *path, const char *link, bool archive, bool driver_only,
                            struct fst_error *error)
{
        struct local_resource file = {.archive = archive, .driver_only = driver_only};
        const struct file_system *fs;
        int r = staging_system_of(s, path, &fs, error);
        r = r < 0 ? r : local_resource_look(&file, &s->seen, fs, path, error);
        if (r < 0)
                return r;
        file.link = mem_strdup(link);
        vec_push(&s->resources.list, file);
        return 0;
}

/* Whether files go to the files by SHA-256 and the configuration to the credentials, not to the directory. */
static bool staging_is_bypassed(const struct staging *s)
{
        return s->options.native && !s->options.settings->staging_dir;
}

/* -------------------------------------------------------------------------------------------------------- uploads */

static int staging_check_stopped(const struct staging *s, struct fst_error *error)
{
        return s->options.stopped && __atomic_load_n(s->options.stopped, __ATOMIC_RELAXED)
                       ? error_set(error, -EINTR, "the submission was interrupted")
                       : 0;
}

static int staging_finish_upload(struct staging *s, const char *path, struct fst_error *error)
{
        int r = s->fs->set_replication ? s->fs->set_replication(s->fs, path, s->replication, error) : 0;
        if (r == 0 && s->fs->set_permission)
                r = s->fs->set_permission(s->fs, path, FILE_PERMISSION, error);
        return r;
}

static int staging_upload(struct staging *s, const char *from, const char *to, struct fst_error *error);

/* Copies a file of a web server, by way of a local one. */
static int staging_upload_web_file(struct staging *s, const char *from, const char *to, struct fst_error *error)
{
        struct remote_files *files = NULL;
        _cleanup_free_ char *uri = staging_uri_of_path(from), *local = NULL;
        const struct remote_files_options options = {.conf = &s->options.conf->set, .env = s->options.env};
        int r = remote_files_new(&options, &files, error);
        if (r == 0)
                r = remote_files_download(files, uri, &local, error);
        _cleanup_free_ char *path = r == 0 ? staging_path_of_uri(s, local, error) : NULL;
        if (r == 0)
                r = path ? staging_upload(s, path, to, error) : -EINVAL;
        _cleanup_free_ char *directory = files ? remote_files_take_directory(files) : NULL;
        if (directory)
                remove_tree(directory);
        remote_files_free(files);
        return r;
}

/* Copies the file at the full path @from into the directory. */
static int staging_upload(struct staging *s, const char *from, const char *to, struct fst_error *error)
{
        const struct file_system *here;
        struct open_file file = OPEN_FILE_INIT;
        int r = staging_check_stopped(s, error);
        if (r == 0 && (strncmp(from, "http://", 7) == 0 || strncmp(from, "https://", 8) == 0))
                return staging_upload_web_file(s, from, to, error);
        if (r == 0)
                r = staging_system_of(s, from, &here, error);
        if (r == 0)
                r = here->open(here, from, &file, error);
        if (r == -ENOENT)
                return error_set(error, r, "File %s does not exist", from);
        if (r < 0)
                return r;
        r = file_copy(&file, s->fs, to, error);
        here->close(&file, NULL);
        return r == 0 ? staging_finish_upload(s, to, error) : r;
}

/* ------------------------------------------------------------------------------------------- native applications */

/* spark.firesteel.yarn.cacheDir. */
static int staging_open_cache(struct staging *s, struct cluster_folder *out, struct fst_error *error)
{
        _cleanup_free_ char *set = NULL, *home = NULL, *named = NULL;
        int r = conf_get_string(s->options.conf, "spark.firesteel.yarn.cacheDir", &set, error);
        if (r < 0)
                return r;
        const char *text = set && *set ? set : DEFAULT_CACHE;
        const bool is_relative = *text != '/' && !path_scheme_len(text);
        if (is_relative && !(home = staging_home(s, error)))
                return -EINVAL;
        named = home ? path_join(home, text) : mem_strdup(text);
        *out = (struct cluster_folder){.path = staging_qualify(s, named, error)};
        out->owner = s->options.owner ? mem_strdup(s->options.owner) : NULL;
        return out->path ? staging_system_of(s, out->path, &out->fs, error) : -EINVAL;
}

int staging_store_program(struct staging *s, struct fst_error *error)
{
        _cleanup_(cluster_folder_deinit) struct cluster_folder folder = {0};
        const int r = staging_open_cache(s, &folder, error);
        return r < 0 ? r : program_archive_store(s->options.conf, &folder, &s->program, error);
}

/* Stores the local file at the full path @from by its content, where only its user can read it. */
static int staging_store_file(struct staging *s, const char *from, struct local_resource *out, struct fst_error *error)
{
        _cleanup_(cluster_folder_deinit) struct cluster_folder folder = {0};
        _cleanup_free_ char *suffix = mem_printf("-%s", path_name(from)),
                            *name = mem_printf("files-%s", s->options.user);
        char sha256[CLUSTER_FILE_DIGEST];
        int r = staging_check_stopped(s, error);
        r = r < 0 ? r : cluster_file_digest(path_local(from), sha256, error);
        if (r == -ENOENT)
                return error_set(error, r, "File %s does not exist", from);
        r = r < 0 ? r : staging_open_cache(s, &folder, error);
        if (r < 0)
                return r;
        char *place = path_join(folder.path, name);
        free(folder.path);
        folder.path = place;
        folder.is_private = true;
        return cluster_file_store(&folder, path_local(from), sha256, suffix, out, error);
}

void staging_forget(const struct staging *s)
{
        for (size_t i = 0; i < s->resources.list.len; i++)
                cluster_files_forget(s->resources.list.data[i].path);
}

/* ----------------------------------------------------------------------------------------------------- distributing */

/* Whether @uri may be distributed: neither it nor another file of its name was. */
static bool staging_is_new(struct staging *s, const char *uri)
{
        struct uri parts;
        _cleanup_free_ char *path = uri_parse(uri, &parts) ? uri_decode(parts.path) : mem_strdup(uri);
        if (strmap_get(&s->uris, uri)) {
                log_warn(COMPONENT, "Same path resource %s added multiple times to distributed cache.", uri);
                return false;
        }
        if (strmap_get(&s->names, path_name(path))) {
                log_warn(COMPONENT, "Same name resource %s added multiple times to distributed cache", uri);
                return false;
        }
        strmap_set(&s->uris, uri, "");
        strmap_set(&s->names, path_name(path), "");
        return true;
}

struct distribution {
        const char *link;      /* NULL: the fragment or the file's name */
        const char *directory; /* of the link, or NULL */
        bool archive, driver_only;
        bool secret;   /* it may not stay on the cluster */
        bool is_local; /* result: a "local:" URI, which nodes have */
        char *result;  /* its URI, or else the link; NULL: it was distributed before. Owned by the caller. */
};

/* Makes @name, a file or URI, available in containers. */
static int staging_distribute(struct staging *s, const char *name, struct distribution *d, struct fst_error *error)
{
        if (!*name)
                return error_set(error, -EINVAL, EMPTY_PATH);
        _cleanup_free_ char *uri = submit_resolve_uri(name, COMPAT_4_3);
        struct uri parts;
        d->is_local = uri_parse(uri, &parts) && uri_has_scheme(&parts, "local");
        d->result = d->is_local ? mem_strdup(name) : NULL;
        if (d->is_local || !staging_is_new(s, uri))
                return 0;
        _cleanup_free_ char *from = staging_path_of_uri(s, uri, error);
        if (!from)
                return -EINVAL;
        _cleanup_free_ char *alias = uri_parse(uri, &parts) && parts.fragment.text ? uri_decode(parts.fragment) : NULL;
        _cleanup_free_ char *shown = alias ? mem_printf("%s#%s", from, alias) : mem_strdup(from);
        _cleanup_free_ char *link = mem_printf("%s%s%s", d->directory ? d->directory : "", d->directory ? "/" : "",
                                               d->link ? d->link
                                               : alias ? alias
                                                       : path_name(from));
        _cleanup_free_ char *to = NULL;
        int r = 0;
        if (staging_is_bypassed(s) && !d->secret && *link && strncmp(from, "file:", 5) == 0) {
                struct local_resource file = {.archive = d->archive, .driver_only = d->driver_only};
                r = staging_store_file(s, from, &file, error);
                if (r < 0)
                        return r;
                file.link = mem_strdup(link);
                vec_push(&s->resources.list, file);
                d->result = steal(link);
                return 0;
        }
        if (strncmp(from, "file:", 5) != 0 && staging_is_same_system(from, s->path)) {
                log_info(COMPONENT, "Source and destination file systems are the same. Not copying %s", shown);
                to = mem_strdup(from);
        } else {
                to = path_join(s->path, path_name(from));
                log_info(COMPONENT, "Uploading resource %s -> %s/%s", shown, s->text, path_name(from));
                r = staging_create(s, error);
                r = r < 0 ? r : staging_upload(s, from, to, error);
        }
        if (r == 0 && !*link)
                r = error_set(error, -EINVAL, "requirement failed: You must specify a valid link name.");
        if (r == 0)
                r = staging_add_file(s, to, link, d->archive, d->driver_only, error);
        if (r == 0)
                d->result = steal(link);
        return r;
}

/* ------------------------------------------------------------------------------------------------ Spark's libraries */

/* Where the archive of jars goes. */
struct staging_zip {
        const struct staging *staging;
        const struct option_words *jars;
        struct open_file *to;
};

static int staging_send_zip(void *context, const void *data, size_t n, struct fst_error *error)
{
        struct staging_zip *z = context;
        const int r = staging_check_stopped(z->staging, error);
        return r == 0 ? z->to->fs->write(z->to, data, n, error) : r;
}

static int staging_zip_file(struct zip_writer *zip, const char *path, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *full = mem_printf("file:%s", path), *block = mem_alloc(BLOCK);
        int r = local_fs.open(&local_fs, full, &file, error);
        if (r < 0)
                return r;
        r = zip_writer_begin(zip, path_name(full), error);
        ssize_t n = 0;
        for (uint64_t at = 0; r == 0 && (n = local_fs.read_at(&file, block, BLOCK, at, error)) > 0; at += (uint64_t)n)
                r = zip_writer_put(zip, block, (size_t)n, error);
        local_fs.close(&file, NULL);
        if (r == 0 && n < 0)
                r = (int)n;
        return r == 0 ? zip_writer_end(zip, error) : r;
}

/* A file_writer: all jars of the list. */
static int staging_zip_jars(void *context, struct open_file *to, struct fst_error *error)
{
        struct staging_zip *z = context;
        const struct option_words *jars = z->jars;
        _cleanup_(zip_writer_deinit) struct zip_writer zip;
        int r = 0;
        z->to = to;
        zip_writer_init(&zip, staging_send_zip, z);
        for (size_t i = 0; r == 0 && i < jars->len; i++) {
                const size_t n = strlen(jars->data[i]);
                if (n >= 4 && strcasecmp(jars->data[i] + n - 4, ".jar") == 0 && spark_home_is_file(jars->data[i]) &&
                    access(jars->data[i], R_OK) == 0)
                        r = staging_zip_file(&zip, jars->data[i], error);
        }
        return r == 0 ? zip_writer_finish(&zip, error) : r;
}

/* Uploads the jars of SPARK_HOME as one archive. */
static int staging_add_spark_home(struct staging *s, struct fst_error *error)
{
        struct spark_home home = {0};
        _cleanup_(option_words_deinit) struct option_words jars = {0};
        char unique[UUID_TEXT];
        log_warn(COMPONENT,
                 "Neither spark.yarn.jars nor spark.yarn.archive is set, falling back to uploading libraries "
                 "under SPARK_HOME.");
        int r = spark_home_find(&home, s->options.env, error);
        if (r == 0 && !home.jars)
                r = error_set(error, -ENOENT,
                              "Library directory '%s' does not exist; make sure Spark is built, or set "
                              "spark.yarn.archive to an archive of Spark's jars.",
                              home.jars_wanted);
        if (r == 0 && (r = spark_home_list(home.jars, &jars)) < 0)
                r = error_set(error, r, "%s: %s", home.jars, strerror(-r));
        if (r == 0) {
                uuid_draw(unique);
                _cleanup_free_ char *name = mem_printf(YARN_LIBS_LINK "%s.zip", unique);
                _cleanup_free_ char *to = path_join(s->path, name);
                log_info(COMPONENT, "Uploading resource %s/*.jar -> %s/%s", home.jars, s->text, name);
                struct staging_zip z = {.staging = s, .jars = &jars};
                r = file_create(s->fs, to, staging_zip_jars, &z, error);
                if (r == 0)
                        r = staging_finish_upload(s, to, error);
                if (r == 0)
                        r = staging_add_file(s, to, YARN_LIBS_LINK, true, false, error);
        }
        spark_home_deinit(&home);
        return r;
}

/* Distributes the files that match @jar. A pattern may match none. */
static int staging_add_jars_matching(struct staging *s, const char *jar, struct fst_error *error)
{
        _cleanup_free_ char *uri = submit_resolve_uri(jar, COMPAT_4_3), *path = staging_path_of_uri(s, uri, error);
        _cleanup_(file_list_deinit) struct file_list found = {0};
        const struct file_system *fs;
        int r = path ? staging_system_of(s, path, &fs, error) : -EINVAL;
        if (r == 0)
                r = glob_files(fs, path, &found, error);
        if (r == 0 && !found.len && !strpbrk(path, "*?[{")) {
                _cleanup_free_ char *shown = staging_uri_text(uri);
                return error_set(error, -ENOENT, "Path %s does not exist", shown);
        }
        for (size_t i = 0; r == 0 && i < found.len; i++) {
                struct distribution d = {.directory = YARN_LIBS_LINK};
                if (found.data[i].directory)
                        continue;
                _cleanup_free_ char *file = staging_uri_of_path(found.data[i].path);
                r = staging_distribute(s, file, &d, error);
                free(d.result);
        }
        return r;
}

static void staging_join(struct buf *out, const char *word)
{
        buf_printf(out, "%s%s", out->len ? "," : "", word);
}

static int staging_add_libraries(struct staging *s, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list jars = {0};
        _cleanup_(buf_deinit) struct buf local = BUF_INIT;
        const char *archive = conf_get_raw(s->options.conf, "spark.yarn.archive");
        if (s->options.native) {
                local_resources_add_copy(&s->resources, &s->program);
                return 0;
        }
        if (archive) {
                struct distribution d = {.link = YARN_LIBS_LINK, .archive = true};
                if (strncmp(archive, "local:", 6) == 0)
                        return error_set(error, -EINVAL,
                                         "requirement failed: spark.yarn.archive cannot be a local URI.");
                const int r = staging_distribute(s, archive, &d, error);
                free(d.result);
                return r;
        }
        if (!conf_contains(s->options.conf, "spark.yarn.jars"))
                return staging_add_spark_home(s, error);
        int r = conf_list_read(s->options.conf, "spark.yarn.jars", &jars, error);
        for (size_t i = 0; r == 0 && i < jars.len; i++)
                if (strncmp(jars.data[i], "local:", 6) == 0)
                        staging_join(&local, jars.data[i]);
                else
                        r = staging_add_jars_matching(s, jars.data[i], error);
        conf_set(s->options.conf, "spark.yarn.jars", buf_text(&local));
        return r;
}

/* ------------------------------------------------------------------------------------------ the application's files */

static int staging_add_user_jar(struct staging *s, struct fst_error *error)
{
        const char *jar = s->options.jar;
        struct distribution d = {.link = s->options.native ? NULL : YARN_APP_JAR};
        if (!jar || !jar[strspn(jar, " \t")])
                return 0;
        const int r = staging_distribute(s, jar, &d, error);
        if (r == 0 && d.is_local)
                conf_set(s->options.conf, "spark.yarn.user.jar", d.result);
        free(d.result);
        return r;
}

/* Distributes the list @key. @links receives the links of those that were not distributed before; without it they are
 * refused. */
static int staging_add_list(struct staging *s, const char *key, bool archives, struct buf *links,
                            struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list files = {0};
        int r = conf_list_read(s->options.conf, key, &files, error);
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                struct distribution d = {.archive = archives};
                r = staging_distribute(s, files.data[i], &d, error);
                if (r == 0 && !d.result && !links)
                        r = error_set(error, -EINVAL, "Attempt to add (%s) multiple times to the distributed cache.",
                                      files.data[i]);
                if (d.result && links)
                        staging_join(links, d.result);
                free(d.result);
        }
        return r;
}

static int staging_add_python(struct staging *s, struct fst_error *error)
{
        const struct string_list *archives = s->options.python_archives;
        _cleanup_(string_list_deinit) struct string_list files = {0};
        const char *primary = s->options.python;
        struct distribution main_file = {.driver_only = true};
        int r = primary ? staging_distribute(s, primary, &main_file, error) : 0;
        free(main_file.result);
        for (size_t i = 0; r == 0 && archives && i < archives->len; i++) {
                struct distribution d = {0};
                r = staging_distribute(s, archives->data[i], &d, error);
                free(d.result);
        }
        if (r == 0)
                r = conf_list_read(s->options.conf, "spark.yarn.dist.pyFiles", &files, error);
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                const size_t n = strlen(files.data[i]);
                const bool source = n >= 3 && strcmp(files.data[i] + n - 3, ".py") == 0;
                struct distribution d = {.directory = source ? YARN_PYTHON_LINK : NULL};
                r = staging_distribute(s, files.data[i], &d, error);
                free(d.result);
        }
        return r;
}

/* Distributes the file that @key names under a name of its own, and tells the driver that name. */
static int staging_add_secret_file(struct staging *s, const char *key, const char *path, bool driver_only,
                                   const char *refusal, struct fst_error *error)
{
        char unique[UUID_TEXT];
        uuid_draw(unique);
        _cleanup_free_ char *link = mem_printf("%s-%s", path_name(path), unique);
        struct distribution d = {.link = link, .driver_only = driver_only, .secret = true};
        int r = staging_distribute(s, path, &d, error);
        if (r == 0 && !d.result)
                r = error_set(error, -EINVAL, "requirement failed: %s", refusal);
        if (r == 0)
                strmap_set(&s->overrides, key, d.result);
        free(d.result);
        return r;
}

static int staging_add_keytab(struct staging *s, struct fst_error *error)
{
        const char *keytab = conf_get_value(s->options.conf, "spark.kerberos.keytab");
        const char *principal = conf_get_value(s->options.conf, "spark.kerberos.principal");
        if (!keytab && !principal)
                return 0;
        if (!keytab || !principal)
                return error_set(error, -EINVAL,
                                 "requirement failed: Both principal and keytab must be defined, or neither.");
        if (strncmp(keytab, "local:", 6) == 0)
                return error_set(error, -EINVAL, "requirement failed: Keytab should reference a local file.");
        log_info(COMPONENT, "Kerberos credentials: principal = %s, keytab = %s", principal, keytab);
        log_info(COMPONENT,
                 "To enable the AM to login from keytab, credentials are being copied over to the AM via the "
                 "YARN Secure Distributed Cache.");
        return staging_add_secret_file(s, "spark.kerberos.keytab", keytab, true, "Keytab file already distributed.",
                                       error);
}

static int staging_add_ivy_settings(struct staging *s, struct fst_error *error)
{
        const char *file = conf_get_value(s->options.conf, "spark.jars.ivySettings");
        if (!file)
                return 0;
        const size_t scheme = strcspn(file, ":/");
        if (file[scheme] == ':' && strncmp(file, "file:", 5) != 0)
                return error_set(error, -EINVAL, "Scheme %.*s not supported in spark.jars.ivySettings", (int)scheme,
                                 file);
        _cleanup_free_ char *path = file[scheme] == ':' ? uri_local_path(file) : mem_strdup(file);
        if (!path || access(path, F_OK) < 0)
                return error_set(error, -ENOENT, "requirement failed: Ivy settings file %s does not exist", file);
        if (!spark_home_is_file(path))
                return error_set(error, -EINVAL, "requirement failed: Ivy settings file %s is not a normal file", file);
        return staging_add_secret_file(s, "spark.jars.ivySettings", path, false,
                                       "IvySettings file already distributed.", error);
}

/* -------------------------------------------------------------------------------------------------- configuration */

/* Puts the configuration of a native application into the credentials. */
static int staging_pack_conf(struct staging *s, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap cache = STRMAP_INIT;
        const struct conf_archive archive = {
                .spark = &s->options.conf->set, .overrides = &s->overrides, .cache = &cache, .env = s->options.env};
        local_resources_describe(&s->resources, NULL, &cache);
        return conf_secrets_put(&archive, s->options.hadoop, s->options.credentials, error);
}

static int staging_upload_conf(struct staging *s, struct fst_error *error)
{
        static const char name[] = YARN_CONF_LINK ".zip";
        _cleanup_(strmap_deinit) struct strmap cache = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf zip = BUF_INIT;
        _cleanup_free_ char *shown = mem_printf("%s/%s", s->text, name), *to = path_join(s->path, name);
        const struct conf_archive archive = {
                .spark = &s->options.conf->set, .overrides = &s->overrides, .cache = &cache, .env = s->options.env};
        local_resources_describe(&s->resources, shown, &cache);
        int r = conf_archive_write(&archive, &zip, error);
        if (r < 0)
                return r;
        log_info(COMPONENT, "Uploading resource %s -> %s", name, shown);
        r = staging_create(s, error);
        r = r < 0 ? r : file_put(s->fs, to, zip.data, zip.len, error);
        if (r == 0)
                r = staging_finish_upload(s, to, error);
        if (r == 0)
                r = staging_add_file(s, to, YARN_CONF_LINK, true, false, error);
        if (r < 0)
                return r;
        /* Spark leaves it to the NodeManager to complete this path. */
        struct local_resource *file = &s->resources.list.data[s->resources.list.len - 1];
        free(file->path);
        file->path = steal(shown);
        return 0;
}

static int staging_add_conf(struct staging *s, struct fst_error *error)
{
        const int r = staging_is_bypassed(s) ? staging_pack_conf(s, error) : CONF_SECRETS_E_TOO_LARGE;
        return r == CONF_SECRETS_E_TOO_LARGE ? staging_upload_conf(s, error) : r;
}

int staging_fill(struct staging *s, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf jars = BUF_INIT;
        log_info(COMPONENT, "Preparing resources for our AM container");
        int r = staging_is_bypassed(s) ? 0 : staging_create(s, error);
        if (r == 0)
                r = staging_add_keytab(s, error);
        if (r == 0)
                r = staging_add_ivy_settings(s, error);
        if (r == 0)
                r = staging_add_libraries(s, error);
        if (r == 0)
                r = staging_add_user_jar(s, error);
        if (r == 0)
                r = staging_add_list(s, "spark.yarn.dist.jars", false, &jars, error);
        if (r == 0)
                r = staging_add_list(s, "spark.yarn.dist.files", false, NULL, error);
        if (r == 0)
                r = staging_add_list(s, "spark.yarn.dist.archives", true, NULL, error);
        if (r == 0 && jars.len)
                conf_set(s->options.conf, "spark.yarn.secondary.jars", buf_text(&jars));
        if (r == 0)
                r = staging_add_python(s, error);
        return r == 0 ? staging_add_conf(s, error) : r;
}
