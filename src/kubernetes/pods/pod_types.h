/* What the members of a pod are: text, a number, a truth value. For templates, which people write. */
#pragma once

#include <jansson.h>

struct fst_error;

/*
 * Make text of what is written as a number or truth value where the API has text, and the other way round ("true" for
 * hostNetwork), as Spark's client does. -EINVAL with @error for what cannot be. Members that are not known here stay.
 */
int pod_types_settle(json_t *pod, struct fst_error *error);
