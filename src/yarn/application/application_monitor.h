/* Logs reports of an application in Spark's words: each change of its state, and the state now and then. */
#pragma once

#include "yarn/protocol/yarn.pb-c.h"

#include <stdint.h>

struct application_monitor {
        int64_t frequency; /* spark.yarn.report.loggingFrequency: log the state at least with every such report */
        int last_state;    /* of the report before; 0: none */
        int64_t unlogged;  /* reports since the last logged one */
        char *(*add_details)(void *owner); /* more lines for the details, owned; may return NULL. NULL: none */
        void *owner;
};

/* @id: "application_1700000000000_0001". */
void application_monitor_log(struct application_monitor *m, const char *id,
                             const Firesteel__Yarn__ApplicationReport *report);

/* The details of a report, on several lines. The caller owns the text. */
char *application_report_text(const Firesteel__Yarn__ApplicationReport *report);
