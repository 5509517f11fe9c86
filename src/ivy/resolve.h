/*
 * Ivy's resolution: which revision of which module is needed, and which jars of it.
 *
 * Pure: modules come from a source. Rules that decide, as in Ivy with its default conflict manager:
 * - A module's own choice of a revision stands, within what it needs, against other choices further down (POMs force
 *   theirs); between what the root needs and what anyone needs the latest revision wins.
 * - What a POM's dependencyManagement says about a module holds wherever that module is needed below it.
 * - What was needed only by revisions that lost is dropped.
 * - A module is left out if everyone who needs it excludes it.
 */
#pragma once

#include "ivy/graph.h"

struct fst_error;

/* What the source found. */
struct found {
        struct module *module; /* of the revision that was found: another one than asked for if that was dynamic */
        struct repository *repository;
        bool searched, downloaded; /* its description: looked for in repositories, and brought from there */
};

struct module_source {
        void *context;
        /* 0, or a negative errno with @error; -ENOENT with "not found" when no repository has it. */
        int (*find)(void *context, const struct dependency *d, struct found *found, struct fst_error *error);
        void (*say)(void *context, const char *line); /* a line of what Ivy prints about it */
        /* Whether a module's repository has this artifact (asked for jars of POMs with packaging "pom"). */
        bool (*exists)(void *context, const struct node *node, const struct artifact *a);
};

/*
 * Resolve @root, whose dependencies are in the configuration "default". The graph is the caller's to deinit, whatever
 * is answered. -ELOOP and others only for what cannot be walked; modules that were not found are nodes with a problem.
 */
int resolve(struct graph *g, struct module *root, const struct module_source *source, struct fst_error *error);

/* The nodes in the order in which they were met, each once, without the root. The caller's to deinit. */
struct nodes resolve_nodes(const struct graph *g);

/* What is wanted of @node, as a list in the arena. Empty for those who lost or have a problem. */
struct artifact *resolve_artifacts(struct node *n, const struct module_source *source);
