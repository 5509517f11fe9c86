/*
 * Ivy's state of each revision during the resolution: its callers, its usage, and the conflicts below it.
 *
 * Spark resolves one configuration of the root, "default", so the data that Ivy keeps for each root configuration
 * exists once. As in Ivy, nodes with equal names are equal: a node may exist twice until it is registered.
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

/* The required configurations of a node, with their callers and dependencies. */
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
        struct node *node; /* the caller */
        bool used;         /* in the root's configuration; `confs` then counts, even if empty */
        struct texts confs;
        VEC(struct required) required;
        VEC(struct depender) dependers;
};

struct caller {
        struct revision_name *id;
        const struct ivy_module *module;
        const struct dependency *dependency;
        bool can_exclude;
        struct texts confs;
};

/* State of one module required somewhere below a node. */
struct choice {
        const struct module_name *module;
        bool chosen; /* `selected` is valid, and may be empty */
        struct nodes selected, pending, evicted;
        VEC(struct revision_name *) evicted_revisions;
};

struct node {
        struct graph *graph;
        struct revision_name *id;
        struct ivy_module *module;     /* NULL until loaded */
        struct repository *repository; /* where it was found */
        const char *problem;           /* why it is unusable */
        bool is_root, downloaded, searched, root_loaded;
        struct texts to_fetch, fetched;
        struct usage *usage;
        VEC(struct usage *) merged; /* evicted nodes that this one replaces */
        VEC(struct {
                struct revision_name *parent;
                const struct dependency *dependency;
        })
        dependencies;
        VEC(struct caller) callers;

        VEC(struct choice) choices;
        bool evicted, transitively; /* transitively: all its callers are evicted */
        struct nodes evicted_by;
};

/* A node on one path from the root. */
struct visit {
        struct node *node;
        struct visit *parent;
        const char *parent_conf, *requested_conf;
        struct usage *usage; /* NULL: the node's own */
        int depth;
        signed char circular; /* -1: unknown */
};

struct graph_registration {
        struct revision_name *id;
        struct node *node;
        VEC(struct visit *) visits;
};

struct graph {
        struct names *names;
        struct node *root;
        struct visit *current;
        VEC(struct graph_registration *)
        registered; /* in order of the first visit; several ids may share a node's visits */
        VEC(struct {
                struct revision_name *id;
                struct node *node;
        })
        reported;
        VEC(struct node *) all;
        VEC(struct usage *) usages;
        VEC(struct graph_registration *) registrations;
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
struct graph_registration *graph_registration(const struct graph *g, const struct revision_name *id);
void graph_register(struct graph *g, struct revision_name *id, struct visit *visit);
void graph_replace(struct graph *g, struct revision_name *id, struct node *node);
void graph_report(struct graph *g, struct revision_name *id, struct node *node);
struct visit *graph_visit(struct graph *g, struct node *node, struct visit *parent, const char *parent_conf,
                          struct usage *usage);

struct node *node_real(struct node *n);
struct revision_name *node_resolved_id(const struct node *n);
void node_set_dependency(struct node *n, struct revision_name *parent, const struct dependency *d);
const struct dependency *node_dependency(const struct node *n, const struct node *parent);

/* The sets that Ivy keeps at a node for modules below it. The caller must deinit the returned sets. */
struct choice *node_choice(struct node *n, const struct module_name *module);
struct nodes node_selected(struct node *n, const struct module_name *module);
void node_set_selected(struct node *n, const struct module_name *module, const struct nodes *selected);
void node_set_evicted(struct node *n, const struct module_name *module, const struct nodes *evicted);
void node_set_pending(struct node *n, const struct module_name *module, const struct nodes *pending);
bool node_has_selected(struct node *n, const struct module_name *module, const struct revision_name *id);

bool node_is_evicted(struct node *n);
bool node_is_completely_evicted(struct node *n);
/* Evicts @n. @by NULL: transitively. The winners take over its callers and usage. */
void node_mark_evicted(struct node *n, const struct nodes *by);

void node_fetch_confs(struct node *n, const struct texts *confs);
void node_update_from(struct node *n, const struct node *other, bool real);
void usage_merge(struct usage *u, const struct node *from);

/* Expands "compile(*)" to the public configurations that the module has. */
struct texts node_real_confs(const struct node *n, const char *conf);
struct texts node_special_confs(const struct node *n, const struct texts *confs);
const struct configuration *node_configuration(const struct node *n, const char *conf);
/* All configurations in which the node is required, or those for @conf of @in. */
struct texts node_confs(const struct node *n);
struct texts node_required(const struct node *n, const struct node *in, const char *conf);
void node_add_root_confs(struct node *n, struct usage *u, const struct texts *confs);

void node_add_caller(struct node *n, struct node *caller, const char *requested_conf, const struct dependency *d);
/* Whether all callers of @n exclude @module (or its @artifact). */
bool node_callers_exclude(struct node *n, const struct module_name *module, const char *artifact);
