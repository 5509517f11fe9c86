/* How actions take variables. Not meant to be called by name. */
#pragma once

#include <firesteel/detail/variable.h>

#define FST_NO_VARIABLE ((fst_variable){0})
#define FST_FIRST_1(rdd, row) fst_first_at((rdd), FST_VARIABLE(row), FST_NO_VARIABLE, FST_HERE("first"))
#define FST_FIRST_2(rdd, key, value) fst_first_at((rdd), FST_VARIABLE(key), FST_VARIABLE(value), FST_HERE("first"))
#define FST_FIRST_PICK(a, b, name, ...) name
