/*
 * See program_archive.h. In the cache, "yarn-KEY" is a symbolic link to "yarn-SHA256.tar.gz". KEY hashes path, size,
 * inode and time of the program, its library and its modules, so a second application reads none of them.
 */
#include "yarn/application/program_archive.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/module_loader.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "exec/app/app_cache.h"
#include "exec/app/program_path.h"
#include "image/image_layer.h"
#include "image/program_files.h"
#include "process/command.h"
#include "yarn/application/cluster_file.h"
#include "yarn/application/container_links.h"
#include "yarn/application/local_resource.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARCHIVE_SUFFIX ".tar.gz"
#define MEMORY_MS 60000 /* how long a process remembers its archive */

void program_archive_deinit(struct program_archive *archive)
{
        free(archive->path);
        archive->path = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static const char *program_archive_name_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

/* Libraries that belong to the C library: every machine has its own, together with a loader that fits. */
static bool program_archive_leaves_out(const char *name)
{
        static const char *const own[] = {"libc.so", "libm.so",    "libpthread.so", "libdl.so",   "librt.so",
                                          "libnss_", "libmvec.so", "libresolv.so",  "libutil.so", "libanl.so"};
        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                if (text_starts_with(name, own[i]))
                        return true;
        return false;
}

static int program_archive_add(struct image_layer *layer, const char *folder, const char *from, struct fst_error *error)
{
        _cleanup_free_ char *to = mem_printf("%s/%s", folder, program_archive_name_of(from));
        return image_layer_has(layer, to) ? 0 : image_layer_file(layer, to, from, true, error);
}

/* The mechanisms that Cyrus SASL loads from the directory "sasl2" beside its library. */
static int program_archive_add_mechanisms(struct image_layer *layer, const char *library, struct fst_error *error)
{
        static const char *const names[] = {"libdigestmd5.so", "libgssapiv2.so"};
        const char *name = program_archive_name_of(library);
        int r = 0;
        for (size_t i = 0; text_starts_with(name, "libsasl2.so") && i < ARRAY_SIZE(names) && r == 0; i++) {
                _cleanup_free_ char *from = mem_printf("%.*ssasl2/%s", (int)(name - library), library, names[i]);
                if (access(from, R_OK) == 0)
                        r = program_archive_add(layer, "/lib/sasl2", from, error);
        }
        return r;
}

static int program_archive_fill(struct image_layer *layer, struct fst_error *error)
{
        _cleanup_(program_files_deinit) struct program_files files = PROGRAM_FILES_INIT;
        int r = program_files_find(&files, error);
        r = r < 0 ? r : image_layer_file(layer, "/bin/firesteel", files.program, true, error);
        if (r == 0 && files.library)
                r = program_archive_add(layer, "/lib", files.library, error);
        for (size_t i = 0; i < files.modules.len && r == 0; i++)
                r = program_archive_add(layer, "/lib/firesteel", files.modules.data[i], error);
        for (size_t i = 0; i < files.libraries.len && r == 0; i++)
                r = program_archive_add_mechanisms(layer, files.libraries.data[i], error);
        for (size_t i = 0; i < files.libraries.len && r == 0; i++)
                if (!program_archive_leaves_out(program_archive_name_of(files.libraries.data[i])))
                        r = program_archive_add(layer, "/lib", files.libraries.data[i], error);
        return r;
}

static int program_archive_save(const char *path, const struct buf *bytes, struct fst_error *error)
{
        FILE *file = fopen(path, "wxe");
        if (!file)
                return error_errno(error, "%s", path);
        const bool written = fwrite(bytes->data, 1, bytes->len, file) == bytes->len;
        if (fclose(file) == 0 && written)
                return 0;
        const int r = error_errno(error, "writing %s", path);
        unlink(path);
        return r;
}

static void program_archive_free_layer(struct image_layer **layer)
{
        image_layer_free(*layer);
}

int program_archive_write(const char *path, char sha256[PROGRAM_ARCHIVE_DIGEST], struct fst_error *error)
{
        _cleanup_(program_archive_free_layer) struct image_layer *layer = image_layer_new();
        struct image_sealed sealed;
        int r = program_archive_fill(layer, error);
        if (r < 0 || (r = image_layer_seal(layer, &sealed, error)) < 0)
                return r;
        r = program_archive_save(path, &sealed.blob, error);
        if (r == 0)
                snprintf(sha256, PROGRAM_ARCHIVE_DIGEST, "%.64s", sealed.digest + strlen("sha256:"));
        image_sealed_deinit(&sealed);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- the cache */

static void program_archive_describe(struct buf *text, const char *path)
{
        struct stat st;
        if (stat(path, &st) == 0)
                buf_printf(text, "%s %lld %llu %lld.%09ld\n", path, (long long)st.st_size,
                           (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* The key of the files that the archive holds. */
static int program_archive_key(const char *program, char key[static APP_CACHE_HASH], struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list modules = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        Dl_info info;
        const int r = on_demand_list(&modules, error);
        if (r < 0)
                return r;
        program_archive_describe(&text, program);
        if (dladdr((void *)program_archive_find, &info) && info.dli_fname)
                program_archive_describe(&text, info.dli_fname);
        for (size_t i = 0; i < modules.len; i++)
                program_archive_describe(&text, modules.data[i]);
        app_cache_hash(text.data, text.len, key);
        return 0;
}

/* Runs the program that writes the archive to @path, and reads the digest that it prints. */
static int program_archive_start_writer(const char *program, const char *path, char sha256[PROGRAM_ARCHIVE_DIGEST],
                                        struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf output = BUF_INIT;
        char *words[] = {(char *)program, "yarn-am", "--write-archive", (char *)path, NULL};
        int wait_status;
        const int r =
                command_run(&(struct command){.words = words, .captured = &output, .no_input = true}, &wait_status);
        if (r < 0)
                return error_set(error, r, "%s: %s", program, strerror(-r));
        if (wait_status != 0 || strspn(buf_text(&output), "0123456789abcdef") != PROGRAM_ARCHIVE_DIGEST - 1)
                return error_set(error, -EIO,
                                 "the archive of Firesteel for the cluster cannot be built: \"%s yarn-am "
                                 "--write-archive %s\" ended with status %d (run it to see why)",
                                 program, path, WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
        snprintf(sha256, PROGRAM_ARCHIVE_DIGEST, "%.*s", PROGRAM_ARCHIVE_DIGEST - 1, output.data);
        return 0;
}

/* Makes @link point to the archive with this digest. Another process may do the same at once. */
static int program_archive_publish(const char *folder, const char *built, const char *sha256, const char *link,
                                   struct fst_error *error)
{
        char id[UUID_TEXT];
        uuid_draw(id);
        _cleanup_free_ char *target = mem_printf("yarn-%s" ARCHIVE_SUFFIX, sha256);
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, target);
        _cleanup_free_ char *fresh = mem_printf("%s/yarn-%s", folder, id);
        if (rename(built, path) < 0)
                return error_errno(error, "%s", path);
        if (symlink(target, fresh) < 0)
                return error_errno(error, "%s", fresh);
        return rename(fresh, link) < 0 ? error_errno(error, "%s", link) : 0;
}

static int program_archive_build(const char *program, const char *folder, const char *link, struct fst_error *error)
{
        char id[UUID_TEXT], sha256[PROGRAM_ARCHIVE_DIGEST];
        uuid_draw(id);
        _cleanup_free_ char *path = mem_printf("%s/yarn-%s" ARCHIVE_SUFFIX, folder, id);
        log_info("Client", "Building the archive of Firesteel for the cluster, once for this build");
        int r = program_archive_start_writer(program, path, sha256, error);
        r = r < 0 ? r : program_archive_publish(folder, path, sha256, link, error);
        if (r < 0)
                unlink(path);
        return r;
}

/* Reads the link. False: there is no archive yet. */
static bool program_archive_read_link(const char *folder, const char *link, struct program_archive *out)
{
        char target[128];
        const size_t before = strlen("yarn-");
        const ssize_t n = readlink(link, target, sizeof(target) - 1);
        if (n != (ssize_t)(before + PROGRAM_ARCHIVE_DIGEST - 1 + strlen(ARCHIVE_SUFFIX)))
                return false;
        target[n] = '\0';
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, target);
        if (access(path, R_OK) < 0)
                return false;
        snprintf(out->sha256, sizeof(out->sha256), "%.*s", PROGRAM_ARCHIVE_DIGEST - 1, target + before);
        out->path = steal(path);
        return true;
}

static int program_archive_search(const char *local_dir, struct program_archive *out, struct fst_error *error)
{
        _cleanup_(app_cache_deinit) struct app_cache cache = {0};
        _cleanup_free_ char *program = program_find();
        char key[APP_CACHE_HASH];
        if (!program)
                return error_set(error, -ENOENT,
                                 "the program firesteel is not found: install it beside libfiresteel.so");
        int r = app_cache_init(&cache, local_dir, error);
        if (r < 0 || (r = program_archive_key(program, key, error)) < 0)
                return r;
        _cleanup_free_ char *link = mem_printf("%s/yarn-%s", cache.folder, key);
        if (program_archive_read_link(cache.folder, link, out))
                return 0;
        r = program_archive_build(program, cache.folder, link, error);
        if (r < 0)
                return r;
        return program_archive_read_link(cache.folder, link, out)
                       ? 0
                       : error_set(error, -EIO, "%s is gone after it was written", link);
}

/* The archive that was found last. The lock also lets only one thread of the process build an archive. */
static struct {
        pthread_mutex_t lock;
        char *local_dir; /* the argument of program_archive_find */
        struct program_archive archive;
        int64_t until_ns;
} found_archive = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool found_archive_is_valid(const char *local_dir)
{
        return found_archive.archive.path && now_ns() < found_archive.until_ns &&
               strcmp(found_archive.local_dir, local_dir) == 0 && access(found_archive.archive.path, R_OK) == 0;
}

static int found_archive_update(const char *local_dir, struct fst_error *error)
{
        struct program_archive fresh = {0};
        const int r = program_archive_search(*local_dir ? local_dir : NULL, &fresh, error);
        if (r < 0)
                return r;
        program_archive_deinit(&found_archive.archive);
        free(found_archive.local_dir);
        found_archive.archive = fresh;
        found_archive.local_dir = mem_strdup(local_dir);
        found_archive.until_ns = now_ns() + ms_to_ns(MEMORY_MS);
        return 0;
}

int program_archive_find(const char *local_dir, struct program_archive *out, struct fst_error *error)
{
        const char *directory = local_dir ? local_dir : "";
        pthread_mutex_lock(&found_archive.lock);
        const int r = found_archive_is_valid(directory) ? 0 : found_archive_update(directory, error);
        if (r == 0) {
                *out = found_archive.archive;
                out->path = mem_strdup(found_archive.archive.path);
        }
        pthread_mutex_unlock(&found_archive.lock);
        return r;
}

int program_archive_store(const struct fst_conf *conf, const struct cluster_folder *folder, struct local_resource *out,
                          struct fst_error *error)
{
        _cleanup_(program_archive_deinit) struct program_archive archive = {0};
        int r = program_archive_find(conf_get_value(conf, "spark.local.dir"), &archive, error);
        if (r < 0)
                return r;
        _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
        r = cluster_file_store(folder, archive.path, archive.sha256, ARCHIVE_SUFFIX, out, &why);
        if (r < 0)
                return error_set(error, r, "%s%s", error_message(&why),
                                 r == -EACCES ? " (set spark.firesteel.yarn.cacheDir to a directory that you may write)"
                                              : "");
        out->link = mem_strdup(YARN_PROGRAM_LINK);
        out->archive = true;
        return 0;
}
