/* Stores, wraps and releases error messages. */
#include "base/error.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

static char *error_formatted(const char *format, va_list args)
{
        char *text = NULL;
        return vasprintf(&text, format, args) < 0 ? NULL : text;
}

static void error_replace(struct fst_error *error, char *message)
{
        free(error->message);
        error->message = message;
}

int error_set(struct fst_error *error, int code, const char *format, ...)
{
        if (error) {
                va_list args;
                va_start(args, format);
                error_replace(error, error_formatted(format, args));
                va_end(args);
        }
        return code;
}

int error_errno(struct fst_error *error, const char *format, ...)
{
        int saved = errno;
        if (error) {
                va_list args;
                va_start(args, format);
                _cleanup_free_ char *context = error_formatted(format, args);
                va_end(args);
                error_replace(error, mem_printf("%s: %s", context ? context : "error", strerror(saved)));
        }
        errno = saved;
        return saved ? -saved : -EIO;
}

int error_wrap(struct fst_error *error, int code, const char *format, ...)
{
        if (error) {
                va_list args;
                va_start(args, format);
                _cleanup_free_ char *context = error_formatted(format, args);
                va_end(args);
                error_replace(error, mem_printf("%s: %s", context ? context : "error", error_message(error)));
        }
        return code;
}

const char *error_message(const struct fst_error *error)
{
        return error && error->message ? error->message : "unknown error";
}

void error_deinit(struct fst_error *error)
{
        if (!error)
                return;
        int saved = errno;
        error_replace(error, NULL);
        errno = saved;
}
