/*
 * The pages of an application: jobs, stages, storage, environment, executors, driver. serve_page of ui_site.h.
 *
 * Paths and names of parameters are Spark's. Every page is complete without a script. A small one refreshes the pages
 * of a live application.
 */
#pragma once

#include "ui/ui_request.h"

/* Answers a page of q->view, or a file below /static. Leaves the status 0 for an unknown path. Any thread. */
void pages_serve(const struct ui_request *q, struct ui_answer *a);

/*
 * Answers /compare/?a=ID&b=ID of a history server: two applications side by side. It shows only what the user may see.
 * Any thread.
 */
void pages_serve_comparison(const struct ui_request *q, struct ui_answer *a);
