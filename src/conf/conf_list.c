/* See conf_list.h. */
#include "conf/conf_list.h"

#include "base/mem.h"
#include "base/string_list.h"
#include "conf/conf.h"

#include <string.h>

void conf_list_split(const char *text, struct string_list *out)
{
        static const char blanks[] = " \t\r\n";
        while (text && *text) {
                size_t len = strcspn(text, ",");
                const char *next = text + len + (text[len] == ',');
                for (; len && strchr(blanks, *text); len--)
                        text++;
                while (len && strchr(blanks, text[len - 1]))
                        len--;
                if (len)
                        string_list_take(out, mem_strndup(text, len));
                text = next;
        }
}

int conf_list_read(const struct fst_conf *conf, const char *key, struct string_list *out, struct fst_error *error)
{
        _cleanup_free_ char *list = NULL;
        const int r = conf_get_string(conf, key, &list, error);
        conf_list_split(list, out);
        return r;
}
