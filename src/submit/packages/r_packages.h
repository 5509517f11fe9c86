/*
 * Builds R packages from jars, and zips installed ones for transport to YARN (Spark: RPackageUtils, RUtils).
 *
 * A jar contains a package if its manifest says "Spark-HasRPackage: true". The sources are the entries with "R/pkg" in
 * their names, from that point on. A jar is untrusted until R builds it: entries are written only below a new
 * directory, links are written as files, and the total size is limited.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

/* The archives that an R application takes to YARN: SparkR itself, and the built packages. */
#define R_SPARKR_ARCHIVE "sparkr.zip"
#define R_PACKAGES_ARCHIVE "rpkg.zip"

/*
 * Runs `R CMD INSTALL` for each of @jars (a comma list of paths or file: URIs) that contains R code. The packages go
 * into *@library: a directory that it already names, or a new one, which the caller must remove (exit_cleanup_remove).
 * *@library is unchanged if no jar contains R code. Progress and R's own errors go to @out in Spark's words, and R's
 * errors do not fail the call. @out must have a descriptor, because R writes to it too. NULL discards the output.
 * @sparkr is the directory that holds SparkR (SPARK_HOME/R/lib). With NULL no package can be built. Blocks while R
 * runs. Returns negative with @error for a name that is not a local file's, for a file that is not a valid jar, for an
 * entry outside of the directory ("Malicious zip entry escaping target dir: …"), and for system errors.
 */
int r_packages_build(const char *jars, const char *sparkr, bool verbose, FILE *out, char **library,
                     struct fst_error *error);

/*
 * Zips all files below @directory into @directory/@name, which is replaced, except files with ".zip" in their names.
 * With @slash, entry names begin with a slash, as Spark's do;
 * native executors refuse such names. Stores the path in *@path, owned by the caller.
 */
int r_packages_zip(const char *directory, const char *name, bool slash, char **path, struct fst_error *error);
