/*
 * Replaces references in values: ${spark.x} is another key's value, ${env:X} an environment variable, ${system:x} a
 * system property. As in Spark, unresolved references stay as written.
 */
#pragma once

struct fst_conf;
struct fst_error;

/*
 * Replace the references of @text, and the references in their values. The caller owns *@out. Returns 0, or -EINVAL
 * with @error and *@out unchanged: for a circular reference, for nesting deeper than 64, or for a result longer than 1
 * MiB.
 *
 * System properties that exist without a JVM: user.name, user.home, user.dir, java.io.tmpdir, os.name, os.arch,
 * file.separator, path.separator, and configured spark.* keys.
 */
int substitute(const struct fst_conf *conf, const char *text, char **out, struct fst_error *error);
