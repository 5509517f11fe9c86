/*
 * A task's result as the driver receives it. The first byte chooses action and type. A decoded result encodes to the
 * same bytes.
 */
#include "base/buf.h"
#include "base/error.h"
#include "exec/actions/action_kinds.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const fst_type types[] = {
                FST_I64, FST_F64, FST_BYTES, FST_FIXED(6), FST_PAIR(BYTES, I64), FST_PAIR(I64, BYTES)};
        struct action count = {.class = &count_action_class}, foreach = {.class = &foreach_action_class};
        struct reduce_action reduce = {{.class = &reduce_action_class}, .fn = fst_fn_first};
        struct rows_action rows = {{.class = &rows_action_class}, 1000};
        struct sample_action sample = {{.class = &sample_action_class}, 1000};
        struct stats_action stats = {{.class = &stats_action_class}, false};
        struct histogram_action histogram = {{.class = &histogram_action_class}, .buckets = 3};
        struct distinct_action distinct = {{.class = &distinct_action_class}, .precision = 4};
        struct action *const actions[] = {&count,         &foreach,      &reduce.action,    &rows.action,
                                          &sample.action, &stats.action, &histogram.action, &distinct.action};
        struct fst_error error = FST_ERROR_INIT;
        struct task_result result;
        struct buf bytes = BUF_INIT;
        if (size == 0)
                return 0;
        struct action *action = actions[(data[0] & 15) % 8];
        action->type = types[(data[0] >> 4) % 6];
        if (action == &reduce.action)
                reduce.made = (fst_type){.key = action->type.key, .key_size = action->type.key_size};
        rows.made = action->type;
        if (task_result_decode(action, data + 1, size - 1, &result, &error)) {
                error_deinit(&error);
                return 0;
        }
        if (task_result_encode(action, &result, &bytes, &error) || bytes.len != size - 1 ||
            memcmp(bytes.data, data + 1, bytes.len) != 0)
                if (action != &sample.action || bytes.len != 1) /* without keys the weight is irrelevant */
                        abort();
        buf_deinit(&bytes);
        return 0;
}
