/*
 * A module in Ivy's terms: its configurations, the artifacts of each, and its dependencies. POMs, ivy.xml files and
 * modules without either are converted to this form.
 */
#pragma once

#include "ivy/names.h"

struct texts {
        const char **data;
        size_t len, cap;
};

bool texts_contain(const struct texts *t, const char *text);
bool texts_add(struct texts *t,
               const char *text); /* Adds @text if it is new. Returns whether it was added. Borrowed. */

struct configuration {
        const char *name;
        bool is_private, not_transitive;
        struct texts extends;
        struct configuration *next;
};

struct artifact {
        const char *name, *type, *ext;
        const char *classifier; /* NULL: none */
        const char *url;        /* its location, if not the repository's default */
        const char *conf;       /* of the module that publishes or requests it */
        bool if_exists;         /* of a POM with packaging "pom": only if the repository has such a jar */
        bool merged;            /* requested by an evicted revision; it may be missing */
        struct artifact *next;
};

/* A rule matches names by Ivy's glob or exactly. */
struct ivy_exclusion {
        const char *organisation, *name;
        bool glob;
        const char *artifact; /* NULL: the whole module */
        const char *conf;     /* "*": all */
        struct ivy_exclusion *next;
};

/* "compile->runtime": the caller's configuration @from needs @to of the dependency. */
struct mapping {
        const char *from, *to;
        struct mapping *next;
};

struct dependency {
        struct ivy_module *of; /* the caller */
        struct revision_name *id;
        bool force; /* the module's own choice wins over those of its dependencies */
        bool not_transitive;
        struct mapping *mappings;
        struct artifact *artifacts;
        struct ivy_exclusion *exclusions;
        const void *source;        /* as written in the POM, for POMs that inherit it */
        struct dependency *clones; /* with other revisions, made while resolving; linked by `next` */
        struct dependency *next;
};

/* Sets the version of a module wherever it is required below. */
struct override {
        struct module_name *module;
        const char *revision; /* NULL: unchanged */
        struct override *next;
};

struct ivy_module {
        struct revision_name *id;
        const char *status; /* "release", "integration" */
        bool is_default;    /* without a description; only a jar exists */
        struct configuration *configurations;
        struct artifact *artifacts; /* one entry per configuration */
        struct dependency *dependencies;
        struct ivy_exclusion *exclusions;
        struct override *overrides;
};

/* Appends to a list. */
#define list_append(head, item)                                                                                        \
        do {                                                                                                           \
                __auto_type end_ = (head);                                                                             \
                while (*end_)                                                                                          \
                        end_ = &(*end_)->next;                                                                         \
                *end_ = (item);                                                                                        \
        } while (0)

/* Zeroed, in the arena. */
void *module_alloc(struct names *n, size_t size);
#define module_new(names, type) ((type *)module_alloc((names), sizeof(type)))

/* A module of which only the name is known: one jar in the configuration "default". */
struct ivy_module *module_default(struct names *n, struct revision_name *id);

const struct configuration *module_configuration(const struct ivy_module *m, const char *name);

/* The configurations of Ivy's view of a POM: "default", "compile", "runtime", "master", …, all public. */
void module_add_maven_configurations(struct names *n, struct ivy_module *m);
void module_add_mapping(struct names *n, struct dependency *d, const char *from, const char *to);

/* Appends the dependency's configurations that @conf of its caller needs. Expands Ivy's "*", "@", "#" and "%". */
void dependency_configurations(struct names *n, const struct dependency *d, const char *conf, const char *requested,
                               struct texts *out);

/* Whether a rule for @confs matches the module (and the artifact, if one is given and the rule has one). */
bool exclusions_match(const struct ivy_exclusion *rules, const char *const *confs, size_t n_confs,
                      const struct module_name *module, const char *artifact);
