/* See stage_shipping.h. A list suffices: few stages run at a time. */
#include "driver/backend/stage_shipping.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "driver/backend/driver_transfer.h"
#include "driver/backend/executor_table.h"
#include "exec/task/stage_wire.h"
#include "rpc/control.pb-c.h"
#include "rpc/rpc.h"

struct shipment {
        struct shipment *next;
        const struct stage_context *work;
        struct buf encoded;
        uint64_t *sent; /* a bit for each executor */
        int words;
};

struct stage_shipping {
        struct driver_transfer *data;
        struct shipment *shipments; /* most recently used first */
};

static struct shipment **stage_shipping_find(struct stage_shipping *s, const struct stage_context *work)
{
        struct shipment **at = &s->shipments;
        while (*at && (*at)->work != work)
                at = &(*at)->next;
        return at;
}

static bool shipment_was_sent(const struct shipment *s, int executor)
{
        return executor / 64 < s->words && (s->sent[executor / 64] >> (executor % 64) & 1);
}

static void shipment_mark_sent(struct shipment *s, int executor)
{
        if (executor / 64 >= s->words) {
                int words = executor / 64 + 1;
                s->sent = mem_grow(s->sent, (size_t)words * sizeof(*s->sent));
                memset(s->sent + s->words, 0, (size_t)(words - s->words) * sizeof(*s->sent));
                s->words = words;
        }
        s->sent[executor / 64] |= (uint64_t)1 << (executor % 64);
}

static void shipment_free(struct shipment *s)
{
        buf_deinit(&s->encoded);
        free(s->sent);
        free(s);
}

struct stage_shipping *stage_shipping_new(struct driver_transfer *data)
{
        struct stage_shipping *s = new0(struct stage_shipping);
        s->data = data;
        return s;
}

void stage_shipping_free(struct stage_shipping *s)
{
        if (!s)
                return;
        while (s->shipments) {
                struct shipment *next = s->shipments->next;
                shipment_free(s->shipments);
                s->shipments = next;
        }
        free(s);
}

static int stage_shipping_encode(struct stage_shipping *s, const struct stage_context *work, struct shipment **out,
                                 struct fst_error *error)
{
        struct stage_modules_source modules = {.identify = driver_transfer_identify, .owner = s->data};
        struct shipment *shipment = new0(struct shipment);
        shipment->work = work;
        int r = stage_encode(work, &modules, &shipment->encoded, error);
        if (r) {
                shipment_free(shipment);
                return r;
        }
        shipment->next = s->shipments;
        *out = s->shipments = shipment;
        return 0;
}

int stage_shipping_send(struct stage_shipping *s, struct stage_context *work, struct remote_executor *x,
                        struct fst_error *error)
{
        struct shipment *shipment = *stage_shipping_find(s, work);
        int r = shipment ? 0 : stage_shipping_encode(s, work, &shipment, error);
        if (r || shipment_was_sent(shipment, x->index))
                return r;
        Firesteel__StageHeader header = FIRESTEEL__STAGE_HEADER__INIT;
        header.stage_id = work->stage_id;
        header.stage_attempt = work->stage_attempt;
        header.job = work->journal_job;
        header.signature = work->journal_signature;
        struct rpc_attachment bytes = {.data = shipment->encoded.data, .len = shipment->encoded.len};
        r = rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__STAGE, &header.base, &bytes);
        if (r == -EMSGSIZE)
                return error_set(
                        error, r,
                        "stage %d takes %zu bytes, which is more than spark.rpc.message.maxSize allows: broadcast "
                        "large captured values, or raise the limit",
                        work->stage_id, shipment->encoded.len);
        /* Any other failure is a lost connection, which is reported elsewhere. */
        shipment_mark_sent(shipment, x->index);
        return 0;
}

bool stage_shipping_has(const struct stage_shipping *s, const struct stage_context *work,
                        const struct remote_executor *x)
{
        const struct shipment *shipment = *stage_shipping_find((struct stage_shipping *)s, work);
        return shipment && shipment_was_sent(shipment, x->index);
}

void stage_shipping_forget(struct stage_shipping *s, const struct stage_context *work)
{
        struct shipment **at = stage_shipping_find(s, work), *shipment = *at;
        if (!shipment)
                return;
        *at = shipment->next;
        shipment_free(shipment);
}
