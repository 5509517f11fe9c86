/* The types of a pod's members (text, number, boolean), for templates that people write. */
#pragma once

#include <jansson.h>

struct fst_error;

/*
 * Converts numbers and booleans to text where the API expects text, and text to numbers and booleans ("true" for
 * hostNetwork), as Spark's client does. Returns -EINVAL with @error for an impossible conversion. Unknown members stay.
 */
int pod_types_convert_pod(json_t *pod, struct fst_error *error);
