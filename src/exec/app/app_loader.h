/*
 * The application loader: from what the user named (`app.so`, `app.c`) to a function that can be called.
 */
#pragma once

struct fst_error;
struct module;

typedef int (*app_main)(int argc, char **argv);

struct app {
        const struct module *module;
        app_main main;
};

struct app_options {
        const char *path;      /* a shared object, or a C file to compile first */
        const char *entry;     /* --class; NULL: main. Of "org.x.Pi", which no function is, Pi or else main */
        const char *cc_flags;  /* spark.firesteel.cc.flags; may be NULL */
        const char *local_dir; /* see app_compiler.h */
};

/* Outcomes of app_load that the caller treats apart. */
enum {
        FST_APP_E_NO_ENTRY = 1, /* the module has no such function: Spark exits with 101 */
};

/* Compile if needed, load, find the entry. Anything else that fails is -errno; each has its @error. */
int app_load(const struct app_options *options, struct app *out, struct fst_error *error);
