/* See image_layer.h. Sealing a layer sorts its entries by path, so a directory precedes its contents. */
#include "image/image_layer.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/fs.h"
#include "image/elf_strip.h"
#include "image/image_digest.h"
#include "image/tar_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* windowBits for the gzip format */
#define GZIP_LEVEL 4 /* 2 % larger than zlib's default of 6, for less than half of its time */
#define MAX_FILE ((off_t)1 << 30)

struct layer_entry {
        char *path;
        mode_t mode;
        int user;
        struct buf data; /* content, or a link's target */
        bool implied;    /* a directory that was not added explicitly */
};

struct image_layer {
        VEC(struct layer_entry) entries;
};

struct image_layer *image_layer_new(void)
{
        return new0(struct image_layer);
}

void image_layer_free(struct image_layer *layer)
{
        if (!layer)
                return;
        for (size_t i = 0; i < layer->entries.len; i++) {
                free(layer->entries.data[i].path);
                buf_deinit(&layer->entries.data[i].data);
        }
        vec_deinit(&layer->entries);
        free(layer);
}

static struct layer_entry *image_layer_find(const struct image_layer *layer, const char *path, size_t n)
{
        for (size_t i = 0; i < layer->entries.len; i++) {
                struct layer_entry *e = &layer->entries.data[i];
                if (strlen(e->path) == n && memcmp(e->path, path, n) == 0)
                        return e;
        }
        return NULL;
}

bool image_layer_has(const struct image_layer *layer, const char *path)
{
        return image_layer_find(layer, path, strlen(path));
}

static struct buf *image_layer_add(struct image_layer *layer, const char *path, mode_t mode, int user)
{
        for (const char *slash = path; (slash = strchr(slash + 1, '/'));)
                if (!image_layer_find(layer, path, (size_t)(slash - path)))
                        vec_push(&layer->entries,
                                 (struct layer_entry){.path = mem_strndup(path, (size_t)(slash - path)),
                                                      .mode = S_IFDIR | 0755,
                                                      .implied = true});
        struct layer_entry *implied = S_ISDIR(mode) ? image_layer_find(layer, path, strlen(path)) : NULL;
        if (implied && implied->implied) {
                implied->implied = false;
                implied->mode = mode;
                implied->user = user;
                return &implied->data;
        }
        vec_push(&layer->entries, (struct layer_entry){.path = mem_strdup(path), .mode = mode, .user = user});
        return &layer->entries.data[layer->entries.len - 1].data;
}

void image_layer_folder(struct image_layer *layer, const char *path, unsigned mode, int user)
{
        image_layer_add(layer, path, S_IFDIR | mode, user);
}

void image_layer_link(struct image_layer *layer, const char *path, const char *target)
{
        buf_puts(image_layer_add(layer, path, S_IFLNK | 0777, 0), target);
}

void image_layer_text(struct image_layer *layer, const char *path, unsigned mode, const char *text)
{
        image_layer_bytes(layer, path, mode, text, strlen(text));
}

void image_layer_bytes(struct image_layer *layer, const char *path, unsigned mode, const void *data, size_t n)
{
        buf_append(image_layer_add(layer, path, S_IFREG | mode, 0), data, n);
}

static int image_layer_read_whole(int fd, const char *path, size_t size, struct buf *out, struct fst_error *error)
{
        buf_reserve(out, size);
        while (out->len < size) {
                ssize_t n = read(fd, out->data + out->len, size - out->len);
                if (n < 0)
                        return error_errno(error, "%s", path);
                if (n == 0)
                        return error_set(error, -EIO, "%s was truncated while it was read", path);
                out->len += (size_t)n;
        }
        return 0;
}

int image_layer_file(struct image_layer *layer, const char *path, const char *from, bool strip, struct fst_error *error)
{
        struct stat st;
        int fd = open(from, O_RDONLY | O_CLOEXEC), r = 0;
        if (fd < 0 || fstat(fd, &st) < 0)
                r = error_errno(error, "%s", from);
        else if (!S_ISREG(st.st_mode))
                r = error_set(error, -EINVAL, "%s is not a regular file", from);
        else if (st.st_size > MAX_FILE)
                r = error_set(error, -EFBIG, "%s is larger than 1 GiB: keep data outside of the image", from);
        if (r == 0) {
                struct buf content = BUF_INIT;
                r = image_layer_read_whole(fd, from, (size_t)st.st_size, &content, error);
                if (r == 0 && strip)
                        content.len = elf_strip(content.data, content.len);
                if (r == 0)
                        *image_layer_add(layer, path, S_IFREG | (st.st_mode & S_IXUSR ? 0755 : 0644), 0) = content;
                else
                        buf_deinit(&content);
        }
        if (fd >= 0)
                close(fd);
        return r;
}

static int image_layer_compare_paths(const void *a, const void *b)
{
        return strcmp(((const struct layer_entry *)a)->path, ((const struct layer_entry *)b)->path);
}

static int image_layer_compress_layer(const struct buf *tar, struct buf *out, struct fst_error *error)
{
        z_stream z = {.next_in = (Bytef *)tar->data, .avail_in = (uInt)tar->len};
        if (tar->len > UINT32_MAX)
                return error_set(error, -EFBIG, "a layer of %zu bytes is larger than 4 GiB", tar->len);
        if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
                return error_set(error, -ENOMEM, "not enough memory to compress a layer");
        size_t most = deflateBound(&z, tar->len);
        buf_reserve(out, most);
        z.next_out = (Bytef *)out->data;
        z.avail_out = (uInt)most;
        int r = deflate(&z, Z_FINISH);
        out->len = z.total_out;
        deflateEnd(&z);
        return r == Z_STREAM_END ? 0 : error_set(error, -EIO, "cannot compress a layer");
}

static int image_layer_duplicate_error(const struct layer_entry *e, struct fst_error *error)
{
        return error_set(error, -EINVAL, "two files have the path %s in the image", e->path);
}

static int image_layer_unpack_file(const struct layer_entry *e, const char *path, struct fst_error *error)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, e->mode & 07777);
        if (fd < 0)
                return error_errno(error, "%s", path);
        int r = write_all(fd, buf_text(&e->data), e->data.len);
        if (r == 0 && fchmod(fd, e->mode & 07777) < 0)
                r = -errno;
        if (close(fd) < 0 && r == 0)
                r = -errno;
        return r < 0 ? error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

static int image_layer_unpack_entry(const struct layer_entry *e, const char *root, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s%s", root, e->path);
        int r = 0;
        if (S_ISREG(e->mode))
                r = image_layer_unpack_file(e, path, error);
        else if (S_ISLNK(e->mode))
                r = symlink(buf_text(&e->data), path) < 0 ? error_errno(error, "%s", path) : 0;
        else if ((mkdir(path, 0755) < 0 && errno != EEXIST) || (!e->implied && chmod(path, e->mode & 07777) < 0))
                r = error_errno(error, "%s", path);
        if (r == 0 && geteuid() == 0 && lchown(path, (uid_t)e->user, 0) < 0)
                r = error_errno(error, "%s", path);
        return r;
}

int image_layer_unpack(struct image_layer *layer, const char *root, struct image_sealed *out, struct fst_error *error)
{
        struct image_sealed sealed = {0};
        int r = 0;
        qsort(layer->entries.data, layer->entries.len, sizeof(*layer->entries.data), image_layer_compare_paths);
        for (size_t i = 0; i < layer->entries.len && r == 0; i++) {
                const struct layer_entry *e = &layer->entries.data[i];
                r = i > 0 && strcmp(e->path, e[-1].path) == 0 ? image_layer_duplicate_error(e, error)
                                                              : image_layer_unpack_entry(e, root, error);
                sealed.files += S_ISREG(e->mode);
                sealed.content += S_ISREG(e->mode) ? e->data.len : 0;
        }
        if (r == 0)
                *out = sealed;
        return r;
}

int image_layer_seal(struct image_layer *layer, struct image_sealed *out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf tar = BUF_INIT;
        struct image_sealed sealed = {0};
        struct tar_writer w;
        qsort(layer->entries.data, layer->entries.len, sizeof(*layer->entries.data), image_layer_compare_paths);
        int r = tar_writer_init(&w, &tar, error);
        if (r)
                return r;
        for (size_t i = 0; i < layer->entries.len && r == 0; i++) {
                struct layer_entry *e = &layer->entries.data[i];
                if (i > 0 && strcmp(e->path, e[-1].path) == 0)
                        r = image_layer_duplicate_error(e, error);
                else
                        r = tar_writer_add(&w, e->path + 1, e->mode, e->user, buf_text(&e->data), e->data.len, error);
                sealed.files += S_ISREG(e->mode);
                sealed.content += S_ISREG(e->mode) ? e->data.len : 0;
        }
        if (r == 0)
                r = tar_writer_end(&w, error);
        tar_writer_deinit(&w);
        if (r == 0)
                r = image_digest(tar.data, tar.len, sealed.diff_id, error);
        if (r == 0)
                r = image_layer_compress_layer(&tar, &sealed.blob, error);
        if (r == 0)
                r = image_digest(sealed.blob.data, sealed.blob.len, sealed.digest, error);
        if (r)
                image_sealed_deinit(&sealed);
        else
                *out = sealed;
        return r;
}

void image_sealed_deinit(struct image_sealed *sealed)
{
        buf_deinit(&sealed->blob);
}
