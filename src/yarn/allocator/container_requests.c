/* See container_requests.h. */
#include "yarn/allocator/container_requests.h"

#include "base/mem.h"

static void request_group_deinit(struct request_group *g)
{
        string_list_deinit(&g->hosts);
        string_list_deinit(&g->racks);
}

static void request_row_free(struct request_row *row)
{
        free(row->location);
        free(row);
}

void container_requests_deinit(struct container_requests *q)
{
        for (size_t i = 0; i < q->groups.len; i++)
                request_group_deinit(&q->groups.data[i]);
        for (size_t i = 0; i < q->rows.len; i++)
                request_row_free(q->rows.data[i]);
        vec_deinit(&q->groups);
        vec_deinit(&q->rows);
        object_table_deinit(&q->by_location);
}

static bool locations_have(const struct string_list *list, const char *location)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], location) == 0)
                        return true;
        return false;
}

static bool locations_are_equal(const struct string_list *a, const struct string_list *b)
{
        for (size_t i = 0; a->len == b->len && i < a->len; i++)
                if (strcmp(a->data[i], b->data[i]) != 0)
                        return false;
        return a->len == b->len;
}

void container_requests_add(struct container_requests *q, const char *const *hosts, const char *const *racks, size_t n,
                            int count)
{
        struct request_group g = {.count = count};
        if (count <= 0)
                return;
        q->total += count;
        for (size_t i = 0; i < n; i++) {
                string_list_add(&g.hosts, hosts[i]);
                if (racks[i] && !locations_have(&g.racks, racks[i]))
                        string_list_add(&g.racks, racks[i]);
        }
        for (size_t i = 0; i < q->groups.len; i++) {
                if (!locations_are_equal(&q->groups.data[i].hosts, &g.hosts))
                        continue;
                q->groups.data[i].count += count;
                request_group_deinit(&g);
                return;
        }
        vec_push(&q->groups, g);
}

int container_requests_cancel(struct container_requests *q, size_t index, int count)
{
        struct request_group *g = &q->groups.data[index];
        const int taken = MIN(count, g->count);
        g->count -= taken;
        q->total -= taken;
        if (g->count == 0) {
                request_group_deinit(g);
                memmove(g, g + 1, (q->groups.len - index - 1) * sizeof(*g));
                q->groups.len--;
        }
        return taken;
}

bool container_requests_match(struct container_requests *q, const char *location)
{
        const bool anywhere = strcmp(location, YARN_ANY_HOST) == 0;
        for (size_t i = 0; i < q->groups.len; i++) {
                const struct request_group *g = &q->groups.data[i];
                if (anywhere || locations_have(&g->hosts, location) || locations_have(&g->racks, location))
                        return container_requests_cancel(q, i, 1) == 1;
        }
        return false;
}

static bool request_row_has(const void *object, const void *key)
{
        return strcmp(((const struct request_row *)object)->location, key) == 0;
}

static struct request_row *requests_find_row(const struct container_requests *q, const char *location)
{
        return object_table_find(&q->by_location, object_hash_text(location), request_row_has, location);
}

/* The row of @location, which is added if it is missing. */
static struct request_row *requests_row(struct container_requests *q, const char *location)
{
        struct request_row *row = requests_find_row(q, location);
        if (row)
                return row;
        row = new0(struct request_row);
        row->location = mem_strdup(location);
        vec_push(&q->rows, row);
        object_table_put(&q->by_location, object_hash_text(location), row);
        return row;
}

/* False: the ResourceManager has no request there. */
static bool requests_lower(struct container_requests *q, const char *location)
{
        struct request_row *row = location ? requests_find_row(q, location) : NULL;
        if (!row || row->asked == 0)
                return false;
        row->asked--;
        return true;
}

void container_requests_granted(struct container_requests *q, const char *host, const char *rack)
{
        requests_lower(q, host);
        /* A grant on a host that was asked for also lowers the host's rack; so does one elsewhere in an asked rack. */
        requests_lower(q, rack);
        requests_lower(q, YARN_ANY_HOST);
}

int container_requests_count_host(const struct container_requests *q, const char *host)
{
        int count = 0;
        for (size_t i = 0; i < q->groups.len; i++)
                if (locations_have(&q->groups.data[i].hosts, host))
                        count += q->groups.data[i].count;
        return count;
}

void container_requests_emit(struct container_requests *q, int32_t profile, struct yarn_actions *actions)
{
        for (size_t i = 0; i < q->rows.len; i++)
                q->rows.data[i]->wanted = 0;
        for (size_t i = 0; i < q->groups.len; i++) {
                const struct request_group *g = &q->groups.data[i];
                for (size_t k = 0; k < g->hosts.len; k++)
                        requests_row(q, g->hosts.data[k])->wanted += g->count;
                for (size_t k = 0; k < g->racks.len; k++)
                        requests_row(q, g->racks.data[k])->wanted += g->count;
        }
        if (q->total || requests_find_row(q, YARN_ANY_HOST))
                requests_row(q, YARN_ANY_HOST)->wanted = q->total;
        size_t kept = 0;
        for (size_t i = 0; i < q->rows.len; i++) {
                struct request_row *row = q->rows.data[i];
                if (row->asked != row->wanted)
                        queue_push(&actions->queue, (struct yarn_action){.kind = YARN_ACTION_ASK,
                                                                         .ask = {.profile = profile,
                                                                                 .location = mem_strdup(row->location),
                                                                                 .count = row->wanted}});
                row->asked = row->wanted;
                if (row->asked) {
                        q->rows.data[kept++] = row;
                        continue;
                }
                object_table_remove(&q->by_location, object_hash_text(row->location), row);
                request_row_free(row);
        }
        q->rows.len = kept;
}

void container_requests_forget_asked(struct container_requests *q)
{
        for (size_t i = 0; i < q->rows.len; i++)
                q->rows.data[i]->asked = 0;
}
