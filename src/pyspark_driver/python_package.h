/*
 * The pyspark package of an interpreter: where it is, and its version, on which wire formats and messages depend.
 *
 * The interpreter is not started if PYTHONPATH or its own site-packages, as in a virtual environment, have the package.
 */
#pragma once

#include <stdbool.h>

struct string_list;

struct python_package {
        char *folder;      /* that contains pyspark/, or a zip file; NULL: not found */
        char *py4j_folder; /* that contains py4j/, or a zip file; NULL: not found */
        char *version;     /* "4.3.0"; "" if it is not known */
        int major, minor;  /* 4 and 3, the newest that we know, if it is not known */
};

/* Finds the package of @python, a path or a name in PATH. Always fills @package. */
void python_package_find(const char *python, struct python_package *package);

/*
 * Adds the paths of two zip files with pyspark and py4j, which another Python can use: those that pip installs with
 * pyspark, or those that the package is in. Returns false, and adds nothing, if there are none.
 */
bool python_package_archives(const struct python_package *package, struct string_list *out);

void python_package_deinit(struct python_package *package);

/* The version in the text of pyspark/version.py, such as "4.3.0". Owned by the caller; NULL if it has none. */
char *python_package_parse_version(const char *text);
