/*
 * Tables of fields of custom resources. One row describes a field for all purposes: the schema in the custom resource
 * definition (crd.h), the check of an object, and the member of the struct that holds its value.
 *
 *      struct field_problems problems = {0};
 *      field_check(&spark_application_fields, "spec", json, false, &problems);
 *      field_read(&spark_application_fields, json, &spec);
 *      field_problems_deinit(&problems);
 *
 * A struct borrows its values from the JSON tree.
 */
#pragma once

#include "base/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
        FIELD_STRING,          /* const char *, NULL if absent */
        FIELD_BOOL,            /* enum field_bool */
        FIELD_INT,             /* struct field_int */
        FIELD_NUMBER,          /* const json_t *: v1beta1 has fractions */
        FIELD_TIME,            /* const char *: RFC 3339 */
        FIELD_QUANTITY,        /* const json_t *: a text or an integer */
        FIELD_OBJECT,          /* a struct whose first member is `const json_t *json`, NULL if absent */
        FIELD_STRINGS,         /* const json_t *: an array of texts */
        FIELD_STRING_MAP,      /* const json_t *: an object of texts */
        FIELD_QUANTITY_MAP,    /* const json_t *: an object of quantities */
        FIELD_OBJECTS,         /* const json_t *: an array of objects with a table */
        FIELD_OBJECT_MAP,      /* const json_t *: an object of objects with a table */
        FIELD_KUBERNETES,      /* const json_t *: an object of Kubernetes, which the API server checks */
        FIELD_KUBERNETES_LIST, /* const json_t *: an array of them */
};

enum field_bool { FIELD_UNSET, FIELD_FALSE, FIELD_TRUE };

struct field_int {
        bool set;
        int64_t value;
};

/* The versions that have a field. */
enum field_versions { FIELD_ALL_VERSIONS, FIELD_V1BETA1_ONLY, FIELD_SINCE_V1BETA2 };

struct field_row {
        const char *name;
        enum field_type type;
        size_t offset; /* of the member; FIELD_NO_MEMBER: the struct has none */
        bool required, nullable;
        bool wide; /* int64 instead of int32 */
        struct field_int minimum, maximum;
        const char *words;            /* the allowed values, "cluster|client"; NULL: any */
        const char *no_effect;        /* why the field does nothing here; NULL: it has an effect */
        const struct field_table *of; /* of an object, an array of objects, a map of objects */
        const char *const *members;   /* of an object of Kubernetes: its members, ends with NULL; NULL: any */
        enum field_versions versions;
};

#define FIELD_NO_MEMBER SIZE_MAX

struct field_table {
        const char *name; /* of the type: "DriverSpec" */
        const struct field_row *fields;
        size_t n;
};

enum field_problem_kind {
        FIELD_UNKNOWN,     /* no such field */
        FIELD_INVALID,     /* wrong type or value: the object is refused */
        FIELD_MISSING,     /* a required field is absent: the object is refused */
        FIELD_INEFFECTIVE, /* the field does nothing */
};

struct field_problem {
        enum field_problem_kind kind;
        char *message; /* owned: "spec.driver.memoryy: unknown field; did you mean memory?" */
};

struct field_problems {
        VEC(struct field_problem) list;
};

#define MAX_FIELD_PROBLEMS 100

/*
 * Appends the problems of @json, an object at @path, to @problems, at most MAX_FIELD_PROBLEMS. @v1beta1: the object has
 * that version.
 */
void field_check(const struct field_table *table, const char *path, const json_t *json, bool v1beta1,
                 struct field_problems *problems);

/* Returns the first problem for which an object is refused, or NULL. */
const struct field_problem *field_problems_fatal(const struct field_problems *problems);
void field_problems_add(struct field_problems *problems, enum field_problem_kind kind, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void field_problems_deinit(struct field_problems *problems);

/*
 * Fills the struct at @out, cleared before, from @json. Its first member is `const json_t *json`. Values of a wrong
 * type read as absent. Borrows from @json. NULL reads as absent. Fields that only v1beta1 has are not read: its objects
 * are converted before.
 */
void field_read(const struct field_table *table, const json_t *json, void *out);
