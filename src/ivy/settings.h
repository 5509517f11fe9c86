/*
 * Where modules are looked for: Spark's usual repositories, or those of an ivysettings.xml.
 *
 * Of ivysettings.xml the part that people use is understood: settings (defaultResolver), property, properties, caches,
 * credentials, and in resolvers chain, ibiblio, url, filesystem and references. Anything else that would change what is
 * resolved is refused by name.
 */
#pragma once

#include "ivy/fetch.h"
#include "ivy/module.h"

struct fst_error;

#define M2_PATTERN "[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]"

struct repository {
        const char *name;
        bool is_chain, return_first;
        struct repository *members; /* of a chain, by their `next_member` */

        bool m2;       /* folders of the organisation; descriptions are POMs */
        bool use_poms; /* m2: without, there are only jars */
        bool needs_descriptor;
        const char *root; /* m2: with a slash at its end; the patterns begin with it */
        struct texts ivy_patterns, artifact_patterns;
        const char *checksums; /* "sha1,md5"; "none"; a chain has none of its own: each member's are asked */

        struct repository *next_member;
        struct repository *next; /* in the list of all */
};

struct settings {
        struct repository *all;
        struct repository *top; /* the one that is asked; NULL: there is none */
        const char *user_dir, *cache_dir;
        const char *checksums; /* of repositories that say nothing: ivy.checksums; NULL: Ivy's default */
        struct credential *credentials;
        bool without_local_m2; /* set by the caller: the second try, when a jar of the local repository is broken */
};

/* $HOME/.ivy2.5.2 as Spark 4 has it, or with @legacy .ivy2; @path instead if it is not blank. Absolute. */
const char *settings_user_dir(struct names *n, const char *path, bool legacy);

/* Spark's: local-m2-cache, local-ivy-cache, central, spark-packages; DEFAULT_ARTIFACT_REPOSITORY replaces the last two.
 */
void settings_defaults(struct names *n, struct settings *s, const char *user_dir);

/*
 * From a file: a path or a file: URI. -EINVAL with @error: another scheme, no such file, what cannot be understood.
 * @user_dir is set as Spark does, whatever the file says.
 */
int settings_load(struct names *n, struct settings *s, const char *file, const char *user_dir, struct fst_error *error);

/* --repositories: after what there is; each is told by `say`. */
void settings_add_repositories(struct names *n, struct settings *s, const char *list,
                               void (*say)(void *context, const char *line), void *context);

/* By name, or NULL. */
struct repository *settings_repository(const struct settings *s, const char *name);
