/* See kerberos.h. */
#include "net/kerberos.h"

#include "base/error.h"
#include "net/on_demand.h"

#include <stdlib.h>

int kerberos_login(const char *principal, const char *keytab, int64_t *expires, struct fst_error *error)
{
        on_demand_fn get;
        char message[1024] = "";
        int64_t end;
        int r = on_demand_load("krb5", "libfiresteel-krb5.so", KERBEROS_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct kerberos_ops *ops = get();
        if (!ops || ops->abi != KERBEROS_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-krb5.so is not of this version of firesteel; install it again");
        r = ops->login(principal, keytab, KERBEROS_CACHE, expires ? expires : &end, message, sizeof(message));
        if (r < 0)
                return error_set(error, r, "Login failure for %s from keytab %s: %s", principal, keytab, message);
        setenv("KRB5CCNAME", KERBEROS_CACHE, 1);
        return 0;
}
