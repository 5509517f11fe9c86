/* See split_packing.h. */
#include "io/split_packing.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

int split_packing_read(const struct fst_conf *conf, struct split_packing *packing, struct fst_error *error)
{
        static const char *const keys[] = {"spark.files.maxPartitionBytes", "spark.files.openCostInBytes"};
        int64_t values[ARRAY_SIZE(keys)];
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                int r = conf_get_bytes(conf, keys[i], &values[i], error);
                if (r < 0)
                        return r;
                if (values[i] < 0)
                        return error_set(error, -EINVAL, "%s must not be negative, but was %lld", keys[i],
                                         (long long)values[i]);
        }
        packing->max_bytes = (uint64_t)values[0];
        packing->open_cost = (uint64_t)values[1];
        return 0;
}

uint64_t split_packing_size(const struct split_packing *packing, uint64_t bytes, size_t files)
{
        uint64_t each = (bytes + files * packing->open_cost) / MAX(packing->cores, UINT64_C(1));
        return MIN(MAX(each, packing->open_cost), packing->max_bytes);
}

void split_packing_apply(const struct split_packing *packing, struct input_splits *splits)
{
        uint64_t size = split_packing_size(packing, splits->bytes, splits->files), filled = 0;
        uint32_t *firsts = arena_alloc(&splits->arena, (splits->len + 1) * sizeof(*firsts));
        size_t n = 0;
        firsts[0] = 0;
        for (size_t i = 0; i < splits->len; i++) {
                if (i > firsts[n] && filled + splits->data[i].length > size) {
                        firsts[++n] = (uint32_t)i;
                        filled = 0;
                }
                filled += splits->data[i].length + packing->open_cost;
        }
        if (splits->len > 0)
                firsts[++n] = (uint32_t)splits->len;
        splits->firsts = firsts;
        splits->partitions = n;
}
