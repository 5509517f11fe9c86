/*
 * Maven's POM as Ivy reads it: parents, properties, profiles, managed dependencies (import too), exclusions,
 * relocation; scopes become configurations.
 *
 * Pure: what a POM refers to is asked of the source; nothing is opened here. Where Maven looks at the virtual machine
 * (profiles by JDK, ${java.version}), Java 17 is assumed. Of the environment, which Ivy puts into POMs as ${env.NAME},
 * only NAMEs are known that end in _HOME or _VERSION, and HOME and USER: a repository's owner could ask for any other.
 */
#pragma once

#include "base/strmap.h"
#include "ivy/module.h"

struct xml_node;

/* What a POM says with what it inherits. In the arena but for the properties: see pom_deinit. */
struct pom {
        struct module *module;
        const struct xml_node *project;
        const struct pom *parent;
        struct strmap properties; /* its own, those of active profiles, then the parent's */
        struct managed *managed;  /* the last of each module, in order of first appearance */
};

struct pom_source {
        void *context;
        /*
         * The POM that another one names as parent or imports; it stays the source's and valid. Negative with @error
         * when there is none or it cannot be read; the source notices circles (-ELOOP).
         */
        int (*other)(void *context, struct revision_name *id, const struct pom **pom, struct fst_error *error);
};

/* -EINVAL with @error for what is no POM, or what the source answered. @pom is to be released only after 0. */
int pom_read(struct names *n, const char *data, size_t len, const struct pom_source *source, struct pom *pom,
             struct fst_error *error);
void pom_deinit(struct pom *pom);
