/*
 * Leader election by a Lease (coordination.k8s.io/v1), with client-go's rules. Pure.
 *
 *      lease_init(&l, &options);
 *      for (;;) {
 *              switch (lease_next(&l, now)) {
 *              case LEASE_READ:    … lease_read(&l, object or NULL, now)
 *              case LEASE_WRITE:   … lease_written(&l, ok, object, now)    creates or replaces lease_object(&l)
 *              case LEASE_LOST:    stop at once: another operator may lead now
 *              case LEASE_IDLE:    wait until lease_deadline(&l)
 *              }
 *      }
 *
 * The operator may act while l.leading is true. The holder renews every `retry`. An operator takes a lease that did not
 * change for `duration`, by its own clock: the times inside the object may come from a clock that is wrong. A holder
 * that could not renew for `renew_deadline` stops leading, before another one can start. The API server's
 * resourceVersion decides between two writers.
 *
 * Times are ns of a monotonic clock, except wall_ms. One thread.
 */
#pragma once

#include "base/clock.h"

#include <jansson.h>
#include <stdbool.h>

/* Zero selects the default of the genuine operator, named behind it. */
struct lease_options {
        const char *namespace, *name, *identity; /* borrowed */
        int64_t duration;                        /* 15 s */
        int64_t renew_deadline;                  /* 10 s */
        int64_t retry;                           /* 2 s */
};

enum lease_step { LEASE_IDLE, LEASE_READ, LEASE_WRITE, LEASE_LOST };

struct lease {
        struct lease_options options;
        bool leading; /* the caller may act */
        bool lost, reading, writing, write_due, exists, released;
        bool renewing; /* released while a write was on its way: that write comes first */
        char *holder, *version, *record; /* of the object; record: what the holder changes when it renews */
        int64_t duration;                /* of the holder, as the object says */
        int64_t seen;                    /* when the record changed last */
        int64_t renewed;                 /* when this operator's last successful write began */
        int64_t write_began;
        int64_t next; /* of the next read or write */
        int64_t transitions;
        char *acquired; /* acquireTime */
};

void lease_init(struct lease *l, const struct lease_options *options);
void lease_deinit(struct lease *l);

/* The next step. READ and WRITE are under way until their result is passed. */
enum lease_step lease_next(struct lease *l, int64_t now);
int64_t lease_deadline(const struct lease *l);

/* The object as read, or NULL with @failed, or NULL if it does not exist. */
void lease_read(struct lease *l, const json_t *object, bool failed, int64_t now);

/* The object to create (without a resourceVersion) or to replace. @wall_ms: its times. The caller owns it. */
json_t *lease_object(struct lease *l, int64_t wall_ms);

/* The result of a write: @object as stored, or NULL: failed, or another operator was first. */
void lease_written(struct lease *l, const json_t *object, int64_t now);

/*
 * Gives the lease up: the next write, which lease_next asks for, lets another operator lead at once. The answer to a write
 * that is on its way comes first, because only it has the version to replace.
 */
void lease_release(struct lease *l, int64_t now);
