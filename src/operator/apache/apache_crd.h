/* The custom resource definitions of spark.apache.org. */
#pragma once

#include <jansson.h>

/* Returns the definitions of the kinds that the operator acts on as an array. The caller owns it. */
json_t *apache_crd_list(void);
