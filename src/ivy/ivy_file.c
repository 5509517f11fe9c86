/*
 * See ivy_file.h.
 */
#include "ivy/ivy_file.h"

#include "base/error.h"
#include "base/mem.h"
#include "text/xml_tree.h"

struct ivy_file_reader {
        struct names *names;
        struct ivy_module *module;
        const char *default_mapping; /* <dependencies defaultconfmapping> */
        const char *default_conf;    /* <dependencies defaultconf> */
        struct fst_error *error;
};

static const char *ivy_file_word(struct names *n, const char *from, size_t len)
{
        while (len > 0 && strchr(" \t\r\n", *from))
                from++, len--;
        while (len > 0 && strchr(" \t\r\n", from[len - 1]))
                len--;
        return arena_copy(&n->arena, from, len);
}

/* The next word of a list with @separator, or NULL at the end. */
static const char *ivy_file_next_word(struct names *n, const char **at, char separator)
{
        if (!*at)
                return NULL;
        const char *end = strchr(*at, separator), *start = *at;
        *at = end ? end + 1 : NULL;
        return ivy_file_word(n, start, end ? (size_t)(end - start) : strlen(start));
}

static bool ivy_file_is_false(const char *text)
{
        return text && strcasecmp(text, "false") == 0;
}

static int ivy_file_read_info(struct ivy_file_reader *r, const struct xml_node *info)
{
        const char *organisation = info ? xml_attribute(info, "organisation") : NULL;
        const char *name = info ? xml_attribute(info, "module") : NULL;
        const char *revision = info ? xml_attribute(info, "revision") : NULL;
        const char *status = info ? xml_attribute(info, "status") : NULL, *is_default;
        if (!organisation || !name)
                return error_set(r->error, -EINVAL, "<info> needs organisation and module");
        if (xml_child(info, "extends"))
                return error_set(r->error, -ENOTSUP, "<extends> is not supported");
        r->module->id = names_revision(r->names, names_module(r->names, organisation, name), revision ? revision : "");
        r->module->status = status ? status : "integration";
        is_default = xml_attribute(info, "default");
        r->module->is_default = is_default && strcasecmp(is_default, "true") == 0;
        return 0;
}

/*
 * Resolves `extends`: a configuration is done if it extends only done ones. If no progress is possible, the rest is
 * cyclic. Returns the number of unresolved configurations.
 */
static size_t ivy_file_unfinished(const struct ivy_module *m, const char **name)
{
        struct texts done = {0};
        size_t left = 0, before;
        do {
                before = done.len;
                left = 0;
                for (const struct configuration *c = m->configurations; c; c = c->next) {
                        size_t open = 0;
                        for (size_t i = 0; i < c->extends.len; i++)
                                open += !texts_contain(&done, c->extends.data[i]);
                        if (open == 0) {
                                texts_add(&done, c->name);
                        } else {
                                left++;
                                *name = c->name;
                        }
                }
        } while (done.len > before);
        free(done.data);
        return left;
}

static int ivy_file_check_configurations(struct ivy_file_reader *r)
{
        const char *name;
        for (const struct configuration *c = r->module->configurations; c; c = c->next)
                for (size_t i = 0; i < c->extends.len; i++)
                        if (!module_configuration(r->module, c->extends.data[i]))
                                return error_set(r->error, -EINVAL, "unknown configuration '%s'. It is extended by %s",
                                                 c->extends.data[i], c->name);
        if (ivy_file_unfinished(r->module, &name) > 0)
                return error_set(r->error, -EINVAL, "illegal cycle detected in configuration extension: %s", name);
        return 0;
}

static int ivy_file_read_configurations(struct ivy_file_reader *r, const struct xml_node *of)
{
        if (of) {
                const char *mapping = xml_attribute(of, "defaultconfmapping");
                r->default_mapping = mapping;
        }
        xml_each(node, of)
        {
                const char *name = xml_attribute(node, "name"), *visibility = xml_attribute(node, "visibility");
                const char *extends = xml_attribute(node, "extends");
                if (strcmp(node->name, "conf") != 0 || !name)
                        return error_set(r->error, -ENOTSUP, "<%s> in <configurations> is not supported", node->name);
                struct configuration *c = module_new(r->names, struct configuration);
                c->name = name;
                c->is_private = visibility && strcmp(visibility, "private") == 0;
                c->not_transitive = ivy_file_is_false(xml_attribute(node, "transitive"));
                size_t count = 1;
                for (const char *p = extends; p && *p; p++)
                        count += *p == ',';
                c->extends.data = module_alloc(r->names, count * sizeof(char *));
                c->extends.cap = count;
                for (const char *other; extends && (other = ivy_file_next_word(r->names, &extends, ','));)
                        if (*other)
                                c->extends.data[c->extends.len++] = other;
                list_append(&r->module->configurations, c);
        }
        if (!r->module->configurations) {
                r->module->configurations = module_new(r->names, struct configuration);
                r->module->configurations->name = "default";
        }
        return ivy_file_check_configurations(r);
}

/* Adds an <artifact> to each configuration in @confs, or to every existing one for "*" of a publication. */
static void ivy_file_add_artifact(struct ivy_file_reader *r, const struct xml_node *node, const char *name,
                                  const char *confs, bool published, struct artifact **list)
{
        const char *type = xml_attribute(node, "type"), *ext = xml_attribute(node, "ext");
        struct artifact a = {.name = xml_attribute(node, "name"),
                             .type = type ? type : "jar",
                             .classifier = xml_attribute(node, "classifier"),
                             .url = xml_attribute(node, "url")};
        if (!a.name)
                a.name = name;
        a.ext = ext ? ext : a.type;
        for (const char *conf; (conf = ivy_file_next_word(r->names, &confs, ','));) {
                const struct configuration *c = r->module->configurations;
                for (; published && strcmp(conf, "*") == 0 && c; c = c->next) {
                        struct artifact *copy = module_new(r->names, struct artifact);
                        *copy = a;
                        copy->conf = c->name;
                        list_append(list, copy);
                }
                if (published && strcmp(conf, "*") == 0)
                        continue;
                struct artifact *copy = module_new(r->names, struct artifact);
                *copy = a;
                copy->conf = conf;
                list_append(list, copy);
        }
}

static void ivy_file_read_publications(struct ivy_file_reader *r, const struct xml_node *of)
{
        const char *name = r->module->id->module->name, *otherwise = of ? xml_attribute(of, "defaultconf") : NULL;
        if (!of) {
                const struct xml_node none = {.name = "artifact", .text = ""};
                ivy_file_add_artifact(r, &none, name, "*", true, &r->module->artifacts);
        }
        xml_each(node, of)
        {
                const char *confs = xml_attribute(node, "conf");
                if (!confs)
                        confs = otherwise ? otherwise : "*";
                if (strcmp(node->name, "artifact") != 0)
                        continue;
                if (xml_child(node, "conf")) {
                        xml_each(c, node) if (xml_attribute(c, "name")) ivy_file_add_artifact(
                                r, node, name, xml_attribute(c, "name"), true, &r->module->artifacts);
                } else {
                        ivy_file_add_artifact(r, node, name, confs, true, &r->module->artifacts);
                }
        }
}

/* Parses "a,b->c,d;e". A lone e means e->e, or its entry in defaultconfmapping. */
static void ivy_file_add_mappings(struct ivy_file_reader *r, struct dependency *d, const char *text,
                                  const char *otherwise)
{
        for (const char *one; (one = ivy_file_next_word(r->names, &text, ';'));) {
                const char *arrow = strstr(one, "->");
                const char *from = arrow ? ivy_file_word(r->names, one, (size_t)(arrow - one)) : one;
                for (const char *f; (f = ivy_file_next_word(r->names, &from, ','));) {
                        if (!*f)
                                continue;
                        const char *to = arrow ? arrow + 2 : NULL;
                        if (!to && otherwise && strstr(otherwise, "->"))
                                to = strstr(otherwise, "->") + 2;
                        if (!to)
                                to = f;
                        /* Commas inside the parentheses of a fallback do not separate. */
                        if (strchr(to, '('))
                                module_add_mapping(r->names, d, f, ivy_file_word(r->names, to, strlen(to)));
                        else
                                for (const char *t; (t = ivy_file_next_word(r->names, &to, ','));)
                                        module_add_mapping(r->names, d, f, t);
                }
        }
}

static const char *ivy_file_or_any(const char *text)
{
        return text ? text : "*";
}

static struct ivy_exclusion *ivy_file_read_exclusion(struct ivy_file_reader *r, const struct xml_node *node)
{
        const char *matcher = xml_attribute(node, "matcher"), *name = xml_attribute(node, "name");
        struct ivy_exclusion *e = module_new(r->names, struct ivy_exclusion);
        if (!name)
                name = xml_attribute(node, "artifact");
        *e = (struct ivy_exclusion){.organisation = ivy_file_or_any(xml_attribute(node, "org")),
                                    .name = ivy_file_or_any(xml_attribute(node, "module")),
                                    .glob = matcher && strcmp(matcher, "glob") == 0,
                                    .artifact = name && strcmp(name, "*") != 0 ? name : NULL,
                                    .conf = ivy_file_or_any(xml_attribute(node, "conf"))};
        return e;
}

static int ivy_file_read_dependency(struct ivy_file_reader *r, const struct xml_node *node)
{
        const char *organisation = xml_attribute(node, "org"), *name = xml_attribute(node, "name");
        const char *revision = xml_attribute(node, "rev"), *confs = xml_attribute(node, "conf");
        const char *force = xml_attribute(node, "force");
        if (!name || !revision)
                return error_set(r->error, -EINVAL, "<dependency> needs name and rev");
        if (!organisation)
                organisation = r->module->id->module->organisation;
        struct dependency *d = module_new(r->names, struct dependency);
        *d = (struct dependency){.of = r->module,
                                 .force = force && strcasecmp(force, "true") == 0,
                                 .not_transitive = ivy_file_is_false(xml_attribute(node, "transitive"))};
        d->id = names_revision(r->names, names_module(r->names, organisation, name), revision);
        if (!confs)
                confs = r->default_conf ? r->default_conf : r->default_mapping ? r->default_mapping : "*->*";
        ivy_file_add_mappings(r, d, confs, r->default_mapping);
        xml_each(child, node)
        {
                const char *of = xml_attribute(child, "conf");
                if (strcmp(child->name, "artifact") == 0)
                        ivy_file_add_artifact(r, child, name, ivy_file_or_any(of), false, &d->artifacts);
                else if (strcmp(child->name, "exclude") == 0)
                        list_append(&d->exclusions, ivy_file_read_exclusion(r, child));
                else if (strcmp(child->name, "conf") != 0)
                        return error_set(r->error, -ENOTSUP, "<%s> in a dependency is not supported", child->name);
        }
        list_append(&r->module->dependencies, d);
        return 0;
}

static int ivy_file_read_dependencies(struct ivy_file_reader *r, const struct xml_node *of)
{
        if (of && xml_attribute(of, "defaultconfmapping"))
                r->default_mapping = xml_attribute(of, "defaultconfmapping");
        r->default_conf = of ? xml_attribute(of, "defaultconf") : NULL;
        xml_each(node, of)
        {
                int e = 0;
                if (strcmp(node->name, "dependency") == 0) {
                        e = ivy_file_read_dependency(r, node);
                } else if (strcmp(node->name, "exclude") == 0) {
                        list_append(&r->module->exclusions, ivy_file_read_exclusion(r, node));
                } else if (strcmp(node->name, "override") == 0 && xml_attribute(node, "org") &&
                           xml_attribute(node, "module") && xml_attribute(node, "rev")) {
                        struct override *o = module_new(r->names, struct override);
                        *o = (struct override){
                                names_module(r->names, xml_attribute(node, "org"), xml_attribute(node, "module")),
                                xml_attribute(node, "rev"), NULL};
                        list_append(&r->module->overrides, o);
                } else {
                        e = error_set(r->error, -ENOTSUP, "<%s> in <dependencies> is not supported", node->name);
                }
                if (e < 0)
                        return e;
        }
        return 0;
}

int ivy_file_read(struct names *n, const char *data, size_t len, struct ivy_module **module, struct fst_error *error)
{
        struct xml_node *root;
        struct ivy_file_reader r = {.names = n, .module = module_new(n, struct ivy_module), .error = error};
        int e = xml_parse(&n->arena, data, len, &root, error);
        if (e < 0)
                return e;
        if (strcmp(root->name, "ivy-module") != 0)
                return error_set(error, -EINVAL, "its root element is <%s>, not <ivy-module>", root->name);
        if (xml_child(root, "conflicts"))
                return error_set(error, -ENOTSUP, "<conflicts> is not supported");
        e = ivy_file_read_info(&r, xml_child(root, "info"));
        if (e == 0)
                e = ivy_file_read_configurations(&r, xml_child(root, "configurations"));
        if (e < 0)
                return e;
        ivy_file_read_publications(&r, xml_child(root, "publications"));
        e = ivy_file_read_dependencies(&r, xml_child(root, "dependencies"));
        if (e == 0)
                *module = r.module;
        return e;
}
