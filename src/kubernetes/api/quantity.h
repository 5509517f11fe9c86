/*
 * Amounts of resources as Kubernetes writes them: "1", "500m", "1408Mi", "4e9". Whatever Spark takes for one is passed
 * on as it is written; the API server decides.
 */
#pragma once

#include <stdint.h>

struct fst_error;

/* 0, or -EINVAL with the sentence of Spark's client library for what it does not take. */
int quantity_check(const char *text, struct fst_error *error);

/*
 * -1, 0 or 1 in *@order as @a is less than, equal to, or more than @b, to a billionth. -EINVAL with @error for what is
 * no amount after all.
 */
int quantity_compare(const char *a, const char *b, int *order, struct fst_error *error);

/*
 * It in units of 10^-@places (0 … 9), what is less left out, INT64_MAX at most: "1Gi" is 1073741824 with 0, "500m" is
 * 500 with 3. -EINVAL as above.
 */
int quantity_read(const char *text, int places, int64_t *out, struct fst_error *error);
