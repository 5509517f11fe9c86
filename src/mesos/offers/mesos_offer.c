/* See mesos_offer.h. */
#include "mesos/offers/mesos_offer.h"

#include "base/arena.h"
#include "base/mem.h"

#include <math.h>

/* The largest whole number of thousandths that a double holds exactly. */
#define MILLI_MAX ((int64_t)1 << 53)

int64_t mesos_milli(double amount)
{
        if (!(amount > 0))
                return 0;
        const double milli = round(amount * 1000);
        return milli >= (double)MILLI_MAX ? MILLI_MAX : (int64_t)milli;
}

double mesos_amount(int64_t milli)
{
        return (double)milli / 1000;
}

static bool resource_is_scalar(const struct mesos_resource *r, const char *name)
{
        return r->type == MESOS_VALUE_SCALAR && strcmp(r->name, name) == 0;
}

static bool resource_is_ports(const struct mesos_resource *r)
{
        return r->type == MESOS_VALUE_RANGES && strcmp(r->name, "ports") == 0;
}

int64_t mesos_resources_sum(const struct mesos_resource *resources, size_t n, const char *name)
{
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
                if (resource_is_scalar(&resources[i], name))
                        sum = MIN(sum + resources[i].milli, MILLI_MAX);
        return sum;
}

void mesos_resources_init(struct mesos_resources *r, struct arena *arena, const struct mesos_resource *resources,
                          size_t n)
{
        *r = (struct mesos_resources){.arena = arena, .len = n, .cap = n};
        if (n == 0)
                return;
        r->data = arena_alloc(arena, n * sizeof(*r->data));
        memcpy(r->data, resources, n * sizeof(*r->data));
}

void mesos_resources_add(struct mesos_resources *r, const struct mesos_resource *resource)
{
        if (r->len == r->cap) {
                struct mesos_resource *old = r->data;
                r->cap = r->cap ? r->cap * 2 : 4;
                r->data = arena_alloc(r->arena, r->cap * sizeof(*r->data));
                if (r->len)
                        memcpy(r->data, old, r->len * sizeof(*r->data));
        }
        r->data[r->len++] = *resource;
}

static const char *resource_copy_text(struct arena *arena, const char *text)
{
        return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

static const struct mesos_reservation *resource_copy_reservation(struct arena *arena,
                                                                 const struct mesos_reservation *from)
{
        struct mesos_reservation *r = arena_alloc(arena, sizeof(*r));
        struct mesos_label *labels = arena_alloc(arena, from->n_labels * sizeof(*labels));
        for (size_t i = 0; i < from->n_labels; i++)
                labels[i] = (struct mesos_label){resource_copy_text(arena, from->labels[i].key),
                                                 resource_copy_text(arena, from->labels[i].value)};
        *r = *from;
        r->principal = resource_copy_text(arena, from->principal);
        r->labels = labels;
        return r;
}

void mesos_resources_copy(struct mesos_resources *r, struct arena *arena, const struct mesos_resource *resources,
                          size_t n)
{
        mesos_resources_init(r, arena, resources, n);
        for (size_t i = 0; i < n; i++) {
                struct mesos_resource *x = &r->data[i];
                x->name = resource_copy_text(arena, x->name);
                x->role = resource_copy_text(arena, x->role);
                if (x->n_ranges)
                        x->ranges = (void *)arena_copy(arena, x->ranges, x->n_ranges * sizeof(*x->ranges));
                const char **items = arena_alloc(arena, x->n_items * sizeof(char *));
                for (size_t k = 0; k < x->n_items; k++)
                        items[k] = resource_copy_text(arena, x->items[k]);
                x->items = items;
                if (x->reservation)
                        x->reservation = resource_copy_reservation(arena, x->reservation);
        }
}

int64_t mesos_resources_take(struct mesos_resources *rest, const char *name, int64_t milli,
                             struct mesos_resources *used)
{
        int64_t missing = milli;
        size_t kept = 0;
        for (size_t i = 0; i < rest->len; i++) {
                struct mesos_resource *r = &rest->data[i];
                if (missing > 0 && r->milli > 0 && resource_is_scalar(r, name)) {
                        struct mesos_resource part = *r;
                        part.milli = MIN(missing, r->milli);
                        mesos_resources_add(used, &part);
                        missing -= part.milli;
                        r->milli -= part.milli;
                }
                if (r->type != MESOS_VALUE_SCALAR || r->milli > 0)
                        rest->data[kept++] = *r;
        }
        rest->len = kept;
        return milli - missing;
}

/* The first resource `ports` of which a range holds @port, or NULL. */
static const struct mesos_resource *resources_find_port(const struct mesos_resource *resources, size_t n, uint16_t port)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; resource_is_ports(&resources[i]) && k < resources[i].n_ranges; k++)
                        if (port >= resources[i].ranges[k].begin && port <= resources[i].ranges[k].end)
                                return &resources[i];
        return NULL;
}

bool mesos_resources_have_port(const struct mesos_resource *resources, size_t n, uint16_t port)
{
        return resources_find_port(resources, n, port) != NULL;
}

bool mesos_resources_take_port(struct mesos_resources *rest, uint16_t port, struct mesos_resources *used)
{
        const struct mesos_resource *holder = resources_find_port(rest->data, rest->len, port);
        size_t kept = 0;
        if (!holder)
                return false;
        struct mesos_range *range = arena_alloc(used->arena, sizeof(*range));
        struct mesos_resource part = *holder;
        *range = (struct mesos_range){port, port};
        part.ranges = range;
        part.n_ranges = 1;
        mesos_resources_add(used, &part);
        for (size_t i = 0; i < rest->len; i++)
                if (!resource_is_ports(&rest->data[i]))
                        rest->data[kept++] = rest->data[i];
        rest->len = kept;
        return true;
}
