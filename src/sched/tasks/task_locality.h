/*
 * How near a task is to what it reads; nearest first.
 */
#pragma once

enum task_locality {
        LOCALITY_PROCESS_LOCAL, /* on the executor that holds it */
        LOCALITY_NODE_LOCAL,    /* on its host */
        LOCALITY_NO_PREF,       /* the task reads nothing that lies somewhere */
        LOCALITY_RACK_LOCAL,
        LOCALITY_ANY,
};

enum { LOCALITY_LEVELS = LOCALITY_ANY + 1 };

/* "PROCESS_LOCAL", …, as Spark writes them. */
const char *locality_name(enum task_locality locality);
