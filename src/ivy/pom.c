/*
 * See pom.h. A managed or inherited dependency is evaluated again with the child's properties.
 */
#include "ivy/pom_internal.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

static void pom_add_properties(struct pom *pom, const struct xml_node *of)
{
        xml_each(p, xml_child(of, "properties")) strmap_set_if_missing(&pom->properties, p->name, p->text);
}

/* A project's active profiles are determined once. Later properties must not change them. */
struct profiles {
        const struct xml_node *data[64];
        size_t len;
};

static void pom_read_profiles(struct pom_reader *r, struct profiles *active)
{
        xml_each(profile, xml_child(r->pom->project, "profiles")) if (strcmp(profile->name, "profile") == 0 &&
                                                                      active->len < ARRAY_SIZE(active->data) &&
                                                                      pom_profile_is_active(r, profile))
        {
                active->data[active->len++] = profile;
                pom_add_properties(r->pom, profile);
        }
}

static struct managed *pom_find_managed(const struct pom *pom, const struct module_name *module)
{
        for (struct managed *m = pom->managed; m; m = m->next)
                if (m->module == module)
                        return m;
        return NULL;
}

static int pom_managed_version(struct pom_reader *r, const struct managed *m, const char **version)
{
        *version = m->version;
        return m->element ? pom_child_value(r, m->element, "version", version) : 0;
}

static void pom_set_override(struct pom_reader *r, struct module_name *module, const char *version)
{
        for (struct override *o = r->pom->module->overrides; o; o = o->next)
                if (o->module == module) {
                        if (version)
                                o->revision = version;
                        return;
                }
        struct override *o = module_new(r->names, struct override);
        *o = (struct override){module, version, r->pom->module->overrides};
        r->pom->module->overrides = o;
}

static int pom_add_managed(struct pom_reader *r, struct managed what)
{
        const char *version;
        int e = pom_managed_version(r, &what, &version);
        if (e < 0)
                return e;
        struct managed *m = pom_find_managed(r->pom, what.module);
        if (m) {
                what.next = m->next;
                *m = what;
        } else {
                m = module_new(r->names, struct managed);
                *m = what;
                m->next = NULL;
                /* Newest first. The order matters only to readers of a dump. */
                m->next = r->pom->managed;
                r->pom->managed = m;
        }
        pom_set_override(r, what.module, version);
        return 0;
}

static int pom_module_of(struct pom_reader *r, const struct xml_node *element, struct module_name **module)
{
        const char *group, *artifact;
        int e = pom_child_value(r, element, "groupId", &group);
        if (e == 0)
                e = pom_child_value(r, element, "artifactId", &artifact);
        if (e < 0)
                return e;
        if (!group || !artifact)
                return error_set(r->error, -EINVAL, "a dependency has no %s", group ? "artifactId" : "groupId");
        *module = names_module(r->names, group, artifact);
        return 0;
}

static const char *pom_host_revision(struct pom_reader *r)
{
        char host[256] = "localhost";
        gethostname(host, sizeof(host) - 1);
        return names_printf(r->names, "working@%s", host);
}

static int pom_import_managed(struct pom_reader *r, struct module_name *module, const char *version)
{
        const struct pom *other;
        struct revision_name *id = names_revision(r->names, module, version ? version : pom_host_revision(r));
        int e = r->source->other(r->source->context, id, &other, r->error);
        if (e < 0)
                return error_wrap(r->error, e, "Impossible to import module. Import=%s", id->text);
        struct pom_reader theirs = {.names = r->names, .pom = (struct pom *)other, .error = r->error, .named = true};
        theirs.group = other->module->id->module->organisation;
        theirs.artifact = other->module->id->module->name;
        theirs.version = other->module->id->revision;
        if (other->parent) {
                theirs.parent_group = other->parent->module->id->module->organisation;
                theirs.parent_version = other->parent->module->id->revision;
        }
        for (const struct managed *m = other->managed; m && e == 0; m = m->next) {
                struct managed copy = {.module = m->module, .scope = m->scope, .exclusions = m->exclusions};
                e = pom_managed_version(&theirs, m, &copy.version);
                if (e == 0 && m->element) {
                        e = pom_child_value(&theirs, m->element, "scope", &copy.scope);
                        copy.exclusions = xml_child(m->element, "exclusions");
                }
                if (e == 0)
                        e = pom_add_managed(r, copy);
        }
        return e;
}

static int pom_read_managed(struct pom_reader *r, const struct xml_node *of)
{
        xml_each(d, xml_child(xml_child(of, "dependencyManagement"), "dependencies"))
        {
                if (strcmp(d->name, "dependency") != 0)
                        continue;
                struct module_name *module;
                const char *scope, *version;
                int e = pom_module_of(r, d, &module);
                if (e == 0)
                        e = pom_child_value(r, d, "scope", &scope);
                if (e == 0)
                        e = pom_child_value(r, d, "version", &version);
                if (e == 0 && scope && strcmp(scope, "import") == 0)
                        e = pom_import_managed(r, module, version);
                else if (e == 0)
                        e = pom_add_managed(r, (struct managed){.module = module, .element = d});
                if (e < 0)
                        return e;
        }
        return 0;
}

/* Ivy's mapping of a scope. The first list is for optional dependencies. */
static const struct {
        const char *scope;
        const char *optional[5];
        const char *mapping[5][2];
} scopes[] = {
        {"compile",
         {"compile(*)", "master(*)"},
         {{"compile", "compile(*)"}, {"compile", "master(*)"}, {"runtime", "runtime(*)"}}},
        {"provided",
         {"compile(*)", "provided(*)", "runtime(*)", "master(*)"},
         {{"provided", "compile(*)"},
          {"provided", "provided(*)"},
          {"provided", "runtime(*)"},
          {"provided", "master(*)"}}},
        {"runtime",
         {"compile(*)", "provided(*)", "master(*)"},
         {{"runtime", "compile(*)"}, {"runtime", "runtime(*)"}, {"runtime", "master(*)"}}},
        {"test", {NULL}, {{"test", "runtime(*)"}, {"test", "master(*)"}}},
        {"system", {NULL}, {{"system", "master(*)"}}},
};

static size_t pom_scope_index(const char *scope)
{
        for (size_t i = 0; scope && i < ARRAY_SIZE(scopes); i++)
                if (strcmp(scopes[i].scope, scope) == 0)
                        return i;
        return 0;
}

static void pom_map_scope(struct names *n, struct dependency *d, size_t scope, bool optional)
{
        if (optional && scopes[scope].optional[0])
                for (size_t i = 0; scopes[scope].optional[i]; i++)
                        module_add_mapping(n, d, "optional", scopes[scope].optional[i]);
        else
                for (size_t i = 0; scopes[scope].mapping[i][0]; i++)
                        module_add_mapping(n, d, scopes[scope].mapping[i][0], scopes[scope].mapping[i][1]);
}

static bool pom_packed_as_jar(const char *packaging)
{
        static const char *const jars[] = {
                "ejb",   "bundle", "maven-plugin", "eclipse-plugin", "jbi-component", "jbi-shared-library",
                "orbit", "hk2-jar"};
        for (size_t i = 0; i < ARRAY_SIZE(jars); i++)
                if (strcmp(packaging, jars[i]) == 0)
                        return true;
        return false;
}

static void pom_add_artifact(struct pom_reader *r, struct dependency *d, const char *conf, const char *type,
                             const char *classifier)
{
        struct artifact *a = module_new(r->names, struct artifact);
        *a = (struct artifact){
                .name = d->id->module->name, .type = type, .ext = type, .classifier = classifier, .conf = conf};
        if (strcmp(type, "test-jar") == 0) {
                a->ext = "jar";
                if (!classifier)
                        a->classifier = "tests";
        } else if (pom_packed_as_jar(type)) {
                a->ext = "jar";
        }
        list_append(&d->artifacts, a);
}

/* Reads the exclusions of a dependency. "*:*" sets *all, which drops all its dependencies. */
static bool pom_has_exclusions(const struct xml_node *exclusions, bool *all)
{
        bool any = false;
        *all = false;
        xml_each(e, exclusions)
        {
                const char *group = xml_child_text(e, "groupId"), *artifact = xml_child_text(e, "artifactId");
                if (strcmp(e->name, "exclusion") != 0 || !group || !artifact)
                        continue;
                any = true;
                if (strcmp(group, "*") == 0 && strcmp(artifact, "*") == 0)
                        *all = true;
        }
        return any;
}

static void pom_add_exclusions(struct pom_reader *r, struct dependency *d, const struct xml_node *exclusions)
{
        xml_each(e, exclusions)
        {
                const char *group = xml_child_text(e, "groupId"), *artifact = xml_child_text(e, "artifactId");
                if (strcmp(e->name, "exclusion") != 0 || !group || !artifact ||
                    (strcmp(group, "*") == 0 && strcmp(artifact, "*") == 0))
                        continue;
                struct texts confs = {0};
                for (const struct mapping *m = d->mappings; m; m = m->next)
                        texts_add(&confs, m->from);
                for (size_t i = 0; i < confs.len; i++) {
                        struct ivy_exclusion *rule = module_new(r->names, struct ivy_exclusion);
                        *rule = (struct ivy_exclusion){.organisation = group, .name = artifact, .conf = confs.data[i]};
                        list_append(&d->exclusions, rule);
                }
                free(confs.data);
        }
}

static struct dependency *pom_find_dependency(const struct ivy_module *m, const struct revision_name *id)
{
        for (struct dependency *d = m->dependencies; d; d = d->next)
                if (d->id == id)
                        return d;
        return NULL;
}

/* Reads a dependency element and applies the managed values. */
struct need {
        struct revision_name *id;
        const char *type, *classifier;
        size_t scope;
        bool optional;
        const struct xml_node *exclusions;
        bool without_all;
};

static int pom_read_dependency(struct pom_reader *r, const struct xml_node *d, struct need *need)
{
        struct module_name *module;
        const char *version, *scope;
        int e = pom_module_of(r, d, &module);
        if (e == 0)
                e = pom_child_value(r, d, "version", &version);
        if (e == 0)
                e = pom_child_value(r, d, "scope", &scope);
        if (e == 0)
                e = pom_child_value(r, d, "type", &need->type);
        if (e == 0)
                e = pom_child_value(r, d, "classifier", &need->classifier);
        if (e < 0)
                return e;
        const struct managed *m = pom_find_managed(r->pom, module);
        if (m && (!version || !*version))
                e = pom_managed_version(r, m, &version);
        if (e == 0 && m && (!scope || !*scope)) {
                scope = m->scope;
                if (m->element)
                        e = pom_child_value(r, m->element, "scope", &scope);
        }
        if (e < 0)
                return e;
        need->exclusions = xml_child(d, "exclusions");
        if (!pom_has_exclusions(need->exclusions, &need->without_all) && m) {
                need->exclusions = m->element ? xml_child(m->element, "exclusions") : m->exclusions;
                pom_has_exclusions(need->exclusions, &need->without_all);
        }
        need->id = names_revision(r->names, module, version ? version : pom_host_revision(r));
        need->scope = pom_scope_index(scope);
        need->optional = pom_is_true(xml_child_text(d, "optional"));
        if (need->type && !*need->type)
                need->type = NULL;
        if (need->classifier && !*need->classifier)
                need->classifier = NULL;
        return 0;
}

static int pom_add_dependency(struct pom_reader *r, const struct xml_node *element)
{
        struct need need = {0};
        int e = pom_read_dependency(r, element, &need);
        if (e < 0)
                return e;
        struct ivy_module *m = r->pom->module;
        if (need.id->module == m->id->module)
                return 0; /* some POMs depend on themselves */
        struct dependency *d = pom_find_dependency(m, need.id);
        bool existing = d != NULL;
        const char *conf = need.optional ? "optional" : scopes[need.scope].scope, *only = NULL;
        if (!existing) {
                d = module_new(r->names, struct dependency);
                *d = (struct dependency){
                        .of = m, .id = need.id, .force = true, .not_transitive = need.without_all, .source = element};
                list_append(&m->dependencies, d);
        }
        for (const struct mapping *p = d->mappings; p; p = p->next)
                only = !only || strcmp(only, p->from) == 0 ? p->from : conf;
        pom_map_scope(r->names, d, need.scope, need.optional);
        if (need.classifier || (need.type && strcmp(need.type, "jar") != 0)) {
                if (existing && !d->artifacts)
                        pom_add_artifact(r, d, only ? only : conf, "jar", NULL);
                pom_add_artifact(r, d, conf, need.type ? need.type : "jar", need.classifier);
        } else if (existing) {
                pom_add_artifact(r, d, conf, "jar", NULL);
        }
        pom_add_exclusions(r, d, need.exclusions);
        return 0;
}

static int pom_add_dependencies(struct pom_reader *r, const struct xml_node *of)
{
        xml_each(d, xml_child(of, "dependencies"))
        {
                int e = strcmp(d->name, "dependency") == 0 ? pom_add_dependency(r, d) : 0;
                if (e < 0)
                        return e;
        }
        return 0;
}

/* Adds a dependency that has no element of its own (a relocation). */
static void pom_copy_dependency(struct pom_reader *r, const struct dependency *of)
{
        if (of->id->module == r->pom->module->id->module)
                return;
        struct dependency *d = module_new(r->names, struct dependency);
        *d = *of;
        d->next = NULL;
        list_append(&r->pom->module->dependencies, d);
}

static int pom_inherit_dependencies(struct pom_reader *r)
{
        const struct dependency *d = r->pom->parent ? r->pom->parent->module->dependencies : NULL;
        for (; d; d = d->next) {
                if (!d->source) {
                        pom_copy_dependency(r, d);
                        continue;
                }
                int e = pom_add_dependency(r, d->source);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int pom_inherit_managed(struct pom_reader *r)
{
        for (const struct managed *m = r->pom->parent ? r->pom->parent->managed : NULL; m; m = m->next) {
                struct managed copy = *m;
                int e = m->element ? pom_module_of(r, m->element, &copy.module) : 0;
                if (e == 0)
                        e = pom_add_managed(r, copy);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int pom_read_parent(struct pom_reader *r, const struct xml_node *parent)
{
        const char *artifact;
        int e = pom_either_value(r, parent, r->pom->project, "groupId", &r->parent_group);
        if (e == 0)
                e = pom_either_value(r, parent, r->pom->project, "version", &r->parent_version);
        if (e == 0)
                e = pom_either_value(r, parent, r->pom->project, "artifactId", &artifact);
        if (e < 0)
                return e;
        if (!r->parent_group || !artifact)
                return error_set(r->error, -EINVAL, "the parent element needs groupId, artifactId and version");
        struct revision_name *id = names_revision(r->names, names_module(r->names, r->parent_group, artifact),
                                                  r->parent_version ? r->parent_version : pom_host_revision(r));
        e = r->source->other(r->source->context, id, &r->pom->parent, r->error);
        if (e < 0)
                return error_wrap(r->error, e, "Impossible to load parent. Parent=%s", id->text);
        struct strmap_entry *p = NULL;
        while ((p = strmap_next(&r->pom->parent->properties, p)))
                strmap_set_if_missing(&r->pom->properties, p->key, p->value);
        return 0;
}

static int pom_read_name(struct pom_reader *r, const struct xml_node *parent)
{
        int e = pom_either_value(r, r->pom->project, parent, "groupId", &r->group);
        if (e == 0)
                e = pom_either_value(r, r->pom->project, parent, "artifactId", &r->artifact);
        if (e == 0)
                e = pom_either_value(r, r->pom->project, parent, "version", &r->version);
        if (e < 0)
                return e;
        if (!r->group || !r->artifact)
                return error_set(r->error, -EINVAL, "the POM has no %s", r->group ? "artifactId" : "groupId");
        struct ivy_module *m = module_new(r->names, struct ivy_module);
        m->id = names_revision(r->names, names_module(r->names, r->group, r->artifact),
                               r->version ? r->version : pom_host_revision(r));
        size_t len = strlen(m->id->revision);
        m->status = !r->version || (len >= 8 && strcmp(m->id->revision + len - 8, "SNAPSHOT") == 0) ? "integration"
                                                                                                    : "release";
        module_add_maven_configurations(r->names, m);
        r->pom->module = m;
        return 0;
}

/* A relocated module has one dependency: its new name. With only a new version, it has that version's dependencies. */
static int pom_read_relocation(struct pom_reader *r, const struct xml_node *relocation)
{
        const char *group = xml_child_text(relocation, "groupId"), *artifact = xml_child_text(relocation, "artifactId");
        const char *version = xml_child_text(relocation, "version");
        struct module_name *module =
                names_module(r->names, group ? group : r->group, artifact ? artifact : r->artifact);
        struct revision_name *id = names_revision(r->names, module, version ? version : r->pom->module->id->revision);
        if (module == r->pom->module->id->module) {
                const struct pom *other;
                int e = r->source->other(r->source->context, id, &other, r->error);
                if (e < 0)
                        return error_wrap(r->error, e, "impossible to load module %s to which %s has been relocated",
                                          id->text, r->pom->module->id->text);
                for (const struct dependency *d = other->module->dependencies; d; d = d->next)
                        pom_copy_dependency(r, d);
                return 0;
        }
        struct dependency *d = module_new(r->names, struct dependency);
        *d = (struct dependency){.of = r->pom->module, .id = id, .force = true};
        for (const struct configuration *c = r->pom->module->configurations; c; c = c->next)
                module_add_mapping(r->names, d, c->name, c->name);
        r->pom->module->dependencies = d;
        return 0;
}

static int pom_read_packaging(struct pom_reader *r)
{
        const char *packaging;
        int e = pom_child_value(r, r->pom->project, "packaging", &packaging);
        if (e < 0)
                return e;
        if (!packaging)
                packaging = "jar";
        struct artifact *a = module_new(r->names, struct artifact);
        *a = (struct artifact){.name = r->artifact, .type = packaging, .ext = packaging, .conf = "master"};
        if (strcmp(packaging, "pom") == 0) {
                a->type = a->ext = "jar";
                a->if_exists = true;
        } else if (pom_packed_as_jar(packaging)) {
                a->ext = "jar";
        } else if (strcmp(packaging, "pear") == 0) {
                a->ext = "phar";
        }
        r->pom->module->artifacts = a;
        return 0;
}

static int pom_read_project(struct pom_reader *r)
{
        const struct xml_node *project = r->pom->project, *parent = xml_child(project, "parent");
        struct profiles active = {.len = 0};
        pom_add_properties(r->pom, project);
        pom_read_profiles(r, &active);
        int e = parent ? pom_read_parent(r, parent) : 0;
        if (e == 0)
                e = pom_read_name(r, parent);
        if (e < 0)
                return e;
        const struct xml_node *relocation = xml_child(xml_child(project, "distributionManagement"), "relocation");
        if (relocation)
                return pom_read_relocation(r, relocation);
        r->named = true;
        e = pom_inherit_managed(r);
        if (e == 0)
                e = pom_read_managed(r, project);
        if (e == 0)
                e = pom_add_dependencies(r, project);
        for (size_t i = 0; i < active.len && e == 0; i++) {
                e = pom_read_managed(r, active.data[i]);
                if (e == 0)
                        e = pom_add_dependencies(r, active.data[i]);
        }
        if (e == 0)
                e = pom_inherit_dependencies(r);
        return e < 0 ? e : pom_read_packaging(r);
}

int pom_read(struct names *n, const char *data, size_t len, const struct pom_source *source, struct pom *pom,
             struct fst_error *error)
{
        struct xml_node *project;
        int r = xml_parse(&n->arena, data, len, &project, error);
        if (r < 0)
                return r;
        if (strcmp(project->name, "project") != 0 && strcmp(project->name, "model") != 0)
                return error_set(error, -EINVAL, "project must be the root tag");
        *pom = (struct pom){.project = project};
        struct pom_reader reader = {.names = n, .source = source, .pom = pom, .error = error};
        r = pom_read_project(&reader);
        if (r < 0)
                pom_deinit(pom);
        return r;
}

void pom_deinit(struct pom *pom)
{
        strmap_deinit(&pom->properties);
}
