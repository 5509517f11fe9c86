/*
 * What an executor does when its driver dies and spark.firesteel.resume.enabled is set: it looks for the next driver,
 * until it has registered with one or the timeout is over. And which drivers it obeys: never one with a smaller epoch
 * than the largest that it has seen.
 *
 *      LOOK    reads the journal's place for the address of a later driver
 *      CALL    registers: with the driver that was found, or with whoever listens at the address of the lost one
 *
 * A driver that is stuck keeps its connection. If it does not answer, the executor looks, too, but stays with it until it
 * finds a later one.
 *
 * Pure: times are nanoseconds of a monotonic clock that the caller passes in. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum driver_wait_state {
        DRIVER_CONNECTED,
        DRIVER_SEARCHED, /* no driver: a look or a call may be under way */
        DRIVER_GIVEN_UP, /* the executor ends */
};

enum driver_wait_action {
        DRIVER_WAIT_NOTHING,
        DRIVER_WAIT_LOOK,       /* the caller looks, and reports by driver_wait_looked */
        DRIVER_WAIT_CALL_FOUND, /* the caller registers with the driver of the last look: driver_wait_called, … */
        DRIVER_WAIT_CALL_SAME,  /* … or at the address of the lost one */
        DRIVER_WAIT_END,        /* the timeout is over, or a driver refused the executor. Once */
};

/* All in nanoseconds. */
struct driver_wait_times {
        int64_t timeout; /* 0: the executor ends with its driver */
        int64_t look;    /* between looks */
        int64_t call;    /* after the first call that fails. Doubled for each further one, up to */
        int64_t max_call;
};

struct driver_wait {
        enum driver_wait_state state;
        struct driver_wait_times times;
        int64_t pause;        /* after the next call that fails */
        uint32_t random;
        int epoch;            /* the largest seen; 0: the driver has no journal */
        int found;            /* epoch of a later driver that was found and not called yet; 0: none */
        int64_t lost;         /* when the driver was lost */
        int64_t look, call;   /* when to look, and to call the same address, next */
        bool looking, silent; /* a look is under way; the driver does not answer */
        uint32_t called;      /* number of the latest call, from 1 */
        int calling_epoch;    /* of the driver that is called; 0: unknown */
        bool calling, ended;
};

/* @seed: of the executor. The times between calls vary by a quarter, so that executors do not call at the same time. */
void driver_wait_init(struct driver_wait *w, const struct driver_wait_times *times, int epoch, uint32_t seed);

/* True if a message of a driver with @epoch (0: it does not say) is obeyed. */
bool driver_wait_obeys(const struct driver_wait *w, int epoch);

/* The connection to the driver has ended. Returns false if the executor must end. */
bool driver_wait_lost(struct driver_wait *w, int64_t now);

/* The driver does not answer, or does again. */
void driver_wait_silent(struct driver_wait *w, bool silent, int64_t now);

/* What to do now. Call it until it says NOTHING, after each event and at driver_wait_deadline. */
enum driver_wait_action driver_wait_next(struct driver_wait *w, int64_t now);

/* INT64_MAX: only events matter. */
int64_t driver_wait_deadline(const struct driver_wait *w);

/* The place names a driver with @epoch; 0: none, or the place cannot be read. */
void driver_wait_looked(struct driver_wait *w, int epoch, int64_t now);

/*
 * The driver that call number @call has reached has @epoch. Returns false if the call is not the latest one, or the driver
 * is not later than the lost one: then the call has failed. Otherwise looks that find the same driver change nothing.
 */
bool driver_wait_reached(struct driver_wait *w, uint32_t call, int epoch, int64_t now);

/*
 * A call has ended. Calls before the latest one do not count any more: @call is the value of w->called when it began.
 * registered: returns false, changing nothing, if the driver is not to be obeyed. failed: nobody answered. refused: the
 * driver does not want this executor.
 */
bool driver_wait_registered(struct driver_wait *w, uint32_t call, int epoch);
void driver_wait_failed(struct driver_wait *w, uint32_t call, int64_t now);
void driver_wait_refused(struct driver_wait *w, uint32_t call);
