/* Offers and resources as messages of mesos.proto. */
#pragma once

#include "mesos/offers/mesos_offer.h"
#include "mesos/protocol/mesos.pb-c.h"

struct arena;

/*
 * Returns the offers of an event, *@n of them, in @arena. They point into @event. A role that is missing is "*".
 * Resources and attributes whose type does not fit their value are left out.
 */
struct mesos_offer *mesos_offers_of(struct arena *arena, const Firesteel__Mesos__SchedulerEvent__Offers *event,
                                    size_t *n);

/* Returns @n messages in @arena that point into @resources. */
Firesteel__Mesos__Resource **mesos_resources_message(struct arena *arena, const struct mesos_resource *resources,
                                                     size_t n);
