/* A sink made of an operator and a sink behind it, for actions whose tasks first transform the rows. */
#pragma once

#include "rdd/pipeline/op.h"

/* Takes over both. */
struct op *chain_op_new(struct op *first, struct op *last);

/* The sink at the end. */
struct op *chain_op_last(struct op *chain);
