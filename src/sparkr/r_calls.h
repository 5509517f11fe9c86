/*
 * The classes and members that SparkR calls, over the programming interface of Firesteel.
 *
 * A handler gets checked numbers of arguments and returns 0 with call->result, or a negative status with call->error;
 * R then gets call->exception and the message.
 */
#pragma once

#include "base/error.h"
#include "base/strmap.h"
#include "sparkr/r_objects.h"
#include "sparkr/r_value.h"

struct r_world {
        struct r_objects objects;
        pthread_mutex_t lock;  /* guards `sc` and `session`: connections may start and stop them */
        fst_context *sc;       /* NULL: none runs */
        struct strmap session; /* settings of the session; under `lock` */
        char *library;         /* the directory that contains SparkR, or "" */
        char *command;         /* spark.r.command */
        int timeout;           /* spark.r.backendConnectionTimeout, in seconds */
        bool with_daemon;      /* spark.sparkr.use.daemon */
        char *version;         /* of SparkR, which its sessions compare with Spark's */
};

struct r_call {
        struct r_world *world;
        struct r_object *self; /* of a member of an object */
        const char *member;
        const struct r_value *arguments;
        size_t n;
        struct arena *arena;
        struct r_value result; /* R_NULL at first */
        const char *exception; /* the class of the exception, a SparkException at first */
        struct fst_error error;
};

struct r_member {
        enum r_class class;     /* of an object, or */
        const char *class_name; /* of a static member or a constructor ("<init>") */
        const char *name;
        size_t least, most; /* number of arguments */
        int (*call)(struct r_call *call);
};

/* Ends with a member without a name. */
extern const struct r_member r_java_members[], r_context_members[], r_session_members[], r_rdd_members[];

void r_world_init(struct r_world *world);

/* Stops the context, if one runs. No call may be running. */
void r_world_deinit(struct r_world *world);

/* Carries out @request and appends the answer to @out. Returns whether the request was to stop the backend. */
bool r_world_call(struct r_world *world, const struct r_request *request, struct arena *arena, struct buf *out);

/* ------------------------------------------------------------------------------------------------- for handlers */

/* Fails with a java.lang.IllegalArgumentException. */
int r_call_refuse(struct r_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The arguments at @i, checked. They return 0 or fail the call. */
int r_call_int(struct r_call *call, size_t i, int32_t *x);
int r_call_bool(struct r_call *call, size_t i, bool *x);
int r_call_text(struct r_call *call, size_t i, const char **text);         /* not NULL */
int r_call_text_or_null(struct r_call *call, size_t i, const char **text); /* R_NULL gives NULL */
int r_call_bytes(struct r_call *call, size_t i, fst_bytes *bytes);
int r_call_list(struct r_call *call, size_t i, struct r_values *list);

/* The object at @i, which must be an RDD for the first. The caller drops the reference. */
int r_call_rdd(struct r_call *call, size_t i, struct r_object **object, fst_rdd **rdd);
int r_call_object(struct r_call *call, size_t i, enum r_class class, struct r_object **object);

/* The running context. */
int r_call_context(struct r_call *call, fst_context **sc);

/* The arguments of get(key) and get(key, default), and the running context. *@otherwise is NULL without a default. */
int r_call_setting(struct r_call *call, const char **key, const char **otherwise, fst_context **sc);

/* Members of several classes: they stop the context, and answer with the version of Spark. */
int r_context_stop(struct r_call *call);
int r_context_version(struct r_call *call);

/* Answers with an object and takes over its reference, or with a text. */
int r_call_give(struct r_call *call, struct r_object *object);
int r_call_give_text(struct r_call *call, const char *text);

/* The text of a value as Java's toString gives it: for settings. The caller owns it; NULL for lists and objects. */
char *r_value_text(const struct r_value *value);

/* "org.apache.spark.sql…": the call fails, because Firesteel has no SQL. */
int r_call_refuse_sql(struct r_call *call, const char *what);
