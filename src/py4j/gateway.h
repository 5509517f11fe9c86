/*
 * Answers the commands of a Py4J program: resolves names, finds members, calls them, and keeps the objects that the
 * program holds. Opens no socket (server.h does).
 *
 * A program reads a name, then asks what it is: a package, a class or a member. A name is a class if the table has it.
 * For a class of a refused package the program gets an exception at the first use, with the package's reason.
 *
 * Each object that is returned gets an id of its own with one reference, which the program gives back by that id.
 *
 * Threads: any number of threads execute commands. Functions of members run on the calling thread.
 */
#pragma once

#include "base/buf.h"
#include "py4j/object.h"

struct py4j_command;
struct py4j_gateway;

/* Classes that we do not have: all whose names start with @prefix. Their use throws @reason. */
struct py4j_refusal {
        const char *prefix; /* "org.apache.spark.sql." */
        const char *reason;
};

struct py4j_gateway_options {
        const struct py4j_class *const *classes; /* besides those of java.util and scala; static */
        size_t n_classes;
        const struct py4j_refusal *refusals;
        size_t n_refusals;
        void *context; /* for the functions of members */
        /* Surround each function of a member; `leave` gets what `enter` returned. Both or none. */
        void *(*enter)(const struct py4j_call *call);
        void (*leave)(void *entered);
        /*
         * The program has closed a connection whose command still runs. Runs on a thread of the server, under its lock,
         * so it may not wait for calls. Or NULL.
         */
        void (*interrupted)(void *context);
};

struct py4j_gateway *py4j_gateway_new(const struct py4j_gateway_options *options);

/* For tests: frees the gateway and gives back the program's references. No thread may use it any more. */
void py4j_gateway_free(struct py4j_gateway *gateway);

/* Executes @command and appends the line of its answer, with its line feed. A shutdown has no answer. */
void py4j_gateway_execute(struct py4j_gateway *gateway, const struct py4j_command *command, struct buf *answer);

/* Tells the options' owner that the program was interrupted while it waited for an answer. */
void py4j_gateway_interrupt(struct py4j_gateway *gateway);

/* For tests: the number of references that the program holds. */
size_t py4j_gateway_objects(struct py4j_gateway *gateway);
