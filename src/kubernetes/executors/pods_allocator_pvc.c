/*
 * Reuses persistent volume claims of ended executors: getReusablePVCs and replacePVCsIfNeeded of Spark's
 * ExecutorPodsAllocator.
 *
 * A claim is free if no pod of the snapshot mounts it, no executor without a snapshot has it, and it is older than the
 * creation timeout (a younger one may belong to a pod that is still to come). Each burst of creations lists the free
 * claims again.
 */
#include "base/string_prefix.h"
#include "kubernetes/executors/pods_allocator_state.h"

#include <string.h>

static void claims_clear(struct pods_allocator *a)
{
        for (size_t i = 0; i < a->claims.len; i++) {
                free(a->claims.data[i].name);
                free(a->claims.data[i].storage_class);
        }
        a->claims.len = 0;
}

void allocator_claims_deinit(struct pods_allocator *a)
{
        claims_clear(a);
        vec_deinit(&a->claims);
}

void executor_claims_clear(struct allocated_executor *e)
{
        for (int i = 0; i < e->n_reused_claims; i++)
                free(e->reused_claims[i]);
        free(steal(e->reused_claims));
        e->n_reused_claims = 0;
}

bool allocator_claims_ready(struct pods_allocator *a, int64_t now)
{
        bool is_full = a->config.wait_for_claims && a->claims_made >= a->config.max_claims;

        if (!a->config.reuse_claims)
                return true;
        if (a->claims_state == CLAIMS_ASKED)
                return false;
        if (a->claims_state == CLAIMS_LISTED && now - a->claims_at < a->config.batch_delay)
                return !is_full || a->claims.len > 0;
        if (is_full && !a->news)
                return false; /* no event since then can have freed a claim */
        a->news = false;
        a->claims_state = CLAIMS_ASKED;
        pod_actions_push(a->actions, (struct pod_action){POD_ACTION_LIST_CLAIMS});
        return false;
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pods_allocator_claims(struct pods_allocator *a, const struct pod_claim *claims, int n, int64_t now)
{
        VEC(const char *) used = {0};

        if (n < 0)
                allocator_log(a, LOG_INFO, "Cannot list PVC resources. Please check account permissions.");
        for (const struct pod_state *p = NULL; a->pods && (p = pods_snapshot_next(a->pods, p));)
                for (int i = 0; i < p->n_claims; i++)
                        vec_push(&used, p->claims[i]);
        for (size_t i = 0; i < a->executors.len; i++)
                for (int k = 0; k < a->executors.data[i].n_reused_claims; k++)
                        vec_push(&used, a->executors.data[i].reused_claims[k]);
        if (used.len)
                qsort(used.data, used.len, sizeof(used.data[0]), by_text);

        claims_clear(a);
        for (int i = 0; i < n; i++) {
                const struct pod_claim *c = &claims[i];
                if (now + a->config.wall_offset - ms_to_ns(c->created) <= a->config.creation_timeout ||
                    (used.len && bsearch(&c->name, used.data, used.len, sizeof(used.data[0]), by_text)))
                        continue;
                vec_push(&a->claims,
                         (struct free_claim){.name = mem_strdup(c->name),
                                             .storage_class = c->storage_class ? mem_strdup(c->storage_class) : NULL,
                                             .size = c->size});
        }
        vec_deinit(&used);
        a->claims_state = CLAIMS_LISTED;
        a->claims_at = now;
        allocator_reconcile(a, now);
}

/* Assigns a free claim to @e and returns its name, or NULL if none fits and a new one must be created. */
static char *claim_assign(struct pods_allocator *a, struct allocated_executor *e, const struct claim_need *need)
{
        for (size_t i = 0; i < a->claims.len; i++) {
                struct free_claim *c = &a->claims.data[i];
                if (!text_equals(c->storage_class, need->storage_class) || c->size < need->size)
                        continue;
                char *name = c->name;
                free(c->storage_class);
                memmove(c, c + 1, (a->claims.len - i - 1) * sizeof(*c));
                a->claims.len--;
                e->reused_claims = mem_grow(e->reused_claims, (size_t)(e->n_reused_claims + 1) * sizeof(char *));
                e->reused_claims[e->n_reused_claims++] = name;
                allocator_log(a, LOG_INFO, "Reuse PersistentVolumeClaim %s", name);
                return mem_strdup(name);
        }
        e->new_claims++;
        a->claims_made++;
        return NULL;
}

char **allocator_claims_take(struct pods_allocator *a, struct allocated_executor *e)
{
        const int n = a->config.n_claims;
        char **names = n ? new_array(char *, (size_t)n) : NULL;

        for (int i = 0; i < n; i++)
                names[i] = claim_assign(a, e, &a->config.claims[i]);
        return names;
}
