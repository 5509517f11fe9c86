/* See builtins.h. */
#include "rdd/builtins.h"

#include "base/mem.h"

#define BUILTIN(number, text)                                                                                          \
        {                                                                                                              \
                .shape = FST_SHAPE(FST_FORM_BUILTIN, number, 0), .name = text                                          \
        }

FST_API const fst_fn fst_fn_sum = BUILTIN(FST_BUILTIN_SUM, "fst_fn_sum");
FST_API const fst_fn fst_fn_min = BUILTIN(FST_BUILTIN_MIN, "fst_fn_min");
FST_API const fst_fn fst_fn_max = BUILTIN(FST_BUILTIN_MAX, "fst_fn_max");
FST_API const fst_fn fst_fn_first = BUILTIN(FST_BUILTIN_FIRST, "fst_fn_first");
FST_API const fst_fn fst_fn_identity = BUILTIN(FST_BUILTIN_IDENTITY, "fst_fn_identity");

const fst_fn *builtin_find(const char *name, uint32_t shape)
{
        const fst_fn *const numbered[] = {&fst_fn_sum, &fst_fn_min, &fst_fn_max, &fst_fn_first, &fst_fn_identity};
        for (size_t i = 0; i < ARRAY_SIZE(numbered); i++)
                if (strcmp(numbered[i]->name, name) == 0 && numbered[i]->shape == shape)
                        return numbered[i];
        for (size_t i = 0; i < BUILTIN_SKETCHES; i++)
                if (strcmp(builtin_sketches[i].name, name) == 0 && builtin_sketches[i].shape == shape)
                        return &builtin_sketches[i];
        for (size_t i = 0; i < BUILTIN_R; i++)
                if (strcmp(builtin_r[i].name, name) == 0 && builtin_r[i].shape == shape)
                        return &builtin_r[i];
        return NULL;
}

bool builtin_is(const fst_fn *fn)
{
        if (FST_SHAPE_FORM(fn->shape) == FST_FORM_BUILTIN)
                return true;
        for (size_t i = 0; i < BUILTIN_SKETCHES; i++)
                if (fn->code == builtin_sketches[i].code)
                        return true;
        for (size_t i = 0; i < BUILTIN_R; i++)
                if (fn->code == builtin_r[i].code)
                        return true;
        return false;
}
