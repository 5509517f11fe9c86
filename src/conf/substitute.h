/*
 * References in values: ${spark.x} is another key's value, ${env:X} a variable of the environment, ${system:x} a
 * system property. What cannot be resolved stays as it was written, as in Spark.
 */
#pragma once

struct fst_conf;
struct fst_error;

/*
 * @text with its references replaced, theirs too, as a string that the caller owns. 0, or -EINVAL with @error and
 * *@out untouched: for a reference that leads back to itself, for nesting deeper than 64, or for a result longer
 * than 1 MiB.
 *
 * System properties that exist without a JVM: user.name, user.home, user.dir, java.io.tmpdir, os.name, os.arch,
 * file.separator, path.separator, and spark.* as they are configured.
 */
int substitute(const struct fst_conf *conf, const char *text, char **out, struct fst_error *error);
