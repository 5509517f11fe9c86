/*
 * See oci_archive.h. Supports the tar that docker, podman, skopeo and Firesteel write for a layout: regular,
 * uncompressed files with short names. Sizes are checked against the file's length.
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

/* The header fields in use. See POSIX, pax, "ustar interchange format". */
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

/* Returns 0, -ENOENT, or -EBADMSG if the file is not a tar. */
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

static int oci_archive_no_layout(const char *path, const char *why, struct fst_error *error)
{
        return error_set(
                error, -EINVAL,
                "%s is not an archive of one image as 'firesteel image build' writes it: %s. Push an archive of docker save "
                "with docker push, or with skopeo copy docker-archive:FILE docker://NAME",
                path, why);
}

int oci_archive_blob(const struct oci_archive *a, const char *digest, struct oci_part *out, struct fst_error *error)
{
        char found[IMAGE_DIGEST];
        struct oci_part part;
        if (!text_starts_with(digest, "sha256:") || strlen(digest) != IMAGE_DIGEST - 1 ||
            digest[7 + strspn(digest + 7, "0123456789abcdef")])
                return error_set(error, -EINVAL, "%s: '%s' is not a digest", a->path, digest);
        _cleanup_free_ char *name = mem_printf("blobs/sha256/%s", digest + 7);
        int r = oci_archive_find(a, name, &part);
        if (r < 0)
                return error_set(error, r, "%s does not contain %s", a->path, name);
        r = image_digest(part.data, part.len, found, error);
        if (r < 0)
                return r;
        if (strcmp(found, digest) != 0)
                return error_set(error, -EBADMSG, "%s is damaged: %s has the digest %s", a->path, name, found);
        *out = part;
        return 0;
}

static char *oci_archive_copy_text(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));
        return text ? mem_strdup(text) : NULL;
}

static int oci_archive_read_index(struct oci_archive *a, struct fst_error *error)
{
        struct oci_part part;
        int r = a->map ? oci_archive_find(a, "index.json", &part) : -EBADMSG;
        if (r != 0)
                return oci_archive_no_layout(a->path, r == -ENOENT ? "it has no index.json" : "it is not a tar", error);
        json_t *index = json_loadb(part.data, part.len, 0, NULL);
        json_t *manifests = json_object_get(index, "manifests"), *first = json_array_get(manifests, 0);
        a->digest = oci_archive_copy_text(first, "digest");
        a->type = oci_archive_copy_text(first, "mediaType");
        a->name = oci_archive_copy_text(json_object_get(first, "annotations"), "io.containerd.image.name");
        size_t n = json_array_size(manifests);
        json_decref(index);
        if (n != 1 || !a->digest || !a->type)
                return oci_archive_no_layout(a->path, n > 1 ? "it has several images" : "its index.json has no image",
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
                r = oci_archive_no_layout(path, "it is not a file, or it is empty", error);
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
