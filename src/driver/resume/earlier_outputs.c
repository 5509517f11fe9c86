/* See earlier_outputs.h. */
#include "driver/resume/earlier_outputs.h"

#include "sched/sched.h"
#include "shuffle/remote_shuffle.h"

#include <string.h>

int earlier_outputs_drop_incomplete(struct earlier_output *outputs, int n, const struct remote_shuffle_driver *store)
{
        int left = 0;
        if (!store || !store->class->takes_maps)
                return n;
        for (int i = 0, end; i < n; i = end) {
                const int shuffle = outputs[i].shuffle_id;
                int maps = 0;
                for (end = i; end < n && outputs[end].shuffle_id == shuffle;)
                        end++;
                if (!store->class->takes_maps(store, shuffle, &maps) && end - i < maps)
                        continue;
                memmove(&outputs[left], &outputs[i], (size_t)(end - i) * sizeof(*outputs));
                left += end - i;
        }
        return left;
}
