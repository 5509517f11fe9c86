/* Descriptions of structs (structs/struct_type.h) in the messages of lineage. */
#pragma once

#include "base/arena.h"
#include "rpc/stage.pb-c.h"
#include "structs/struct_type.h"

/* Encodes the description of a column of @kind and @size. NULL: it is not one of structs. The message is in @arena. */
Firesteel__StructType *struct_wire_encode(struct arena *arena, uint8_t kind, uint32_t size);

/* Adds the description in @message to this process, and sets @number; to 0 if @message is NULL. Returns 0, or the error
 * of struct_type_add. */
int struct_wire_decode(const Firesteel__StructType *message, uint32_t *number, struct fst_error *error);
