/*
 * The descriptions of structs (firesteel/struct.h) that this process knows.
 *
 * A description has a number, which every process computes alike from the names and kinds of its fields. In an fst_type
 * a column of structs is BYTES whose size is that number. So pages, shuffles, sorts and hash tables handle the rows as
 * bytes (structs/struct_row.h), while types of different structs differ. Descriptions are never removed. Any thread.
 */
#pragma once

#include <firesteel/struct.h>

struct fst_error;

struct struct_field {
        char *name;
        uint32_t offset;
        enum fst_field_kind kind;
};

struct struct_type {
        uint32_t number;
        uint32_t size;      /* of the struct in memory */
        uint32_t least;     /* bytes of a row whose texts are empty */
        uint32_t last_text; /* the index of the last field if that is a text, otherwise n_fields */
        uint32_t n_fields;
        bool has_texts;
        uint32_t namesakes; /* earlier descriptions of that name */
        char *name;
        char *text; /* "person(name BYTES, age I64, weight F64)" */
        struct struct_field fields[];
};

/* The number in a type that fst_struct_type returns for an invalid description. */
#define STRUCT_TYPE_INVALID UINT32_MAX

/* At most so many descriptions exist in a process. */
#define STRUCT_TYPES_MAX 1024

/* The description with @number, or NULL if this process does not know it. */
const struct struct_type *struct_type_of(uint32_t number);

/*
 * The description with @text, as in struct struct_type, or NULL. @namesake, if it is not NULL, is set to the last
 * description with the same name and other fields, or NULL.
 */
const struct struct_type *struct_type_find_text(const char *text, const struct struct_type **namesake);

/* The description of a column of @kind and @size, or NULL if it is not one of structs. */
static inline const struct struct_type *struct_type_of_column(uint8_t kind, uint32_t size)
{
        return __builtin_expect(kind == FST_KIND_BYTES && size != 0, 0) ? struct_type_of(size) : NULL;
}

/*
 * Adds a copy of @description, unless it is known, and sets @number. Returns 0, -EINVAL if it is invalid, -EEXIST if
 * another description has its number (the same fields at other places), or -ENOSPC after STRUCT_TYPES_MAX.
 */
int struct_type_add(const fst_struct *description, uint32_t *number, struct fst_error *error);
