/*
 * R packages: those that jars bring are built with R, those that are installed are zipped, so that they travel with the
 * application to YARN. As Spark's RPackageUtils and RUtils.
 *
 * A jar brings one when its manifest says "Spark-HasRPackage: true"; the sources are what has "R/pkg" in its name,
 * from there on. A jar is untrusted until R builds it: nothing of it comes to lie outside of a directory made for it,
 * links are written as files, and there are limits of how much it may hold.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

/* The archives that travel with an R application on YARN: SparkR itself, and the packages that were built. */
#define R_SPARKR_ARCHIVE "sparkr.zip"
#define R_PACKAGES_ARCHIVE "rpkg.zip"

/*
 * Build the packages of those of @jars (a comma list of paths or file: URIs) that have R code, with `R CMD INSTALL`
 * into a new directory: *@library names it and is the caller's to remove (scratch_remove); it stays as it is when no
 * jar had R code, and is used when it names one already. What is done, and what goes wrong while R builds, is told on
 * @out, which has a descriptor (R writes there too), in Spark's words; only that ends nothing. NULL: nobody is told.
 * @sparkr is the folder that SparkR is in (SPARK_HOME/R/lib); with NULL no package can be built. Blocks as long as R
 * does. Negative with @error for a name that is no local file's, for what is no jar or a damaged one, for an entry that
 * would lie elsewhere ("Malicious zip entry escaping target dir: …"), and when the system fails.
 */
int r_packages_build(const char *jars, const char *sparkr, bool verbose, FILE *out, char **library,
                     struct fst_error *error);

/*
 * Zip all files below @directory into @directory/@name, which is replaced, except for what has ".zip" in its name;
 * names of entries begin with a slash, as Spark's. *@path, the caller's, is the file.
 */
int r_packages_zip(const char *directory, const char *name, char **path, struct fst_error *error);
