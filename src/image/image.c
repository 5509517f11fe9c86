/* See image.h. */
#include "image/image.h"

#include "base/error.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"
#include "base/string_prefix.h"
#include "base/string_list.h"
#include "base/fs.h"
#include "image/image_digest.h"
#include "image/image_layer.h"
#include "image/image_name.h"
#include "image/listed_files.h"
#include "image/program_files.h"
#include "image/python_files.h"
#include "image/r_files.h"
#include "image/tar_writer.h"
#include "image/zone_files.h"

#include <firesteel/types.h>

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LAYERS 5
#define LAYER_TYPE "application/vnd.oci.image.layer.v1.tar+gzip"
#define CONFIG_TYPE "application/vnd.oci.image.config.v1+json"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define BEGINNING "1970-01-01T00:00:00Z" /* the fixed creation time of reproducible files */

struct image {
        const struct image_options *options;
        struct image_name name;
        struct image_sealed layers[LAYERS];
        const char *history[LAYERS]; /* what each layer holds */
        size_t n_layers;
        struct string_list environment; /* variables that interpreters need */
        struct image_report report;
};

/* ----------------------------------------------------------------------------------------------------------- layers */

/* Where systems keep CA certificates. The image has them where Debian's OpenSSL and libcurl look. */
static int image_add_certificates(struct image_layer *layer, struct fst_error *error)
{
        static const char *const bundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                              "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
        for (size_t i = 0; i < ARRAY_SIZE(bundles); i++)
                if (access(bundles[i], R_OK) == 0)
                        return image_layer_file(layer, bundles[0], bundles[i], false, error);
        return 0;
}

static int image_add_library(struct image_layer *layer, const char *folder, const char *path, struct fst_error *error)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *to = mem_printf("%s%s", folder, slash);
        return image_layer_file(layer, to, path, true, error);
}

/* Adds the system files that programs of this machine's C library need. */
static int image_make_system(struct image *image, const struct program_files *files, struct image_layer *layer,
                             struct fst_error *error)
{
        _cleanup_free_ char *users =
                mem_printf("root:x:0:0:root:/root:/bin/false\nspark:x:%d:0:spark:/opt/spark/work-dir:/bin/false\n",
                           image->options->user ? image->options->user : IMAGE_USER);
        /* An unknown user adds an entry for itself, so group 0 may write (OpenShift). */
        image_layer_text(layer, "/etc/passwd", 0664, users);
        image_layer_text(layer, "/etc/group", 0664, "root:x:0:\n");
        image_layer_text(layer, "/etc/nsswitch.conf", 0644, "passwd: files\ngroup: files\nhosts: files dns\n");
        image_layer_folder(layer, "/tmp", 01777, 0);
        image_layer_folder(layer, "/var/tmp", 01777, 0);
        int r = image_layer_file(layer, files->loader, files->loader, true, error);
        for (size_t i = 0; i < files->libraries.len && r == 0; i++)
                r = image_add_library(layer, files->folder, files->libraries.data[i], error);
        image->report.libraries = files->libraries.len;
        r = r ? r : image_add_certificates(layer, error);
        return r ? r : zone_files_add(layer, ZONE_FOLDER, error);
}

static int image_make_firesteel(struct image *image, const struct program_files *files, struct image_layer *layer,
                                struct fst_error *error)
{
        static const char *const names[] = {"/opt/spark/bin/spark-submit", "/opt/spark/bin/spark-class",
                                            "/opt/entrypoint.sh", "/opt/decom.sh"};
        _cleanup_free_ char *library = mem_printf("%s/libfiresteel.so.%d", files->folder, FST_ABI);
        _cleanup_free_ char *modules = mem_printf("%s/firesteel", files->folder);
        int r = image_layer_file(layer, "/opt/spark/bin/firesteel", files->program, true, error);
        if (r == 0 && files->library)
                r = image_layer_file(layer, library, files->library, true, error);
        for (size_t i = 0; i < files->modules.len && r == 0; i++)
                r = image_add_library(layer, modules, files->modules.data[i], error);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                image_layer_link(layer, names[i], "/opt/spark/bin/firesteel");
        image_layer_folder(layer, "/opt/spark/conf", 0755, 0);
        image_layer_folder(layer, "/opt/spark/work-dir", 0775, image->options->user);
        return r;
}

static int image_add_tree(struct image_layer *layer, const char *from, const char *to, struct fst_error *error);

static int image_add_folder(struct image_layer *layer, const char *from, const char *to, struct fst_error *error)
{
        struct dirent **names;
        int n = scandir(from, &names, NULL, alphasort), r = n < 0 ? error_errno(error, "%s", from) : 0;
        image_layer_folder(layer, to, 0755, 0);
        for (int i = 0; i < n; i++) {
                const char *name = names[i]->d_name;
                if (r == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
                        _cleanup_free_ char *inner_from = mem_printf("%s/%s", from, name);
                        _cleanup_free_ char *inner_to = mem_printf("%s/%s", to, name);
                        r = image_add_tree(layer, inner_from, inner_to, error);
                }
                free(names[i]);
        }
        if (n >= 0)
                free(names);
        return r;
}

/* Links are followed, because their targets may be outside the image. */
static int image_add_tree(struct image_layer *layer, const char *from, const char *to, struct fst_error *error)
{
        struct stat st;
        if (stat(from, &st) < 0)
                return error_errno(error, "%s", from);
        if (strlen(to) > PATH_MAX / 2)
                return error_set(error, -ELOOP, "%s contains a link to a directory that contains it", from);
        return S_ISDIR(st.st_mode) ? image_add_folder(layer, from, to, error)
                                   : image_layer_file(layer, to, from, false, error);
}

static int image_make_added(struct image *image, struct image_layer *layer, struct fst_error *error)
{
        const struct image_options *o = image->options;
        int r = 0;
        for (size_t i = 0; i < o->n_added && r == 0; i++) {
                const char *to = o->added[i].to;
                if (to[0] != '/' || to[1] == '\0' || strstr(to, "/../") || text_ends_with(to, "/.."))
                        return error_set(error, -EINVAL,
                                         "%s: '%s' is not a valid path in the image: write an absolute path",
                                         o->added[i].from, to);
                r = image_add_tree(layer, o->added[i].from, to, error);
        }
        return r;
}

static int image_seal(struct image *image, struct image_layer *layer, const char *history, struct fst_error *error)
{
        struct image_sealed *sealed = &image->layers[image->n_layers];
        int r = image->options->root ? image_layer_unpack(layer, image->options->root, sealed, error)
                                     : image_layer_seal(layer, sealed, error);
        if (r)
                return r;
        image->history[image->n_layers] = history;
        image->n_layers++;
        image->report.files += sealed->files;
        image->report.compressed += sealed->blob.len;
        image->report.uncompressed += sealed->content;
        return 0;
}

static void image_free_layer(struct image_layer **layer)
{
        image_layer_free(*layer);
}

/* Adds a layer with an interpreter of this machine, which @find lists. */
static int image_add_interpreter(struct image *image, const struct program_files *files, struct image_layer *system,
                                 int (*find)(struct listed_files *, const char *, struct fst_error *),
                                 const char *interpreter, const char *history, struct fst_error *error)
{
        _cleanup_(image_free_layer) struct image_layer *layer = image_layer_new();
        _cleanup_(listed_files_deinit) struct listed_files listed = LISTED_FILES_INIT;
        int r;
        if ((r = listed_files_init(&listed, error)) || (r = find(&listed, interpreter, error)) ||
            (r = listed_files_add(&listed, layer, system, files->folder, error)))
                return r;
        for (size_t i = 0; i < listed.environment.len; i++)
                string_list_add(&image->environment, listed.environment.data[i]);
        return image_seal(image, layer, history, error);
}

static int image_make_layers(struct image *image, struct fst_error *error)
{
        _cleanup_(program_files_deinit) struct program_files files = PROGRAM_FILES_INIT;
        _cleanup_(image_free_layer) struct image_layer *system = image_layer_new();
        _cleanup_(image_free_layer) struct image_layer *firesteel = image_layer_new();
        _cleanup_(image_free_layer) struct image_layer *added = image_layer_new();
        const struct image_options *o = image->options;
        int r;
        if ((r = program_files_find(&files, error)) || (r = image_make_system(image, &files, system, error)) ||
            (r = image_make_firesteel(image, &files, firesteel, error)) ||
            (r = image_make_added(image, added, error)) ||
            (r = image_seal(image, system, "the C library and the libraries", error)) ||
            (o->python && (r = image_add_interpreter(image, &files, system, python_files_find, o->python,
                                                     "Python and its packages", error))) ||
            (o->r &&
             (r = image_add_interpreter(image, &files, system, r_files_find, o->r, "R and its packages", error))) ||
            (r = image_seal(image, firesteel, "Firesteel " FIRESTEEL_VERSION, error)))
                return r;
        return o->n_added ? image_seal(image, added, "added files", error) : 0;
}

/* --------------------------------------------------------------------------------------------------------- metadata */

/* In the form of Go's GOARCH. */
static const char *image_architecture(const struct utsname *machine)
{
        static const char *const names[][2] = {
                {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64le", "ppc64le"}, {"riscv64", "riscv64"}};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(machine->machine, names[i][0]) == 0)
                        return names[i][1];
        return machine->machine;
}

static char *image_dump(json_t *json)
{
        char *text = json_dumps(json, JSON_COMPACT);
        json_decref(json);
        if (!text)
                abort();
        return text;
}

static char *image_make_config(const struct image *image)
{
        _cleanup_free_ char *user = mem_printf("%d", image->options->user);
        struct utsname machine;
        json_t *diffs = json_array(), *steps = json_array();
        json_t *environment = json_pack("[s]", "PATH=/opt/spark/bin:/usr/local/bin:/usr/bin:/bin");
        uname(&machine);
        for (size_t i = 0; i < image->environment.len; i++)
                json_array_append_new(environment, json_string(image->environment.data[i]));
        if (image->environment.len)
                json_array_append_new(environment, json_string("SPARK_HOME=/opt/spark"));
        for (size_t i = 0; i < image->n_layers; i++) {
                json_array_append_new(diffs, json_string(image->layers[i].diff_id));
                json_array_append_new(steps,
                                      json_pack("{ss,ss}", "created", BEGINNING, "created_by", image->history[i]));
        }
        return image_dump(json_pack(
                "{ss,ss,ss,s{ss,so,s[s],ss,s{ss}},s{ss,so},so}", "created", BEGINNING, "architecture",
                image_architecture(&machine), "os", "linux", "config", "User", user, "Env", environment, "Entrypoint",
                "/opt/entrypoint.sh", "WorkingDir", "/opt/spark/work-dir", "Labels", "org.opencontainers.image.version",
                FIRESTEEL_VERSION, "rootfs", "type", "layers", "diff_ids", diffs, "history", steps));
}

static char *image_make_manifest(const struct image *image, const char *config_digest, size_t config_len)
{
        json_t *layers = json_array();
        for (size_t i = 0; i < image->n_layers; i++) {
                const struct image_sealed *l = &image->layers[i];
                json_array_append_new(layers, json_pack("{ss,ss,sI}", "mediaType", LAYER_TYPE, "digest", l->digest,
                                                        "size", (json_int_t)l->blob.len));
        }
        return image_dump(json_pack("{si,ss,s{ss,ss,sI},so}", "schemaVersion", 2, "mediaType", MANIFEST_TYPE, "config",
                                    "mediaType", CONFIG_TYPE, "digest", config_digest, "size", (json_int_t)config_len,
                                    "layers", layers));
}

static char *image_make_index(const struct image *image, const char *digest, size_t len)
{
        return image_dump(json_pack("{si,ss,s[{ss,ss,sI,s{ss,ss}}]}", "schemaVersion", 2, "mediaType",
                                    "application/vnd.oci.image.index.v1+json", "manifests", "mediaType", MANIFEST_TYPE,
                                    "digest", digest, "size", (json_int_t)len, "annotations",
                                    "io.containerd.image.name", image->name.full, "org.opencontainers.image.ref.name",
                                    image->name.tag));
}

static char *image_blob_path(const char *digest)
{
        return mem_printf("blobs/sha256/%s", strchr(digest, ':') + 1);
}

/* docker's own manifest, which docker load and podman load read first. */
static char *image_make_docker_list(const struct image *image, const char *config_digest)
{
        _cleanup_free_ char *config = image_blob_path(config_digest);
        json_t *layers = json_array();
        for (size_t i = 0; i < image->n_layers; i++) {
                _cleanup_free_ char *path = image_blob_path(image->layers[i].digest);
                json_array_append_new(layers, json_string(path));
        }
        return image_dump(
                json_pack("[{ss,s[s],so}]", "Config", config, "RepoTags", image->name.shown, "Layers", layers));
}

/* ---------------------------------------------------------------------------------------------------------- archive */

static int image_put_text(struct tar_writer *w, const char *name, const char *text, struct fst_error *error)
{
        return tar_writer_add(w, name, S_IFREG | 0644, 0, text, strlen(text), error);
}

static int image_put_blob(struct tar_writer *w, const char *digest, const void *data, size_t n, struct fst_error *error)
{
        _cleanup_free_ char *path = image_blob_path(digest);
        return tar_writer_add(w, path, S_IFREG | 0644, 0, data, n, error);
}

static int image_put_all(struct image *image, struct tar_writer *w, struct fst_error *error)
{
        char config_digest[IMAGE_DIGEST], digest[IMAGE_DIGEST];
        _cleanup_free_ char *config = image_make_config(image);
        int r = image_digest(config, strlen(config), config_digest, error);
        if (r)
                return r;
        _cleanup_free_ char *manifest = image_make_manifest(image, config_digest, strlen(config));
        if ((r = image_digest(manifest, strlen(manifest), digest, error)))
                return r;
        _cleanup_free_ char *index = image_make_index(image, digest, strlen(manifest));
        _cleanup_free_ char *list = image_make_docker_list(image, config_digest);
        snprintf(image->report.digest, sizeof(image->report.digest), "%s", digest);
        if ((r = image_put_text(w, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", error)) ||
            (r = image_put_text(w, "index.json", index, error)) ||
            (r = image_put_text(w, "manifest.json", list, error)) ||
            (r = image_put_blob(w, config_digest, config, strlen(config), error)) ||
            (r = image_put_blob(w, digest, manifest, strlen(manifest), error)))
                return r;
        for (size_t i = 0; i < image->n_layers && r == 0; i++)
                r = image_put_blob(w, image->layers[i].digest, image->layers[i].blob.data, image->layers[i].blob.len,
                                   error);
        return r;
}

static int image_make_archive(struct image *image, struct buf *archive, struct fst_error *error)
{
        struct tar_writer w;
        int r = image_make_layers(image, error);
        if (r || (r = tar_writer_init(&w, archive, error)))
                return r;
        r = image_put_all(image, &w, error);
        if (r == 0)
                r = tar_writer_end(&w, error);
        tar_writer_deinit(&w);
        return r;
}

static int image_cannot_write(const struct image *image, int r, struct fst_error *error)
{
        return error_set(error, r, "cannot write %s: %s", image->options->output, strerror(-r));
}

/* Writes to a file beside @output, named @temporary. Creating it first detects errors before the work begins. */
static int image_write_archive(struct image *image, const char *temporary, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf archive = BUF_INIT;
        int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), r;
        if (fd < 0)
                return image_cannot_write(image, -errno, error);
        r = image_make_archive(image, &archive, error);
        int written = r == 0 ? write_all(fd, archive.data, archive.len) : 0;
        if (close(fd) < 0 && written == 0)
                written = -errno;
        if (r == 0 && written == 0 && rename(temporary, image->options->output) < 0)
                written = -errno;
        return r ? r : written ? image_cannot_write(image, written, error) : 0;
}

static int image_build_archive(struct image *image, struct fst_error *error)
{
        _cleanup_free_ char *temporary = mem_printf("%s.%ld", image->options->output, (long)getpid());
        exit_cleanup_add(temporary);
        int r = image_write_archive(image, temporary, error);
        if (r)
                exit_cleanup_remove(temporary);
        else
                exit_cleanup_forget(temporary);
        return r;
}

/* Existing files in the directory would become part of the image. */
static int image_build_root(struct image *image, struct fst_error *error)
{
        const char *root = image->options->root;
        if (mkdir(root, 0755) < 0 && (errno != EEXIST || rmdir(root) < 0 || mkdir(root, 0755) < 0))
                return errno == ENOTEMPTY
                               ? error_set(error, -ENOTEMPTY, "%s is not empty: name a new or empty directory", root)
                               : error_errno(error, "%s", root);
        exit_cleanup_add(root);
        int r = image_make_layers(image, error);
        if (r)
                exit_cleanup_remove(root);
        else
                exit_cleanup_forget(root);
        return r;
}

int image_build(const struct image_options *options, struct image_report *report, struct fst_error *error)
{
        struct image image = {.options = options};
        int r = image_name_parse(options->name, &image.name, error);
        if (r)
                return r;
        r = options->root ? image_build_root(&image, error) : image_build_archive(&image, error);
        for (size_t i = 0; i < image.n_layers; i++)
                image_sealed_deinit(&image.layers[i]);
        image_name_deinit(&image.name);
        string_list_deinit(&image.environment);
        if (r == 0)
                *report = image.report;
        return r;
}
