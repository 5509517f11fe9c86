/*
 * See stage_shipping.h. A list suffices: few stages run at a time.
 *
 * The outboxes of all executors share the bytes of a stage. Each message holds a reference until it is sent or dropped,
 * so the bytes may outlive the stage, and this object.
 */
#include "driver/messages/stage_shipping.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#define STAGE_BROADCAST_TIME_SHIFT 20 /* ids begin with the time of day: another driver of the application has others */

struct shipment {
        struct shipment *next;
        int refs; /* of the list, and of each message that is queued */
        const struct stage_context *work;
        struct buf encoded; /* empty if it is broadcast */
        int64_t broadcast;  /* id; 0: it is sent directly */
        size_t len;         /* encoded bytes */
        uint64_t *sent; /* a bit for each executor */
        int words;
};

struct stage_shipping {
        struct stage_shipping_options options;
        int64_t next_broadcast;
        struct shipment *shipments; /* newest first */
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

static void shipment_unref(struct shipment *s)
{
        if (--s->refs > 0)
                return;
        buf_deinit(&s->encoded);
        free(s->sent);
        free(s);
}

static void shipment_on_sent(void *shipment, const void *data)
{
        shipment_unref(shipment);
}

struct stage_shipping *stage_shipping_new(const struct stage_shipping_options *options)
{
        struct stage_shipping *s = new0(struct stage_shipping);
        s->options = *options;
        s->next_broadcast = STAGE_BROADCAST | time_of_day_ms() << STAGE_BROADCAST_TIME_SHIFT;
        return s;
}

/* Takes it out of the list, whose first element is at @at. */
static void stage_shipping_drop(struct stage_shipping *s, struct shipment **at)
{
        struct shipment *shipment = *at;
        *at = shipment->next;
        if (shipment->broadcast)
                s->options.remove_broadcast(s->options.owner, shipment->broadcast);
        shipment_unref(shipment);
}

void stage_shipping_free(struct stage_shipping *s)
{
        if (!s)
                return;
        while (s->shipments)
                stage_shipping_drop(s, &s->shipments);
        free(s);
}

/* Makes it a broadcast, if it is large for @executors. If there is no room for a broadcast, it is sent directly. */
static void stage_shipping_broadcast(struct stage_shipping *s, struct shipment *shipment, int executors)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t len = shipment->len;
        bool large = len > s->options.broadcast_from ||
                     (len >= MIN_BROADCAST_STAGE && len >= MIN_BROADCAST_TRAFFIC / (size_t)MAX(executors, 1));
        if (!large || !s->options.broadcast)
                return;
        if (s->options.broadcast(s->options.owner, s->next_broadcast, shipment->encoded.data, len, &error)) {
                log_warn("CoarseGrainedSchedulerBackend", "stage %d of %zu bytes is sent to each executor: %s",
                         shipment->work->stage_id, len, error_message(&error));
                error_deinit(&error);
                return;
        }
        log_info("CoarseGrainedSchedulerBackend", "Stage %d of %zu bytes is broadcast to up to %d executors",
                 shipment->work->stage_id, len, executors);
        shipment->broadcast = s->next_broadcast++;
        buf_deinit(&shipment->encoded);
}

static int stage_shipping_encode(struct stage_shipping *s, const struct stage_context *work, int executors,
                                 struct shipment **out, struct fst_error *error)
{
        struct shipment *shipment = new0(struct shipment);
        shipment->refs = 1;
        shipment->work = work;
        int r = stage_encode(work, &s->options.modules, &shipment->encoded, error);
        if (r) {
                shipment_unref(shipment);
                return r;
        }
        shipment->len = shipment->encoded.len;
        stage_shipping_broadcast(s, shipment, executors);
        shipment->next = s->shipments;
        *out = s->shipments = shipment;
        return 0;
}

int stage_shipping_message(struct stage_shipping *s, const struct stage_context *work, int executor, int executors,
                           Firesteel__StageHeader *header, struct rpc_attachment *bytes, struct fst_error *error)
{
        struct shipment *shipment = *stage_shipping_find(s, work);
        int r = shipment ? 0 : stage_shipping_encode(s, work, executors, &shipment, error);
        if (r || shipment_was_sent(shipment, executor))
                return r;
        firesteel__stage_header__init(header);
        header->stage_id = work->stage_id;
        header->stage_attempt = work->stage_attempt;
        header->job = work->journal_job;
        header->signature = work->journal_signature;
        *bytes = (struct rpc_attachment){0};
        if (shipment->broadcast) {
                header->broadcast = shipment->broadcast;
                header->bytes = shipment->len;
        } else {
                *bytes = (struct rpc_attachment){.data = shipment->encoded.data,
                                                 .len = shipment->encoded.len,
                                                 .release = shipment_on_sent,
                                                 .arg = shipment};
                shipment->refs++;
        }
        return 1;
}

void stage_shipping_sent(struct stage_shipping *s, const struct stage_context *work, int executor)
{
        shipment_mark_sent(*stage_shipping_find(s, work), executor);
}

int stage_shipping_send(struct stage_shipping *s, const struct stage_context *work, int executor, struct rpc_ref *to,
                        int executors, struct fst_error *error)
{
        Firesteel__StageHeader header;
        struct rpc_attachment bytes;
        int r = stage_shipping_message(s, work, executor, executors, &header, &bytes, error);
        if (r <= 0)
                return r;
        size_t len = bytes.len;
        r = rpc_send_packed(to, FIRESTEEL__CONTROL_TYPE__STAGE, &header.base, &bytes);
        if (r == -EMSGSIZE)
                return error_set(
                        error, r,
                        "stage %d takes %zu bytes, which is more than spark.rpc.message.maxSize allows: broadcast "
                        "large captured values, or raise the limit",
                        work->stage_id, len);
        /* Any other failure is a lost connection, which is reported elsewhere. */
        stage_shipping_sent(s, work, executor);
        return 0;
}

bool stage_shipping_has(const struct stage_shipping *s, const struct stage_context *work, int executor)
{
        const struct shipment *shipment = *stage_shipping_find((struct stage_shipping *)s, work);
        return shipment && shipment_was_sent(shipment, executor);
}

void stage_shipping_forget(struct stage_shipping *s, const struct stage_context *work)
{
        struct shipment **at = stage_shipping_find(s, work);
        if (*at)
                stage_shipping_drop(s, at);
}
