/* See history_log_urls.h. */
#include "history/history_log_urls.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define FILE_NAME "FILE_NAME"
#define LOG_FILES "LOG_FILES"

/* The length of the name in a "{{NAME}}" at @at, or 0. */
static size_t history_log_urls_parse(const char *at)
{
        size_t n = 0;
        if (at[0] != '{' || at[1] != '{')
                return 0;
        while (isalnum((unsigned char)at[2 + n]) || at[2 + n] == '_' || at[2 + n] == '-')
                n++;
        return n > 0 && at[2 + n] == '}' && at[3 + n] == '}' ? n : 0;
}

/* Writes the URL of one file. Returns false if an attribute is missing. */
static bool history_log_urls_fill(const char *pattern, const struct strmap *attributes, const char *file,
                                  size_t file_len, struct buf *out, bool *names_file)
{
        for (const char *at = pattern; *at;) {
                size_t n = history_log_urls_parse(at);
                if (!n) {
                        buf_putc(out, *at++);
                        continue;
                }
                _cleanup_free_ char *name = mem_strndup(at + 2, n);
                at += n + 4;
                if (strcmp(name, FILE_NAME) == 0) {
                        *names_file = true;
                        buf_append(out, file, file_len);
                        continue;
                }
                const char *value = strcmp(name, LOG_FILES) == 0 ? NULL : strmap_get(attributes, name);
                if (!value)
                        return false;
                buf_puts(out, value);
        }
        return true;
}

bool history_log_urls_apply(const char *pattern, const struct strmap *attributes, struct strmap *out)
{
        _cleanup_(buf_deinit) struct buf url = BUF_INIT;
        bool names_file = false;
        if (!history_log_urls_fill(pattern, attributes, "", 0, &url, &names_file))
                return false;
        if (!names_file) {
                strmap_set(out, "log", buf_text(&url));
                return true;
        }
        const char *at = strmap_get(attributes, LOG_FILES);
        if (!at)
                return false;
        for (size_t n; *at; at += n + (at[n] == ',')) {
                n = strcspn(at, ",");
                if (!n)
                        continue;
                _cleanup_free_ char *file = mem_strndup(at, n);
                buf_reset(&url);
                history_log_urls_fill(pattern, attributes, file, n, &url, &names_file);
                strmap_set(out, file, buf_text(&url));
        }
        return true;
}
