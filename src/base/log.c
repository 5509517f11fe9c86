/* The log; see log.h. */
#include "base/log.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <strings.h>
#include <time.h>
#include <unistd.h>

enum log_level log_threshold = LOG_WARN;

static const char *const names[] = {
        [LOG_OFF] = "OFF",   [LOG_FATAL] = "FATAL", [LOG_ERROR] = "ERROR", [LOG_WARN] = "WARN",
        [LOG_INFO] = "INFO", [LOG_DEBUG] = "DEBUG", [LOG_TRACE] = "TRACE",
};

void log_write(enum log_level level, const char *component, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        char stamp[32];
        struct tm tm;
        time_t now = time(NULL);
        strftime(stamp, sizeof(stamp), "%y/%m/%d %H:%M:%S", localtime_r(&now, &tm));
        buf_printf(&line, "%s %s %s: ", stamp, names[level], component);
        va_list args;
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        buf_putc(&line, '\n');
        if (write(STDERR_FILENO, line.data, line.len) < 0)
                return;
}

int log_level_parse(const char *name, enum log_level *level, struct fst_error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcasecmp(name, names[i]) == 0) {
                        *level = (enum log_level)i;
                        return 0;
                }
        return error_set(error, -EINVAL, "unknown log level '%s': use one of ERROR, WARN, INFO, DEBUG, TRACE, OFF", name);
}

void log_set_level(enum log_level level)
{
        log_threshold = level;
}

void log_set_structured(bool json) {}

void log_set_context(const char *app_id, int stage, int64_t task) {}

void log_set_status_line(const char *text) {}
