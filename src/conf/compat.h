/* The version of Spark whose rules a submission follows: spark.firesteel.compat. */
#pragma once

struct fst_error;

/* Ordered: a later version is greater. */
enum submit_compat { COMPAT_2_4, COMPAT_3_5, COMPAT_4_3 };

/* Parse "2.4", "3.5" or "4.3"; NULL means "4.3". Returns 0, or -EINVAL with @error for any other text. */
int submit_compat_parse(const char *text, enum submit_compat *out, struct fst_error *error);
