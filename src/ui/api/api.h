/*
 * Spark's REST API of applications, /api/v1, as version 4.3 answers it: paths, parameters, JSON, status codes and error
 * texts. http://spark.apache.org/docs/latest/monitoring.html lists the resources.
 *
 * The text of an answer depends on the request and the status cores only.
 */
#pragma once

#include "ui/ui_request.h"

/* Answers a request whose path begins with "/api/v1". Any thread. */
void api_serve(const struct ui_request *q, struct ui_answer *a);
