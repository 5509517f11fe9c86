/*
 * Finds modules and their jars: in the cache, else in the repositories in their order.
 *
 * The cache has Ivy's layout and accepts Ivy's files: ORGANISATION/MODULE/ivy-REVISION.xml.original is the repository's
 * description (a POM or an ivy.xml), ivydata-REVISION.properties says which, and TYPEs/ARTIFACT-REVISION.EXT are the
 * jars. For a module without a description, ivy-REVISION.xml says so. As in Spark, cached files are not requested
 * again, not even snapshots.
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
        VEC(const char *) warnings; /* printed at the end */
};

/* Everything is borrowed. @silent, NULL or not, holds the unreachable hosts and grows. */
void finder_init(struct finder *f, struct names *n, const struct settings *s, struct silent_hosts *silent,
                 void (*say)(void *context, const char *line), void *context);
void finder_deinit(struct finder *f);

/* The functions of struct module_source. Their context is the finder. */
struct module_source finder_source(struct finder *f);

/* A jar to download: its place in the cache, and the result. */
struct download {
        const struct node *node;
        const struct artifact *artifact;
        const char *path;     /* in the cache */
        const char *location; /* its origin; NULL: it was cached */
        int status;           /* 0; -ENOENT: no repository has it; others: see message */
        char *message;        /* owned */
        size_t size;
        long ms;
};

struct ivy_downloads {
        struct download *data;
        size_t len, cap;
};
void downloads_deinit(struct ivy_downloads *d);

/*
 * Downloads all jars that are not cached, two at a time. Each logs its own result, which is returned only in the list.
 */
void finder_download(struct finder *f, struct ivy_downloads *d);

/* The cache path of an artifact, or NULL if its name is not a valid file name. In the arena. */
const char *finder_jar_path(struct finder *f, const struct revision_name *id, const struct artifact *a);
/* The location in a repository, by its @pattern'th pattern. */
const char *finder_location(struct finder *f, const struct repository *r, const struct revision_name *id,
                            const struct artifact *a, size_t pattern);

/* "a#b;1.0!c.jar(bundle)": Ivy's form of an artifact. In the arena. */
const char *artifact_text(struct names *n, const struct revision_name *id, const struct artifact *a);

/* Removes a module from the cache, because one of its jars is broken. */
void finder_forget(struct finder *f, const struct revision_name *id);

/*
 * Expands Ivy's pattern: [organisation] [organization] [orgPath] [module] [revision] [artifact] [type] [ext]
 * [classifier], and (parts), which are omitted if a value in them is empty. In the arena.
 */
const char *pattern_fill(struct names *n, const char *pattern, const struct revision_name *id, const struct artifact *a,
                         bool m2);

/* Appends the revisions of a maven-metadata.xml. Returns -EINVAL if it is invalid. */
int metadata_revisions(struct names *n, const char *data, size_t len, struct texts *revisions);
/* "20240101.120000-7" of a snapshot's metadata, or NULL. */
const char *metadata_snapshot(struct names *n, const char *data, size_t len);
