/*
 * Modules and their jars: from the cache, else from the repositories in their order.
 *
 * The cache is laid out as Ivy's, and what Ivy left there is used: ORGANISATION/MODULE/ivy-REVISION.xml.original is
 * what a repository had (a POM or an ivy.xml), ivydata-REVISION.properties says which, TYPEs/ARTIFACT-REVISION.EXT are
 * the jars. Of a module that nothing describes ivy-REVISION.xml says so. What is in the cache is not asked for again,
 * snapshots included, as in Spark.
 */
#pragma once

#include "base/vec.h"
#include "ivy/pom.h"
#include "ivy/resolve.h"
#include "ivy/settings.h"

struct finder {
        struct names *names;
        const struct settings *settings;
        struct fetcher fetcher;
        void (*say)(void *context, const char *line);
        void *context;
        VEC(struct known_pom *) poms;
        VEC(const char *) warnings; /* told at the end */
};

/* All is borrowed; @silent, NULL or not, is what is known of hosts, and becomes more. */
void finder_init(struct finder *f, struct names *n, const struct settings *s, struct silent_hosts *silent,
                 void (*say)(void *context, const char *line), void *context);
void finder_deinit(struct finder *f);

/* As struct module_source has them; the context is the finder. */
struct module_source finder_source(struct finder *f);

/* A jar to bring: where it will be in the cache, and how that went. */
struct download {
        const struct node *node;
        const struct artifact *artifact;
        const char *path;     /* in the cache */
        const char *location; /* where it came from; NULL: it was there */
        int status;           /* 0, -ENOENT: no repository has it, others: see message */
        char *message;        /* owned */
        size_t size;
        long ms;
};

struct downloads {
        struct download *data;
        size_t len, cap;
};
void downloads_deinit(struct downloads *d);

/* Bring all that are not in the cache, two at a time. Each tells about itself; nothing is returned but in the list. */
void finder_download(struct finder *f, struct downloads *d);

/* Where the cache has an artifact; NULL for one whose name cannot be that of a file. In the arena. */
const char *finder_jar_path(struct finder *f, const struct revision_name *id, const struct artifact *a);
/* Where a repository would have it, by its @pattern'th pattern. */
const char *finder_location(struct finder *f, const struct repository *r, const struct revision_name *id,
                            const struct artifact *a, size_t pattern);

/* "a#b;1.0!c.jar(bundle)", as Ivy writes an artifact. In the arena. */
const char *artifact_text(struct names *n, const struct revision_name *id, const struct artifact *a);

/* Forget what the cache has of a module, when a jar of it turned out to be broken. */
void finder_forget(struct finder *f, const struct revision_name *id);

/*
 * Ivy's pattern: [organisation] [organization] [orgPath] [module] [revision] [artifact] [type] [ext] [classifier], and
 * (parts) that stay away if what is in them is empty. In the arena.
 */
const char *pattern_fill(struct names *n, const char *pattern, const struct revision_name *id, const struct artifact *a,
                         bool m2);

/* Revisions in a maven-metadata.xml, appended; -EINVAL for what is none. */
int metadata_revisions(struct names *n, const char *data, size_t len, struct texts *revisions);
/* "20240101.120000-7" of a snapshot's, or NULL. */
const char *metadata_snapshot(struct names *n, const char *data, size_t len);
