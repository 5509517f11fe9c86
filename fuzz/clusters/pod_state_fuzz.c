/* Any JSON as a pod that an API server reports twice and then as deleted: it is not a pod, or one that can be described
 * and is removed. */
#include "base/buf.h"
#include "base/mem.h"
#include "kubernetes/executors/exit_reason.h"
#include "kubernetes/executors/snapshots_store.h"

static void batch_describe(const struct pods_batch *batch, const struct pod_rules *rules)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        for (size_t i = 0; i < batch->n_changes; i++) {
                const struct pod_state *pod = batch->changes[i];
                waiting_reason_describe(pod, &text);
                if (!pod_state_kind_is_final(pod->kind))
                        continue;
                struct exit_reason reason = exit_reason_of(pod, rules, i % 2);
                exit_reason_deinit(&reason);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct pod_rules rules = {.check_all = size % 2};
        json_t *pod = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
        struct snapshots_store *store = snapshots_store_new(&rules);
        struct pods_subscription *news = snapshots_store_subscribe(store, 0, 0);
        struct pods_batch batch;

        snapshots_store_update(store, pod, 0);
        snapshots_store_update(store, pod, 0);
        snapshots_store_list_begin(store);
        snapshots_store_list_pod(store, pod, 0);
        snapshots_store_list_end(store, "1", 0);
        snapshots_store_delete(store, pod, 0);
        if (snapshots_store_pods(store)->n != 0 && snapshots_store_pods(store)->n != 1)
                abort();
        if (pods_subscription_next(news, &batch, 0))
                batch_describe(&batch, &rules);
        snapshots_store_free(store);
        json_decref(pod);
        return 0;
}
