/* The state of a Python program's driver; see pyspark.h. */
#include "pyspark_driver/pyspark.h"

#include "base/mem.h"
#include "driver/context.h"

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

/* Orders entering and stopping. */
static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;

bool session_enter(struct driver_session *session)
{
        pthread_mutex_lock(&sessions_lock);
        bool runs = !session_has_ended(session);
        if (runs)
                context_enter(session->sc);
        pthread_mutex_unlock(&sessions_lock);
        return runs;
}

void session_leave(struct driver_session *session)
{
        fst_context *sc = session->sc;
        context_leave(&sc);
}

void session_stop(struct driver_session *session)
{
        pthread_mutex_lock(&sessions_lock);
        bool stopped = __atomic_exchange_n(&session->stopped, true, __ATOMIC_ACQ_REL);
        pthread_mutex_unlock(&sessions_lock);
        if (!stopped)
                fst_context_stop(session->sc);
}

/* Returns the latest session, entered and with a reference; or NULL. */
static struct driver_session *pyspark_enter_latest(struct pyspark *p)
{
        pthread_mutex_lock(&p->lock);
        struct driver_session *session = p->session ? session_ref(p->session) : NULL;
        pthread_mutex_unlock(&p->lock);
        if (session && session_enter(session))
                return session;
        session_unref(session);
        return NULL;
}

void *pyspark_enter(const struct py4j_call *call)
{
        static const char *const others[] = {"stop", "close", "getResult", "waitTillDataReceived"};
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (strcmp(call->member->name, others[i]) == 0)
                        return NULL;
        return pyspark_enter_latest(pyspark_of(call));
}

void pyspark_leave(void *entered)
{
        if (!entered)
                return;
        session_leave(entered);
        session_unref(entered);
}

void pyspark_interrupted(void *context)
{
        struct driver_session *session = pyspark_enter_latest(context);
        if (session)
                fst_cancel_all_jobs(session->sc);
        pyspark_leave(session);
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
