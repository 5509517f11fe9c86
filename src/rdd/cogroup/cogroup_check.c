/* Checks a cogroup: its sides, its mode and its function (rdd/cogroup/op_cogroup.h). */
#include "base/error.h"
#include "rdd/cogroup/op_cogroup.h"

static int cogroup_check_pairs(const char *verb, const fst_type *sides, int n, struct fst_error *error)
{
        char a[64], b[64];
        for (int k = 0; k < n; k++) {
                if (sides[k].value)
                        continue;
                if (n == 2)
                        return error_set(error, -EINVAL, "%s needs pairs on both sides, but the rows are %s and %s",
                                         verb, fst_type_name(sides[0], a), fst_type_name(sides[1], b));
                return error_set(error, -EINVAL, "%s needs pairs, but the rows are %s", verb,
                                 fst_type_name(sides[k], a));
        }
        return 0;
}

static int cogroup_check_keys(const char *verb, const fst_type *sides, int n, struct fst_error *error)
{
        char a[64], b[64];
        for (int k = 1; k < n; k++) {
                const fst_type *x = &sides[0], *y = &sides[k];
                if (x->key == y->key && x->key_size == y->key_size)
                        continue;
                return error_set(error, -EINVAL, "%s needs keys of one type on %s, but the rows are %s and %s%s", verb,
                                 n == 2 ? "both sides" : "all sides", fst_type_name(*x, a), fst_type_name(*y, b),
                                 x->key == y->key && x->key != FST_KIND_BYTES ? ", whose keys have different sizes"
                                                                              : "");
        }
        return 0;
}

/* Checks a value parameter of a join. @missing: the value may be missing, so the parameter must be a pointer. */
static int cogroup_check_side(const char *verb, const fst_fn *fn, uint32_t key, uint32_t parameter, fst_type side,
                              bool missing, const char *which, struct fst_error *error)
{
        char a[64], b[64];
        uint32_t kind = parameter & FST_POINTER && parameter != FST_KIND_FIXED ? parameter & ~FST_POINTER : parameter;
        fst_type seen = fst_type_seen(side);
        if (key != seen.key || kind != seen.value)
                return error_set(error, -EINVAL, "%s takes %s on the %s, but the rows are %s: %s", fn->name,
                                 fst_tag_name(FST_TAG(key, kind), a), which, fst_type_name(side, b),
                                 key == seen.key      ? "the values differ"
                                 : kind == seen.value ? "the keys differ"
                                                      : "the keys and the values differ");
        if (kind == FST_KIND_FIXED || (kind != parameter) == missing)
                return 0;
        if (missing)
                return error_set(error, -EINVAL,
                                 "%s takes the %s value itself, but in %s it may be missing: make the parameter a "
                                 "pointer, which is then NULL (see firesteel/function.h)",
                                 fn->name, which, verb);
        return error_set(error, -EINVAL,
                         "%s takes the %s value by pointer, but in %s it is never missing: take the value itself",
                         fn->name, which, verb);
}

static int cogroup_check_join(enum cogroup_mode mode, const char *verb, const fst_type *sides, const fst_fn *fn,
                              struct fst_error *error)
{
        uint32_t tag = FST_SHAPE_TAG(fn->shape);
        if (FST_SHAPE_FORM(fn->shape) != FST_FORM_JOIN)
                return error_set(error, -EINVAL,
                                 "%s is not a function that %s can call: that takes a key, a left and a right value, "
                                 "and where to emit (see firesteel/function.h)",
                                 fn->name, verb);
        int r = cogroup_check_side(verb, fn, tag & 0xff, tag >> 8, sides[JOIN_LEFT],
                                   mode == COGROUP_RIGHT_JOIN || mode == COGROUP_FULL_JOIN, "left", error);
        return r ? r
                 : cogroup_check_side(verb, fn, tag & 0xff, FST_SHAPE_THIRD(fn->shape), sides[JOIN_RIGHT],
                                      mode == COGROUP_LEFT_JOIN || mode == COGROUP_FULL_JOIN, "right", error);
}

static int cogroup_check_groups(const char *verb, const fst_type *sides, int n, const fst_fn *fn,
                                struct fst_error *error)
{
        uint32_t form = FST_SHAPE_FORM(fn->shape), key = FST_SHAPE_TAG(fn->shape);
        char a[64], b[64];
        bool group = form == FST_FORM_GROUP && n == 1, cogroup = form == FST_FORM_COGROUP && n == 2;
        if (!group && !cogroup && form != FST_FORM_COGROUP_ALL)
                return error_set(error, -EINVAL,
                                 "%s is not a function that %s of %d RDD%s can call: that takes a key, %s, and where "
                                 "to emit (see firesteel/function.h)",
                                 fn->name, verb, n, n == 1 ? "" : "s",
                                 n == 1   ? "an iterator of its values"
                                 : n == 2 ? "two iterators of values"
                                          : "an array of iterators of values");
        if (key != fst_type_seen(sides[0]).key)
                return error_set(error, -EINVAL, "%s takes keys of %s, but the rows are %s", fn->name,
                                 fst_tag_name(key, a), fst_type_name(sides[0], b));
        return 0;
}

static int cogroup_check_out(const char *verb, fst_type wanted, fst_type out, struct fst_error *error)
{
        char a[64], b[64];
        return fst_type_equal(wanted, out) ? 0
                                           : error_set(error, -EINVAL, "%s makes rows of %s, not of %s", verb,
                                                       fst_type_name(wanted, a), fst_type_name(out, b));
}

int cogroup_check(enum cogroup_mode mode, const char *verb, const fst_type *sides, int n, fst_type out,
                  const fst_fn *fn, struct fst_error *error)
{
        bool lists = mode == COGROUP_LISTS || mode == COGROUP_ELEMENTS;
        bool rows = mode == COGROUP_SUBTRACT || mode == COGROUP_INTERSECT;
        fst_type list = {.key = sides[0].key, .key_size = sides[0].key_size, .value = FST_KIND_BYTES};
        if (n < 1 || n > MAX_COGROUP_SIDES)
                return error_set(error, -EINVAL, "%s takes 1 to %d RDDs, not %d", verb, MAX_COGROUP_SIDES, n);
        if (mode != COGROUP_GROUPS && n != (lists ? 1 : 2))
                return error_set(error, -EINVAL, "%s takes %d RDD%s, not %d", verb, lists ? 1 : 2, lists ? "" : "s", n);
        int r = rows ? 0 : cogroup_check_pairs(verb, sides, n, error);
        if (r == 0)
                r = cogroup_check_keys(verb, sides, n, error);
        if (r)
                return r;
        if (rows)
                return cogroup_check_out(verb, sides[JOIN_LEFT], out, error);
        if (mode == COGROUP_ELEMENTS && sides[0].value != FST_KIND_BYTES)
                return error_set(error, -EINVAL, "%s needs rows that were packed into bytes", verb);
        if (lists)
                return cogroup_check_out(verb, list, out, error);
        return mode == COGROUP_GROUPS ? cogroup_check_groups(verb, sides, n, fn, error)
                                      : cogroup_check_join(mode, verb, sides, fn, error);
}
