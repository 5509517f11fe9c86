/*
 * The executors that earlier drivers of the application had. They outlive their driver: for
 * spark.firesteel.resume.executorTimeout they finish their tasks, keep what they hold, and look for the next driver, at
 * the same address and in the place of the journal (exec/resume/). They register again with the ids that they had.
 *
 * An executor manager gets them by executor_manager_class.adopt.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct resume;

struct earlier_executor {
        const char *id, *host;
        int cores, profile; /* profile: of its resources; 0: the default one */
        int64_t pid;        /* on its host */
        uint64_t started;   /* of that process, in clock ticks since the host started; 0: unknown */
};

/*
 * Sets *@executors to those that have registered with an earlier driver and that it had not lost. Returns their number.
 * Borrowed from @r, for its life. NULL for @r: none.
 */
int resume_earlier_executors(const struct resume *r, const struct earlier_executor **executors);

/* The smallest number that is larger than each id of an earlier executor that is a number; 0: there was none. */
int resume_next_executor_id(const struct resume *r);

/* True if executors of this application wait for the next driver when this one dies. */
bool resume_executors_wait(const struct resume *r);
