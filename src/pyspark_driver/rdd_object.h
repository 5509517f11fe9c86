/*
 * RDDs as Python holds them. One object stands for JavaRDD, its RDD (rdd()), and PythonRDD (asJavaRDD()): each call
 * returns the same object with another reference. When Python has given back the last one, the RDD is released.
 *
 * Rows are frames (firesteel/frames.h), except for the pairs between PairwiseRDD and valueOfPair.
 */
#pragma once

#include "pyspark_driver/call_site.h"
#include "pyspark_driver/classes.h"

#include "rdd/rdd.h"

#include <firesteel/frames.h>

struct rdd_object {
        struct py4j_object object;
        struct driver_session *session;
        fst_rdd *rdd;
        struct py4j_object
                *kept; /* a list of what it is computed from: RDDs, a function with its broadcasts; or NULL */
        bool barrier;  /* its stage is a barrier stage */
        bool locally_checkpointed;
        bool text;                   /* of map(BytesToString): rows are text */
        struct py4j_object *profile; /* of withResources; NULL: none */
        struct rdd_object *next;     /* in the list of those to free */
};

/* The RDD that every class of RDDs inherits from, and those that Python tells apart. */
extern const struct py4j_class rdd_class, java_rdd_class, java_pair_rdd_class, java_double_rdd_class, serde_class;

/* Releases the RDD; for classes of RDDs. */
void rdd_object_free(struct py4j_object *object);

/* Argument @i as an RDD of a running context, borrowed; or NULL, and the call throws. */
struct rdd_object *rdd_argument(struct py4j_call *call, size_t i);

/* The RDD of a method; NULL, and the call throws, once its context was stopped. */
struct rdd_object *rdd_self(struct py4j_call *call);

/*
 * Sets the result to a new RDD that is computed from @parent (NULL: none), which it keeps, and whose `barrier` it
 * inherits.
 */
void rdd_return(struct py4j_call *call, const struct py4j_class *class, struct driver_session *session, fst_rdd *rdd,
                struct rdd_object *parent);

/* The place @line of Spark's source, in the release of the program's pyspark. */
static inline fst_site rdd_site_in_spark(const struct py4j_call *call, enum spark_line line)
{
        return call_site_in_spark(line, pyspark_of(call)->package.version);
}

/* Lets @rdd keep @object as long as it lives: a broadcast is destroyed when nothing keeps it. */
void rdd_keep(struct rdd_object *rdd, struct py4j_object *object);
