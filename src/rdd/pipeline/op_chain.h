/* A sink that is made of an operator and the sink behind it: an action whose tasks do something to rows before. */
#pragma once

#include "rdd/pipeline/op.h"

/* Both are taken. */
struct op *chain_op_new(struct op *first, struct op *last);

/* The sink behind. */
struct op *chain_op_last(struct op *chain);
