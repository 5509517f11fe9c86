/* count_approx_distinct_by_key: aggregates values by key into sketches (rdd/aggregate/distinct_sketch.h) and estimates
 * each. Its functions are the engine's own (rdd/builtins.h). */
#include "rdd/builtins.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"

#include "base/mem.h"
#include "rdd/aggregate/distinct_sketch.h"
#include "rdd/aggregate/hash.h"
#include "rdd/pipeline/op.h"

#include <firesteel/pair.h>
#include <firesteel/task.h>

#include <math.h>

struct sketch_parameters {
        int precision;
        fst_type value; /* as a key */
};

static int sketch_take(fst_task *task, void *registers, fst_column column)
{
        const struct sketch_parameters *s = fst_captured(task);
        fst_batch one = {.rows = 1, .type = s->value, .key = column};
        uint64_t hash;
        hash_keys(&one, &hash);
        distinct_add(registers, s->precision, &hash, 1);
        return 0;
}

static int sketch_take_i64(fst_task *task, void *registers, int64_t x)
{
        return sketch_take(task, registers, (fst_column){.i64 = &x});
}

static int sketch_take_f64(fst_task *task, void *registers, double x)
{
        return sketch_take(task, registers, (fst_column){.f64 = &x});
}

static int sketch_take_bytes(fst_task *task, void *registers, fst_bytes x)
{
        return sketch_take(task, registers, (fst_column){.bytes = &x});
}

static int sketch_take_fixed(fst_task *task, void *registers, const void *x)
{
        return sketch_take(task, registers, (fst_column){.fixed = (char *)x});
}

static int sketch_combine(fst_task *task, void *a, const void *b)
{
        const struct sketch_parameters *s = fst_captured(task);
        distinct_merge(a, s->precision, b);
        return 0;
}

static int64_t sketch_estimate(fst_task *task, const void *registers)
{
        const struct sketch_parameters *s = fst_captured(task);
        return llround(distinct_estimate(registers, s->precision));
}

#define SKETCH(form, kind, function, called)                                                                           \
        {                                                                                                              \
                .code = (void (*)(void))(function), .shape = FST_SHAPE(FST_FORM_##form, kind, FST_KIND_NONE),          \
                .name = "fst_distinct_" called                                                                         \
        }

enum { TAKE_I64, TAKE_F64, TAKE_BYTES, TAKE_FIXED, COMBINE, ESTIMATE };

const fst_fn builtin_sketches[BUILTIN_SKETCHES] = {
        [TAKE_I64] = SKETCH(INTO, FST_KIND_I64, sketch_take_i64, "i64"),
        [TAKE_F64] = SKETCH(INTO, FST_KIND_F64, sketch_take_f64, "f64"),
        [TAKE_BYTES] = SKETCH(INTO, FST_KIND_BYTES, sketch_take_bytes, "bytes"),
        [TAKE_FIXED] = SKETCH(INTO, FST_KIND_FIXED, sketch_take_fixed, "fixed"),
        [COMBINE] = SKETCH(INTO, FST_KIND_FIXED, sketch_combine, "combine"),
        [ESTIMATE] = SKETCH(I64, FST_KIND_FIXED, sketch_estimate, "estimate"),
};

static const fst_fn *sketch_take_function_for(uint8_t kind)
{
        return &builtin_sketches[kind == FST_KIND_I64     ? TAKE_I64
                                 : kind == FST_KIND_F64   ? TAKE_F64
                                 : kind == FST_KIND_BYTES ? TAKE_BYTES
                                                          : TAKE_FIXED];
}

/* The precision of the largest sketch that fits into a row. */
#define MAX_PRECISION 16
_Static_assert(1 << MAX_PRECISION == FST_FIXED_MAX, "sketches must be values of pairs");

static int rdd_distinct_by_key_check(const fst_rdd *pairs, double deviation, struct sketch_parameters *sketched,
                                     fst_site site, struct fst_error *error)
{
        char have[64];
        if (!pairs->type.value)
                return error_set(error, -EINVAL, "%s needs pairs, but the rows are %s", site.operation,
                                 fst_type_name(pairs->type, have));
        if (!(deviation > 0.000017))
                return error_set(error, -EINVAL, "accuracy (%g) must be greater than 0.000017", deviation);
        *sketched = (struct sketch_parameters){.precision = distinct_precision(deviation),
                                               .value = {.key = pairs->type.value, .key_size = pairs->type.value_size}};
        if (sketched->precision > MAX_PRECISION)
                return error_set(error, -EINVAL,
                                 "accuracy (%g) takes 2^%d registers for each key, and 2^%d are allowed: ask for %.4f, "
                                 "or count the keys of fst_distinct",
                                 deviation, sketched->precision, MAX_PRECISION, 1.055 / sqrt(1 << MAX_PRECISION));
        return 0;
}

FST_API fst_rdd *fst_count_approx_distinct_by_key_at(fst_rdd *pairs, double deviation, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        int first = rdd_registry_next_id(pairs->sc);
        struct sketch_parameters sketched;
        int r = pairs->status ? 0 : rdd_distinct_by_key_check(pairs, deviation, &sketched, site, &error);
        if (r || pairs->status) {
                fst_rdd *none = rdd_new(pairs->sc, RDD_MAP_VALUES, FST_PAIR(I64, I64), pairs, site);
                rdd_depend_narrowly(none, false);
                return r ? rdd_fail_with(none, r, &error) : none;
        }
        uint32_t size = 1u << sketched.precision;
        _cleanup_free_ char *zero = new_array(char, size);
        fst_rdd *sketches = fst_aggregate_by_key_at(
                pairs, (fst_constant){.at = zero, .size = size, .kind = FST_KIND_FIXED},
                fst_fn_with(*sketch_take_function_for(pairs->type.value), &sketched, sizeof(sketched)),
                fst_fn_with(builtin_sketches[COMBINE], &sketched, sizeof(sketched)), partitions, site);
        fst_rdd *counts = fst_map_values_at(
                sketches, fst_fn_with(builtin_sketches[ESTIMATE], &sketched, sizeof(sketched)), FST_I64, site);
        return rdd_release_intermediates(counts, first);
}
