/*
 * See module.h.
 */
#include "ivy/module.h"

#include "base/mem.h"
#include "base/vec.h"

bool texts_contain(const struct texts *t, const char *text)
{
        for (size_t i = 0; i < t->len; i++)
                if (strcmp(t->data[i], text) == 0)
                        return true;
        return false;
}

bool texts_add(struct texts *t, const char *text)
{
        if (texts_contain(t, text))
                return false;
        vec_push(t, text);
        return true;
}

void *module_alloc(struct names *n, size_t size)
{
        void *p = arena_alloc(&n->arena, size);
        memset(p, 0, size);
        return p;
}

static struct configuration *module_add_configuration(struct names *n, struct ivy_module *m, const char *name)
{
        struct configuration *c = module_new(n, struct configuration);
        c->name = name;
        list_append(&m->configurations, c);
        return c;
}

/* A small list in the arena, which needs no release. */
static struct texts module_arena_texts(struct names *n, const char *a, const char *b)
{
        const char **data = module_alloc(n, 2 * sizeof(*data));
        data[0] = a;
        data[1] = b;
        return (struct texts){data, b ? 2 : 1, 2};
}

void module_add_maven_configurations(struct names *n, struct ivy_module *m)
{
        static const char *const plain[] = {"master",  "compile", "provided", "system",
                                            "sources", "javadoc", "optional"};
        module_add_configuration(n, m, "default")->extends = module_arena_texts(n, "runtime", "master");
        for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
                module_add_configuration(n, m, plain[i]);
        module_add_configuration(n, m, "runtime")->extends = module_arena_texts(n, "compile", NULL);
        module_add_configuration(n, m, "test")->extends = module_arena_texts(n, "runtime", NULL);
}

struct ivy_module *module_default(struct names *n, struct revision_name *id)
{
        struct ivy_module *m = module_new(n, struct ivy_module);
        m->id = id;
        m->status = "release";
        m->is_default = true;
        module_add_configuration(n, m, "default");
        struct artifact *a = module_new(n, struct artifact);
        *a = (struct artifact){.name = id->module->name, .type = "jar", .ext = "jar", .conf = "default"};
        m->artifacts = a;
        return m;
}

const struct configuration *module_configuration(const struct ivy_module *m, const char *name)
{
        for (const struct configuration *c = m->configurations; c; c = c->next)
                if (strcmp(c->name, name) == 0)
                        return c;
        return NULL;
}

void module_add_mapping(struct names *n, struct dependency *d, const char *from, const char *to)
{
        for (const struct mapping *m = d->mappings; m; m = m->next)
                if (strcmp(m->from, from) == 0 && strcmp(m->to, to) == 0)
                        return;
        struct mapping *m = module_new(n, struct mapping);
        *m = (struct mapping){from, to, NULL};
        list_append(&d->mappings, m);
}

/* "@" is the configuration itself, "#" the requested one. A following "(default)" stays. */
static const char *module_replace_self(struct names *n, const char *to, const char *conf, const char *requested)
{
        if (to[0] == '@' && (to[1] == '\0' || to[1] == '(' || to[1] == '+'))
                return names_printf(n, "%s%s", conf, to + 1);
        if (to[0] == '#' && (to[1] == '\0' || to[1] == '(' || to[1] == '+'))
                return names_printf(n, "%s%s", requested, to + 1);
        return to;
}

void dependency_configurations(struct names *n, const struct dependency *d, const char *conf, const char *requested,
                               struct texts *out)
{
        bool own = false;
        for (const struct mapping *m = d->mappings; m; m = m->next)
                own |= strcmp(m->from, conf) == 0;
        for (const struct mapping *m = d->mappings; m; m = m->next)
                if (strcmp(m->from, conf) == 0 || strcmp(m->from, "*") == 0 || (!own && strcmp(m->from, "%") == 0))
                        texts_add(out, module_replace_self(n, m->to, conf, requested));
}

static bool module_name_matches(const struct ivy_exclusion *rule, const char *pattern, const char *text)
{
        return strcmp(pattern, "*") == 0 || (rule->glob ? names_glob(pattern, text) : strcmp(pattern, text) == 0);
}

bool exclusions_match(const struct ivy_exclusion *rules, const char *const *confs, size_t n_confs,
                      const struct module_name *module, const char *artifact)
{
        for (const struct ivy_exclusion *e = rules; e; e = e->next) {
                bool applies = strcmp(e->conf, "*") == 0;
                for (size_t i = 0; i < n_confs && !applies; i++)
                        applies = strcmp(e->conf, confs[i]) == 0;
                if (applies && module_name_matches(e, e->organisation, module->organisation) &&
                    module_name_matches(e, e->name, module->name) &&
                    (!e->artifact || (artifact && module_name_matches(e, e->artifact, artifact))))
                        return true;
        }
        return false;
}
