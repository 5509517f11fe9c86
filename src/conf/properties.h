/*
 * Java's properties files, as Spark reads spark-defaults.conf: UTF-8, values without surrounding blanks.
 *
 *      # a comment; so is a line that starts with !
 *      spark.master            local[4]
 *      spark.app.name = a long \
 *                       name
 *      spark.x: \u00e9\t\\
 *
 * The key ends at the first blank, `=` or `:` without a backslash before it. `\uXXXX` and `\t \n \r \f` are those
 * characters. A backslash before any other character is that character. An odd number of backslashes at the end of a
 * line joins the next line without its leading blanks. A later line for a key replaces an earlier one.
 */
#pragma once

#include "base/buf.h"
#include "base/strmap.h"

struct fst_error;

/* The greatest size of a file: 16 MiB. */
#define PROPERTIES_MAX_BYTES (16u << 20)

/*
 * Parse @length bytes at @text into @out, which keeps its old entries. @name is for messages. Returns 0, or -EINVAL
 * with @error ("NAME: line 3: …") and @out unchanged: for a \u without four hexadecimal digits, a \u that makes a NUL
 * or half a character, a NUL byte, or invalid UTF-8.
 */
int properties_parse(struct strmap *out, const char *name, const char *text, size_t length, struct fst_error *error);

/*
 * Append "key=value" and a newline. Parsing them returns the same text, except for blanks around the value, which Spark
 * drops.
 */
void properties_put(struct buf *out, const char *key, const char *value);

/* The same, exactly as Java's Properties.store writes it to a writer. */
void properties_store(struct buf *out, const char *key, const char *value);

/*
 * Parse the file at @path. Returns as properties_parse, or a negative errno if it cannot be read: -ENOENT with Spark's
 * "Properties file P does not exist", -EINVAL with "Properties file P is not a normal file", -EFBIG.
 */
int properties_load(struct strmap *out, const char *path, struct fst_error *error);
