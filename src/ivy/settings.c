/*
 * See settings.h.
 */
#include "ivy/settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "conf/properties.h"
#include "text/xml_tree.h"

#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define IVY_CHECKSUMS "sha1,md5"
#define CENTRAL "https://repo1.maven.org/maven2/"
#define SPARK_PACKAGES "https://repos.spark-packages.org/"

static bool ivy_settings_settings_blank(const char *text)
{
        return !text || text[strspn(text, " \t\r\n")] == '\0';
}

const char *settings_user_dir(struct names *n, const char *path, bool legacy)
{
        const char *home = getenv("HOME");
        if (ivy_settings_settings_blank(path))
                return names_printf(n, "%s/%s", home ? home : "", legacy ? ".ivy2" : ".ivy2.5.2");
        if (*path == '/')
                return names_copy(n, path);
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        return names_printf(n, "%s/%s", cwd ? cwd : ".", path);
}

static struct repository *ivy_settings_new_repository(struct names *n, struct settings *s, const char *name)
{
        struct repository *r = module_new(n, struct repository);
        r->name = name;
        r->use_poms = true;
        r->checksums = s->checksums ? s->checksums : IVY_CHECKSUMS;
        list_append(&s->all, r);
        return r;
}

static void ivy_settings_add_member(struct repository *chain, struct repository *member)
{
        struct repository **end = &chain->members;
        while (*end && *end != member)
                end = &(*end)->next_member;
        if (!*end)
                *end = member;
}

/* A list of one pattern in the arena, which needs no release. */
static struct texts ivy_settings_one_pattern(struct names *n, const char *pattern)
{
        const char **data = module_alloc(n, sizeof(*data));
        data[0] = pattern;
        return (struct texts){data, 1, 1};
}

static void ivy_settings_set_m2_root(struct names *n, struct repository *r, const char *root, const char *pattern)
{
        size_t len = strlen(root);
        r->m2 = true;
        r->root = names_printf(n, "%s%s", root, len > 0 && root[len - 1] == '/' ? "" : "/");
        r->artifact_patterns = ivy_settings_one_pattern(n, names_printf(n, "%s%s", r->root, pattern));
        if (r->use_poms)
                r->ivy_patterns = r->artifact_patterns;
}

static struct repository *ivy_settings_add_m2(struct names *n, struct settings *s, struct repository *chain,
                                              const char *name, const char *root)
{
        struct repository *r = ivy_settings_new_repository(n, s, name);
        ivy_settings_set_m2_root(n, r, root, M2_PATTERN);
        ivy_settings_add_member(chain, r);
        return r;
}

static void ivy_settings_set_user_dir(struct names *n, struct settings *s, const char *user_dir)
{
        s->user_dir = user_dir;
        s->cache_dir = names_printf(n, "%s/cache", user_dir);
}

void settings_defaults(struct names *n, struct settings *s, const char *user_dir)
{
        const char *home = getenv("HOME"), *internal = getenv("DEFAULT_ARTIFACT_REPOSITORY");
        struct repository *chain = ivy_settings_new_repository(n, s, "spark-list");
        chain->is_chain = true;
        s->top = chain;
        ivy_settings_set_user_dir(n, s, user_dir);
        if (!s->without_local_m2)
                ivy_settings_add_m2(n, s, chain, "local-m2-cache",
                                    names_printf(n, "file:%s/.m2/repository", home ? home : ""));
        struct repository *local = ivy_settings_new_repository(n, s, "local-ivy-cache");
        local->ivy_patterns = ivy_settings_one_pattern(
                n, names_printf(n, "%s/local/[organisation]/[module]/[revision]/ivys/ivy.xml", user_dir));
        local->artifact_patterns =
                ivy_settings_one_pattern(n, names_printf(n,
                                                         "%s/local/[organisation]/[module]/[revision]/[type]s/"
                                                         "[artifact](-[classifier]).[ext]",
                                                         user_dir));
        ivy_settings_add_member(chain, local);
        ivy_settings_add_m2(n, s, chain, "central", internal ? internal : CENTRAL);
        ivy_settings_add_m2(n, s, chain, "spark-packages", internal ? internal : SPARK_PACKAGES);
}

void settings_add_repositories(struct names *n, struct settings *s, const char *list,
                               void (*say)(void *context, const char *line), void *context)
{
        if (ivy_settings_settings_blank(list))
                return;
        struct repository *chain = ivy_settings_new_repository(n, s, "user-list");
        chain->is_chain = true;
        if (s->top)
                ivy_settings_add_member(chain, s->top);
        _cleanup_free_ char *copy = mem_strdup(list);
        int number = 1;
        for (char *state, *root = strtok_r(copy, ",", &state); root; root = strtok_r(NULL, ",", &state)) {
                const char *name = names_printf(n, "repo-%d", number++);
                ivy_settings_add_m2(n, s, chain, name, root);
                say(context, names_printf(n, "%s added as a remote repository with the name: %s", root, name));
        }
        s->top = chain;
}

struct repository *settings_repository(const struct settings *s, const char *name)
{
        for (struct repository *r = s->all; r; r = r->next)
                if (strcmp(r->name, name) == 0)
                        return r;
        return NULL;
}

/* --- ivysettings.xml ---------------------------------------------------------------------------------------- */

struct loader {
        struct names *names;
        struct settings *settings;
        struct strmap variables;
        struct fst_error *error;
};

/* Expands ${name} from the variables. Unknown names stay. */
static const char *ivy_settings_settings_expand(struct loader *l, const char *text)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        if (!text)
                return NULL;
        for (const char *at = text; *at;) {
                const char *start = strstr(at, "${"), *end = start ? strchr(start, '}') : NULL;
                if (!end) {
                        buf_puts(&out, at);
                        break;
                }
                _cleanup_free_ char *name = mem_strndup(start + 2, (size_t)(end - start - 2));
                const char *value = strmap_get(&l->variables, name);
                buf_append(&out, at, (size_t)(start - at));
                if (value)
                        buf_puts(&out, value);
                else
                        buf_append(&out, start, (size_t)(end + 1 - start));
                at = end + 1;
        }
        return names_copy(l->names, buf_text(&out));
}

static const char *ivy_settings_settings_attribute(struct loader *l, const struct xml_node *node, const char *name)
{
        return ivy_settings_settings_expand(l, xml_attribute(node, name));
}

static bool ivy_settings_settings_flag(struct loader *l, const struct xml_node *node, const char *name, bool otherwise)
{
        const char *text = ivy_settings_settings_attribute(l, node, name);
        return text ? strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 || strcasecmp(text, "on") == 0
                    : otherwise;
}

/* The supported attributes. Others are rejected instead of being ignored. */
static int ivy_settings_only_attributes(struct loader *l, const struct xml_node *node, const char *known)
{
        for (const struct xml_attribute *a = node->attributes; a; a = a->next) {
                _cleanup_free_ char *word = mem_printf(" %s ", a->name);
                if (!strstr(known, word))
                        return error_set(l->error, -ENOTSUP, "the attribute %s of <%s> is not supported", a->name,
                                         node->name);
        }
        return 0;
}

static int ivy_settings_read_property(struct loader *l, const struct xml_node *node)
{
        const char *name = ivy_settings_settings_attribute(l, node, "name"),
                   *value = ivy_settings_settings_attribute(l, node, "value");
        const char *environment = ivy_settings_settings_attribute(l, node, "environment");
        if (environment)
                return error_set(l->error, -ENOTSUP, "the attribute environment of <property> is not supported");
        if (!name || !value)
                return error_set(l->error, -EINVAL, "<property> needs name and value");
        if (ivy_settings_settings_flag(l, node, "override", true))
                strmap_set(&l->variables, name, value);
        else
                strmap_set_if_missing(&l->variables, name, value);
        return 0;
}

static int ivy_settings_read_properties_file(struct loader *l, const struct xml_node *node)
{
        _cleanup_(strmap_deinit) struct strmap read = STRMAP_INIT;
        const char *file = ivy_settings_settings_attribute(l, node, "file");
        if (!file)
                return error_set(l->error, -EINVAL, "<properties> needs file");
        int r = properties_load(&read, file, l->error);
        struct strmap_entry *p = NULL;
        while (r == 0 && (p = strmap_next(&read, p)))
                strmap_set(&l->variables, p->key, ivy_settings_settings_expand(l, p->value));
        return r;
}

static int ivy_settings_add_credentials(struct loader *l, const struct xml_node *node)
{
        const char *host = ivy_settings_settings_attribute(l, node, "host"),
                   *user = ivy_settings_settings_attribute(l, node, "username");
        const char *password = ivy_settings_settings_attribute(l, node, "passwd");
        if (strcmp(node->name, "credentials") != 0 || !host || !user)
                return error_set(l->error, -EINVAL, "<credentials> needs host, username and passwd");
        struct credential *new = module_new(l->names, struct credential);
        *new = (struct credential){host, names_printf(l->names, "%s:%s", user, password ? password : ""),
                                   l->settings->credentials};
        l->settings->credentials = new;
        return 0;
}

/* One element, or one element around several. */
static int ivy_settings_read_credentials(struct loader *l, const struct xml_node *node)
{
        int r = node->attributes || !node->children ? ivy_settings_add_credentials(l, node) : 0;
        xml_each(c, node)
        {
                if (r == 0)
                        r = ivy_settings_add_credentials(l, c);
        }
        return r;
}

/* The patterns of a url or filesystem resolver. */
static int ivy_settings_settings_read_patterns(struct loader *l, const struct xml_node *node, struct repository *r)
{
        xml_each(p, node)
        {
                const char *pattern = ivy_settings_settings_attribute(l, p, "pattern");
                bool ivy = strcmp(p->name, "ivy") == 0;
                if (!ivy && strcmp(p->name, "artifact") != 0)
                        return error_set(l->error, -ENOTSUP, "<%s> in the resolver '%s' is not supported", p->name,
                                         r->name);
                if (!pattern)
                        return error_set(l->error, -EINVAL, "<%s> in the resolver '%s' needs pattern", p->name,
                                         r->name);
                struct texts *list = ivy ? &r->ivy_patterns : &r->artifact_patterns;
                const char **data = module_alloc(l->names, (list->len + 1) * sizeof(*data));
                if (list->len)
                        memcpy(data, list->data, list->len * sizeof(*data));
                data[list->len] = pattern;
                *list = (struct texts){data, list->len + 1, list->len + 1};
        }
        return 0;
}

#define OF_ANY " name checkmodified changingPattern changingMatcher cache local latest "
#define COMMON OF_ANY "checksums descriptor allownomd m2compatible "

static int ivy_settings_read_patterned(struct loader *l, const struct xml_node *node, struct repository *r)
{
        int e = ivy_settings_only_attributes(l, node, COMMON);
        if (e < 0)
                return e;
        r->m2 = ivy_settings_settings_flag(l, node, "m2compatible", false);
        return ivy_settings_settings_read_patterns(l, node, r);
}

static int ivy_settings_read_ibiblio(struct loader *l, const struct xml_node *node, struct repository *r)
{
        const char *root = ivy_settings_settings_attribute(l, node, "root"),
                   *pattern = ivy_settings_settings_attribute(l, node, "pattern");
        int e = ivy_settings_only_attributes(l, node, COMMON "root pattern usepoms useMavenMetadata ");
        if (e < 0)
                return e;
        r->use_poms = ivy_settings_settings_flag(l, node, "usepoms", true);
        if (!ivy_settings_settings_flag(l, node, "m2compatible", false))
                return error_set(l->error, -ENOTSUP,
                                 "the ibiblio resolver '%s' is for Maven 1; set m2compatible=\"true\"", r->name);
        ivy_settings_set_m2_root(l->names, r, root ? root : CENTRAL, pattern ? pattern : M2_PATTERN);
        return 0;
}

static int ivy_settings_read_resolver(struct loader *l, const struct xml_node *node, struct repository *chain);

static int ivy_settings_read_members(struct loader *l, const struct xml_node *node, struct repository *chain)
{
        xml_each(member, node)
        {
                int e = ivy_settings_read_resolver(l, member, chain);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int ivy_settings_read_resolver(struct loader *l, const struct xml_node *node, struct repository *chain)
{
        const char *name = ivy_settings_settings_attribute(l, node, "name"),
                   *ref = ivy_settings_settings_attribute(l, node, "ref");
        if (strcmp(node->name, "resolver") == 0 && ref) {
                struct repository *r = settings_repository(l->settings, ref);
                if (!r)
                        return error_set(l->error, -EINVAL, "unknown resolver '%s'", ref);
                if (chain)
                        ivy_settings_add_member(chain, r);
                return 0;
        }
        struct repository *r = ivy_settings_new_repository(l->names, l->settings, name ? name : node->name);
        const char *descriptor = ivy_settings_settings_attribute(l, node, "descriptor"),
                   *checksums = ivy_settings_settings_attribute(l, node, "checksums");
        r->needs_descriptor = descriptor && strcmp(descriptor, "required") == 0;
        r->checksums = checksums;
        if (chain)
                ivy_settings_add_member(chain, r);
        if (strcmp(node->name, "chain") == 0) {
                int e = ivy_settings_only_attributes(l, node, OF_ANY "returnFirst dual ");
                r->is_chain = true;
                r->return_first = ivy_settings_settings_flag(l, node, "returnFirst", false);
                return e < 0 ? e : ivy_settings_read_members(l, node, r);
        }
        if (strcmp(node->name, "ibiblio") == 0)
                return ivy_settings_read_ibiblio(l, node, r);
        if (strcmp(node->name, "url") == 0 || strcmp(node->name, "filesystem") == 0)
                return ivy_settings_read_patterned(l, node, r);
        return error_set(l->error, -ENOTSUP,
                         "the resolver <%s> is not supported: use chain, ibiblio, url or filesystem", node->name);
}

static int ivy_settings_read_element(struct loader *l, const struct xml_node *node, const char **top)
{
        if (strcmp(node->name, "settings") == 0 || strcmp(node->name, "conf") == 0) {
                *top = ivy_settings_settings_attribute(l, node, "defaultResolver");
                return 0;
        }
        if (strcmp(node->name, "property") == 0)
                return ivy_settings_read_property(l, node);
        if (strcmp(node->name, "properties") == 0)
                return ivy_settings_read_properties_file(l, node);
        if (strcmp(node->name, "credentials") == 0)
                return ivy_settings_read_credentials(l, node);
        if (strcmp(node->name, "resolvers") == 0)
                return ivy_settings_read_members(l, node, NULL);
        if (strcmp(node->name, "caches") == 0)
                return 0; /* Spark sets the directory and the cache itself, whatever the file says */
        return error_set(l->error, -ENOTSUP, "the element <%s> is not supported", node->name);
}

static void ivy_settings_set_variables(struct loader *l, const char *path, const char *user_dir)
{
        const char *slash = strrchr(path, '/'), *home = getenv("HOME"), *user = getenv("USER");
        _cleanup_free_ char *folder = slash ? mem_strndup(path, (size_t)(slash - path)) : mem_strdup(".");
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        strmap_set(&l->variables, "ivy.settings.dir", folder);
        strmap_set(&l->variables, "ivy.settings.file", path);
        strmap_set(&l->variables, "ivy.conf.dir", folder);
        strmap_set(&l->variables, "ivy.default.ivy.user.dir", user_dir);
        strmap_set(&l->variables, "ivy.home", user_dir);
        strmap_set(&l->variables, "ivy.checksums", IVY_CHECKSUMS);
        strmap_set(&l->variables, "user.home", home ? home : "");
        strmap_set(&l->variables, "user.name", user ? user : "");
        strmap_set(&l->variables, "basedir", cwd ? cwd : ".");
        strmap_set(&l->variables, "user.dir", cwd ? cwd : ".");
}

static int ivy_settings_read_element_settings(struct loader *l, const struct xml_node *root)
{
        const char *top = NULL;
        if (strcmp(root->name, "ivysettings") != 0 && strcmp(root->name, "ivyconf") != 0)
                return error_set(l->error, -EINVAL, "its root element is <%s>, not <ivysettings>", root->name);
        xml_each(node, root)
        {
                int e = ivy_settings_read_element(l, node, &top);
                if (e < 0)
                        return e;
        }
        /* Ivy reads the variable after a download, so its last value applies, wherever it is set. */
        l->settings->checksums = names_copy(l->names, strmap_get(&l->variables, "ivy.checksums"));
        for (struct repository *r = l->settings->all; r; r = r->next)
                if (!r->checksums)
                        r->checksums = l->settings->checksums;
        if (top) {
                l->settings->top = settings_repository(l->settings, top);
                if (!l->settings->top)
                        return error_set(l->error, -EINVAL, "unknown resolver '%s'", top);
        }
        return 0;
}

static void ivy_settings_loader_deinit(struct loader *l)
{
        strmap_deinit(&l->variables);
}

int settings_load(struct names *n, struct settings *s, const char *file, const char *user_dir, struct fst_error *error)
{
        const char *path = file, *colon = strchr(file, ':'), *slash = strchr(file, '/');
        struct stat st;
        if (colon && (!slash || colon < slash)) {
                size_t len = (size_t)(colon - file);
                if (len != 4 || strncmp(file, "file", 4) != 0)
                        return error_set(error, -EINVAL, "Scheme %.*s not supported in spark.jars.ivySettings",
                                         (int)len, file);
                path = colon + 1;
                if (strncmp(path, "//", 2) == 0)
                        path = strchr(path + 2, '/') ? strchr(path + 2, '/') : "";
        }
        if (stat(path, &st) < 0)
                return error_set(error, -EINVAL, "requirement failed: Ivy settings file %s does not exist", path);
        if (!S_ISREG(st.st_mode))
                return error_set(error, -EINVAL, "requirement failed: Ivy settings file %s is not a normal file", path);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_(ivy_settings_loader_deinit) struct loader l = {.names = n, .settings = s, .error = error};
        struct fetcher local = {NULL, NULL, NULL};
        struct xml_node *root = NULL;
        ivy_settings_set_user_dir(n, s, user_dir);
        ivy_settings_set_variables(&l, path, user_dir);
        int r = fetch_text(&local, path, &text, error);
        if (r == 0)
                r = xml_parse(&n->arena, buf_text(&text), text.len, &root, error);
        if (r == 0)
                r = ivy_settings_read_element_settings(&l, root);
        return r < 0 ? error_wrap(error, r, "Failed when loading Ivy settings from %s", file) : 0;
}
