/* See struct_wire.h. */
#include "rdd/struct_wire.h"

#include "base/error.h"
#include "base/mem.h"

Firesteel__StructType *struct_wire_encode(struct arena *arena, uint8_t kind, uint32_t size)
{
        const struct struct_type *s = struct_type_of_column(kind, size);
        if (!s)
                return NULL;
        Firesteel__StructType *m = arena_alloc(arena, sizeof(*m));
        firesteel__struct_type__init(m);
        m->name = s->name;
        m->size = s->size;
        m->n_fields = s->n_fields;
        m->fields = arena_alloc(arena, s->n_fields * sizeof(*m->fields));
        Firesteel__StructField *fields = arena_alloc(arena, s->n_fields * sizeof(*fields));
        for (uint32_t i = 0; i < s->n_fields; i++) {
                firesteel__struct_field__init(&fields[i]);
                fields[i].name = s->fields[i].name;
                fields[i].kind = s->fields[i].kind;
                fields[i].offset = s->fields[i].offset;
                m->fields[i] = &fields[i];
        }
        return m;
}

int struct_wire_decode(const Firesteel__StructType *message, uint32_t *number, struct fst_error *error)
{
        fst_field fields[FST_FIELDS_MAX];
        *number = 0;
        if (!message)
                return 0;
        if (message->n_fields > FST_FIELDS_MAX)
                return error_set(error, -EBADMSG, "a struct with %zu fields: a row has %d at most", message->n_fields,
                                 FST_FIELDS_MAX);
        for (size_t i = 0; i < message->n_fields; i++) {
                const Firesteel__StructField *f = message->fields[i];
                fields[i] = (fst_field){f->name, f->offset, f->kind};
        }
        fst_struct description = {message->name, message->size, (uint32_t)message->n_fields, fields};
        return struct_type_add(&description, number, error);
}
