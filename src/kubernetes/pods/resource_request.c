/* Parses custom resources as Spark's ResourceUtils.parseAllResourceRequests and buildResourcesQuantities do. */
#include "kubernetes/pods/resource_request.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/conf/kube_conf.h"

#include <errno.h>
#include <stdlib.h>

int resource_request_put(const char *name, long long amount, const char *vendor, struct strmap *out,
                         struct fst_error *error)
{
        if (!vendor || !*vendor)
                return error_set(error, -EINVAL, "Resource: %s was requested, but vendor was not specified.", name);
        _cleanup_free_ char *key = mem_printf("%s/%s", vendor, name);
        _cleanup_free_ char *value = mem_printf("%lld", amount);
        strmap_set(out, key, value);
        return 0;
}

static int resource_request_read_amount(const char *name, const char *text, long *out, struct fst_error *error)
{
        char *end;
        if (!text)
                return error_set(error, -EINVAL, "You must specify an amount for %s", name);
        errno = 0;
        long amount = strtol(text, &end, 10);
        if (end == text || *end || errno || *text == ' ' || amount > INT32_MAX || amount < INT32_MIN)
                return error_set(error, -EINVAL, "For input string: \"%s\"", text);
        *out = amount;
        return 0;
}

int resource_requests_read(const struct kube_conf *c, const char *prefix, struct strmap *out, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap all = STRMAP_INIT, names = STRMAP_INIT;
        int r = 0;
        kube_pairs(c, prefix, &all);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));) {
                size_t n = strcspn(e->key, ".");
                if (!e->key[n])
                        return error_set(error, -EINVAL,
                                         "You must specify an amount config for resource: %s config: %s%s", e->key,
                                         prefix, e->key);
                _cleanup_free_ char *name = mem_strndup(e->key, n);
                strmap_set(&names, name, "");
        }
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&names, e));) {
                _cleanup_free_ char *amount_key = mem_printf("%s.amount", e->key);
                _cleanup_free_ char *vendor_key = mem_printf("%s.vendor", e->key);
                long amount = 0;
                r = resource_request_read_amount(e->key, strmap_get(&all, amount_key), &amount, error);
                if (r == 0 && amount > 0)
                        r = resource_request_put(e->key, amount, strmap_get(&all, vendor_key), out, error);
        }
        return r;
}
