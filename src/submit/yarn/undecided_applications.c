/* See undecided_applications.h. */
#include "submit/yarn/undecided_applications.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "yarn/protocol/resource_manager.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct undecided_applications {
        char *owner;
        int members;                         /* guarded by the list's lock */
        bool is_asking;                      /* a thread waits for the ResourceManager */
        int64_t asked_ns;                    /* when the call of `ids` began; 0: never */
        VEC(struct yarn_application_id) ids; /* sorted */
};

/* Those of the process. The lock guards the list and its objects, and is never held during a call. */
static struct {
        pthread_mutex_t lock;
        VEC(struct undecided_applications *) list;
} undecided = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct undecided_applications *undecided_applications_join(const char *owner)
{
        struct undecided_applications *u = NULL;
        if (!owner)
                return NULL;
        pthread_mutex_lock(&undecided.lock);
        for (size_t i = 0; i < undecided.list.len && !u; i++)
                if (strcmp(undecided.list.data[i]->owner, owner) == 0)
                        u = undecided.list.data[i];
        if (!u) {
                u = new0(struct undecided_applications);
                u->owner = mem_strdup(owner);
                vec_push(&undecided.list, u);
        }
        u->members++;
        pthread_mutex_unlock(&undecided.lock);
        return u;
}

/* Under the lock. */
static void undecided_applications_free(struct undecided_applications *u)
{
        for (size_t i = undecided.list.len; i-- > 0;)
                if (undecided.list.data[i] == u)
                        undecided.list.data[i] = undecided.list.data[--undecided.list.len];
        if (undecided.list.len == 0)
                vec_deinit(&undecided.list);
        vec_deinit(&u->ids);
        free(u->owner);
        free(u);
}

void undecided_applications_leave(struct undecided_applications *u)
{
        if (!u)
                return;
        pthread_mutex_lock(&undecided.lock);
        if (--u->members == 0)
                undecided_applications_free(u);
        pthread_mutex_unlock(&undecided.lock);
}

static int application_ids_compare(const void *a, const void *b)
{
        const struct yarn_application_id *x = a, *y = b;
        if (x->cluster_timestamp != y->cluster_timestamp)
                return x->cluster_timestamp < y->cluster_timestamp ? -1 : 1;
        return (x->id > y->id) - (x->id < y->id);
}

/* Under the lock: replaces the ids by those of @answer; NULL: the call failed. */
static void undecided_applications_set(struct undecided_applications *u, int64_t asked_ns,
                                       const Firesteel__Yarn__GetApplicationsResponse *answer)
{
        u->ids.len = 0;
        u->asked_ns = answer ? asked_ns : 0;
        for (size_t i = 0; answer && i < answer->n_applications; i++) {
                const Firesteel__Yarn__ApplicationId *id = answer->applications[i]->application_id;
                if (id)
                        vec_push(&u->ids, (struct yarn_application_id){.cluster_timestamp = id->cluster_timestamp,
                                                                       .id = id->id});
        }
        if (u->ids.len > 1)
                qsort(u->ids.data, u->ids.len, sizeof(u->ids.data[0]), application_ids_compare);
}

/* Under the lock, which is released meanwhile. The caller is a member, so @u stays. */
static void undecided_applications_ask(struct undecided_applications *u, struct hadoop_rpc_client *rm)
{
        static const int32_t states[] = {YARN_NEW, YARN_NEW_SAVING, YARN_SUBMITTED};
        Firesteel__Yarn__GetApplicationsResponse *answer = NULL;
        u->is_asking = true;
        pthread_mutex_unlock(&undecided.lock);
        const int64_t asked_ns = now_ns();
        const int r = yarn_rm_own_applications(rm, states, ARRAY_SIZE(states), &answer, NULL);
        pthread_mutex_lock(&undecided.lock);
        u->is_asking = false;
        undecided_applications_set(u, asked_ns, r == 0 ? answer : NULL);
        if (r == 0)
                protobuf_c_message_free_unpacked(&answer->base, NULL);
}

bool undecided_applications_has(struct undecided_applications *u, struct hadoop_rpc_client *rm,
                                struct yarn_application_id id, int64_t sent_ns)
{
        bool has = false;
        if (!u)
                return false;
        pthread_mutex_lock(&undecided.lock);
        const int64_t oldest_ns = MAX(sent_ns, now_ns() - ms_to_ns(UNDECIDED_AGE_MS));
        if (u->members >= UNDECIDED_MIN_MEMBERS) {
                if (u->asked_ns < oldest_ns && !u->is_asking)
                        undecided_applications_ask(u, rm);
                if (u->asked_ns >= sent_ns)
                        has = u->ids.len && bsearch(&id, u->ids.data, u->ids.len, sizeof(id), application_ids_compare);
                else
                        has = u->is_asking; /* the answer will tell */
        }
        pthread_mutex_unlock(&undecided.lock);
        return has;
}
