/* See image_name.h. The grammar is that of the distribution project's references, without digests. */
#include "image/image_name.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdbool.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define MAX_TAG 128

/* A component between slashes. */
static bool image_name_is_part(const char *text, size_t n, const char *allowed)
{
        char first[2] = {n ? text[0] : '\0', '\0'}, last[2] = {n ? text[n - 1] : '\0', '\0'};
        return n > 0 && strspn(text, allowed) >= n && strpbrk(first, LOWER UPPER) && strpbrk(last, LOWER UPPER);
}

static bool image_name_is_tag(const char *tag)
{
        size_t n = strlen(tag);
        return n > 0 && n <= MAX_TAG && strspn(tag, LOWER UPPER "_.-") == n && tag[0] != '.' && tag[0] != '-';
}

int image_name_parse(const char *text, struct image_name *out, struct fst_error *error)
{
        const char *slash = strrchr(text, '/'), *colon = strchr(slash ? slash + 1 : text, ':');
        size_t n = colon ? (size_t)(colon - text) : strlen(text), first = strcspn(text, "/");
        bool host = first < n && (memchr(text, '.', first) || memchr(text, ':', first) ||
                                  (first == 9 && memcmp(text, "localhost", 9) == 0));
        bool good = !colon || image_name_is_tag(colon + 1);
        for (size_t at = 0; at <= n && good;) {
                size_t part = strcspn(text + at, "/");
                part = at + part > n ? n - at : part;
                good = image_name_is_part(text + at, part, at == 0 && host ? LOWER UPPER ".-:" : LOWER "._-");
                at += part + 1;
        }
        if (!good)
                return error_set(error, -EINVAL,
                                 "'%s' is not a valid image name: write [HOST[:PORT]/]REPOSITORY[:TAG] in lower case",
                                 text);
        const char *tag = colon ? colon + 1 : "latest";
        *out = (struct image_name){
                .tag = mem_strdup(tag),
                .shown = mem_printf("%.*s:%s", (int)n, text, tag),
                .full = mem_printf("%s%s%.*s:%s", host ? "" : "docker.io/", !host && first >= n ? "library/" : "",
                                   (int)n, text, tag),
        };
        return 0;
}

void image_name_deinit(struct image_name *name)
{
        free(name->shown);
        free(name->full);
        free(name->tag);
        *name = (struct image_name){0};
}
