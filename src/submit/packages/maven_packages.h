/*
 * --packages: resolves Maven coordinates and their dependencies to jars on this machine (Spark: MavenUtils with Ivy).
 *
 *      _cleanup_(package_jars_deinit) struct package_jars jars = {0};
 *      struct packages_request request = {.packages = value[SUBMIT_PACKAGES], .repositories = …, .out = stderr};
 *      r = packages_resolve(&request, &jars, error);
 *
 * Without packages, nothing is loaded or requested from the network. Otherwise the resolver reads the POMs (parents,
 * properties, managed versions, exclusions, scopes as Ivy maps them). Of two revisions of a module it keeps the later
 * one. It checks jars against the repository's checksums, stores them in the cache directory below the Ivy directory,
 * and links them into its jars directory as organisation_artifact-revision[-classifier].jar. These paths are the
 * result. Dependencies that Spark itself contains (org.apache.spark's modules, the Scala library) are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fst_error;

/* A NULL or blank string means unset. All strings are borrowed. */
struct packages_request {
        const char *packages;   /* spark.jars.packages: comma list of group:artifact:version, or with slashes */
        const char *exclusions; /* spark.jars.excludes: comma list of group:artifact; "*" matches anything */
        const char
                *repositories; /* spark.jars.repositories: comma list of Maven repository roots (http, https, file) */
        const char *ivy_path;  /* spark.jars.ivy: the Ivy directory; default ~/.ivy2.5.2 (compat: ~/.ivy2) */
        const char
                *ivy_settings; /* spark.jars.ivySettings: an ivysettings.xml that replaces the default repositories */
        const char *compat;    /* spark.firesteel.compat: "2.4", "3.5"; NULL is 4.3 */
        FILE *out;             /* receives Spark's output while resolving; NULL: no output */
};

/* Absolute paths of jars: first the packages in their order, then their dependencies. */
struct package_jars {
        char **data;
        size_t len, cap;
};

void package_jars_deinit(struct package_jars *jars);

/*
 * Resolves and downloads packages, and appends their jars to @jars. Blocks. A process may make one call at a time,
 * while other processes may use the same Ivy directory. Returns 0, or negative with @error in Spark's words, to which
 * the caller prepends the exception's class as for its own errors:
 * - -EINVAL: a coordinate, an exclusion or the settings file is invalid ("requirement failed: Provided Maven
 *      Coordinates must be in the form 'groupId:artifactId:version'. The coordinate provided is: …")
 * - -ENOENT: a dependency or jar is in no repository, its checksum is wrong, or no repository could be reached
 *      ("[unresolved dependency: a#b;1.0: not found]")
 * - others: errors of the file system in the Ivy directory
 */
int packages_resolve(const struct packages_request *request, struct package_jars *jars, struct fst_error *error);
