/* Two lines are quantities or errors, and comparing quantities is antisymmetric. */
#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/quantity.h"

static int compare_quantities(const char *a, const char *b, int *order)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = quantity_compare(a, b, order, &error);
        if (r < 0 && !*error_message(&error))
                abort();
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *a = mem_strndup(size ? (const char *)data : "", size);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        char *b = strchr(a, '\n');
        int there = 0, back = 0, same = 0;
        if (b)
                *b++ = '\0';
        else
                b = a + strlen(a);
        if (quantity_check(a, &error) < 0 && !*error_message(&error))
                abort();
        int r = compare_quantities(a, b, &there), q = compare_quantities(b, a, &back);
        if ((r == 0) != (q == 0) || (r == 0 && there != -back))
                abort();
        if (r == 0 && (compare_quantities(a, a, &same) != 0 || same != 0))
                abort();
        return 0;
}
