/*
 * Custom resource definitions, made from the tables of fields.
 *
 * They accept every object that the genuine operator's definitions accept. Values of Kubernetes' own types are kept as
 * they are and checked by the operator and by the API server when the pod is created, so a definition stays small
 * enough for `kubectl apply`.
 */
#pragma once

#include <jansson.h>

struct field_table;

/* Returns the openAPIV3Schema of objects with these specs and statuses. The caller owns it. */
json_t *crd_schema(const struct field_table *spec, const struct field_table *status);

/* Returns the two definitions of sparkoperator.k8s.io as an array. The caller owns it. */
json_t *crd_list(void);
