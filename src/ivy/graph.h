/*
 * What Ivy knows of each revision while it resolves: who calls it, with what usage, and what won against what below it.
 *
 * Spark resolves one configuration of the root, "default"; so what Ivy keeps for each root configuration is kept once.
 * Nodes are equal if their names are, as in Ivy: a node may exist twice until it is registered.
 */
#pragma once

#include "base/vec.h"
#include "ivy/module.h"

#define ROOT_CONF "default"

struct repository;

struct nodes {
        struct node **data;
        size_t len, cap;
};

/* Which configurations of a node are needed, by whom, and through which dependencies. */
struct required {
        struct revision_name *in;
        const char *conf;
        struct texts confs;
};

struct depender {
        const struct dependency *dependency;
        const char *conf;
};

struct usage {
        struct node *node; /* whose usage it was */
        bool used;         /* in the root's configuration: then `confs` counts, even if empty */
        struct texts confs;
        VEC(struct required) required;
        VEC(struct depender) dependers;
};

struct caller {
        struct revision_name *id;
        const struct module *module;
        const struct dependency *dependency;
        bool can_exclude;
        struct texts confs;
};

/* For one module needed somewhere below a node. */
struct choice {
        const struct module_name *module;
        bool chosen; /* `selected` is known, maybe empty */
        struct nodes selected, pending, evicted;
        VEC(struct revision_name *) evicted_revisions;
};

struct node {
        struct graph *graph;
        struct revision_name *id;
        struct module *module;         /* NULL until loaded */
        struct repository *repository; /* where it was found */
        const char *problem;           /* why it cannot be used */
        bool is_root, downloaded, searched, root_loaded;
        struct texts to_fetch, fetched;
        struct usage *usage;
        VEC(struct usage *) merged; /* of evicted nodes that this one stands for */
        VEC(struct {
                struct revision_name *parent;
                const struct dependency *dependency;
        })
        dependencies;
        VEC(struct caller) callers;

        VEC(struct choice) choices;
        bool evicted, transitively; /* transitively: everyone who needs it is evicted */
        struct nodes evicted_by;
};

/* A node as it is reached on one path from the root. */
struct visit {
        struct node *node;
        struct visit *parent;
        const char *parent_conf, *requested_conf;
        struct usage *usage; /* NULL: the node's own */
        int depth;
        signed char circular; /* -1: not known yet */
};

struct registration {
        struct revision_name *id;
        struct node *node;
        VEC(struct visit *) visits;
};

struct graph {
        struct names *names;
        bool only_named;
        struct node *root;
        struct visit *current;
        VEC(struct registration *) registered; /* in order of first visit; several ids may share a node's visits */
        VEC(struct {
                struct revision_name *id;
                struct node *node;
        })
        reported;
        VEC(struct node *) all;
        VEC(struct usage *) usages;
        VEC(struct registration *) registrations;
};

void nodes_deinit(struct nodes *n);
bool nodes_contain(const struct nodes *n, const struct node *node);
void nodes_add(struct nodes *n, struct node *node);
void nodes_add_all(struct nodes *n, const struct nodes *more);
void nodes_remove_all(struct nodes *n, const struct nodes *which); /* keeps the order */
bool nodes_equal(const struct nodes *a, const struct nodes *b);

struct node *graph_new_node(struct graph *g, struct revision_name *id);
void graph_deinit(struct graph *g);
struct node *graph_find(const struct graph *g, const struct revision_name *id);
struct registration *graph_registration(const struct graph *g, const struct revision_name *id);
void graph_register(struct graph *g, struct revision_name *id, struct visit *visit);
void graph_replace(struct graph *g, struct revision_name *id, struct node *node);
void graph_report(struct graph *g, struct revision_name *id, struct node *node);
struct visit *graph_visit(struct graph *g, struct node *node, struct visit *parent, const char *parent_conf,
                          struct usage *usage);

struct node *node_real(struct node *n);
struct revision_name *node_resolved_id(const struct node *n);
void node_set_dependency(struct node *n, struct revision_name *parent, const struct dependency *d);
const struct dependency *node_dependency(const struct node *n, const struct node *parent);

/* Of the sets that Ivy keeps at a node for modules below it. The sets returned are the caller's to deinit. */
struct choice *node_choice(struct node *n, const struct module_name *module);
struct nodes node_selected(struct node *n, const struct module_name *module);
void node_set_selected(struct node *n, const struct module_name *module, const struct nodes *selected);
void node_set_evicted(struct node *n, const struct module_name *module, const struct nodes *evicted);
void node_set_pending(struct node *n, const struct module_name *module, const struct nodes *pending);
bool node_has_selected(struct node *n, const struct module_name *module, const struct revision_name *id);

bool node_is_evicted(struct node *n);
bool node_is_completely_evicted(struct node *n);
/* @by NULL: transitively. Those who win take over who calls it and what of it is used. */
void node_mark_evicted(struct node *n, const struct nodes *by);

void node_fetch_confs(struct node *n, const struct texts *confs);
void node_update_from(struct node *n, const struct node *other, bool real);
void usage_merge(struct usage *u, const struct node *from);

/* "compile(*)": what there is of it in the module, of those that are public. */
struct texts node_real_confs(const struct node *n, const char *conf);
struct texts node_special_confs(const struct node *n, const struct texts *confs);
const struct configuration *node_configuration(const struct node *n, const char *conf);
/* In which configurations it is needed at all; in those of @in's @conf. */
struct texts node_confs(const struct node *n);
struct texts node_required(const struct node *n, const struct node *in, const char *conf);
void node_add_root_confs(struct node *n, struct usage *u, const struct texts *confs);

void node_add_caller(struct node *n, struct node *caller, const char *requested_conf, const struct dependency *d);
/* Whether everyone who needs @n leaves @module (or its @artifact) out. */
bool node_callers_exclude(struct node *n, const struct module_name *module, const char *artifact);
