/* Opens the event log of the configuration: spark.eventLog.*, with secrets redacted by spark.redaction.regex. */
#pragma once

#include "conf/redact.h"
#include "driver/events/event_log.h"

struct event_log_setup {
        struct event_log *log;
        struct redactor redactor;
};

/* Open the log of attempt @attempt_id (NULL: none) at application @app_id. Returns 0, or a negative status with @error,
 * which names key and value. */
int event_log_setup_open(const struct fst_conf *conf, const char *app_id, const char *attempt_id,
                         struct event_log_setup **setup, struct fst_error *error);

/* Called after the bus has stopped. NULL is allowed. */
void event_log_setup_free(struct event_log_setup *setup);
