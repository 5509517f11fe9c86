/* Converts URIs of Python files to PYTHONPATH entries (Spark: PythonRunner.formatPath). */
#pragma once

struct fst_error;

/*
 * "file:/a.py" and "local:/a.py" become "/a.py", and a name without a scheme is unchanged. *@out is owned by the
 * caller. Returns -EINVAL "Launching Python applications through spark-submit is currently only supported for local
 * files: …", or "Python file path is malformed: …".
 */
int python_path_format(const char *name, char **out, struct fst_error *error);

/* The same for a comma list. Drops empty names. */
int python_paths_format(const char *list, char **out, struct fst_error *error);
