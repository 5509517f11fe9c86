/*
 * The last offer of each agent, and why it does not suffice: the text of warnings and of a waiting driver's status.
 * Pure.
 *
 *      agent_offers_add(&a, offers, n, now);                    ← OFFERS
 *      n_fit = agent_offers_put_shortage(&a, &needs, since, &out);
 *              "2 agents offer resources: 1 does not meet spark.mesos.constraints=rack:12 (host-1 has rack:7), 1 has
 *               less than the 1408 MiB of spark.executor.memory with overhead (the most is 1024 MiB, of host-2)"
 *
 * The largest amounts of an agent's offers in one event count. Attributes are those of an agent's first offer:
 * Mesos gives a changed agent another id.
 */
#pragma once

#include "base/arena.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "mesos/offers/mesos_constraints.h"

#include <stdint.h>

struct agent_offer;
struct buf;

struct agent_offers {
        LIST(struct agent_offer) agents; /* never forgotten, at most some ten thousand */
        struct object_table by_id;
        struct arena arena;
};

/* What an executor or a driver needs of one offer. Borrowed. */
struct offer_needs {
        int64_t cpus_milli;
        int64_t memory; /* MiB */
        uint16_t port;  /* 0: any */
        const struct mesos_constraints *constraints;
        const char *cpus_key, *memory_key, *port_key, *constraints_key; /* the settings that set them, for the text */
};

void agent_offers_deinit(struct agent_offers *a);

/* Copies what it keeps of @offers. @port is that of later calls with needs; 0: none. */
void agent_offers_add(struct agent_offers *a, const struct mesos_offer *offers, size_t n, uint16_t port, int64_t now);

/* How long an offer counts, in ns, if offers of its kind are declined for @refuse_ms. */
int64_t agent_offers_max_age(int64_t refuse_ms);

/* The name of the agent's host; NULL: it has not offered anything. */
const char *agent_offers_host(const struct agent_offers *a, const char *agent);

/*
 * Appends how many agents have made offers at @since or later, and what their last ones lack. Returns the number of
 * agents whose offers suffice. Appends nothing if there is no offer.
 */
size_t agent_offers_put_shortage(const struct agent_offers *a, const struct offer_needs *needs, int64_t since,
                                 struct buf *out);
