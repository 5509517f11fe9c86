/*
 * Invariant: `leading` is true only between the begin of a write that succeeded and renew_deadline after it.
 *
 * A candidate reads the lease every `retry` and writes it if it is free. A leader writes it every `retry` without
 * reading: a conflict shows another writer, after which it reads.
 */
#include "operator/shell/lease.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/rfc3339.h"
#include "text/json.h"

#include <stdio.h>

void lease_init(struct lease *l, const struct lease_options *options)
{
        *l = (struct lease){.options = *options};
        if (!l->options.duration)
                l->options.duration = 15 * NS_PER_SECOND;
        if (!l->options.renew_deadline)
                l->options.renew_deadline = 10 * NS_PER_SECOND;
        if (!l->options.retry)
                l->options.retry = 2 * NS_PER_SECOND;
}

void lease_deinit(struct lease *l)
{
        free(l->holder);
        free(l->version);
        free(l->record);
        free(l->acquired);
        *l = (struct lease){0};
}

static void lease_set(char **text, const char *value)
{
        free(*text);
        *text = mem_strdup(value ? value : "");
}

/* Whether nobody else holds the lease. */
static bool lease_is_free(const struct lease *l, int64_t now)
{
        return !l->exists || !l->holder || !*l->holder || strcmp(l->holder, l->options.identity) == 0 ||
               now >= l->seen + l->duration;
}

enum lease_step lease_next(struct lease *l, int64_t now)
{
        bool late = l->leading && !l->released && now >= l->renewed + l->options.renew_deadline;
        if (late || l->lost) {
                l->leading = l->lost = l->write_due = false;
                return LEASE_LOST;
        }
        if (l->reading || l->writing || now < l->next || (l->released && !l->leading))
                return LEASE_IDLE;
        if (!l->write_due && !l->released) {
                l->reading = true;
                return LEASE_READ;
        }
        l->writing = true;
        l->write_began = now;
        return LEASE_WRITE;
}

int64_t lease_deadline(const struct lease *l)
{
        if (l->lost)
                return INT64_MIN;
        int64_t next = l->reading || l->writing || (l->released && !l->leading) ? INT64_MAX : l->next;
        return l->leading && !l->released ? MIN(next, l->renewed + l->options.renew_deadline) : next;
}

/* Takes over what the API server has. */
static void lease_adopt(struct lease *l, const json_t *object, int64_t now)
{
        const json_t *spec = json_object_get(object, "spec");
        _cleanup_free_ char *record =
                mem_printf("%s %s %s", json_text_or_empty(object, "metadata.uid"),
                           json_text_or_empty(spec, "holderIdentity"), json_text_or_empty(spec, "renewTime"));
        if (!l->record || strcmp(l->record, record) != 0)
                l->seen = now;
        lease_set(&l->record, record);
        lease_set(&l->holder, json_text_at(spec, "holderIdentity"));
        lease_set(&l->version, json_text_at(object, "metadata.resourceVersion"));
        lease_set(&l->acquired, json_text_at(spec, "acquireTime"));
        l->duration = MAX(json_int_at(spec, "leaseDurationSeconds"), (json_int_t)1) * NS_PER_SECOND;
        l->transitions = json_int_at(spec, "leaseTransitions");
        l->exists = true;
}

void lease_read(struct lease *l, const json_t *object, bool failed, int64_t now)
{
        l->reading = false;
        l->next = now + l->options.retry;
        if (failed)
                return;
        if (object)
                lease_adopt(l, object, now);
        else
                l->exists = false;
        if (lease_is_free(l, now)) {
                l->write_due = true;
                l->next = now;
                return;
        }
        l->lost = l->leading;
        l->next = MIN(l->next, l->seen + l->duration); /* the moment at which the holder's time is over */
}

json_t *lease_object(struct lease *l, int64_t wall_ms)
{
        char now[RFC3339_TEXT], micro[RFC3339_TEXT + 8];
        rfc3339_format(wall_ms, now);
        snprintf(micro, sizeof(micro), "%.19s.%06dZ", now, (int)(wall_ms % 1000) * 1000);
        bool mine = l->exists && text_equals(l->holder, l->options.identity);
        const char *acquired = mine && *l->acquired ? l->acquired : micro;
        json_int_t transitions = l->transitions + (l->exists && !mine);
        int64_t seconds = l->released ? 1 : l->options.duration / NS_PER_SECOND;
        json_t *object = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:I, s:s, s:s, s:I}}", "apiVersion",
                                   "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", l->options.name,
                                   "namespace", l->options.namespace, "spec", "holderIdentity",
                                   l->released ? "" : l->options.identity, "leaseDurationSeconds", (json_int_t)seconds,
                                   "acquireTime", acquired, "renewTime", micro, "leaseTransitions", transitions);
        if (l->exists)
                json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string(l->version));
        return object;
}

void lease_written(struct lease *l, const json_t *object, int64_t now)
{
        l->writing = l->write_due = false;
        l->next = now + l->options.retry;
        if (l->released && (!l->renewing || !object)) {
                l->leading = false;
                return;
        }
        l->renewing = false;
        if (!object) /* a lost answer, or another writer: read before the next write */
                return;
        lease_adopt(l, object, now);
        l->leading = l->write_due = true;
        l->renewed = l->write_began;
        l->next = l->released ? now : l->write_began + l->options.retry;
}

void lease_release(struct lease *l, int64_t now)
{
        l->released = true;
        l->renewing = l->writing;
        l->next = now;
}
