/* Parses spark://a:7077,b:7077; see master_addresses.h. */
#include "standalone/wire/master_addresses.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "net/socket.h"

int master_addresses_parse(const char *url, struct string_list *out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list list = {0};
        if (!text_starts_with(url, "spark://"))
                return error_set(error, -EINVAL, "Invalid master URL: %s (write spark://host:port)", url);
        for (const char *at = url + strlen("spark://");; at++) {
                size_t n = strcspn(at, ",");
                _cleanup_free_ char *one = mem_strndup(at, n);
                struct host_port address;
                int r = host_port_parse(one, &address, error);
                if (r == 0 && address.port == 0)
                        r = error_set(error, -EINVAL, "the port must be from 1 to 65535");
                if (r < 0)
                        return error_wrap(error, r, "Invalid master URL: %s (write spark://host:port)", url);
                string_list_take(&list, steal(one));
                at += n;
                if (!*at)
                        break;
        }
        for (size_t i = 0; i < list.len; i++)
                string_list_take(out, steal(list.data[i]));
        list.len = 0;
        return 0;
}
