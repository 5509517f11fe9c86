/*
 * The properties of a POM. They are looked up in Ivy's order: the environment ("env.X") and system properties, the
 * parent's version and group, properties, the project's own name.
 */
#include "ivy/pom_internal.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <sys/utsname.h>

#define MAX_EXPANDED 65536 /* size of a text after expansion */
#define MAX_DEPTH 32       /* nesting of properties */
#define MAX_PUT_IN 10000   /* expansions in one text, because many short ones do not make it long */

/*
 * A version with a variable becomes a request to the repository, which reveals the variable's value. A POM's author
 * must not learn passwords, so POMs see only program locations, versions and the user's name.
 */
static bool pom_may_see_variable(const char *variable)
{
        return text_ends_with(variable, "_HOME") || text_ends_with(variable, "_VERSION") ||
               strcmp(variable, "HOME") == 0 || strcmp(variable, "USER") == 0;
}

const char *pom_system_property(struct pom_reader *r, const char *name)
{
        static struct utsname system;
        if (strncmp(name, "env.", 4) == 0)
                return pom_may_see_variable(name + 4) ? getenv(name + 4) : NULL;
        if (system.sysname[0] == '\0')
                uname(&system);
        if (strcmp(name, "os.name") == 0)
                return system.sysname;
        if (strcmp(name, "os.version") == 0)
                return system.release;
        if (strcmp(name, "os.arch") == 0)
                return strcmp(system.machine, "x86_64") == 0 ? "amd64" : system.machine;
        if (strcmp(name, "user.home") == 0)
                return getenv("HOME");
        if (strcmp(name, "file.separator") == 0)
                return "/";
        if (strcmp(name, "path.separator") == 0)
                return ":";
        if (strcmp(name, "line.separator") == 0)
                return "\n";
        if (strcmp(name, "java.version") == 0 || strcmp(name, "java.specification.version") == 0)
                return POM_JAVA_VERSION;
        return NULL;
}

static const char *pom_own_name(const struct pom_reader *r, const char *name)
{
        if (!r->named)
                return NULL;
        if (strncmp(name, "project.", 8) == 0)
                name += 8;
        else if (strncmp(name, "pom.", 4) == 0)
                name += 4;
        if (strcmp(name, "groupId") == 0)
                return r->group;
        if (strcmp(name, "artifactId") == 0)
                return r->artifact;
        return strcmp(name, "version") == 0 ? r->version : NULL;
}

const char *pom_property(struct pom_reader *r, const char *name)
{
        const char *value = pom_system_property(r, name);
        const char *parent = strncmp(name, "project.", 8) == 0 ? name + 8 : name;
        if (!value && strcmp(parent, "parent.version") == 0)
                value = r->parent_version;
        if (!value && strcmp(parent, "parent.groupId") == 0)
                value = r->parent_group;
        if (!value)
                value = strmap_get(&r->pom->properties, name);
        return value ? value : pom_own_name(r, name);
}

static int pom_expand(struct pom_reader *r, const char *text, struct buf *out, const char **within, int depth)
{
        for (const char *at = text; *at;) {
                const char *start = strstr(at, "${"), *end = start ? strchr(start, '}') : NULL;
                if (!end) {
                        buf_puts(out, at);
                        break;
                }
                buf_append(out, at, (size_t)(start - at));
                _cleanup_free_ char *name = mem_strndup(start + 2, (size_t)(end - start - 2));
                const char *value = pom_property(r, name);
                if (!value)
                        buf_append(out, start, (size_t)(end - start + 1));
                for (int i = 0; value && i < depth; i++)
                        if (strcmp(within[i], name) == 0)
                                return error_set(r->error, -EINVAL, "cyclic variable definition: ${%s}", name);
                if (value && depth == MAX_DEPTH)
                        return error_set(r->error, -EINVAL, "properties are nested too deeply: ${%s}", name);
                if (value && ++r->put_in > MAX_PUT_IN)
                        return error_set(r->error, -EINVAL, "too many nested properties: ${%s}", name);
                within[depth < MAX_DEPTH ? depth : 0] = name;
                int e = value ? pom_expand(r, value, out, within, depth + 1) : 0;
                if (e < 0)
                        return e;
                if (out->len > MAX_EXPANDED)
                        return error_set(r->error, -EFBIG, "the value of ${%s} is too long", name);
                at = end + 1;
        }
        return 0;
}

const char *pom_trimmed(struct names *n, const char *text)
{
        while (*text && (unsigned char)*text <= ' ')
                text++;
        size_t len = strlen(text);
        while (len > 0 && (unsigned char)text[len - 1] <= ' ')
                len--;
        return arena_copy(&n->arena, text, len);
}

int pom_value_of(struct pom_reader *r, const char *text, const char **out)
{
        const char *within[MAX_DEPTH + 1];
        *out = NULL;
        if (!text)
                return 0;
        if (!strstr(text, "${")) {
                *out = pom_trimmed(r->names, text);
                return 0;
        }
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        r->put_in = 0;
        int e = pom_expand(r, text, &b, within, 0);
        if (e == 0)
                *out = pom_trimmed(r->names, buf_text(&b));
        return e;
}

int pom_child_value(struct pom_reader *r, const struct xml_node *node, const char *name, const char **out)
{
        return pom_value_of(r, xml_child_text(node, name), out);
}

/* The project's own element, else the parent element's. For the parent, the reverse. */
int pom_either_value(struct pom_reader *r, const struct xml_node *first, const struct xml_node *second,
                     const char *name, const char **out)
{
        const char *text = xml_child_text(first, name);
        return pom_value_of(r, text ? text : xml_child_text(second, name), out);
}
