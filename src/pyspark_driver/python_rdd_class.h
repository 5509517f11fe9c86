/* PythonRDD, its functions, and the shuffles of Python. */
#pragma once

#include "py4j/object.h"

extern const struct py4j_class python_rdd_class, pairwise_rdd_class, python_function_class, python_partitioner_class,
        parallelize_server_class;
