/* Cached RDDs; see api.h. */
#include "base/string_prefix.h"
#include "ui/api/api_internal.h"

static void api_put_distribution(struct api_call *c, const struct status_distribution *d)
{
        struct json_out *j = &c->json;
        const struct executor_ref *ref = &c->s->executor_names.data[d->executor];
        const struct status_executor *x = status_find_executor(c->s, ref->id);
        json_begin(j);
        json_text(j, "address", x ? x->host_port : ref->host);
        json_int(j, "memoryUsed", d->memory_used);
        json_int(j, "memoryRemaining", x ? x->max_memory - x->memory_used : 0);
        json_int(j, "diskUsed", d->disk_used);
        if (x && x->has_memory_info) {
                json_int(j, "onHeapMemoryUsed", d->on_heap_used);
                json_int(j, "offHeapMemoryUsed", d->off_heap_used);
                json_int(j, "onHeapMemoryRemaining", x->max_on_heap - x->used_on_heap);
                json_int(j, "offHeapMemoryRemaining", x->max_off_heap - x->used_off_heap);
        }
        json_end(j);
}

static void api_put_partition(struct api_call *c, const struct status_partition *p)
{
        struct json_out *j = &c->json;
        json_begin(j);
        json_text(j, "blockName", p->block);
        json_text(j, "storageLevel", p->level);
        json_int(j, "memoryUsed", p->memory_used);
        json_int(j, "diskUsed", p->disk_used);
        json_list(j, "executors");
        for (size_t i = 0; i < p->executors.len; i++)
                json_text(j, NULL, c->s->executor_names.data[p->executors.data[i]].id);
        json_list_end(j);
        json_end(j);
}

static void api_put_rdd(struct api_call *c, const struct status_rdd *rdd)
{
        struct json_out *j = &c->json;
        json_begin(j);
        json_int(j, "id", rdd->id);
        json_text(j, "name", rdd->name ? rdd->name : "");
        json_int(j, "numPartitions", rdd->partitions);
        json_int(j, "numCachedPartitions", (int64_t)rdd->cached.len);
        json_text(j, "storageLevel", rdd->level);
        json_int(j, "memoryUsed", rdd->memory_used);
        json_int(j, "diskUsed", rdd->disk_used);
        if (rdd->distributions.len) {
                json_list(j, "dataDistribution");
                for (size_t i = 0; i < rdd->distributions.len; i++)
                        api_put_distribution(c, &rdd->distributions.data[i]);
                json_list_end(j);
        }
        json_list(j, "partitions");
        for (size_t i = 0; i < rdd->places.len; i++) /* by number */
                if (rdd->places.data[i])
                        api_put_partition(c, &rdd->cached.data[rdd->places.data[i] - 1]);
        json_list_end(j);
        json_end(j);
}

static int api_rdd_compare(const void *a, const void *b)
{
        const struct status_rdd *const *x = a, *const *y = b;
        return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void api_serve_rdd_list(struct api_call *c)
{
        size_t n = 0;
        const struct status_rdd **list = new_array(const struct status_rdd *, c->s->rdds.len);
        for (size_t i = 0; i < c->s->rdds.len; i++)
                if (c->s->rdds.data[i]->cached.len)
                        list[n++] = c->s->rdds.data[i];
        qsort(list, n, sizeof(*list), api_rdd_compare);
        json_list(&c->json, NULL);
        for (size_t i = 0; i < n; i++)
                api_put_rdd(c, list[i]);
        json_list_end(&c->json);
        free(list);
}

void api_serve_storage(struct api_call *c, const char *rest)
{
        int id;
        if (strcmp(rest, "/rdd") == 0)
                return api_serve_rdd_list(c);
        if (!*rest && !c->attempt) /* as Spark reads this path */
                return api_fail(c, 404, "unknown app %s, attempt storage", c->app_id);
        if (!text_starts_with(rest, "/rdd"))
                return api_fail_path(c);
        rest += 4;
        int r = api_path_number(&rest, &id);
        if (r < 0)
                return api_fail_parameter(c);
        if (r == 0 || *rest)
                return api_fail_path(c);
        const struct status_rdd *rdd = status_find_rdd(c->s, id);
        if (rdd)
                api_put_rdd(c, rdd);
        else
                api_fail(c, 404, "no rdd found w/ id %d", id);
}
