/*
 * Lists what an image needs so that Python applications run in it: an interpreter of this machine with its standard
 * library, the packages in its site-packages (pyspark and py4j among them, without Spark's jars), and the shared
 * libraries that their modules need. The interpreter itself finds them, and compiles the modules, because files in an
 * image have no time by which Python could check compiled ones. In the image they are below PYTHON_FOLDER, and
 * /usr/local/bin has links python and python3.
 */
#pragma once

struct fst_error;
struct listed_files;

#define PYTHON_FOLDER "/opt/python"

/*
 * Runs @interpreter (a path, or a name that PATH has; Python 3.8 or later). Blocks for some seconds. Fills @files,
 * which must be initialised. Returns 0, -ENOENT if it cannot be started or has no pyspark, or another negative status,
 * with
 * @error.
 */
int python_files_find(struct listed_files *files, const char *interpreter, struct fst_error *error);
