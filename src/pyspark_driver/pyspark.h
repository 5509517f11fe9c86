/*
 * The state of a Python program's driver: its context, its system properties, its pyspark. The classes of this room
 * share it as the context of their gateway.
 *
 * Objects of a context that was stopped outlive it. They keep a reference to its session, which says so.
 */
#pragma once

#include "base/strmap.h"
#include "py4j/object.h"
#include "pyspark_driver/python_package.h"

#include <firesteel/firesteel.h>

#include <pthread.h>

struct fst_error;

/* The archives with the driver's pyspark, for executors that lack it, as files of the application. */
#define PYSPARK_FILES ".pyspark.zip:.py4j.zip"

/* One SparkContext from its start to its end. */
struct driver_session {
        int refs; /* atomic */
        fst_context *sc;
        struct py4j_object *conf;        /* as the context completed it, and as Python changes it later */
        struct py4j_object *directories; /* a list: the names of added directories */
        bool has_package;                /* PYSPARK_FILES are among the application's files */
        bool stopped;                    /* atomic */
};

struct pyspark {
        struct python_package package;  /* of the driver's Python; its version may be empty */
        pthread_mutex_t lock;           /* guards the fields below */
        struct strmap properties;       /* System.getProperty */
        char *local_dir;                /* this process's directory for temporary files; NULL: none yet */
        struct driver_session *session; /* the latest; NULL: none */
};

struct driver_session *session_ref(struct driver_session *session);
void session_unref(struct driver_session *session);

/*
 * Keeps the context of @session from being freed by another connection until session_leave. Returns false if it was
 * stopped. Nothing that the end of the context does not end may be waited for meanwhile.
 */
bool session_enter(struct driver_session *session);
void session_leave(struct driver_session *session);

/* Stops the context, once. Waits for all who entered it; the caller has not. */
void session_stop(struct driver_session *session);

/* Surround the functions of members: the latest session is entered, except by those that stop it or wait for Python. */
void *pyspark_enter(const struct py4j_call *call);
void pyspark_leave(void *entered);

/*
 * Cancels all jobs of the latest session of @context, a struct pyspark, because the program was interrupted: pyspark's
 * handler of SIGINT asks for this, but its request does not arrive.
 */
void pyspark_interrupted(void *context);

/* Whether the context has been stopped. */
bool session_has_ended(const struct driver_session *session);

/* Creates what the gateway's functions need. @python is the driver's interpreter, a path or a name in PATH. */
struct pyspark *pyspark_new(const char *python);

/* The context of a call. */
static inline struct pyspark *pyspark_of(const struct py4j_call *call)
{
        return call->context;
}

/* The session that is running, with a reference; or NULL, and the call throws. */
struct driver_session *pyspark_session(struct py4j_call *call);
