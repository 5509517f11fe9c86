/*
 * Reads Maven's POM as Ivy does: parents, properties, profiles, managed dependencies and imports, exclusions,
 * relocation. Scopes become configurations.
 *
 * Pure: the source supplies referenced POMs, and this file opens nothing. Where Maven looks at the JVM (profiles by
 * JDK, ${java.version}), Java 17 is assumed. Of the environment, which Ivy offers to POMs as ${env.NAME}, only HOME,
 * USER and names that end in _HOME or _VERSION are visible, because a repository's owner could request any other.
 */
#pragma once

#include "base/strmap.h"
#include "ivy/module.h"

struct xml_node;

/* A POM with its inherited values. In the arena except for the properties; see pom_deinit. */
struct pom {
        struct ivy_module *module;
        const struct xml_node *project;
        const struct pom *parent;
        struct strmap properties; /* its own, those of active profiles, then the parent's */
        struct managed *managed;  /* the last one of each module, in order of first appearance */
};

struct pom_source {
        void *context;
        /*
         * Returns the POM that another one names as parent or import. The source owns it, and it stays valid. Returns
         * negative with @error if it does not exist or is invalid, and -ELOOP for a cycle.
         */
        int (*other)(void *context, struct revision_name *id, const struct pom **pom, struct fst_error *error);
};

/* Returns -EINVAL with @error for an invalid POM, or the source's error. Release @pom only after 0. */
int pom_read(struct names *n, const char *data, size_t len, const struct pom_source *source, struct pom *pom,
             struct fst_error *error);
void pom_deinit(struct pom *pom);
