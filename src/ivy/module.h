/*
 * A module as Ivy describes it: configurations, what it publishes in each of them, and what it needs. POMs, ivy.xml
 * and modules without either all become this.
 */
#pragma once

#include "ivy/names.h"

struct texts {
        const char **data;
        size_t len, cap;
};

bool texts_contain(const struct texts *t, const char *text);
bool texts_add(struct texts *t, const char *text); /* if it is not there; whether it was added. Borrowed. */

struct configuration {
        const char *name;
        bool is_private, not_transitive;
        struct texts extends;
        struct configuration *next;
};

struct artifact {
        const char *name, *type, *ext;
        const char *classifier; /* NULL: none */
        const char *url;        /* where it is, if not where the repository has it */
        const char *conf;       /* of the module that publishes it, or of the one that asks for it */
        bool if_exists;         /* of a POM with packaging "pom": only if the repository has such a jar */
        bool merged;            /* asked for by a revision that lost; it may be missing */
        struct artifact *next;
};

/* A rule matches names by Ivy's glob or exactly. */
struct exclusion {
        const char *organisation, *name;
        bool glob;
        const char *artifact; /* NULL: the whole module */
        const char *conf;     /* "*": all */
        struct exclusion *next;
};

/* "compile->runtime": in @from of the one who asks, @to of the one that is needed is needed. */
struct mapping {
        const char *from, *to;
        struct mapping *next;
};

struct dependency {
        struct module *of; /* who needs it */
        struct revision_name *id;
        bool force; /* a module's own choice stands against those of what it needs */
        bool not_transitive;
        struct mapping *mappings;
        struct artifact *artifacts;
        struct exclusion *exclusions;
        const void *source;        /* what the POM says, for those who inherit it */
        struct dependency *clones; /* with other revisions, made while resolving; by their `next` */
        struct dependency *next;
};

/* A version for a module, wherever below it is needed. */
struct override {
        struct module_name *module;
        const char *revision; /* NULL: as it is */
        struct override *next;
};

struct module {
        struct revision_name *id;
        const char *status; /* "release", "integration" */
        bool is_default;    /* nothing describes it: there is only a jar */
        struct configuration *configurations;
        struct artifact *artifacts; /* one entry for each configuration it is in */
        struct dependency *dependencies;
        struct exclusion *exclusions;
        struct override *overrides;
};

/* For things that are appended in order. */
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
struct module *module_default(struct names *n, struct revision_name *id);

const struct configuration *module_configuration(const struct module *m, const char *name);

/* Of Ivy's view of a POM: "default", "compile", "runtime", "master", …: all public. */
void module_add_maven_configurations(struct names *n, struct module *m);
void module_add_mapping(struct names *n, struct dependency *d, const char *from, const char *to);

/* What of the dependency is needed in @conf of its module. Appended. Ivy's "*", "@", "#" and "%" are understood. */
void dependency_configurations(struct names *n, const struct dependency *d, const char *conf, const char *requested,
                               struct texts *out);

/* Whether one of the rules for @confs matches the module (and the artifact, where one is given and the rule has it). */
bool exclusions_match(const struct exclusion *rules, const char *const *confs, size_t n_confs,
                      const struct module_name *module, const char *artifact);
