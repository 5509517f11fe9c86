/*
 * R packages: those that jars bring are built with R, those that are installed are zipped, so that they travel with the
 * application to YARN. As Spark's RPackageUtils and RUtils.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

/* The archives that travel with an R application on YARN: SparkR itself, and the packages that were built. */
#define R_SPARKR_ARCHIVE "sparkr.zip"
#define R_PACKAGES_ARCHIVE "rpkg.zip"

/*
 * Build the packages of those of @jars (a comma list of paths or file: URIs) whose manifest has "Spark-HasRPackage:
 * true", into a new directory: *@library names it and is the caller's to remove, NULL when no jar had R code. What is
 * done, and what goes wrong with a package, is told on @out in Spark's words; only that ends nothing. @sparkr is the
 * folder that SparkR is in (SPARK_HOME/R/lib). -errno with @error when the system fails.
 */
int r_packages_build(const char *jars, const char *sparkr, bool verbose, FILE *out, char **library,
                     struct fst_error *error);

/*
 * Zip all that is below @directory, other zip files excepted, into @directory/@name; names of entries begin with a
 * slash, as Spark's. *@path, the caller's, is the file.
 */
int r_packages_zip(const char *directory, const char *name, char **path, struct fst_error *error);
