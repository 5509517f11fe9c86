/* The state of a Python program's driver; see pyspark.h. */
#include "pyspark_driver/pyspark.h"

#include "base/mem.h"

struct driver_session *session_ref(struct driver_session *session)
{
        __atomic_add_fetch(&session->refs, 1, __ATOMIC_RELAXED);
        return session;
}

void session_unref(struct driver_session *session)
{
        if (!session || __atomic_sub_fetch(&session->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        py4j_object_unref(session->conf);
        py4j_object_unref(session->directories);
        free(session);
}

bool session_has_ended(const struct driver_session *session)
{
        return __atomic_load_n(&session->stopped, __ATOMIC_ACQUIRE);
}

struct pyspark *pyspark_new(const char *python)
{
        struct pyspark *p = new0(struct pyspark);
        pthread_mutex_init(&p->lock, NULL);
        python_package_find(python, &p->package);
        return p;
}

struct driver_session *pyspark_session(struct py4j_call *call)
{
        struct pyspark *p = pyspark_of(call);
        pthread_mutex_lock(&p->lock);
        struct driver_session *session = p->session && !session_has_ended(p->session) ? session_ref(p->session) : NULL;
        pthread_mutex_unlock(&p->lock);
        if (!session)
                py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
        return session;
}
