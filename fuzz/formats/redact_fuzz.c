/*
 * An expression and a value, separated by a NUL: the expression is refused with a reason, or compiled. Redacting ends
 * with the value or with its replacement.
 */
#include "base/error.h"
#include "base/mem.h"
#include "conf/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size > 256) /* the C library's matcher backtracks */
                return 0;
        _cleanup_free_ char *expression = mem_strndup((const char *)data, size);
        size_t at = strlen(expression) + 1;
        _cleanup_free_ char *text = at < size ? mem_strndup((const char *)data + at, size - at) : mem_strdup("");
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct redactor r = {0};
        if (strchr(expression, '{')) /* bounded repetition of bounded repetitions: exponential in the C library */
                return 0;
        if (redact_compile(&r.keys, "fuzz", expression, &error) < 0) {
                if (!error.message)
                        abort();
                return 0;
        }
        r.has_keys = true;
        const char *shown = redactor_value(&r, "key", text);
        if (shown != text && strcmp(shown, REDACTED) != 0)
                abort();
        redactor_deinit(&r);
        return 0;
}
