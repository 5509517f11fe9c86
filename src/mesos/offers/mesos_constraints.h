/*
 * The constraints of spark.mesos.constraints on the attributes of agents: "os:debian,ubuntu;rack:12;gpu:".
 *
 * Each name must be an attribute of the agent. With values, the attribute must also match:
 *
 *      no value        any attribute of that name
 *      text            one of the values is equal
 *      scalar          one of the values is at most the attribute
 *      set             the attribute contains all values
 *      ranges          one of the values lies in a range
 *
 * Differs from Spark 3.5, where ranges with values never match: it looks for one range where agents have a list.
 *
 */
#pragma once

#include "base/string_list.h"
#include "mesos/offers/mesos_offer.h"

struct buf;
struct fst_error;

struct mesos_constraint {
        char *name;
        struct string_list values;
};

struct mesos_constraints {
        struct mesos_constraint *data;
        size_t len, cap;
};

/*
 * Parses @text; NULL and "" give no constraints. Blanks around a constraint are dropped. Returns 0, or
 * -EINVAL with @error and @out empty.
 */
int mesos_constraints_parse(struct mesos_constraints *out, const char *text, struct fst_error *error);
void mesos_constraints_deinit(struct mesos_constraints *c);

/* Appends @c in the form that mesos_constraints_parse reads. */
void mesos_constraints_put(const struct mesos_constraints *c, struct buf *out);

/* A value that is not a number does not match a scalar. */
bool mesos_constraints_match(const struct mesos_constraints *c, const struct mesos_attribute *attributes, size_t n);
