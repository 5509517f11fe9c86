/*
 * Macros for the rows of tables of fields. A file of tables defines STRUCT, the struct of the members, before each
 * table that has some, and undefines it afterwards.
 *
 *      #define STRUCT struct gpu_spec
 *      static const struct field_row gpu_rows[] = {TEXT("name", name, REQUIRED), LONG("quantity", quantity)};
 *      #undef STRUCT
 *      static const struct field_table gpu_table = TABLE("GPUSpec", gpu_rows);
 */
#pragma once

#include "base/mem.h"
#include "operator/resources/field.h"

/* clang-format off */
#define AT(member) offsetof(STRUCT, member)
#define TEXT(n, member, ...)       {.name = n, .type = FIELD_STRING, .offset = AT(member), ##__VA_ARGS__}
#define FLAG(n, member, ...)       {.name = n, .type = FIELD_BOOL, .offset = AT(member), ##__VA_ARGS__}
#define INT(n, member, ...)        {.name = n, .type = FIELD_INT, .offset = AT(member), ##__VA_ARGS__}
#define LONG(n, member, ...)       {.name = n, .type = FIELD_INT, .offset = AT(member), .wide = true, ##__VA_ARGS__}
#define STRINGS(n, member, ...)    {.name = n, .type = FIELD_STRINGS, .offset = AT(member), ##__VA_ARGS__}
#define STRING_MAP(n, member)      {.name = n, .type = FIELD_STRING_MAP, .offset = AT(member)}
#define OBJECT(n, member, table, ...) {.name = n, .type = FIELD_OBJECT, .offset = AT(member), .of = &(table), ##__VA_ARGS__}
#define OBJECTS(n, member, table)  {.name = n, .type = FIELD_OBJECTS, .offset = AT(member), .of = &(table)}
#define KUBE(n, member, names)     {.name = n, .type = FIELD_KUBERNETES, .offset = AT(member), .members = (names)}
#define KUBE_LIST(n, member, names) {.name = n, .type = FIELD_KUBERNETES_LIST, .offset = AT(member), .members = (names)}
#define BARE(n, t, ...)            {.name = n, .type = (t), .offset = FIELD_NO_MEMBER, ##__VA_ARGS__}
#define REQUIRED                   .required = true
#define SINCE_V1BETA2              .versions = FIELD_SINCE_V1BETA2
#define V1BETA1                    .versions = FIELD_V1BETA1_ONLY
#define TABLE(title, rows)         {.name = (title), .fields = (rows), .n = ARRAY_SIZE(rows)}
#define AT_LEAST(x)                .minimum = {true, (x)}
/* clang-format on */
