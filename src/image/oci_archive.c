/*
 * See oci_archive.h. Of tar what docker, podman, skopeo and we ourselves write for a layout: regular files with short
 * names, uncompressed. Sizes are believed only as far as the file goes.
 */
#include "image/oci_archive.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "image/image_digest.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512

/* The parts of a head that matter; see POSIX, pax, "ustar interchange format". */
#define NAME_LEN 100
#define SIZE_AT 124
#define SIZE_LEN 12
#define TYPE_AT 156

static size_t oci_archive_entry_size(const char *head)
{
        char digits[SIZE_LEN + 1] = "";
        memcpy(digits, head + SIZE_AT, SIZE_LEN);
        return strtoull(digits, NULL, 8);
}

/* 0, -ENOENT, or -EBADMSG for what is no tar. */
static int oci_archive_find(const struct oci_archive *a, const char *name, struct oci_part *out)
{
        size_t n = strlen(name);
        for (size_t at = 0; at + BLOCK <= a->len && a->map[at];) {
                const char *head = a->map + at;
                size_t size = oci_archive_entry_size(head);
                if (memcmp(head + 257, "ustar", 5) != 0 || size > a->len - at - BLOCK)
                        return -EBADMSG;
                const char *own = text_starts_with(head, "./") ? head + 2 : head;
                if (n < NAME_LEN && strncmp(own, name, n + 1) == 0 && (head[TYPE_AT] == '0' || !head[TYPE_AT])) {
                        *out = (struct oci_part){head + BLOCK, size};
                        return 0;
                }
                at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
        }
        return -ENOENT;
}

static int no_layout(const char *path, const char *why, struct fst_error *error)
{
        return error_set(
                error, -EINVAL,
                "%s is no archive of one image as 'firesteel image build' writes it: %s; what docker save wrote "
                "is pushed by docker push, or by skopeo copy docker-archive:FILE docker://NAME",
                path, why);
}

int oci_archive_blob(const struct oci_archive *a, const char *digest, struct oci_part *out, struct fst_error *error)
{
        char found[IMAGE_DIGEST];
        struct oci_part part;
        if (!text_starts_with(digest, "sha256:") || strlen(digest) != IMAGE_DIGEST - 1 ||
            digest[7 + strspn(digest + 7, "0123456789abcdef")])
                return error_set(error, -EINVAL, "%s: '%s' is no digest", a->path, digest);
        _cleanup_free_ char *name = mem_printf("blobs/sha256/%s", digest + 7);
        int r = oci_archive_find(a, name, &part);
        if (r < 0)
                return error_set(error, r, "%s: %s is not in it", a->path, name);
        r = image_digest(part.data, part.len, found, error);
        if (r < 0)
                return r;
        if (strcmp(found, digest) != 0)
                return error_set(error, -EBADMSG, "%s is damaged: %s is in truth %s", a->path, name, found);
        *out = part;
        return 0;
}

static char *copy_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));
        return text ? mem_strdup(text) : NULL;
}

static int oci_archive_read_index(struct oci_archive *a, struct fst_error *error)
{
        struct oci_part part;
        int r = a->map ? oci_archive_find(a, "index.json", &part) : -EBADMSG;
        if (r != 0)
                return no_layout(a->path, r == -ENOENT ? "there is no index.json in it" : "it is no tar", error);
        json_t *index = json_loadb(part.data, part.len, 0, NULL);
        json_t *manifests = json_object_get(index, "manifests"), *first = json_array_get(manifests, 0);
        a->digest = copy_of(first, "digest");
        a->type = copy_of(first, "mediaType");
        a->name = copy_of(json_object_get(first, "annotations"), "io.containerd.image.name");
        size_t n = json_array_size(manifests);
        json_decref(index);
        if (n != 1 || !a->digest || !a->type)
                return no_layout(a->path, n > 1 ? "there are several images in it" : "its index.json names no image",
                                 error);
        return oci_archive_blob(a, a->digest, &a->manifest, error);
}

int oci_archive_parse(const char *data, size_t len, const char *path, struct oci_archive *out, struct fst_error *error)
{
        struct oci_archive a = {.path = mem_strdup(path), .map = data, .len = len};
        int r = oci_archive_read_index(&a, error);
        if (r < 0)
                oci_archive_close(&a);
        else
                *out = a;
        return r;
}

int oci_archive_open(const char *path, struct oci_archive *out, struct fst_error *error)
{
        struct stat st = {0};
        void *map = NULL;
        int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
        if (fd < 0 || fstat(fd, &st) < 0)
                r = error_errno(error, "%s", path);
        else if (!S_ISREG(st.st_mode) || st.st_size == 0)
                r = no_layout(path, "it is no file, or an empty one", error);
        else if ((map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
                r = error_errno(error, "%s", path);
        if (fd >= 0)
                close(fd);
        if (r != 0)
                return r;
        r = oci_archive_parse(map, (size_t)st.st_size, path, out, error);
        if (r < 0)
                munmap(map, (size_t)st.st_size);
        else
                out->owned = true;
        return r;
}

void oci_archive_close(struct oci_archive *a)
{
        if (a->owned)
                munmap((void *)a->map, a->len);
        free(a->path);
        free(a->name);
        free(a->type);
        free(a->digest);
        *a = (struct oci_archive){0};
}
