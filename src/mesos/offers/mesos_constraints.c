/* See mesos_constraints.h. */
#include "mesos/offers/mesos_constraints.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "conf/conf.h"

#include <firesteel/text.h>

#include <math.h>

void mesos_constraints_deinit(struct mesos_constraints *c)
{
        for (size_t i = 0; i < c->len; i++) {
                free(c->data[i].name);
                string_list_deinit(&c->data[i].values);
        }
        free(c->data);
        *c = (struct mesos_constraints){0};
}

/* Splits @text at commas and drops empty values at the end, as Java does. */
static void constraint_read_values(struct mesos_constraint *c, const char *text)
{
        size_t n = 0, length;
        for (const char *at = text; *text; at += length + 1) {
                length = strcspn(at, ",");
                string_list_take(&c->values, mem_strndup(at, length));
                if (length)
                        n = c->values.len;
                if (!at[length])
                        break;
        }
        while (c->values.len > n)
                free(c->values.data[--c->values.len]);
}

static const struct mesos_constraint *constraints_find(const struct mesos_constraints *c, const char *name)
{
        for (size_t i = 0; i < c->len; i++)
                if (strcmp(c->data[i].name, name) == 0)
                        return &c->data[i];
        return NULL;
}

/* Adds the constraint of one part, "name:value,value". Returns what is wrong with it, or NULL. */
static const char *constraints_add(struct mesos_constraints *c, char *part)
{
        part = conf_trim(part);
        char *colon = strchr(part, ':');
        if (!colon || colon == part || strchr(colon + 1, ':'))
                return "is not of the form NAME:VALUE,VALUE";
        *colon = 0;
        if (constraints_find(c, part))
                return "repeats an attribute";
        struct mesos_constraint constraint = {.name = mem_strdup(part)};
        constraint_read_values(&constraint, colon + 1);
        vec_push(c, constraint);
        return NULL;
}

int mesos_constraints_parse(struct mesos_constraints *out, const char *text, struct fst_error *error)
{
        *out = (struct mesos_constraints){0};
        if (!text || !*text)
                return 0;
        for (const char *at = text;; at++) {
                const size_t length = strcspn(at, ";");
                _cleanup_free_ char *part = mem_strndup(at, length);
                const char *problem = constraints_add(out, part);
                if (problem) {
                        mesos_constraints_deinit(out);
                        return error_set(error, -EINVAL,
                                         "Bad constraint string: %s ('%.*s' %s; separate constraints by semicolons)",
                                         text, (int)MIN(length, (size_t)200), at, problem);
                }
                at += length;
                if (!*at)
                        return 0;
        }
}

void mesos_constraints_put(const struct mesos_constraints *c, struct buf *out)
{
        for (size_t i = 0; i < c->len; i++) {
                buf_printf(out, "%s%s:", i ? ";" : "", c->data[i].name);
                for (size_t k = 0; k < c->data[i].values.len; k++)
                        buf_printf(out, "%s%s", k ? "," : "", c->data[i].values.data[k]);
        }
}

/* ------------------------------------------------------------------------------------------------------------ match */

static bool text_is_number(const char *text, double *out)
{
        return fst_parse_f64((fst_bytes){text, strlen(text)}, out) && !isnan(*out);
}

static bool ranges_hold(const struct mesos_attribute *a, double value)
{
        for (size_t i = 0; i < a->n_ranges; i++)
                if (value >= (double)a->ranges[i].begin && value <= (double)a->ranges[i].end)
                        return true;
        return false;
}

static bool set_holds(const struct mesos_attribute *a, const char *value)
{
        for (size_t i = 0; i < a->n_items; i++)
                if (strcmp(a->items[i], value) == 0)
                        return true;
        return false;
}

static bool value_matches(const struct mesos_attribute *a, const char *value)
{
        double number;
        switch (a->type) {
        case MESOS_VALUE_TEXT:
                return a->text && strcmp(a->text, value) == 0;
        case MESOS_VALUE_SCALAR:
                return text_is_number(value, &number) && number <= a->scalar;
        case MESOS_VALUE_RANGES:
                return text_is_number(value, &number) && ranges_hold(a, number);
        case MESOS_VALUE_SET:
                return set_holds(a, value);
        }
        return false;
}

static bool constraint_matches(const struct mesos_constraint *c, const struct mesos_attribute *a)
{
        size_t n_matching = 0;
        for (size_t i = 0; i < c->values.len; i++)
                n_matching += value_matches(a, c->values.data[i]);
        return c->values.len == 0 || (a->type == MESOS_VALUE_SET ? n_matching == c->values.len : n_matching > 0);
}

bool mesos_constraints_match(const struct mesos_constraints *c, const struct mesos_attribute *attributes, size_t n)
{
        for (size_t i = 0; i < c->len; i++) {
                size_t k = n; /* of several attributes of one name, the last counts */
                while (k > 0 && strcmp(attributes[k - 1].name, c->data[i].name) != 0)
                        k--;
                if (k == 0 || !constraint_matches(&c->data[i], &attributes[k - 1]))
                        return false;
        }
        return true;
}
