/* See submit_unmanaged.h. */
#include "submit_unmanaged.h"

#include "base/error.h"
#include "net/kerberos.h"

#include <stdlib.h>

static char *login_cache;

static void login_end(void)
{
        kerberos_use(NULL);
        kerberos_forget(login_cache);
        free(login_cache);
}

int check_login(struct fst_error *error)
{
        const char *principal = getenv("CHECK_PRINCIPAL"), *keytab = getenv("CHECK_KEYTAB");
        if (!principal || !keytab)
                return 0;
        const int r = kerberos_login(principal, keytab, &login_cache, NULL, error);
        if (r < 0)
                return r;
        kerberos_use(login_cache);
        atexit(login_end);
        return 0;
}

int unmanaged_submit(struct hadoop_rpc_client *rm, const struct unmanaged_application *application,
                     struct yarn_application_id *out, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created;
        int r = yarn_rm_new_application(rm, &created, error);
        if (r < 0)
                return r;
        Firesteel__Yarn__ApplicationSubmissionContext context = FIRESTEEL__YARN__APPLICATION_SUBMISSION_CONTEXT__INIT;
        Firesteel__Yarn__ContainerLaunchContext launch = FIRESTEEL__YARN__CONTAINER_LAUNCH_CONTEXT__INIT;
        Firesteel__Yarn__Resource resource = FIRESTEEL__YARN__RESOURCE__INIT;
        resource.has_memory = resource.has_virtual_cores = true;
        resource.memory = application->memory_mb;
        resource.virtual_cores = 1;
        context.application_id = created->application_id;
        context.application_name = (char *)application->name;
        context.queue = (char *)application->queue;
        context.am_container_spec = &launch;
        context.has_unmanaged_am = context.unmanaged_am = true;
        context.has_max_app_attempts = true;
        context.max_app_attempts = 1;
        context.resource = &resource;
        context.application_type = "SPARK";
        *out = (struct yarn_application_id){.cluster_timestamp = created->application_id->cluster_timestamp,
                                            .id = created->application_id->id};
        r = yarn_rm_submit(rm, &context, error);
        protobuf_c_message_free_unpacked(&created->base, NULL);
        return r;
}
