/*
 * Ivy's resolution: which revision of each module is required, and which of its jars.
 *
 * Pure: a source supplies the modules. The rules are those of Ivy's default conflict manager:
 * - A module's own choice of a revision wins over choices further down (POMs force theirs). Between the root's
 * choice and others, the latest revision wins.
 * - A POM's dependencyManagement applies to a module wherever it is required below that POM.
 * - A module that only evicted revisions require is dropped.
 * - A module is left out if all its callers exclude it.
 */
#pragma once

#include "ivy/graph.h"

struct fst_error;

/* The result of a search. */
struct found {
        struct ivy_module *module; /* of the found revision, which differs from a dynamic request */
        struct repository *repository;
        bool searched, downloaded; /* its description was searched in repositories and downloaded */
};

struct module_source {
        void *context;
        /* Returns 0, or a negative errno with @error: -ENOENT with "not found" if no repository has it. */
        int (*find)(void *context, const struct dependency *d, struct found *found, struct fst_error *error);
        void (*say)(void *context, const char *line); /* prints one of Ivy's lines */
        /* Whether a module's repository has this artifact (called for jars of POMs with packaging "pom"). */
        bool (*exists)(void *context, const struct node *node, const struct artifact *a);
};

/*
 * Resolves @root, whose dependencies are in the configuration "default". The caller must deinit the graph in any case.
 * Returns -ELOOP and others only for a graph that cannot be walked. A missing module is a node with a problem.
 */
int resolve(struct graph *g, struct ivy_module *root, const struct module_source *source, struct fst_error *error);

/* The nodes in the order of their first visit, once each, without the root. The caller must deinit the list. */
struct nodes resolve_nodes(const struct graph *g);

/* The required artifacts of @node, as a list in the arena. Empty for evicted nodes and nodes with a problem. */
struct artifact *resolve_artifacts(struct node *n, const struct module_source *source);
