/*
 * References in values; see substitute.h.
 *
 * The chain of references being resolved is on the stack, so that walking it finds a circle. The limits exist because
 * users write the values: twenty lines of `a=${b}${b}` would otherwise produce 1 MiB of text, forty lines 1 TiB.
 */
#include "conf/substitute.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <ctype.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_DEPTH 64
#define MAX_LENGTH (1u << 20)

struct reference_chain {
        const struct reference_chain *outer;
        const char *name; /* as written, with its prefix */
        int depth;
};

static int substitute_expand(const struct fst_conf *conf, const char *text, const struct reference_chain *chain,
                             struct buf *out, struct fst_error *error);

/* Returns a copy of a system property, or NULL. */
static char *substitute_system_property(const struct fst_conf *conf, const char *name)
{
        struct utsname uts;
        if (strncmp(name, "spark.", 6) == 0) {
                const char *value = conf_get_raw(conf, name);
                return value ? mem_strdup(value) : NULL;
        }
        if (strcmp(name, "user.dir") == 0)
                return getcwd(NULL, 0);
        if (strcmp(name, "java.io.tmpdir") == 0)
                return mem_strdup("/tmp");
        if (strcmp(name, "file.separator") == 0)
                return mem_strdup("/");
        if (strcmp(name, "path.separator") == 0)
                return mem_strdup(":");
        if (strncmp(name, "os.", 3) == 0 && uname(&uts) == 0) {
                if (strcmp(name, "os.name") == 0)
                        return mem_strdup(uts.sysname);
                if (strcmp(name, "os.arch") == 0) /* Java's name for the machine */
                        return mem_strdup(strcmp(uts.machine, "x86_64") == 0 ? "amd64" : uts.machine);
        }
        bool wants_name = strcmp(name, "user.name") == 0, wants_home = strcmp(name, "user.home") == 0;
        if (wants_name || wants_home) {
                const char *value = getenv(wants_name ? "USER" : "HOME");
                struct passwd entry, *found = NULL;
                char text[1024];
                if (!value && getpwuid_r(geteuid(), &entry, text, sizeof(text), &found) == 0 && found)
                        value = wants_name ? found->pw_name : found->pw_dir;
                return value ? mem_strdup(value) : NULL;
        }
        return NULL;
}

/* Returns a copy of the value of @reference, not yet expanded, or NULL. */
static char *substitute_find(const struct fst_conf *conf, const char *reference)
{
        if (strncmp(reference, "spark.", 6) == 0) {
                const char *value = conf_get_value(conf, reference);
                return value ? mem_strdup(value) : NULL;
        }
        if (strncmp(reference, "env:", 4) == 0) {
                const char *value = getenv(reference + 4);
                return value ? mem_strdup(value) : NULL;
        }
        if (strncmp(reference, "system:", 7) == 0)
                return substitute_system_property(conf, reference + 7);
        return NULL;
}

/* Returns the length of the reference that starts at @text ("${"), without "}", or 0 if there is none. */
static size_t substitute_reference_length(const char *text)
{
        size_t n = 2;
        while (text[n] && !isspace((unsigned char)text[n]) && (text[n] != '}' || n == 2))
                n++;
        return text[n] == '}' ? n : 0;
}

static int substitute_expand_reference(const struct fst_conf *conf, const char *text, size_t length,
                                       const struct reference_chain *outer, struct buf *out, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_strndup(text + 2, length - 2);
        struct reference_chain chain = {outer, name, outer ? outer->depth + 1 : 1};
        for (const struct reference_chain *c = outer; c; c = c->outer)
                if (strcmp(c->name, name) == 0)
                        return error_set(error, -EINVAL, "Circular reference in ${%s}: %s", outer->name, name);
        if (chain.depth > MAX_DEPTH)
                return error_set(error, -EINVAL, "references are nested deeper than %d at ${%s}", MAX_DEPTH, name);
        _cleanup_free_ char *value = substitute_find(conf, name);
        if (!value) {
                buf_append(out, text, length + 1);
                return 0;
        }
        return substitute_expand(conf, value, &chain, out, error);
}

static int substitute_expand(const struct fst_conf *conf, const char *text, const struct reference_chain *chain,
                             struct buf *out, struct fst_error *error)
{
        while (*text) {
                size_t plain = strcspn(text, "$");
                size_t length =
                        text[plain] == '$' && text[plain + 1] == '{' ? substitute_reference_length(text + plain) : 0;
                if (!length && text[plain])
                        plain++; /* a dollar outside of a reference */
                if (plain > MAX_LENGTH || out->len > MAX_LENGTH - plain)
                        return error_set(error, -EINVAL, "the value with its references is longer than 1 MiB");
                buf_append(out, text, plain);
                text += plain;
                if (!length)
                        continue;
                int r = substitute_expand_reference(conf, text, length, chain, out, error);
                if (r < 0)
                        return r;
                text += length + 1;
        }
        return 0;
}

int substitute(const struct fst_conf *conf, const char *text, char **out, struct fst_error *error)
{
        if (!strstr(text, "${")) {
                *out = mem_strdup(text);
                return 0;
        }
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        int r = substitute_expand(conf, text, NULL, &b, error);
        if (r < 0)
                return r;
        *out = buf_steal(&b);
        return 0;
}
