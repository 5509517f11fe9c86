/* The engine's own functions: no code, only a number that operators know (detail/function.h). They travel by name. */
#include <firesteel/function.h>

#define BUILTIN(number, text)                                                                                          \
        {                                                                                                              \
                .shape = FST_SHAPE(FST_FORM_BUILTIN, number, 0), .name = text                                          \
        }

FST_API const fst_fn fst_sum = BUILTIN(FST_BUILTIN_SUM, "fst_sum");
FST_API const fst_fn fst_min = BUILTIN(FST_BUILTIN_MIN, "fst_min");
FST_API const fst_fn fst_max = BUILTIN(FST_BUILTIN_MAX, "fst_max");
FST_API const fst_fn fst_first = BUILTIN(FST_BUILTIN_FIRST, "fst_first");
FST_API const fst_fn fst_identity = BUILTIN(FST_BUILTIN_IDENTITY, "fst_identity");
