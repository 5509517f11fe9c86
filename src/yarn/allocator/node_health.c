/* See node_health.h. */
#include "yarn/allocator/node_health.h"

#include "base/buf.h"

#include <limits.h>

void node_health_init(struct node_health *h, const struct node_health_config *config)
{
        *h = (struct node_health){.config = config, .cluster_nodes = INT_MAX};
        h->failures.validity = config->failures_validity;
}

void node_health_deinit(struct node_health *h)
{
        for (size_t i = 0; i < h->failing.len; i++)
                free(h->failing.data[i].host);
        vec_deinit(&h->failing);
        failure_tracker_deinit(&h->failures);
        string_list_deinit(&h->by_scheduler);
        string_list_deinit(&h->current);
}

static bool list_has_host(const struct string_list *hosts, const char *host)
{
        for (size_t i = 0; i < hosts->len; i++)
                if (strcmp(hosts->data[i], host) == 0)
                        return true;
        return false;
}

static bool node_health_is_failing(const struct node_health *h, const char *host)
{
        for (size_t i = 0; i < h->failing.len; i++)
                if (strcmp(h->failing.data[i].host, host) == 0)
                        return true;
        return false;
}

static int host_compare(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void node_health_collect(const struct node_health *h, struct string_list *out)
{
        for (size_t i = 0; i < h->config->excluded.len; i++)
                string_list_add(out, h->config->excluded.data[i]);
        for (size_t i = 0; i < h->by_scheduler.len; i++)
                string_list_add(out, h->by_scheduler.data[i]);
        for (size_t i = 0; i < h->failing.len; i++)
                string_list_add(out, h->failing.data[i].host);
        if (out->len == 0)
                return;
        qsort(out->data, out->len, sizeof(*out->data), host_compare);
        size_t kept = 1;
        for (size_t i = 1; i < out->len; i++) {
                if (strcmp(out->data[i], out->data[kept - 1]) == 0)
                        free(out->data[i]);
                else
                        out->data[kept++] = out->data[i];
        }
        out->len = kept;
}

/* Emits an action for each host of @hosts that @others lacks. Returns them as Spark writes a list. */
static struct buf node_health_emit(enum yarn_action_kind kind, const struct string_list *hosts,
                                   const struct string_list *others, struct yarn_actions *actions)
{
        struct buf text = BUF_INIT;
        for (size_t i = 0; i < hosts->len; i++) {
                if (list_has_host(others, hosts->data[i]))
                        continue;
                buf_printf(&text, "%s%s", text.len ? ", " : "", hosts->data[i]);
                queue_push(&actions->queue, (struct yarn_action){.kind = kind, .host = mem_strdup(hosts->data[i])});
        }
        return text;
}

static void node_health_refresh(struct node_health *h, int64_t now, struct yarn_actions *actions)
{
        struct string_list wanted = {0};
        size_t kept = 0;
        for (size_t i = 0; i < h->failing.len; i++) {
                if (h->failing.data[i].until > now)
                        h->failing.data[kept++] = h->failing.data[i];
                else
                        free(h->failing.data[i].host);
        }
        h->failing.len = kept;
        node_health_collect(h, &wanted);
        _cleanup_(buf_deinit) struct buf added = node_health_emit(YARN_ACTION_EXCLUDE, &wanted, &h->current, actions);
        _cleanup_(buf_deinit) struct buf removed = node_health_emit(YARN_ACTION_INCLUDE, &h->current, &wanted, actions);
        if (added.len)
                yarn_actions_log(actions, LOG_INFO,
                                 "adding nodes to YARN application master's excluded node list: List(%s)", added.data);
        if (removed.len)
                yarn_actions_log(actions, LOG_INFO,
                                 "removing nodes from YARN application master's excluded node list: List(%s)",
                                 removed.data);
        string_list_deinit(&h->current);
        h->current = wanted;
}

void node_health_failed(struct node_health *h, const char *host, int64_t now, struct yarn_actions *actions)
{
        if (!host || !h->config->exclude_on_launch_failure) {
                failure_tracker_add(&h->failures, NULL, now);
                return;
        }
        if (list_has_host(&h->by_scheduler, host) || node_health_is_failing(h, host))
                return; /* a late report from a node that gets no containers any more */
        failure_tracker_add(&h->failures, host, now);
        const int failed = failure_tracker_count_host(&h->failures, host, now);
        if (failed <= h->config->max_failures)
                return;
        yarn_actions_log(actions, LOG_INFO, "excluding %s as YARN allocation failed %d times", host, failed);
        vec_push(&h->failing, (struct excluded_host){.host = mem_strdup(host), .until = now + h->config->timeout});
        node_health_refresh(h, now, actions);
}

void node_health_set_scheduler(struct node_health *h, const char *const *hosts, size_t n, int64_t now,
                               struct yarn_actions *actions)
{
        string_list_deinit(&h->by_scheduler);
        h->by_scheduler = (struct string_list){0};
        for (size_t i = 0; i < n; i++)
                string_list_add(&h->by_scheduler, hosts[i]);
        node_health_refresh(h, now, actions);
}

void node_health_expire(struct node_health *h, int64_t now, struct yarn_actions *actions)
{
        for (size_t i = 0; i < h->failing.len; i++)
                if (h->failing.data[i].until <= now) {
                        node_health_refresh(h, now, actions);
                        return;
                }
}

void node_health_resend(struct node_health *h, int64_t now, struct yarn_actions *actions)
{
        string_list_deinit(&h->current);
        h->current = (struct string_list){0};
        node_health_refresh(h, now, actions);
}

bool node_health_excludes_all(const struct node_health *h)
{
        return h->cluster_nodes > 0 && h->current.len >= (size_t)h->cluster_nodes;
}
