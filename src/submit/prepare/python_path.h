/* URIs of Python files as PYTHONPATH takes them; Spark's PythonRunner.formatPath. */
#pragma once

struct fst_error;

/*
 * "file:/a.py" and "local:/a.py" become "/a.py", what has no scheme stays. *@out is the caller's. -EINVAL "Launching
 * Python applications through spark-submit is currently only supported for local files: …", or "Python file path is
 * malformed: …".
 */
int python_path_format(const char *name, char **out, struct fst_error *error);

/* The same for a comma list; empty names are dropped. */
int python_paths_format(const char *list, char **out, struct fst_error *error);
