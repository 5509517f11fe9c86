/* Locality levels of a task relative to its input, nearest first. */
#pragma once

enum task_locality {
        LOCALITY_PROCESS_LOCAL, /* on the executor that holds its input */
        LOCALITY_NODE_LOCAL,    /* on its host */
        LOCALITY_NO_PREF,       /* its input has no location */
        LOCALITY_RACK_LOCAL,
        LOCALITY_ANY,
};

enum { LOCALITY_LEVELS = LOCALITY_ANY + 1 };

/* Spark's names: "PROCESS_LOCAL", …. */
const char *locality_name(enum task_locality locality);
