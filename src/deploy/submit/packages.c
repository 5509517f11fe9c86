/*
 * See packages.h.
 */
#include "deploy/submit/packages.h"

#include "base/error.h"
#include "base/mem.h"

void package_jars_deinit(struct package_jars *jars)
{
        for (size_t i = 0; i < jars->len; i++)
                free(jars->data[i]);
        free(jars->data);
        *jars = (struct package_jars){0};
}

int packages_resolve(const struct packages_request *request, struct package_jars *jars, struct fst_error *error)
{
        const char *p = request->packages;
        if (!p || !p[strspn(p, " \t\r\n")])
                return 0;
        return error_set(error, -ENOSYS, "--packages is not built yet");
}

int packages_resolve_uri(const char *uri, const struct packages_request *request, struct package_jars *jars,
                         struct fst_error *error)
{
        return error_set(error, -ENOSYS, "ivy:// URIs are not built yet");
}
