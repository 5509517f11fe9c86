/*
 * See resolve.h. The walk is depth first. A node's conflicts are settled from its parent up to the root, before and
 * after it is loaded. Then its configurations are walked, extended ones first. If a node is evicted after its walk, the
 * winner takes over its requirements.
 */
#include "ivy/resolve.h"

#include "base/error.h"
#include "base/mem.h"
#include "ivy/revision.h"

#define MAX_DEPTH 300
#define MAX_NODES 20000
#define MAX_NESTED 5000 /* nesting of the walk */

struct engine {
        struct graph *graph;
        const struct module_source *source;
        struct fst_error *error;
        int failed, nested;
        VEC(const char *) walked; /* "organisation#name;revision|conf" */
};

#define _cleanup_texts_ _cleanup_(resolve_texts_deinit)
#define _cleanup_nodes_ _cleanup_(nodes_deinit)

static void resolve_texts_deinit(struct texts *t)
{
        vec_deinit(t);
}

static const struct dependency *resolve_with_revision(struct graph *g, const struct dependency *d, const char *revision)
{
        struct dependency *original = (struct dependency *)d; /* only its list of clones changes */
        struct revision_name *id = names_revision(g->names, d->id->module, revision);
        if (id == d->id)
                return d;
        for (struct dependency *c = original->clones; c; c = c->next)
                if (c->id == id)
                        return c;
        struct dependency *clone = module_new(g->names, struct dependency);
        *clone = *d;
        clone->id = id;
        clone->clones = NULL;
        clone->next = original->clones;
        original->clones = clone;
        return clone;
}

/* The mediated revision from the ancestors of the current node. The farthest ancestor wins. */
static const struct dependency *resolve_mediate(struct graph *g, const struct dependency *d)
{
        const char *revision = NULL;
        for (const struct visit *v = g->current ? g->current->parent : NULL; v; v = v->parent)
                for (const struct override *o = v->node->module ? v->node->module->overrides : NULL; o; o = o->next)
                        if (o->module == d->id->module && o->revision)
                                revision = o->revision;
        return revision ? resolve_with_revision(g, d, revision) : d;
}

static bool resolve_is_excluded(struct node *n, const struct dependency *d)
{
        static const char *const confs[] = {ROOT_CONF};
        if (n->is_root)
                return exclusions_match(d->exclusions, confs, 1, d->id->module, NULL) ||
                       exclusions_match(n->module->exclusions, confs, 1, d->id->module, NULL);
        return node_callers_exclude(n, d->id->module, NULL);
}

static void resolve_set_required(struct usage *u, struct node *in, const char *conf, const struct texts *confs)
{
        struct required *r = NULL;
        for (size_t i = 0; i < u->required.len && !r; i++)
                if (u->required.data[i].in == in->id && strcmp(u->required.data[i].conf, conf) == 0)
                        r = &u->required.data[i];
        if (!r) {
                vec_push(&u->required, (struct required){.in = in->id, .conf = conf});
                r = &u->required.data[u->required.len - 1];
        }
        r->confs.len = 0;
        for (size_t i = 0; i < confs->len; i++)
                texts_add(&r->confs, confs->data[i]);
}

/* Keeps only one node of a revision in @out, as Ivy's map does. */
static void resolve_add_dependency(struct node *n, const struct dependency *d, const char *conf, const char *requested,
                                   const struct texts *confs, struct nodes *out)
{
        struct graph *g = n->graph;
        struct node *node = NULL;
        for (size_t i = 0; i < out->len && !node; i++)
                if (out->data[i]->id == d->id)
                        node = out->data[i];
        if (!node)
                node = graph_find(g, d->id);
        if (!node)
                node = graph_new_node(g, d->id);
        node_set_dependency(node, n->id, d);
        _cleanup_texts_ struct texts real = node_special_confs(node, confs);
        node_fetch_confs(node, &real);
        node_add_root_confs(node, node->usage, &real);
        resolve_set_required(node->usage, n, conf, &real);
        node_add_caller(node, n, requested, d);
        nodes_add(out, node);
}

static void resolve_dependencies_in(struct node *n, const char *conf, const char *requested, struct nodes *out)
{
        for (const struct dependency *d = n->module->dependencies; d; d = d->next) {
                const struct dependency *asked = resolve_mediate(n->graph, d);
                _cleanup_texts_ struct texts confs = {0};
                dependency_configurations(n->graph->names, asked, conf, requested ? requested : conf, &confs);
                /* A module that depends on itself through a mediated name is not a dependency. */
                if (confs.len > 0 && asked->id->module != n->id->module && !resolve_is_excluded(n, asked))
                        resolve_add_dependency(n, asked, conf, requested ? requested : conf, &confs, out);
        }
}

/* In all used configurations of @n. */
static struct nodes resolve_dependencies_of(struct node *n, const char *requested)
{
        struct nodes out = {0};
        _cleanup_texts_ struct texts confs = node_confs(n);
        if (texts_contain(&confs, "*")) {
                confs.len = 0;
                for (const struct configuration *c = n->module->configurations; c; c = c->next)
                        if (n->is_root || !c->is_private)
                                texts_add(&confs, c->name);
        }
        for (size_t i = 0; i < confs.len; i++) {
                struct nodes some = {0};
                resolve_dependencies_in(n, confs.data[i], requested, &some);
                nodes_add_all(&out, &some);
                nodes_deinit(&some);
        }
        return out;
}

/* --- loading ------------------------------------------------------------------------------------------------ */

static bool resolve_conf_only_of_merged(const struct usage *u, const char *conf)
{
        return !u->used || !texts_contain(&u->confs, conf);
}

static void resolve_texts_remove(struct texts *t, const char *text)
{
        size_t kept = 0;
        for (size_t i = 0; i < t->len; i++)
                if (strcmp(t->data[i], text) != 0)
                        t->data[kept++] = t->data[i];
        t->len = kept;
}

static bool resolve_take_configuration(struct node *n, bool loaded, struct node *parent, const char *parent_conf,
                                       const char *conf, bool should_be_public, struct usage *usage)
{
        if (!n->module)
                return true;
        _cleanup_texts_ struct texts confs = node_real_confs(n, conf);
        node_add_root_confs(n, usage, &confs);
        for (size_t i = 0; i < confs.len; i++) {
                const struct configuration *c = module_configuration(n->module, confs.data[i]);
                if (c && !(should_be_public && !n->is_root && c->is_private))
                        continue;
                resolve_texts_remove(&n->to_fetch, conf);
                if (!resolve_conf_only_of_merged(n->usage, conf))
                        n->problem = names_printf(n->graph->names,
                                                  "configuration not %s in %s: '%s'. It was required from %s %s",
                                                  c ? "public" : "found", node_resolved_id(n)->text, conf,
                                                  parent ? node_resolved_id(parent)->text : "", parent_conf);
                return false;
        }
        if (loaded) {
                texts_add(&n->fetched, conf);
                for (size_t i = 0; i < confs.len; i++)
                        resolve_texts_remove(&n->to_fetch, confs.data[i]);
                resolve_texts_remove(&n->to_fetch, conf);
        }
        return true;
}

static bool resolve_load(struct engine *e, struct node *n, struct node *parent, const char *parent_conf,
                         const char *conf, bool should_be_public, struct usage *usage);

/* A dynamic revision resolved to an existing revision: that node takes over. */
static void resolve_move_to(struct engine *e, struct node *n, struct node *real, const struct found *found,
                            struct node *parent, const char *parent_conf, const char *conf, bool should_be_public)
{
        if (!real->module) {
                real->module = n->module;
                real->repository = found->repository;
        }
        real->downloaded |= found->downloaded;
        real->searched |= found->searched;
        for (size_t i = 0; i < n->dependencies.len; i++)
                node_set_dependency(real, n->dependencies.data[i].parent, n->dependencies.data[i].dependency);
        node_update_from(real, n, true);
        resolve_load(e, real, parent, parent_conf, conf, should_be_public, n->usage);
        usage_merge(real->usage, n);
        n->usage = real->usage;
        graph_replace(e->graph, n->id, real);
        e->source->say(e->source->context, names_printf(e->graph->names, "\t[%s] %s", real->id->revision, n->id->text));
}

/* Loads @n from the source. Returns false for a problem, or if another node took over (*moved). */
static bool resolve_find_module(struct engine *e, struct node *n, struct node *parent, const char *parent_conf,
                                const char *conf, bool should_be_public, struct usage *usage, bool *moved)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct found found = {0};
        const struct dependency *d = node_dependency(n, parent);
        int r = e->source->find(e->source->context, d, &found, &error);
        if (r < 0) {
                if (r == -EINTR || r == -ECANCELED)
                        e->failed = error_set(e->error, r, "%s", error_message(&error));
                n->problem = names_copy(e->graph->names, error_message(&error));
                return false;
        }
        if (found.module->id != n->id) {
                struct node *real = graph_find(e->graph, found.module->id);
                if (real && real != n) {
                        n->module = found.module;
                        n->repository = found.repository;
                        if (resolve_take_configuration(n, false, parent, parent_conf, conf, should_be_public, usage))
                                resolve_move_to(e, n, real, &found, parent, parent_conf, conf, should_be_public);
                        *moved = n->problem == NULL;
                        return false;
                }
                e->source->say(e->source->context,
                               names_printf(e->graph->names, "\t[%s] %s", found.module->id->revision, n->id->text));
        }
        n->downloaded = found.downloaded;
        n->searched = found.searched;
        n->module = found.module;
        n->repository = found.repository;
        resolve_texts_remove(&n->to_fetch, "*");
        _cleanup_texts_ struct texts required = parent ? node_required(n, parent, parent_conf) : (struct texts){0};
        _cleanup_texts_ struct texts real_confs = node_special_confs(n, &required);
        node_fetch_confs(n, &real_confs);
        return true;
}

/* Whether it was loaded now, or has more to load. */
static bool resolve_load(struct engine *e, struct node *n, struct node *parent, const char *parent_conf,
                         const char *conf, bool should_be_public, struct usage *usage)
{
        bool loaded = false, moved = false;
        if (!n->is_root)
                graph_report(e->graph, n->id, n);
        if (!n->problem && !node_is_evicted(n) && (n->to_fetch.len > 0 || !n->root_loaded)) {
                n->root_loaded = true;
                if (!n->module &&
                    !resolve_find_module(e, n, parent, parent_conf, conf, should_be_public, usage, &moved))
                        return moved;
                loaded = true;
        }
        if (n->module && !n->is_root)
                graph_report(e->graph, node_resolved_id(n), n);
        resolve_take_configuration(n, loaded, parent, parent_conf, conf, should_be_public, usage);
        if (n->problem)
                return false;
        const struct dependency *d = node_dependency(n, parent);
        if (d) {
                bool there = false;
                for (size_t i = 0; i < usage->dependers.len && !there; i++)
                        there = usage->dependers.data[i].dependency == d &&
                                strcmp(usage->dependers.data[i].conf, parent_conf) == 0;
                if (!there)
                        vec_push(&usage->dependers, (struct depender){d, parent_conf});
        }
        return loaded;
}

/* --- visits ------------------------------------------------------------------------------------------------- */

static struct node *resolve_parent_node(const struct visit *v)
{
        return v->parent ? v->parent->node : NULL;
}

static struct usage *resolve_visit_usage(const struct visit *v)
{
        return v->usage ? v->usage : v->node->usage;
}

static bool resolve_visit_load(struct engine *e, struct visit *v, const char *conf, bool should_be_public)
{
        if (!resolve_load(e, v->node, resolve_parent_node(v), v->parent_conf, conf, should_be_public,
                          resolve_visit_usage(v)))
                return false;
        struct node *real = v->parent ? graph_find(e->graph, v->node->id) : NULL;
        if (real)
                v->node = real;
        struct revision_name *resolved = node_resolved_id(v->node);
        struct node *there = graph_find(e->graph, resolved);
        if (!there || there->id != resolved)
                graph_register(e->graph, resolved, v);
        return true;
}

static bool resolve_visit_is_circular(struct visit *v)
{
        if (v->circular < 0) {
                v->circular = 0;
                for (const struct visit *a = v->parent; a && !v->circular; a = a->parent)
                        v->circular = a->node->id->module == v->node->id->module;
        }
        return v->circular;
}

static bool resolve_visit_is_transitive(const struct visit *v)
{
        const struct node *n = v->node;
        if (n->is_root)
                return true;
        if (v->parent->requested_conf) {
                const struct configuration *c = node_configuration(v->parent->node, v->parent->requested_conf);
                if (c && c->not_transitive)
                        return false;
        }
        const struct dependency *d = node_dependency(n, v->parent->node);
        if (d && !d->not_transitive)
                return true;
        for (size_t i = 0; i < n->merged.len; i++)
                for (size_t j = 0; j < n->merged.data[i]->dependers.len; j++)
                        if (!n->merged.data[i]->dependers.data[j].dependency->not_transitive)
                                return true;
        return false;
}

/* The visit of another revision of the same module from the same parent. */
static struct visit *resolve_visit_other(struct visit *v, struct node *node)
{
        struct graph_registration *r = graph_registration(node->graph, node->id);
        for (size_t i = 0; r && i < r->visits.len; i++) {
                struct visit *other = r->visits.data[i];
                if ((!v->parent && !other->parent) ||
                    (v->parent && other->parent && v->parent->node->id == other->parent->node->id)) {
                        other->parent_conf = v->parent_conf;
                        other->usage = resolve_visit_usage(v);
                        return other;
                }
        }
        return graph_visit(node->graph, node, v->parent, v->parent_conf, resolve_visit_usage(v));
}

/* --- conflicts ---------------------------------------------------------------------------------------------- */

/*
 * Chooses the later revision, or the one that @parent itself requires. Returns false if a dynamic revision is still
 * unresolved.
 */
static bool resolve_pick(struct node *parent, const struct nodes *conflicts, struct nodes *out)
{
        struct node *best = NULL;
        bool any_alive = false;
        if (conflicts->len < 2) {
                nodes_add_all(out, conflicts);
                return true;
        }
        for (size_t i = 0; i < conflicts->len; i++) {
                const struct dependency *d = node_dependency(conflicts->data[i], parent);
                if (d && d->force && d->of && d->of->id == node_resolved_id(parent)) {
                        nodes_add(out, conflicts->data[i]);
                        return true;
                }
        }
        for (size_t i = 0; i < conflicts->len; i++)
                if (revision_is_dynamic(node_resolved_id(conflicts->data[i])->revision))
                        return false;
        for (size_t i = 0; i < conflicts->len; i++)
                any_alive |= !node_is_completely_evicted(conflicts->data[i]);
        for (size_t i = 0; i < conflicts->len; i++) {
                struct node *n = conflicts->data[i];
                if (any_alive && node_is_completely_evicted(n))
                        continue;
                if (!best || revision_compare(node_resolved_id(n)->revision, node_resolved_id(best)->revision) >= 0)
                        best = n;
        }
        nodes_add(out, best);
        return true;
}

/* All rivals of @v below @ancestor, @v first. Removes those from @selected that were evicted further down. */
static struct nodes resolve_find_conflicts(struct engine *e, struct visit *v, struct visit *ancestor,
                                           const struct nodes *to_evict, struct nodes *selected)
{
        const struct module_name *module = v->node->id->module;
        struct nodes conflicts = {0};
        nodes_add(&conflicts, v->node);
        size_t before = selected->len;
        nodes_remove_all(selected, to_evict);
        if (selected->len < before || (selected->len == 0 && v->parent->node->id != ancestor->node->id)) {
                struct visit *current = e->graph->current;
                e->graph->current = ancestor;
                _cleanup_nodes_ struct nodes below = resolve_dependencies_of(ancestor->node, ancestor->requested_conf);
                for (size_t i = 0; i < below.len; i++) {
                        if (below.data[i]->id->module == module)
                                nodes_add(&conflicts, below.data[i]);
                        _cleanup_nodes_ struct nodes theirs = node_selected(below.data[i], module);
                        nodes_add_all(&conflicts, &theirs);
                }
                e->graph->current = current;
        } else if (selected->len == 0) {
                _cleanup_nodes_ struct nodes below =
                        resolve_dependencies_of(v->parent->node, v->parent->requested_conf);
                for (size_t i = 0; i < below.len; i++)
                        if (below.data[i]->id->module == module)
                                nodes_add(&conflicts, below.data[i]);
        } else {
                nodes_add_all(&conflicts, selected);
        }
        return conflicts;
}

static bool resolve_settle(struct engine *e, struct visit *v, struct visit *ancestor, struct nodes *to_evict);

/* @v won in @ancestor: evicts there the nodes that were selected before and no longer are. */
static bool resolve_settle_winners(struct engine *e, struct visit *v, struct visit *ancestor,
                                   const struct nodes *winners, struct nodes *before)
{
        struct node *a = ancestor->node;
        const struct module_name *module = v->node->id->module;
        nodes_remove_all(before, winners);
        for (size_t i = 0; i < before->len; i++)
                node_mark_evicted(before->data[i], winners);
        node_set_selected(a, module, winners);
        _cleanup_nodes_ struct nodes evicted = {0}, none = {0};
        nodes_add_all(&evicted, &node_choice(a, module)->evicted);
        nodes_remove_all(&evicted, winners);
        nodes_add_all(&evicted, before);
        node_set_evicted(a, module, &evicted);
        node_set_pending(a, module, &none);
        return resolve_settle(e, v, ancestor->parent, before);
}

static bool resolve_settle_losers(struct engine *e, struct visit *v, struct visit *ancestor,
                                  const struct nodes *winners, const struct nodes *to_evict)
{
        struct node *a = ancestor->node;
        const struct module_name *module = v->node->id->module;
        _cleanup_nodes_ struct nodes evicted = {0}, none = {0}, out = {0};
        nodes_add_all(&out, to_evict);
        nodes_remove_all(&out, winners);
        nodes_add_all(&evicted, &node_choice(a, module)->evicted);
        nodes_remove_all(&evicted, winners);
        nodes_add_all(&evicted, &out);
        nodes_add(&evicted, v->node);
        node_set_evicted(a, module, &evicted);
        node_set_pending(a, module, &none);
        node_mark_evicted(v->node, winners);

        _cleanup_nodes_ struct nodes before = node_selected(a, module);
        bool settled = true;
        if (nodes_equal(&before, winners))
                return true;
        node_set_selected(a, module, winners);
        for (size_t i = 0; i < winners->len; i++)
                if (!nodes_contain(&before, winners->data[i]))
                        settled &= resolve_settle(e, resolve_visit_other(v, winners->data[i]), ancestor->parent, &out);
        return settled;
}

static bool resolve_was_settled_before(struct visit *v, struct visit *ancestor)
{
        struct choice *c = node_choice(ancestor->node, v->node->id->module);
        struct revision_name *id = node_resolved_id(v->node);
        for (size_t i = 0; i < c->evicted_revisions.len; i++)
                if (c->evicted_revisions.data[i] == id)
                        return true;
        return false;
}

/* @v was selected before in @ancestor. Evicts it if the root has selected another one since. */
static void resolve_check_root(struct engine *e, struct visit *v)
{
        struct revision_name *id = node_resolved_id(v->node);
        _cleanup_nodes_ struct nodes selected = node_selected(e->graph->root, v->node->id->module);
        for (size_t i = 0; i < selected.len; i++)
                if (node_resolved_id(selected.data[i]) == id)
                        return;
        node_mark_evicted(v->node, &selected);
}

/* Settles the conflicts of @v in @ancestor and above. Returns false if a dynamic revision must be resolved first. */
static bool resolve_settle(struct engine *e, struct visit *v, struct visit *ancestor, struct nodes *to_evict)
{
        if (!ancestor || v == ancestor || resolve_was_settled_before(v, ancestor))
                return true;
        const struct module_name *module = v->node->id->module;
        if (node_has_selected(ancestor->node, module, node_resolved_id(v->node))) {
                if (!resolve_settle(e, v, ancestor->parent, to_evict))
                        return false;
                resolve_check_root(e, v);
                return true;
        }
        _cleanup_nodes_ struct nodes selected = node_selected(ancestor->node, module), winners = {0};
        const struct nodes *pending = &node_choice(ancestor->node, module)->pending;
        for (size_t i = 0; i < pending->len; i++)
                nodes_add(&selected, node_real(pending->data[i]));
        _cleanup_nodes_ struct nodes conflicts = resolve_find_conflicts(e, v, ancestor, to_evict, &selected);

        bool known = false;
        if (v->parent != ancestor) {
                _cleanup_nodes_ struct nodes theirs = node_selected(v->parent->node, module);
                known = nodes_equal(&theirs, &conflicts);
        }
        if (known) {
                nodes_add_all(&winners, &conflicts);
        } else if (!resolve_pick(ancestor->node, &conflicts, &winners)) {
                node_set_pending(ancestor->node, module, &conflicts);
                return false;
        }
        return nodes_contain(&winners, v->node) ? resolve_settle_winners(e, v, ancestor, &winners, &selected)
                                                : resolve_settle_losers(e, v, ancestor, &winners, to_evict);
}

static void resolve_settle_all(struct engine *e, struct visit *v)
{
        struct nodes none = {0};
        resolve_settle(e, v, v->parent, &none);
}

/* --- the walk ----------------------------------------------------------------------------------------------- */

static bool resolve_was_walked(struct engine *e, const struct node *n, const char *conf, bool mark)
{
        const char *key = names_printf(e->graph->names, "%s|%s", node_resolved_id(n)->text, conf);
        for (size_t i = 0; i < e->walked.len; i++)
                if (strcmp(e->walked.data[i], key) == 0)
                        return true;
        if (mark)
                vec_push(&e->walked, key);
        return false;
}

static void resolve_walk(struct engine *e, struct visit *v, const char *conf, bool should_be_public);

static void resolve_walk_dependency(struct engine *e, struct visit *v, const char *conf, struct visit *child)
{
        struct node *real = graph_find(e->graph, child->node->id);
        if (real)
                child->node = real;
        _cleanup_texts_ struct texts required = node_required(child->node, v->node, conf);
        for (size_t i = 0; i < required.len; i++)
                resolve_walk(e, child, required.data[i], true);
        if (node_is_evicted(child->node) || child->node->problem)
                return;
        _cleanup_texts_ struct texts left = {0};
        for (size_t i = 0; i < child->node->to_fetch.len; i++)
                texts_add(&left, child->node->to_fetch.data[i]);
        for (size_t i = 0; i < left.len; i++)
                resolve_walk(e, child, left.data[i], false);
}

static void resolve_walk_configuration(struct engine *e, struct visit *v, const char *conf)
{
        const struct configuration *c = node_configuration(v->node, conf);
        if (!c)
                return;
        bool is_requested = !v->requested_conf;
        if (is_requested)
                v->requested_conf = conf;
        node_fetch_confs(v->node, &c->extends);
        for (size_t i = 0; i < c->extends.len; i++)
                resolve_walk(e, v, c->extends.data[i], false);
        if (!resolve_was_walked(e, v->node, conf, false) && resolve_visit_is_transitive(v)) {
                _cleanup_nodes_ struct nodes below = {0};
                resolve_dependencies_in(v->node, conf, v->requested_conf, &below);
                struct visit **children = new_array(struct visit *, below.len + 1);
                for (size_t i = 0; i < below.len; i++)
                        children[i] = graph_visit(e->graph, below.data[i], v, conf, NULL);
                for (size_t i = 0; i < below.len && !e->failed; i++)
                        resolve_walk_dependency(e, v, conf, children[i]);
                free(children);
                resolve_was_walked(e, v->node, conf, true);
        }
        if (is_requested)
                v->requested_conf = NULL;
}

static void resolve_walk_configurations(struct engine *e, struct visit *v, const char *conf)
{
        if (node_is_evicted(v->node) || resolve_visit_is_circular(v))
                return;
        _cleanup_texts_ struct texts confs = node_real_confs(v->node, conf);
        for (size_t i = 0; i < confs.len; i++)
                resolve_walk_configuration(e, v, confs.data[i]);
}

/* The node was evicted: the winners get its requirements. */
static void resolve_walk_winners(struct engine *e, struct visit *v, const char *conf)
{
        _cleanup_nodes_ struct nodes winners = {0};
        nodes_add_all(&winners, &v->node->evicted_by);
        _cleanup_texts_ struct texts one = {0};
        texts_add(&one, conf);
        for (size_t i = 0; i < winners.len; i++)
                if (winners.data[i]->module)
                        resolve_walk(e, resolve_visit_other(v, winners.data[i]), conf, true);
                else
                        node_fetch_confs(winners.data[i], &one);
}

static void resolve_walk(struct engine *e, struct visit *v, const char *conf, bool should_be_public)
{
        if (e->failed)
                return;
        if (v->depth > MAX_DEPTH || e->nested > MAX_NESTED || e->graph->all.len > MAX_NODES) {
                e->failed =
                        error_set(e->error, -ELOOP, "%s: the dependencies are nested too deeply", v->node->id->text);
                return;
        }
        struct visit *before = e->graph->current;
        e->graph->current = v;
        e->nested++;
        const struct dependency *d = node_dependency(v->node, resolve_parent_node(v));
        if (d && !(v->parent->node->is_root && revision_is_dynamic(d->id->revision)))
                resolve_settle_all(e, v);
        if (resolve_visit_load(e, v, conf, should_be_public)) {
                resolve_settle_all(e, v);
                resolve_walk_configurations(e, v, conf);
        } else if (!v->node->problem && v->node->module) {
                resolve_walk_configurations(e, v, conf);
        }
        if (node_is_evicted(v->node))
                resolve_walk_winners(e, v, conf);
        e->nested--;
        e->graph->current = before;
}

/* --- afterwards --------------------------------------------------------------------------------------------- */

struct nodes resolve_nodes(const struct graph *g)
{
        struct nodes out = {0};
        for (size_t i = 0; i < g->registered.len; i++) {
                struct node *n = g->registered.data[i]->node;
                if (!n->is_root)
                        nodes_add(&out, n);
        }
        return out;
}

/* Dependencies before their callers, which is Ivy's order. */
static void resolve_sort_from(const struct nodes *all, struct node *n, struct nodes *seen, struct nodes *out, int depth)
{
        if (nodes_contain(seen, n) || depth > MAX_DEPTH)
                return;
        vec_push(seen, n);
        for (const struct dependency *d = n->module ? n->module->dependencies : NULL; d; d = d->next)
                for (size_t i = 0; i < all->len; i++)
                        if (all->data[i]->id->module == d->id->module && all->data[i]->module &&
                            revision_accepts(d->id->revision, node_resolved_id(all->data[i])->revision)) {
                                resolve_sort_from(all, all->data[i], seen, out, depth + 1);
                                break;
                        }
        vec_push(out, n);
}

/* A node whose callers are all evicted is evicted, too. */
static void resolve_evict_transitively(struct graph *g)
{
        _cleanup_nodes_ struct nodes all = resolve_nodes(g), seen = {0}, sorted = {0};
        for (size_t i = 0; i < all.len; i++)
                resolve_sort_from(&all, all.data[i], &seen, &sorted, 0);
        for (size_t i = sorted.len; i-- > 0;) {
                struct node *n = sorted.data[i];
                bool all_evicted = n->callers.len > 0;
                if (node_is_completely_evicted(n))
                        continue;
                for (size_t c = 0; c < n->callers.len && all_evicted; c++) {
                        struct node *by = graph_find(g, n->callers.data[c].id);
                        all_evicted = n->callers.data[c].id != g->root->id && (!by || node_is_evicted(by));
                }
                if (all_evicted)
                        node_mark_evicted(n, NULL);
        }
}

int resolve(struct graph *g, struct ivy_module *root, const struct module_source *source, struct fst_error *error)
{
        struct engine e = {.graph = g, .source = source, .error = error};
        g->root = graph_new_node(g, root->id);
        g->root->is_root = true;
        g->root->module = root;
        struct visit *v = graph_visit(g, g->root, NULL, NULL, NULL);
        v->requested_conf = ROOT_CONF;
        _cleanup_texts_ struct texts conf = {0};
        texts_add(&conf, ROOT_CONF);
        node_fetch_confs(g->root, &conf);
        resolve_walk(&e, v, ROOT_CONF, false);
        vec_deinit(&e.walked);
        if (!e.failed)
                resolve_evict_transitively(g);
        return e.failed;
}

static void resolve_add_artifact(struct node *n, struct artifact **list, const struct artifact *a, bool merged)
{
        for (const struct artifact *b = *list; b; b = b->next)
                if (strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->ext, b->ext) == 0 &&
                    strcmp(a->classifier ? a->classifier : "", b->classifier ? b->classifier : "") == 0)
                        return;
        struct artifact *copy = module_new(n->graph->names, struct artifact);
        *copy = *a;
        copy->next = NULL;
        copy->merged = merged;
        list_append(list, copy);
}

/* The artifacts that the callers request. */
static bool resolve_add_requested(struct node *n, const struct usage *u, struct artifact **list, bool merged)
{
        bool any = false;
        for (size_t i = 0; i < u->dependers.len; i++)
                for (const struct artifact *a = u->dependers.data[i].dependency->artifacts; a; a = a->next)
                        if (strcmp(a->conf, "*") == 0 || strcmp(a->conf, u->dependers.data[i].conf) == 0) {
                                resolve_add_artifact(n, list, a, merged);
                                any = true;
                        }
        return any;
}

struct artifact *resolve_artifacts(struct node *n, const struct module_source *source)
{
        struct artifact *all = NULL, *out = NULL;
        _cleanup_texts_ struct texts confs = node_confs(n);
        if (n->problem || !n->module || node_is_completely_evicted(n) || confs.len == 0)
                return NULL;
        if (resolve_add_requested(n, n->usage, &all, false)) {
                for (size_t i = 0; i < n->merged.len; i++)
                        resolve_add_requested(n, n->merged.data[i], &all, true);
        } else {
                for (size_t i = 0; i < confs.len; i++)
                        for (const struct artifact *a = n->module->artifacts; a; a = a->next)
                                if (strcmp(a->conf, confs.data[i]) == 0 &&
                                    (!a->if_exists || source->exists(source->context, n, a)))
                                        resolve_add_artifact(n, &all, a, false);
        }
        for (struct artifact *a = all, *next; a; a = next) {
                next = a->next;
                a->next = NULL;
                if (!node_callers_exclude(n, n->id->module, a->name))
                        list_append(&out, a);
        }
        return out;
}
