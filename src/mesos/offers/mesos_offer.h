/*
 * An offer of a Mesos agent: its resources and attributes, and the arithmetic of resources.
 *
 * Strings and arrays are borrowed, usually from the arena of the event that brought the offer. Scalars are whole
 * thousandths, because Mesos rounds them to that.
 *
 * The same name may come in several resources, one for each role and reservation. What an offer has of a name is their
 * sum. Taking goes through the resources in their order, and what is taken keeps the role and the reservation that it
 * came from.
 *
 *      struct mesos_resources rest, used;
 *      mesos_resources_init(&rest, &arena, offer->resources, offer->n_resources);
 *      mesos_resources_init(&used, &arena, NULL, 0);
 *      if (mesos_resources_sum(&rest, "cpus") >= mesos_milli(2))
 *              mesos_resources_take(&rest, "cpus", mesos_milli(2), &used);
 *
 * Pure: no I/O, no clock.
 *
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* The numbers are those of Mesos' Value.Type. */
enum mesos_value_type { MESOS_VALUE_SCALAR, MESOS_VALUE_RANGES, MESOS_VALUE_SET, MESOS_VALUE_TEXT };

/* Both ends are included. */
struct mesos_range {
        uint64_t begin, end;
};

struct mesos_label {
        const char *key, *value; /* value NULL: none */
};

/* A dynamic reservation. A task that uses the resource must repeat it. */
struct mesos_reservation {
        const char *principal; /* NULL: none */
        const struct mesos_label *labels;
        size_t n_labels;
        bool has_labels; /* the field is there, even if it is empty */
};

struct mesos_resource {
        const char *name;
        const char *role; /* "*": not reserved. Never NULL */
        enum mesos_value_type type;
        int64_t milli; /* MESOS_VALUE_SCALAR: thousandths */
        const struct mesos_range *ranges;
        size_t n_ranges;
        const char *const *items; /* MESOS_VALUE_SET */
        size_t n_items;
        const struct mesos_reservation *reservation; /* NULL: none */
};

/* Of an agent: "os:debian", "rack:12". */
struct mesos_attribute {
        const char *name;
        enum mesos_value_type type;
        double scalar;
        const char *text;
        const struct mesos_range *ranges;
        size_t n_ranges;
        const char *const *items; /* MESOS_VALUE_SET */
        size_t n_items;
};

struct mesos_offer {
        const char *id, *agent, *hostname; /* never NULL */
        const struct mesos_resource *resources;
        size_t n_resources;
        const struct mesos_attribute *attributes;
        size_t n_attributes;
        const char *const *executors; /* ids of this framework's executors that live on the agent */
        size_t n_executors;
};

/* Resources that change: the rest of an offer, or what a task takes. The arena owns the array. */
struct mesos_resources {
        struct mesos_resource *data;
        size_t len, cap;
        struct arena *arena;
};

/* In thousandths, rounded. Negative numbers and NaN become 0; huge ones become the largest that a double holds. */
int64_t mesos_milli(double amount);
double mesos_amount(int64_t milli);

/* The sum of the scalars of @name, in thousandths. */
int64_t mesos_resources_sum(const struct mesos_resource *resources, size_t n, const char *name);

/* A copy of @resources in @arena, which is borrowed. Names and roles stay those of @resources. */
void mesos_resources_init(struct mesos_resources *r, struct arena *arena, const struct mesos_resource *resources,
                          size_t n);

/* The same with copies of all that @resources points to. */
void mesos_resources_copy(struct mesos_resources *r, struct arena *arena, const struct mesos_resource *resources,
                          size_t n);

/* Appends a resource, as it is. */
void mesos_resources_add(struct mesos_resources *r, const struct mesos_resource *resource);

/*
 * Moves @milli thousandths of the scalar @name from @rest to the end of @used. A resource of which nothing is left
 * leaves @rest. Takes what there is if that is less, and returns what it took.
 */
int64_t mesos_resources_take(struct mesos_resources *rest, const char *name, int64_t milli,
                             struct mesos_resources *used);

/* Whether a range of `ports` holds @port. */
bool mesos_resources_have_port(const struct mesos_resource *resources, size_t n, uint16_t port);

/*
 * Appends @port to @used, with the role and reservation of the ranges that hold it, and removes all ports from @rest:
 * as in Spark, one task takes all ports of an offer. Returns false, and changes nothing, if no range holds it.
 */
bool mesos_resources_take_port(struct mesos_resources *rest, uint16_t port, struct mesos_resources *used);
