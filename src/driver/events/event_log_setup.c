/* See event_log_setup.h. */
#include "driver/events/event_log_setup.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

static const char *event_log_setup_redact(void *context, const char *key, const char *value)
{
        return redactor_value(context, key, value);
}

int event_log_setup_open(const struct fst_conf *conf, const char *app_id, const char *attempt_id,
                         struct event_log_setup **setup, struct fst_error *error)
{
        struct event_log_setup *s = new0(struct event_log_setup);
        struct event_log_options options = event_log_defaults();
        int r = event_log_read_conf(&options, conf, error);
        _cleanup_free_ char *dir = r ? NULL : (char *)options.file.dir;
        if (r == 0)
                r = redactor_init(&s->redactor, conf, error);
        if (r == 0) {
                options.file.app_id = app_id;
                options.file.attempt_id = attempt_id;
                options.redact = (struct event_json_redact){.value = event_log_setup_redact, .context = &s->redactor};
                r = event_log_open(&s->log, &options, error);
        }
        if (r) {
                event_log_setup_free(s);
                return r;
        }
        *setup = s;
        return 0;
}

void event_log_setup_free(struct event_log_setup *s)
{
        if (!s)
                return;
        event_log_free(s->log);
        redactor_deinit(&s->redactor);
        free(s);
}
