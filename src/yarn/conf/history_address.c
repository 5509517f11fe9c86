/* See history_address.h. */
#include "yarn/conf/history_address.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/conf/yarn_conf.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "${hadoopconf-"

/* The length of the variable at @p, or 0. Its name has no '$', '}' or blank. */
static size_t history_variable_length(const char *p)
{
        const size_t start = strlen(VARIABLE), name = strcspn(p + start, "}$ \t\r\n");
        return name && p[start + name] == '}' ? start + name + 1 : 0;
}

static char *history_substitute(const char *text, const struct yarn_conf *yarn)
{
        struct buf out = BUF_INIT;
        for (const char *p; (p = strstr(text, VARIABLE));) {
                const size_t len = history_variable_length(p), start = strlen(VARIABLE);
                _cleanup_free_ char *key = mem_strndup(p + start, len ? len - start - 1 : 0);
                _cleanup_free_ char *value = len ? yarn_conf_get(yarn, key, NULL) : NULL;
                if (len && !value)
                        break;
                buf_append(&out, text, (size_t)(p - text));
                if (len)
                        buf_puts(&out, value);
                else
                        buf_puts(&out, VARIABLE);
                text = p + (len ? len : start);
        }
        buf_puts(&out, text);
        return buf_steal(&out);
}

char *history_address(const struct fst_conf *conf, const struct yarn_conf *yarn, const char *app_id, int32_t attempt)
{
        _cleanup_free_ char *address = NULL;
        if (conf_get_string(conf, "spark.yarn.historyServer.address", &address, NULL) < 0 || !address || !*address)
                return mem_strdup("");
        _cleanup_free_ char *text = history_substitute(address, yarn);
        return mem_printf("%s/history/%s/%d", text, app_id, attempt);
}
