/*
 * Kubernetes resource quantities: "1", "500m", "1408Mi", "4e9". Values that Spark accepts are passed on unchanged, and
 * the API server decides.
 */
#pragma once

#include <stdint.h>

struct fst_error;

/* Returns 0, or -EINVAL with the message of Spark's client library. */
int quantity_check(const char *text, struct fst_error *error);

/*
 * Sets *@order to -1, 0 or 1 as @a is less than, equal to or greater than @b, to a billionth. Returns -EINVAL with
 * @error for an invalid quantity.
 */
int quantity_compare(const char *a, const char *b, int *order, struct fst_error *error);

/*
 * Returns the quantity in units of 10^-@places (0 … 9), rounded down, at most INT64_MAX: "1Gi" is 1073741824 with 0,
 * "500m" is 500 with 3. Returns -EINVAL as above.
 */
int quantity_read(const char *text, int places, int64_t *out, struct fst_error *error);
