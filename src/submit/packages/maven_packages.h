/*
 * --packages: Maven coordinates become jars on this machine, with everything that they need, as Spark's MavenUtils has
 * Ivy do it.
 *
 *      _cleanup_(package_jars_deinit) struct package_jars jars = {0};
 *      struct packages_request request = {.packages = value[SUBMIT_PACKAGES], .repositories = …, .out = stderr};
 *      r = packages_resolve(&request, &jars, error);
 *
 * Nothing is loaded or asked from the network when there are no packages. Else the dependencies are walked through the
 * POMs (parents, properties, managed versions, exclusions, scopes as Ivy maps them), of two revisions of one module the
 * later one stays, jars are checked against the repository's checksums, kept in the cache folder below the Ivy folder
 * and linked into its jars folder as organisation_artifact-revision[-classifier].jar: those names are the result.
 * Dependencies that Spark itself brings (org.apache.spark's modules, the Scala library) are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fst_error;

/* Strings may be NULL or blank: not said. All are borrowed. */
struct packages_request {
        const char *packages;   /* spark.jars.packages: group:artifact:version, or with slashes, by commas */
        const char *exclusions; /* spark.jars.excludes: group:artifact by commas; "*" in them matches anything */
        const char
                *repositories; /* spark.jars.repositories: roots of Maven repositories by commas (http, https, file) */
        const char *ivy_path;  /* spark.jars.ivy: the Ivy folder; ~/.ivy2.5.2 (compat: ~/.ivy2) if it is not said */
        const char *ivy_settings; /* spark.jars.ivySettings: an ivysettings.xml instead of the usual repositories */
        const char *compat;       /* spark.firesteel.compat: "2.4", "3.5"; NULL is 4.3 */
        bool only_named;          /* no dependencies: transitive=false of an ivy:// URI */
        FILE *out;                /* what Spark prints while it resolves; NULL: nothing is printed */
};

/* Paths of jars: absolute, first the packages in their order, then what they need. */
struct package_jars {
        char **data;
        size_t len, cap;
};

void package_jars_deinit(struct package_jars *jars);

/*
 * Resolve, download and append the jars to @jars. Blocks; one call at a time in a process, while other processes may
 * use the same Ivy folder. 0, or negative with @error in Spark's words, to which the caller prepends the class of the
 * exception as it does for its own:
 * -EINVAL: a coordinate, an exclusion or the settings file cannot be read ("requirement failed: Provided Maven
 *      Coordinates must be in the form 'groupId:artifactId:version'. The coordinate provided is: …");
 * -ENOENT: a dependency or jar is in no repository, its checksum is wrong, or no repository could be asked
 *      ("[unresolved dependency: a#b;1.0: not found]");
 * others: what the file system answered about the Ivy folder.
 */
int packages_resolve(const struct packages_request *request, struct package_jars *jars, struct fst_error *error);

/*
 * What an ivy:// URI of addJar or spark.jars names: ivy://group:artifact:version?transitive=false&exclude=g:a,g:a
 * &repos=URL,…. Its own exclusions replace those of @request, its repositories go before the others; packages are not
 * read. As packages_resolve; -EINVAL names what is wrong with the URI. Unknown parameters are warned of on @out.
 */
int packages_resolve_uri(const char *uri, const struct packages_request *request, struct package_jars *jars,
                         struct fst_error *error);
