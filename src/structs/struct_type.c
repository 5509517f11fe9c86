/* See struct_type.h. The table only grows: readers look at it without a lock. */
#include "structs/struct_type.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <xxhash.h>

#define MAX_NAME 128

static struct {
        pthread_mutex_t lock; /* guards additions */
        size_t n;             /* atomic */
        struct struct_type *types[STRUCT_TYPES_MAX];
} struct_types = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
        const char *name;
        uint32_t size, encoded;
} struct_field_kinds[] = {
        [FST_FIELD_I64] = {"I64", 8, 8},
        [FST_FIELD_F64] = {"F64", 8, 8},
        [FST_FIELD_BYTES] = {"BYTES", sizeof(fst_bytes), 2},
        [FST_FIELD_I32] = {"I32", 4, 4},
        [FST_FIELD_BOOL] = {"BOOL", 1, 1},
};

const struct struct_type *struct_type_of(uint32_t number)
{
        size_t n = __atomic_load_n(&struct_types.n, __ATOMIC_ACQUIRE);
        for (size_t i = 0; i < n; i++)
                if (struct_types.types[i]->number == number)
                        return struct_types.types[i];
        return NULL;
}

const struct struct_type *struct_type_find_text(const char *text, const struct struct_type **namesake)
{
        size_t n = __atomic_load_n(&struct_types.n, __ATOMIC_ACQUIRE);
        const struct struct_type *found = NULL;
        if (namesake)
                *namesake = NULL;
        for (size_t i = 0; i < n; i++) {
                const struct struct_type *s = struct_types.types[i];
                const size_t name = strlen(s->name);
                if (strcmp(s->text, text) == 0)
                        found = s;
                else if (namesake && strncmp(s->text, text, name) == 0 && text[name] == '(')
                        *namesake = s;
        }
        return found;
}

/* ------------------------------------------------------------------------------------------------------ checking */

static int struct_name_check(const char *name, const char *what, struct fst_error *error)
{
        if (!name || !*name || strlen(name) > MAX_NAME)
                return error_set(error, -EINVAL,
                                 "the description of a struct has no valid name for %s: names have 1 to "
                                 "%d characters",
                                 what, MAX_NAME);
        return 0;
}

static int struct_field_check(const fst_struct *d, uint32_t i, struct fst_error *error)
{
        const fst_field *f = &d->fields[i];
        int r = struct_name_check(f->name, "a field", error);
        if (r)
                return r;
        if (f->kind >= ARRAY_SIZE(struct_field_kinds) || !struct_field_kinds[f->kind].name)
                return error_set(error, -EINVAL,
                                 "field %s of struct %s has the unknown kind %u: see firesteel/struct.h", f->name,
                                 d->name, f->kind);
        uint32_t size = struct_field_kinds[f->kind].size, align = f->kind == FST_FIELD_BYTES ? 8 : size;
        if (f->offset % align)
                return error_set(error, -EINVAL,
                                 "field %s of struct %s is at %u, which is not a multiple of %u: a row has no packed "
                                 "structs",
                                 f->name, d->name, f->offset, align);
        if (f->offset > d->size || d->size - f->offset < size)
                return error_set(error, -EINVAL, "field %s of struct %s is at %u, but the struct has %u bytes", f->name,
                                 d->name, f->offset, d->size);
        for (uint32_t k = 0; k < i; k++)
                if (strcmp(d->fields[k].name, f->name) == 0)
                        return error_set(error, -EINVAL, "struct %s has two fields %s: name each field once", d->name,
                                         f->name);
        return 0;
}

static int struct_type_check(const fst_struct *d, struct fst_error *error)
{
        if (!d)
                return error_set(error, -EINVAL, "the description of a struct is NULL: use FST_STRUCT(name)");
        int r = struct_name_check(d->name, "itself", error);
        if (r)
                return r;
        if (!d->fields || d->n_fields == 0 || d->n_fields > FST_FIELDS_MAX)
                return error_set(error, -EINVAL, "struct %s has %u fields: a row has 1 to %d", d->name,
                                 d->fields ? d->n_fields : 0, FST_FIELDS_MAX);
        if (d->size > FST_STRUCT_MAX)
                return error_set(error, -EINVAL,
                                 "struct %s has %u bytes: rows are read into structs of %d bytes at most", d->name,
                                 d->size, FST_STRUCT_MAX);
        for (uint32_t i = 0; i < d->n_fields && r == 0; i++)
                r = struct_field_check(d, i, error);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- adding */

static char *struct_type_describe(const fst_struct *d)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        buf_printf(&text, "%s(", d->name);
        for (uint32_t i = 0; i < d->n_fields; i++)
                buf_printf(&text, "%s%s %s", i ? ", " : "", d->fields[i].name,
                           struct_field_kinds[d->fields[i].kind].name);
        buf_printf(&text, ")");
        return buf_steal(&text);
}

/* The number of a description: neither 0 nor STRUCT_TYPE_INVALID. Object files contain it. */
static uint32_t struct_type_number(const char *text)
{
        uint64_t hash = XXH3_64bits(text, strlen(text));
        uint32_t number = (uint32_t)(hash ^ hash >> 32);
        return number == 0 || number == STRUCT_TYPE_INVALID ? 1 : number;
}

static struct struct_type *struct_type_new(const fst_struct *d)
{
        struct struct_type *s = mem_zero(sizeof(*s) + d->n_fields * sizeof(s->fields[0]));
        s->name = mem_strdup(d->name);
        s->text = struct_type_describe(d);
        s->number = struct_type_number(s->text);
        s->size = d->size;
        s->n_fields = s->last_text = d->n_fields;
        for (uint32_t i = 0; i < d->n_fields; i++) {
                const fst_field *f = &d->fields[i];
                s->fields[i] = (struct struct_field){mem_strdup(f->name), f->offset, (enum fst_field_kind)f->kind};
                s->least += struct_field_kinds[f->kind].encoded;
                s->has_texts |= f->kind == FST_FIELD_BYTES;
        }
        if (s->fields[d->n_fields - 1].kind == FST_FIELD_BYTES) {
                s->last_text = d->n_fields - 1;
                s->least -= struct_field_kinds[FST_FIELD_BYTES].encoded; /* the row ends it */
        }
        return s;
}

static void struct_type_free(struct struct_type *s)
{
        for (uint32_t i = 0; i < s->n_fields; i++)
                free(s->fields[i].name);
        free(s->name);
        free(s->text);
        free(s);
}

static bool struct_type_equal(const struct struct_type *a, const struct struct_type *b)
{
        if (a->size != b->size || strcmp(a->text, b->text) != 0)
                return false;
        for (uint32_t i = 0; i < a->n_fields; i++)
                if (a->fields[i].offset != b->fields[i].offset)
                        return false;
        return true;
}

static int struct_type_add_locked(struct struct_type *s, bool *added, struct fst_error *error)
{
        const struct struct_type *known = struct_type_of(s->number);
        if (known && struct_type_equal(known, s))
                return 0;
        if (known)
                return error_set(error, -EEXIST,
                                 "the struct %s (%u bytes) is described a second time with another layout (%s, %u "
                                 "bytes): declare it in one header",
                                 s->text, s->size, known->text, known->size);
        if (struct_types.n == STRUCT_TYPES_MAX)
                return error_set(error, -ENOSPC, "a program can describe %d structs at most", STRUCT_TYPES_MAX);
        for (size_t i = 0; i < struct_types.n; i++) {
                if (strcmp(struct_types.types[i]->name, s->name) != 0)
                        continue;
                s->namesakes++;
                log_warn("StructType", "the struct %s has the name of %s: messages call it %s#%u", s->text,
                         struct_types.types[i]->text, s->name, s->namesakes + 1);
        }
        struct_types.types[struct_types.n] = s;
        __atomic_store_n(&struct_types.n, struct_types.n + 1, __ATOMIC_RELEASE);
        *added = true;
        return 0;
}

static bool struct_type_matches(const struct struct_type *s, const fst_struct *d)
{
        if (s->size != d->size || s->n_fields != d->n_fields || strcmp(s->name, d->name) != 0)
                return false;
        for (uint32_t i = 0; i < s->n_fields; i++) {
                const struct struct_field *known = &s->fields[i];
                const fst_field *f = &d->fields[i];
                if (known->offset != f->offset || known->kind != f->kind || !f->name ||
                    strcmp(known->name, f->name) != 0)
                        return false;
        }
        return true;
}

/* Finds a known description without a lock and without memory: functions of tasks use FST_STRUCT for each row. */
static const struct struct_type *struct_type_find(const fst_struct *d)
{
        size_t n = __atomic_load_n(&struct_types.n, __ATOMIC_ACQUIRE);
        for (size_t i = 0; i < n && d && d->name && d->fields; i++)
                if (struct_type_matches(struct_types.types[i], d))
                        return struct_types.types[i];
        return NULL;
}

int struct_type_add(const fst_struct *description, uint32_t *number, struct fst_error *error)
{
        bool added = false;
        const struct struct_type *known = struct_type_find(description);
        if (known) {
                *number = known->number;
                return 0;
        }
        int r = struct_type_check(description, error);
        if (r)
                return r;
        struct struct_type *s = struct_type_new(description);
        uint32_t given = s->number;
        pthread_mutex_lock(&struct_types.lock);
        r = struct_type_add_locked(s, &added, error);
        pthread_mutex_unlock(&struct_types.lock);
        if (!added)
                struct_type_free(s);
        if (r == 0)
                *number = given;
        return r;
}

FST_API fst_type fst_struct_type(const fst_struct *description)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_type type = {.key = FST_KIND_BYTES, .key_size = STRUCT_TYPE_INVALID};
        if (struct_type_add(description, &type.key_size, &error))
                log_error("StructType", "%s", error_message(&error));
        error_deinit(&error);
        return type;
}
