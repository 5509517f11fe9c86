/* See stage_inputs.h. */
#include "driver/messages/stage_inputs.h"

#include "base/mem.h"

void stage_inputs_read(struct shuffle_inputs *inputs, const struct map_outputs *from, const int32_t *location_of,
                       int n_executors, int32_t (*writer_of)(const void *owner, int executor), const void *owner)
{
        struct shuffle_map *maps = new_array(struct shuffle_map, (size_t)from->n);
        for (int m = 0; m < from->n; m++) {
                int e = from->at[m].executor;
                uint64_t handle = from->at[m].handle;
                maps[m] = (struct shuffle_map){.task_id = output_handle_task(handle), .location = -1};
                if (handle && e >= 0 && map_output_is_stored(&from->at[m])) {
                        maps[m].location = SHUFFLE_REMOTE - writer_of(owner, e);
                        maps[m].place = output_handle_place(handle);
                } else if (handle && e >= 0 && e < n_executors) {
                        maps[m].location = location_of[e];
                }
        }
        *inputs = (struct shuffle_inputs){.shuffle_id = from->shuffle_id, .n = from->n, .maps = maps};
}
