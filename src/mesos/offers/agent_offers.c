/* See agent_offers.h. */
#include "mesos/offers/agent_offers.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>

#define MAX_AGENTS 20000
#define MIN_AGE (300 * NS_PER_SECOND)
#define MAX_ATTRIBUTES_TEXT 200

struct agent_offer {
        struct agent_offer *prev, *next;
        const char *id, *host;
        int64_t cpus, memory; /* thousandths */
        bool has_port;
        int64_t seen; /* the time of the event */
        struct mesos_attribute *attributes;
        size_t n_attributes;
};

/* Agents whose offers lack the same, and the best of them. */
struct agent_lack {
        size_t n;
        const struct agent_offer *best;
};

static bool agent_offer_has_id(const void *object, const void *key)
{
        return strcmp(((const struct agent_offer *)object)->id, key) == 0;
}

static struct agent_offer *agent_offers_find(const struct agent_offers *a, const char *id)
{
        return object_table_find(&a->by_id, object_hash_text(id), agent_offer_has_id, id);
}

void agent_offers_deinit(struct agent_offers *a)
{
        object_table_deinit(&a->by_id);
        arena_deinit(&a->arena);
        *a = (struct agent_offers){0};
}

int64_t agent_offers_max_age(int64_t refuse_ms)
{
        const int64_t refused = ms_to_ns(refuse_ms);
        return refused > INT64_MAX / 4 ? INT64_MAX / 2 : MAX(MIN_AGE, 2 * refused);
}

const char *agent_offers_host(const struct agent_offers *a, const char *agent)
{
        const struct agent_offer *o = agent_offers_find(a, agent);
        return o ? o->host : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- add */

static const char *agent_offers_text(struct agent_offers *a, const char *text)
{
        return text ? arena_copy(&a->arena, text, strlen(text)) : NULL;
}

static void agent_offer_copy_attributes(struct agent_offers *a, struct agent_offer *o, const struct mesos_offer *from)
{
        o->n_attributes = from->n_attributes;
        o->attributes = arena_alloc(&a->arena, (o->n_attributes + 1) * sizeof(*o->attributes));
        for (size_t i = 0; i < o->n_attributes; i++) {
                const struct mesos_attribute *x = &from->attributes[i];
                struct mesos_range *ranges = arena_alloc(&a->arena, (x->n_ranges + 1) * sizeof(*ranges));
                const char **items = arena_alloc(&a->arena, (x->n_items + 1) * sizeof(*items));
                for (size_t k = 0; k < x->n_ranges; k++)
                        ranges[k] = x->ranges[k];
                for (size_t k = 0; k < x->n_items; k++)
                        items[k] = agent_offers_text(a, x->items[k]);
                o->attributes[i] = (struct mesos_attribute){.name = agent_offers_text(a, x->name),
                                                            .type = x->type,
                                                            .scalar = x->scalar,
                                                            .text = agent_offers_text(a, x->text),
                                                            .ranges = ranges,
                                                            .n_ranges = x->n_ranges,
                                                            .items = items,
                                                            .n_items = x->n_items};
        }
}

static struct agent_offer *agent_offers_get(struct agent_offers *a, const struct mesos_offer *offer)
{
        struct agent_offer *o = agent_offers_find(a, offer->agent);
        if (o || a->by_id.count >= MAX_AGENTS)
                return o;
        o = arena_alloc(&a->arena, sizeof(*o));
        *o = (struct agent_offer){.id = agent_offers_text(a, offer->agent),
                                  .host = agent_offers_text(a, offer->hostname),
                                  .seen = INT64_MIN};
        agent_offer_copy_attributes(a, o, offer);
        list_append(&a->agents, o);
        object_table_put(&a->by_id, object_hash_text(o->id), o);
        return o;
}

void agent_offers_add(struct agent_offers *a, const struct mesos_offer *offers, size_t n, uint16_t port, int64_t now)
{
        for (size_t i = 0; i < n; i++) {
                struct agent_offer *o = agent_offers_get(a, &offers[i]);
                if (!o)
                        continue;
                if (o->seen != now)
                        o->cpus = o->memory = o->has_port = 0;
                o->seen = now;
                o->cpus = MAX(o->cpus, mesos_resources_sum(offers[i].resources, offers[i].n_resources, "cpus"));
                o->memory = MAX(o->memory, mesos_resources_sum(offers[i].resources, offers[i].n_resources, "mem"));
                o->has_port |= port == 0 || mesos_resources_have_port(offers[i].resources, offers[i].n_resources, port);
        }
}

/* ------------------------------------------------------------------------------------------------------------ text */

static void attribute_put(struct buf *out, const struct mesos_attribute *x)
{
        buf_printf(out, "%s:", x->name);
        switch (x->type) {
        case MESOS_VALUE_SCALAR:
                buf_printf(out, "%g", x->scalar);
                break;
        case MESOS_VALUE_TEXT:
                buf_puts(out, x->text ? x->text : "");
                break;
        case MESOS_VALUE_RANGES:
                for (size_t i = 0; i < x->n_ranges; i++)
                        buf_printf(out, "%s%" PRIu64 "-%" PRIu64, i ? "," : "[", x->ranges[i].begin, x->ranges[i].end);
                buf_putc(out, ']');
                break;
        case MESOS_VALUE_SET:
                for (size_t i = 0; i < x->n_items; i++)
                        buf_printf(out, "%s%s", i ? "," : "{", x->items[i]);
                buf_putc(out, '}');
                break;
        }
}

static void agent_offer_put_attributes(const struct agent_offer *o, struct buf *out)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < o->n_attributes; i++) {
                buf_puts(&text, i ? ";" : "");
                attribute_put(&text, &o->attributes[i]);
        }
        const bool is_long = text.len > MAX_ATTRIBUTES_TEXT;
        if (is_long)
                buf_truncate(&text, MAX_ATTRIBUTES_TEXT);
        buf_printf(out, "%s has %s%s", o->host, o->n_attributes ? buf_text(&text) : "no attributes",
                   is_long ? "…" : "");
}

static void agent_lack_add(struct agent_lack *lack, const struct agent_offer *o, int64_t amount, int64_t best)
{
        if (!lack->best || amount > best)
                lack->best = o;
        lack->n++;
}

/* Begins the clause of a lack: ", 3 have". */
static void agent_lack_put(const struct agent_lack *lack, const char *singular, const char *plural, bool *first,
                           struct buf *out)
{
        buf_printf(out, "%s%zu %s", *first ? ": " : ", ", lack->n, lack->n == 1 ? singular : plural);
        *first = false;
}

size_t agent_offers_put_shortage(const struct agent_offers *a, const struct offer_needs *needs, int64_t since,
                                 struct buf *out)
{
        struct agent_lack unmet = {0}, port = {0}, cpus = {0}, memory = {0};
        size_t n = 0, n_fit = 0;
        bool first = true;

        for (const struct agent_offer *o = a->agents.first; o; o = o->next) {
                if (o->seen < since)
                        continue;
                n++;
                if (!mesos_constraints_match(needs->constraints, o->attributes, o->n_attributes))
                        agent_lack_add(&unmet, o, 0, 0);
                else if (!o->has_port)
                        agent_lack_add(&port, o, 0, 0);
                else if (o->cpus < needs->cpus_milli)
                        agent_lack_add(&cpus, o, o->cpus, cpus.best ? cpus.best->cpus : 0);
                else if (o->memory < needs->memory * 1000)
                        agent_lack_add(&memory, o, o->memory, memory.best ? memory.best->memory : 0);
                else
                        n_fit++;
        }
        if (n == 0)
                return 0;
        buf_printf(out, "%zu agent%s resources", n, n == 1 ? " offers" : "s offer");
        if (unmet.n) {
                agent_lack_put(&unmet, "does", "do", &first, out);
                buf_printf(out, " not meet %s=", needs->constraints_key);
                mesos_constraints_put(needs->constraints, out);
                buf_puts(out, " (");
                agent_offer_put_attributes(unmet.best, out);
                buf_putc(out, ')');
        }
        if (port.n) {
                agent_lack_put(&port, "does", "do", &first, out);
                buf_printf(out, " not offer the port %u of %s", needs->port, needs->port_key);
        }
        if (cpus.n) {
                agent_lack_put(&cpus, "has", "have", &first, out);
                buf_printf(out, " less than the %g cpus of %s (the most is %g, of %s)", mesos_amount(needs->cpus_milli),
                           needs->cpus_key, mesos_amount(cpus.best->cpus), cpus.best->host);
        }
        if (memory.n) {
                agent_lack_put(&memory, "has", "have", &first, out);
                buf_printf(out, " less than the %" PRId64 " MiB of %s (the most is %g MiB, of %s)", needs->memory,
                           needs->memory_key, mesos_amount(memory.best->memory), memory.best->host);
        }
        if (n_fit)
                buf_printf(out, "%s%zu %s enough", first ? ": " : ", ", n_fit, n_fit == 1 ? "has" : "have");
        return n_fit;
}
