/* See container_placement.h. */
#include "yarn/allocator/container_placement.h"

#include "base/mem.h"

#include <math.h>

void container_placements_deinit(struct container_placements *p)
{
        for (size_t i = 0; i < p->len; i++)
                free(p->data[i].hosts);
        vec_deinit(p);
}

/* How many more containers each host should have. Returns their sum. */
static int placement_missing(const struct preferred_host *hosts, size_t n, int locality_tasks, int tasks_per_container,
                             int pending_requests, int *missing)
{
        double tasks = 0, pending = 0;
        int sum = 0;
        const double containers = ceil(locality_tasks / (double)tasks_per_container);
        for (size_t i = 0; i < n; i++) {
                tasks += hosts[i].tasks;
                pending += hosts[i].pending;
        }
        for (size_t i = 0; i < n; i++) {
                /* A request that names several hosts counts for each of them in part. */
                const double there =
                        hosts[i].containers + (pending > 0 ? hosts[i].pending * pending_requests / pending : 0);
                const double expected = tasks > 0 ? hosts[i].tasks * containers / tasks : 0;
                missing[i] = (int)MAX(0, ceil(expected - there));
                sum += missing[i];
        }
        return sum;
}

static bool placement_has_same_hosts(const struct container_placement *p, const size_t *hosts, size_t n)
{
        return p->n == n && memcmp(p->hosts, hosts, n * sizeof(*hosts)) == 0;
}

void container_placement_compute(const struct preferred_host *hosts, size_t n, int count, int locality_tasks,
                                 int tasks_per_container, int pending_requests, struct container_placements *out)
{
        _cleanup_free_ int *left = new_array(int, n + 1);
        _cleanup_free_ size_t *chosen = new_array(size_t, n + 1);
        const int missing = placement_missing(hosts, n, locality_tasks, tasks_per_container, pending_requests, left);
        const int anywhere = MAX(0, count - missing), local = count - anywhere;
        int most = 0;
        if (anywhere > 0)
                vec_push(out, (struct container_placement){.count = anywhere});
        for (size_t i = 0; i < n; i++)
                most = MAX(most, left[i]);
        for (size_t i = 0; i < n && local > 0; i++)
                left[i] = (int)ceil((double)left[i] * local / most);
        const size_t first = out->len;
        for (int k = 0; k < local; k++) {
                size_t m = 0;
                for (size_t i = 0; i < n; i++)
                        if (left[i]-- > 0)
                                chosen[m++] = i;
                if (out->len > first && placement_has_same_hosts(&out->data[out->len - 1], chosen, m)) {
                        out->data[out->len - 1].count++;
                        continue;
                }
                struct container_placement p = {.n = m, .count = 1, .hosts = new_array(size_t, m + 1)};
                memcpy(p.hosts, chosen, m * sizeof(*chosen));
                vec_push(out, p);
        }
}
