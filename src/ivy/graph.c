/*
 * See graph.h.
 */
#include "ivy/graph.h"

#include "base/mem.h"

void nodes_deinit(struct nodes *n)
{
        vec_deinit(n);
}

bool nodes_contain(const struct nodes *n, const struct node *node)
{
        for (size_t i = 0; i < n->len; i++)
                if (n->data[i]->id == node->id)
                        return true;
        return false;
}

void nodes_add(struct nodes *n, struct node *node)
{
        if (!nodes_contain(n, node))
                vec_push(n, node);
}

void nodes_add_all(struct nodes *n, const struct nodes *more)
{
        for (size_t i = 0; i < more->len; i++)
                nodes_add(n, more->data[i]);
}

void nodes_remove_all(struct nodes *n, const struct nodes *which)
{
        size_t kept = 0;
        for (size_t i = 0; i < n->len; i++)
                if (!nodes_contain(which, n->data[i]))
                        n->data[kept++] = n->data[i];
        n->len = kept;
}

bool nodes_equal(const struct nodes *a, const struct nodes *b)
{
        if (a->len != b->len)
                return false;
        for (size_t i = 0; i < a->len; i++)
                if (!nodes_contain(b, a->data[i]))
                        return false;
        return true;
}

static void graph_nodes_assign(struct nodes *to, const struct nodes *from)
{
        struct nodes copy = {0};
        nodes_add_all(&copy, from);
        nodes_deinit(to);
        *to = copy;
}

static struct usage *graph_new_usage(struct graph *g, struct node *node)
{
        struct usage *u = new0(struct usage);
        u->node = node;
        vec_push(&g->usages, u);
        return u;
}

struct node *graph_new_node(struct graph *g, struct revision_name *id)
{
        struct node *n = new0(struct node);
        n->graph = g;
        n->id = id;
        n->usage = graph_new_usage(g, n);
        vec_push(&g->all, n);
        return n;
}

static void graph_free_usage(struct usage *u)
{
        for (size_t i = 0; i < u->required.len; i++)
                vec_deinit(&u->required.data[i].confs);
        vec_deinit(&u->required);
        vec_deinit(&u->dependers);
        vec_deinit(&u->confs);
        free(u);
}

static void graph_free_node(struct node *n)
{
        for (size_t i = 0; i < n->callers.len; i++)
                vec_deinit(&n->callers.data[i].confs);
        for (size_t i = 0; i < n->choices.len; i++) {
                struct choice *c = &n->choices.data[i];
                nodes_deinit(&c->selected);
                nodes_deinit(&c->pending);
                nodes_deinit(&c->evicted);
                vec_deinit(&c->evicted_revisions);
        }
        vec_deinit(&n->to_fetch);
        vec_deinit(&n->fetched);
        vec_deinit(&n->merged);
        vec_deinit(&n->dependencies);
        vec_deinit(&n->callers);
        vec_deinit(&n->choices);
        nodes_deinit(&n->evicted_by);
        free(n);
}

void graph_deinit(struct graph *g)
{
        for (size_t i = 0; i < g->usages.len; i++)
                graph_free_usage(g->usages.data[i]);
        for (size_t i = 0; i < g->all.len; i++)
                graph_free_node(g->all.data[i]);
        for (size_t i = 0; i < g->registrations.len; i++) {
                vec_deinit(&g->registrations.data[i]->visits);
                free(g->registrations.data[i]);
        }
        vec_deinit(&g->usages);
        vec_deinit(&g->all);
        vec_deinit(&g->registrations);
        vec_deinit(&g->registered);
        vec_deinit(&g->reported);
}

/* `registered` is the id under which the visits are registered. They may be shared, and then have another id. */
struct graph_registration *graph_registration(const struct graph *g, const struct revision_name *id)
{
        for (size_t i = 0; i < g->registered.len; i++)
                if (g->registered.data[i]->id == id)
                        return g->registered.data[i]->node->id == id || g->registered.data[i]->visits.len > 0
                                       ? g->registered.data[i]
                                       : graph_registration(g, g->registered.data[i]->node->id);
        return NULL;
}

struct node *graph_find(const struct graph *g, const struct revision_name *id)
{
        const struct graph_registration *r = graph_registration(g, id);
        return r ? r->node : NULL;
}

static struct graph_registration *graph_new_registration(struct graph *g, struct revision_name *id, struct node *node)
{
        struct graph_registration *r = new0(struct graph_registration);
        r->id = id;
        r->node = node;
        vec_push(&g->registrations, r);
        vec_push(&g->registered, r);
        return r;
}

void graph_register(struct graph *g, struct revision_name *id, struct visit *visit)
{
        struct graph_registration *r = graph_registration(g, id);
        if (!r)
                r = graph_new_registration(g, id, visit->node);
        r->node = visit->node;
        vec_push(&r->visits, visit);
}

/* Maps @id to @node, which keeps its own visits and takes over the others. */
void graph_replace(struct graph *g, struct revision_name *id, struct node *node)
{
        struct graph_registration *old = graph_registration(g, id), *kept = graph_registration(g, node->id);
        if (!old || !kept || old == kept)
                return;
        for (size_t i = 0; i < old->visits.len; i++)
                vec_push(&kept->visits, old->visits.data[i]);
        old->visits.len = 0;
        old->node = node;
        graph_report(g, id, node);
}

void graph_report(struct graph *g, struct revision_name *id, struct node *node)
{
        for (size_t i = 0; i < g->reported.len; i++)
                if (g->reported.data[i].id == id) {
                        g->reported.data[i].node = node;
                        return;
                }
        vec_reserve(&g->reported, g->reported.len + 1);
        g->reported.data[g->reported.len].id = id;
        g->reported.data[g->reported.len++].node = node;
}

struct visit *graph_visit(struct graph *g, struct node *node, struct visit *parent, const char *parent_conf,
                          struct usage *usage)
{
        struct visit *v = module_new(g->names, struct visit);
        *v = (struct visit){.node = node,
                            .parent = parent,
                            .parent_conf = parent_conf,
                            .usage = usage,
                            .depth = parent ? parent->depth + 1 : 0,
                            .circular = -1};
        graph_register(g, node->id, v);
        return v;
}

struct node *node_real(struct node *n)
{
        struct node *real = graph_find(n->graph, n->id);
        return real ? real : n;
}

struct revision_name *node_resolved_id(const struct node *n)
{
        return n->module ? n->module->id : n->id;
}

void node_set_dependency(struct node *n, struct revision_name *parent, const struct dependency *d)
{
        for (size_t i = 0; i < n->dependencies.len; i++)
                if (n->dependencies.data[i].parent == parent) {
                        n->dependencies.data[i].dependency = d;
                        return;
                }
        vec_reserve(&n->dependencies, n->dependencies.len + 1);
        n->dependencies.data[n->dependencies.len].parent = parent;
        n->dependencies.data[n->dependencies.len++].dependency = d;
}

const struct dependency *node_dependency(const struct node *n, const struct node *parent)
{
        for (size_t i = 0; parent && i < n->dependencies.len; i++)
                if (n->dependencies.data[i].parent == parent->id)
                        return n->dependencies.data[i].dependency;
        return NULL;
}

struct choice *node_choice(struct node *n, const struct module_name *module)
{
        for (size_t i = 0; i < n->choices.len; i++)
                if (n->choices.data[i].module == module)
                        return &n->choices.data[i];
        vec_push(&n->choices, (struct choice){.module = module});
        return &n->choices.data[n->choices.len - 1];
}

static struct nodes graph_real_nodes(const struct nodes *of)
{
        struct nodes real = {0};
        for (size_t i = 0; i < of->len; i++)
                nodes_add(&real, node_real(of->data[i]));
        return real;
}

struct nodes node_selected(struct node *n, const struct module_name *module)
{
        return graph_real_nodes(&node_choice(n, module)->selected);
}

void node_set_selected(struct node *n, const struct module_name *module, const struct nodes *selected)
{
        struct choice *c = node_choice(n, module);
        graph_nodes_assign(&c->selected, selected);
        c->chosen = true;
}

void node_set_evicted(struct node *n, const struct module_name *module, const struct nodes *evicted)
{
        struct choice *c = node_choice(n, module);
        graph_nodes_assign(&c->evicted, evicted);
        c->evicted_revisions.len = 0;
        for (size_t i = 0; i < evicted->len; i++) {
                vec_push(&c->evicted_revisions, evicted->data[i]->id);
                vec_push(&c->evicted_revisions, node_resolved_id(evicted->data[i]));
        }
}

void node_set_pending(struct node *n, const struct module_name *module, const struct nodes *pending)
{
        graph_nodes_assign(&node_choice(n, module)->pending, pending);
}

bool node_has_selected(struct node *n, const struct module_name *module, const struct revision_name *id)
{
        const struct choice *c = node_choice(n, module);
        for (size_t i = 0; i < c->selected.len; i++)
                if (c->selected.data[i]->id == id || node_resolved_id(c->selected.data[i]) == id)
                        return true;
        return false;
}

/* If this very node is one of the winners, it is no longer evicted. */
static void graph_clean_evicted(struct node *n)
{
        if (!n->evicted || n->transitively)
                return;
        for (size_t i = 0; i < n->evicted_by.len; i++)
                if (node_real(n->evicted_by.data[i])->id == n->id)
                        n->evicted = false;
}

bool node_is_evicted(struct node *n)
{
        graph_clean_evicted(n);
        if (n->is_root || !n->evicted)
                return false;
        return n->transitively || !node_has_selected(n->graph->root, n->id->module, node_resolved_id(n));
}

bool node_is_completely_evicted(struct node *n)
{
        bool used = n->usage->used;
        for (size_t i = 0; i < n->merged.len; i++)
                used |= n->merged.data[i]->used;
        graph_clean_evicted(n);
        return !n->is_root && (!used || node_is_evicted(n));
}

void node_mark_evicted(struct node *n, const struct nodes *by)
{
        n->evicted = true;
        n->transitively = by == NULL;
        if (!by) {
                n->evicted_by.len = 0;
                return;
        }
        graph_nodes_assign(&n->evicted_by, by);
        for (size_t i = 0; i < n->evicted_by.len; i++)
                node_update_from(n->evicted_by.data[i], n, false);
}

void node_fetch_confs(struct node *n, const struct texts *confs)
{
        for (size_t i = 0; i < confs->len; i++)
                if (!texts_contain(&n->fetched, confs->data[i]))
                        texts_add(&n->to_fetch, confs->data[i]);
}

static void graph_merge_usage(struct usage *to, const struct usage *from)
{
        if (to == from)
                return;
        for (size_t i = 0; i < from->required.len; i++) {
                const struct required *r = &from->required.data[i];
                struct required *mine = NULL;
                for (size_t j = 0; j < to->required.len && !mine; j++)
                        if (to->required.data[j].in == r->in && strcmp(to->required.data[j].conf, r->conf) == 0)
                                mine = &to->required.data[j];
                if (!mine) {
                        vec_push(&to->required, (struct required){.in = r->in, .conf = r->conf});
                        mine = &to->required.data[to->required.len - 1];
                }
                for (size_t j = 0; j < r->confs.len; j++)
                        texts_add(&mine->confs, r->confs.data[j]);
        }
        to->used |= from->used;
        for (size_t i = 0; i < from->confs.len; i++)
                texts_add(&to->confs, from->confs.data[i]);
        for (size_t i = 0; i < from->dependers.len; i++) {
                bool there = false;
                for (size_t j = 0; j < to->dependers.len && !there; j++)
                        there = to->dependers.data[j].dependency == from->dependers.data[i].dependency &&
                                strcmp(to->dependers.data[j].conf, from->dependers.data[i].conf) == 0;
                if (!there)
                        vec_push(&to->dependers, from->dependers.data[i]);
        }
}

void usage_merge(struct usage *u, const struct node *from)
{
        graph_merge_usage(u, from->usage);
        for (size_t i = 0; i < from->merged.len; i++)
                graph_merge_usage(u, from->merged.data[i]);
}

static void graph_take_callers(struct node *n, const struct node *other)
{
        for (size_t i = 0; i < other->callers.len; i++) {
                const struct caller *c = &other->callers.data[i];
                bool there = false;
                for (size_t j = 0; j < n->callers.len && !there; j++)
                        there = n->callers.data[j].id == c->id;
                if (there)
                        continue;
                struct caller copy = *c;
                copy.confs = (struct texts){0};
                for (size_t j = 0; j < c->confs.len; j++)
                        texts_add(&copy.confs, c->confs.data[j]);
                vec_push(&n->callers, copy);
        }
}

void node_update_from(struct node *n, const struct node *other, bool real)
{
        if (n == other)
                return;
        graph_take_callers(n, other);
        if (real) {
                usage_merge(n->usage, other);
        } else {
                struct usage *merged = NULL;
                for (size_t i = 0; i < n->merged.len && !merged; i++)
                        if (n->merged.data[i]->node->id == other->id)
                                merged = n->merged.data[i];
                if (!merged) {
                        merged = graph_new_usage(n->graph, (struct node *)other);
                        vec_push(&n->merged, merged);
                }
                usage_merge(merged, other);
        }
        node_fetch_confs(n, &other->fetched);
        node_fetch_confs(n, &other->to_fetch);
}

/* For "main(fallback)": the length of the main part, or 0 without a fallback. */
static size_t graph_main_length(const char *conf)
{
        size_t len = strlen(conf);
        const char *paren = len > 2 && conf[len - 1] == ')' ? strrchr(conf, '(') : NULL;
        return paren && paren > conf ? (size_t)(paren - conf) : 0;
}

static void graph_public_confs(const struct node *n, const char *without, struct texts *out)
{
        for (const struct configuration *c = n->module->configurations; c; c = c->next) {
                const char *at = without ? strstr(without, c->name) : NULL;
                size_t len = strlen(c->name);
                bool excluded = at && at > without && at[-1] == '!' && (at[len] == '\0' || at[len] == '!');
                if (!c->is_private && !excluded)
                        texts_add(out, c->name);
        }
}

struct texts node_special_confs(const struct node *n, const struct texts *confs)
{
        struct texts out = {0};
        if (confs->len == 1 && confs->data[0][0] == '*' && n->module)
                graph_public_confs(n, confs->data[0] + 1, &out);
        else
                for (size_t i = 0; i < confs->len; i++)
                        texts_add(&out, confs->data[i]);
        return out;
}

struct texts node_real_confs(const struct node *n, const char *conf)
{
        struct texts out = {0};
        size_t len = graph_main_length(conf);
        if (!n->module) {
                texts_add(&out, conf);
                return out;
        }
        if (len > 0) {
                const char *name = arena_copy(&n->graph->names->arena, conf, len);
                const struct configuration *c = module_configuration(n->module, name);
                size_t rest = strlen(conf) - len - 2;
                conf = c && !c->is_private ? name : arena_copy(&n->graph->names->arena, conf + len + 1, rest);
        }
        if (*conf == '*') {
                struct texts one = {0};
                texts_add(&one, conf);
                vec_deinit(&out);
                out = node_special_confs(n, &one);
                vec_deinit(&one);
                return out;
        }
        while (*conf) {
                size_t n_conf = strcspn(conf, ",");
                const char *end = conf + n_conf, *start = conf + strspn(conf, " ");
                if (end > start)
                        texts_add(&out, arena_copy(&n->graph->names->arena, start, (size_t)(end - start)));
                conf = *end ? end + 1 : end;
        }
        return out;
}

const struct configuration *node_configuration(const struct node *n, const char *conf)
{
        size_t len = graph_main_length(conf);
        if (len == 0)
                return module_configuration(n->module, conf);
        _cleanup_free_ char *name = mem_strndup(conf, len);
        _cleanup_free_ char *other = mem_strndup(conf + len + 1, strlen(conf) - len - 2);
        const struct configuration *c = module_configuration(n->module, name);
        return c ? c : module_configuration(n->module, other);
}

struct texts node_confs(const struct node *n)
{
        struct texts out = {0};
        for (size_t i = 0; i < n->usage->confs.len; i++)
                texts_add(&out, n->usage->confs.data[i]);
        for (size_t u = 0; u < n->merged.len; u++)
                for (size_t i = 0; i < n->merged.data[u]->confs.len; i++)
                        texts_add(&out, n->merged.data[u]->confs.data[i]);
        return out;
}

static void graph_add_required(const struct usage *u, const struct node *in, const char *conf, struct texts *out)
{
        for (size_t i = 0; i < u->required.len; i++) {
                const struct required *r = &u->required.data[i];
                for (size_t j = 0; r->in == in->id && strcmp(r->conf, conf) == 0 && j < r->confs.len; j++)
                        texts_add(out, r->confs.data[j]);
        }
}

struct texts node_required(const struct node *n, const struct node *in, const char *conf)
{
        struct texts out = {0};
        graph_add_required(n->usage, in, conf, &out);
        for (size_t i = 0; i < n->merged.len; i++)
                graph_add_required(n->merged.data[i], in, conf, &out);
        return out;
}

void node_add_root_confs(struct node *n, struct usage *u, const struct texts *confs)
{
        u->used = true;
        for (size_t i = 0; i < confs->len; i++) {
                const struct configuration *c = n->module ? module_configuration(n->module, confs->data[i]) : NULL;
                if (texts_add(&u->confs, confs->data[i]) && c)
                        node_add_root_confs(n, u, &c->extends);
        }
}

static void graph_add_caller_conf(struct caller *c, const char *conf)
{
        if (!conf || !texts_add(&c->confs, conf))
                return;
        const struct configuration *own = module_configuration(c->module, conf);
        for (size_t i = 0; own && i < own->extends.len; i++)
                graph_add_caller_conf(c, own->extends.data[i]);
}

static bool graph_can_exclude(const struct node *n)
{
        for (size_t i = 0; i < n->callers.len; i++) {
                const struct caller *c = &n->callers.data[i];
                if (c->can_exclude || c->module->exclusions || c->dependency->exclusions)
                        return true;
        }
        return false;
}

void node_add_caller(struct node *n, struct node *by, const char *requested_conf, const struct dependency *d)
{
        struct revision_name *id = node_resolved_id(by);
        struct caller *caller = NULL;
        for (size_t i = 0; i < n->callers.len && !caller; i++)
                if (n->callers.data[i].id == id)
                        caller = &n->callers.data[i];
        if (!caller) {
                vec_push(&n->callers, (struct caller){.id = id,
                                                      .module = by->module,
                                                      .dependency = d,
                                                      .can_exclude = graph_can_exclude(by)});
                caller = &n->callers.data[n->callers.len - 1];
        }
        graph_add_caller_conf(caller, requested_conf);
}

/* The nodes being visited on the way up, which ends cycles. */
struct below {
        const struct below *next;
        struct node *node;
};

enum verdict { TAKEN, EXCLUDED, UNKNOWN };

static enum verdict graph_callers_exclude(struct node *n, const struct module_name *module, const char *artifact,
                                          const struct below *below);

static bool graph_directly_excludes(const struct ivy_module *m, const char *const *confs, size_t n_confs,
                                    const struct dependency *d, const struct module_name *module, const char *artifact)
{
        return (d && exclusions_match(d->exclusions, confs, n_confs, module, artifact)) ||
               (m && exclusions_match(m->exclusions, confs, n_confs, module, artifact));
}

static enum verdict graph_caller_excludes(struct node *n, const struct caller *c, const struct module_name *module,
                                          const char *artifact, const struct below *below)
{
        static const char *const root_confs[] = {ROOT_CONF};
        for (const struct below *b = below; b; b = b->next)
                if (graph_directly_excludes(n->module, root_confs, 1, c->dependency, b->node->id->module, NULL))
                        return EXCLUDED;
        if (!c->can_exclude && !c->module->exclusions && !c->dependency->exclusions)
                return TAKEN;
        if (graph_directly_excludes(c->module, c->confs.data, c->confs.len, c->dependency, module, artifact))
                return EXCLUDED;
        struct node *above = graph_find(n->graph, c->module->id);
        if (!above)
                return TAKEN;
        for (const struct below *b = below; b; b = b->next)
                if (b->node->id == above->id)
                        return UNKNOWN;
        return graph_callers_exclude(above, module, artifact, below) == EXCLUDED ? EXCLUDED : TAKEN;
}

static enum verdict graph_callers_exclude(struct node *n, const struct module_name *module, const char *artifact,
                                          const struct below *below)
{
        const struct below here = {below, n};
        bool any = false;
        for (size_t i = 0; i < n->callers.len; i++) {
                const struct caller *c = &n->callers.data[i];
                if (c->dependency->id != n->id)
                        continue;
                enum verdict v = graph_caller_excludes(n, c, module, artifact, &here);
                if (v == TAKEN)
                        return TAKEN;
                any |= v == EXCLUDED;
        }
        return any ? EXCLUDED : TAKEN;
}

bool node_callers_exclude(struct node *n, const struct module_name *module, const char *artifact)
{
        return graph_callers_exclude(n, module, artifact, NULL) == EXCLUDED;
}
