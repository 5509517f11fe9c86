/*
 * The repositories to search: Spark's defaults, or those of an ivysettings.xml.
 *
 * Supports the common part of ivysettings.xml: settings (defaultResolver), property, properties, caches, credentials,
 * and in resolvers chain, ibiblio, url, filesystem and references. Rejects by name anything else that would change the
 * result.
 */
#pragma once

#include "ivy/fetch.h"
#include "ivy/module.h"

struct fst_error;

#define M2_PATTERN "[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]"

struct repository {
        const char *name;
        bool is_chain, return_first;
        struct repository *members; /* of a chain, linked by `next_member` */

        bool m2;       /* one directory per part of the organisation; descriptions are POMs */
        bool use_poms; /* m2: without it there are only jars */
        bool needs_descriptor;
        const char *root; /* m2: ends with a slash; the patterns begin with it */
        struct texts ivy_patterns, artifact_patterns;
        const char *checksums; /* "sha1,md5"; "none"; a chain uses those of its members */

        struct repository *next_member;
        struct repository *next; /* in the list of all */
};

struct settings {
        struct repository *all;
        struct repository *top; /* the repository to search; NULL: none */
        const char *user_dir, *cache_dir;
        const char *checksums; /* default of repositories: ivy.checksums; NULL: Ivy's default */
        struct credential *credentials;
        bool without_local_m2; /* set by the caller for the second attempt, if a jar of the local repository is broken
                                */
};

/* Returns $HOME/.ivy2.5.2 as Spark 4, .ivy2 with @legacy, or @path if it is not blank. Absolute. */
const char *settings_user_dir(struct names *n, const char *path, bool legacy);

/*
 * Sets Spark's repositories: local-m2-cache, local-ivy-cache, central, spark-packages. DEFAULT_ARTIFACT_REPOSITORY
 * replaces the last two.
 */
void settings_defaults(struct names *n, struct settings *s, const char *user_dir);

/*
 * Reads a file: a path or a file: URI. Returns -EINVAL with @error for another scheme, a missing file or an invalid
 * file. Sets @user_dir as Spark does, whatever the file says.
 */
int settings_load(struct names *n, struct settings *s, const char *file, const char *user_dir, struct fst_error *error);

/* Adds --repositories after the existing ones. `say` prints each. */
void settings_add_repositories(struct names *n, struct settings *s, const char *list,
                               void (*say)(void *context, const char *line), void *context);

/* The repository of that name, or NULL. */
struct repository *settings_repository(const struct settings *s, const char *name);
