/* Methods of a context that make RDDs. */
#pragma once

#include "py4j/object.h"

void source_empty(struct py4j_call *call);
void source_text_file(struct py4j_call *call);
void source_whole_text_files(struct py4j_call *call);
void source_binary_files(struct py4j_call *call);
void source_binary_records(struct py4j_call *call);

/* Pickle files, and the files of a checkpoint. */
void source_object_file(struct py4j_call *call);
void source_checkpoint_file(struct py4j_call *call);

/* The union of an array of RDDs. */
void source_union(struct py4j_call *call);

/* PythonUtils.generateRDDWithNull, of pyspark's tests: the strings a, null and b. */
void source_rdd_with_null(struct py4j_call *call);
