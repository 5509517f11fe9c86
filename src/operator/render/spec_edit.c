/* See spec_edit.h. */
#include "operator/render/spec_edit.h"

#include "base/mem.h"

#include <ctype.h>

json_t *owner_reference(const struct spark_application *app, bool controls)
{
        json_t *owner = json_pack("{s:s,s:s,s:s,s:s}", "apiVersion", OPERATOR_GROUP "/v1beta2", "kind",
                                  "SparkApplication", "name", app->name, "uid", app->uid);
        if (controls) {
                json_object_set_new(owner, "controller", json_true());
                json_object_set_new(owner, "blockOwnerDeletion", json_true());
        }
        return owner;
}

json_t *owned_object(const struct spark_application *app, const char *version, const char *kind, const char *name)
{
        return json_pack("{s:s,s:s,s:{s:s,s:s,s:[o]}}", "apiVersion", version, "kind", kind, "metadata", "name", name,
                         "namespace", app->namespace, "ownerReferences", owner_reference(app, true));
}

char *kubernetes_memory(const char *java)
{
        static const char units[] = "kmgtp";
        size_t n = strlen(java);
        if (n > 1 && tolower((unsigned char)java[n - 1]) == 'b' && isalpha((unsigned char)java[n - 2]))
                n--; /* "512mb" */
        const char *unit = n > 1 && isdigit((unsigned char)java[n - 2])
                                   ? strchr(units, tolower((unsigned char)java[n - 1]))
                                   : NULL;
        if (!unit || !*unit)
                return mem_strdup(java);
        char kubernetes[] = {unit == units ? 'K' : (char)toupper((unsigned char)*unit), 'i', '\0'};
        return mem_printf("%.*s%s", (int)(n - 1), java, kubernetes);
}
