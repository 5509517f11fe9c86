/* See offer_message.h. */
#include "mesos/offers/offer_message.h"

#include "base/arena.h"
#include "base/mem.h"

/* --------------------------------------------------------------------------------------------------------- decoding */

static const struct mesos_range *ranges_of(struct arena *arena, const Firesteel__Mesos__Value__Ranges *message,
                                           size_t *n)
{
        struct mesos_range *ranges = arena_alloc(arena, message->n_range * sizeof(*ranges));
        for (size_t i = 0; i < message->n_range; i++)
                ranges[i] = (struct mesos_range){message->range[i]->begin, message->range[i]->end};
        *n = message->n_range;
        return ranges;
}

static const struct mesos_reservation *reservation_of(struct arena *arena,
                                                      const Firesteel__Mesos__Resource__ReservationInfo *message)
{
        struct mesos_reservation *r = arena_alloc(arena, sizeof(*r));
        const size_t n = message->labels ? message->labels->n_labels : 0;
        struct mesos_label *labels = arena_alloc(arena, n * sizeof(*labels));
        for (size_t i = 0; i < n; i++)
                labels[i] = (struct mesos_label){message->labels->labels[i]->key, message->labels->labels[i]->value};
        *r = (struct mesos_reservation){.principal = message->principal,
                                        .labels = labels,
                                        .n_labels = n,
                                        .has_labels = message->labels != NULL};
        return r;
}

/* False: the value that the type promises is missing. */
static bool resource_of(struct arena *arena, const Firesteel__Mesos__Resource *message, struct mesos_resource *out)
{
        struct mesos_resource r = {.name = message->name,
                                   .role = message->role ? message->role : "*",
                                   .type = (enum mesos_value_type)message->type};
        if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__SCALAR && message->scalar)
                r.milli = mesos_milli(message->scalar->value);
        else if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__RANGES && message->ranges)
                r.ranges = ranges_of(arena, message->ranges, &r.n_ranges);
        else if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__SET && message->set) {
                r.items = (const char *const *)message->set->item;
                r.n_items = message->set->n_item;
        } else
                return false;
        if (message->reservation)
                r.reservation = reservation_of(arena, message->reservation);
        *out = r;
        return true;
}

static bool attribute_of(struct arena *arena, const Firesteel__Mesos__Attribute *message, struct mesos_attribute *out)
{
        struct mesos_attribute a = {.name = message->name, .type = (enum mesos_value_type)message->type};
        if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__SCALAR && message->scalar)
                a.scalar = message->scalar->value;
        else if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__RANGES && message->ranges)
                a.ranges = ranges_of(arena, message->ranges, &a.n_ranges);
        else if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__TEXT && message->text)
                a.text = message->text->value;
        else if (message->type == FIRESTEEL__MESOS__VALUE__TYPE__SET && message->set) {
                a.items = (const char *const *)message->set->item;
                a.n_items = message->set->n_item;
        } else
                return false;
        *out = a;
        return true;
}

static struct mesos_offer offer_of(struct arena *arena, const Firesteel__Mesos__Offer *message)
{
        struct mesos_resource *resources = arena_alloc(arena, message->n_resources * sizeof(*resources));
        struct mesos_attribute *attributes = arena_alloc(arena, message->n_attributes * sizeof(*attributes));
        const char **executors = arena_alloc(arena, message->n_executor_ids * sizeof(char *));
        struct mesos_offer o = {.id = message->id->value,
                                .agent = message->agent_id->value,
                                .hostname = message->hostname,
                                .resources = resources,
                                .attributes = attributes,
                                .executors = executors,
                                .n_executors = message->n_executor_ids};
        for (size_t i = 0; i < message->n_resources; i++)
                o.n_resources += resource_of(arena, message->resources[i], &resources[o.n_resources]);
        for (size_t i = 0; i < message->n_attributes; i++)
                o.n_attributes += attribute_of(arena, message->attributes[i], &attributes[o.n_attributes]);
        for (size_t i = 0; i < message->n_executor_ids; i++)
                executors[i] = message->executor_ids[i]->value;
        return o;
}

struct mesos_offer *mesos_offers_of(struct arena *arena, const Firesteel__Mesos__SchedulerEvent__Offers *event,
                                    size_t *n)
{
        struct mesos_offer *offers = arena_alloc(arena, event->n_offers * sizeof(*offers));
        for (size_t i = 0; i < event->n_offers; i++)
                offers[i] = offer_of(arena, event->offers[i]);
        *n = event->n_offers;
        return offers;
}

/* --------------------------------------------------------------------------------------------------------- encoding */

static Firesteel__Mesos__Value__Ranges *ranges_message(struct arena *arena, const struct mesos_resource *r)
{
        Firesteel__Mesos__Value__Ranges *message = arena_alloc(arena, sizeof(*message));
        firesteel__mesos__value__ranges__init(message);
        message->n_range = r->n_ranges;
        message->range = arena_alloc(arena, r->n_ranges * sizeof(*message->range));
        for (size_t i = 0; i < r->n_ranges; i++) {
                message->range[i] = arena_alloc(arena, sizeof(*message->range[i]));
                firesteel__mesos__value__range__init(message->range[i]);
                message->range[i]->begin = r->ranges[i].begin;
                message->range[i]->end = r->ranges[i].end;
        }
        return message;
}

static Firesteel__Mesos__Labels *labels_message(struct arena *arena, const struct mesos_label *labels, size_t n)
{
        Firesteel__Mesos__Labels *message = arena_alloc(arena, sizeof(*message));
        firesteel__mesos__labels__init(message);
        message->n_labels = n;
        message->labels = arena_alloc(arena, n * sizeof(*message->labels));
        for (size_t i = 0; i < n; i++) {
                message->labels[i] = arena_alloc(arena, sizeof(*message->labels[i]));
                firesteel__mesos__label__init(message->labels[i]);
                message->labels[i]->key = (char *)labels[i].key;
                message->labels[i]->value = (char *)labels[i].value;
        }
        return message;
}

static Firesteel__Mesos__Resource *resource_message(struct arena *arena, const struct mesos_resource *r)
{
        Firesteel__Mesos__Resource *message = arena_alloc(arena, sizeof(*message));
        firesteel__mesos__resource__init(message);
        message->name = (char *)r->name;
        message->role = (char *)r->role;
        message->type = (Firesteel__Mesos__Value__Type)r->type;
        if (r->type == MESOS_VALUE_SCALAR) {
                message->scalar = arena_alloc(arena, sizeof(*message->scalar));
                firesteel__mesos__value__scalar__init(message->scalar);
                message->scalar->value = mesos_amount(r->milli);
        } else if (r->type == MESOS_VALUE_RANGES) {
                message->ranges = ranges_message(arena, r);
        } else if (r->type == MESOS_VALUE_SET) {
                message->set = arena_alloc(arena, sizeof(*message->set));
                firesteel__mesos__value__set__init(message->set);
                message->set->n_item = r->n_items;
                message->set->item = (char **)r->items;
        }
        if (r->reservation && strcmp(r->role, "*") != 0) {
                message->reservation = arena_alloc(arena, sizeof(*message->reservation));
                firesteel__mesos__resource__reservation_info__init(message->reservation);
                message->reservation->principal = (char *)r->reservation->principal;
                if (r->reservation->has_labels)
                        message->reservation->labels =
                                labels_message(arena, r->reservation->labels, r->reservation->n_labels);
        }
        return message;
}

Firesteel__Mesos__Resource **mesos_resources_message(struct arena *arena, const struct mesos_resource *resources,
                                                     size_t n)
{
        Firesteel__Mesos__Resource **messages = arena_alloc(arena, n * sizeof(*messages));
        for (size_t i = 0; i < n; i++)
                messages[i] = resource_message(arena, &resources[i]);
        return messages;
}
