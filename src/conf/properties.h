/*
 * Java's properties files, as Spark reads spark-defaults.conf: UTF-8, values without blanks around them.
 *
 *      # a comment; so is a line that starts with !
 *      spark.master            local[4]
 *      spark.app.name = a long \
 *                       name
 *      spark.x: \u00e9\t\\
 *
 * The key ends at the first blank, `=` or `:` that no backslash precedes; `\uXXXX`, `\t \n \r \f` are those
 * characters, a backslash before any other character is that character; an odd number of backslashes at the end
 * of a line joins the next one, whose leading blanks go. A later line for a key replaces an earlier one.
 */
#pragma once

#include "base/buf.h"
#include "base/strmap.h"

struct fst_error;

/* Files that are longer than this are refused: 16 MiB. */
#define PROPERTIES_MAX_BYTES (16u << 20)

/*
 * Read @length bytes at @text into @out, which keeps what it held. @name stands in messages. 0, or -EINVAL with
 * @error ("NAME: line 3: …") and @out untouched: a \u without four hexadecimal digits, one that makes a NUL or
 * half a character, a NUL byte, or bytes that are not UTF-8.
 */
int properties_parse(struct strmap *out, const char *name, const char *text, size_t length, struct fst_error *error);

/*
 * Append "key=value" and a newline, so that what is parsed again is the same; but for blanks around the value, which
 * are Spark's to drop.
 */
void properties_put(struct buf *out, const char *key, const char *value);

/* The same, byte for byte as Java's Properties.store writes it to a writer. */
void properties_store(struct buf *out, const char *key, const char *value);

/*
 * Read the file at @path. As properties_parse, and a negative errno if it cannot be read: -ENOENT with Spark's
 * "Properties file P does not exist", -EINVAL with "Properties file P is not a normal file", -EFBIG.
 */
int properties_load(struct strmap *out, const char *path, struct fst_error *error);
