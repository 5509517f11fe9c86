/* The application loader: turns the file that the user named (`app.so`, `app.c`) into a callable function. */
#pragma once

struct fst_error;
struct module;

typedef int (*app_main)(int argc, char **argv);

struct app {
        const struct module *module;
        app_main main;
};

struct app_options {
        const char *path;        /* a shared object, or a C file to compile first */
        const char *entry;       /* --class; NULL: main. For "org.x.Pi", which is not a C name: Pi, else main */
        const char *cc_flags;    /* spark.firesteel.cc.flags, or NULL */
        const char *cc_march;    /* spark.firesteel.cc.march, or NULL */
        const char *master;      /* master URL, or NULL: tells whether tasks run on this machine */
        const char *cc_sanitize; /* spark.firesteel.cc.sanitize; may be NULL */
        const char *local_dir;   /* see app_compiler.h */
};

/* Outcomes of app_load that the caller handles separately. */
enum {
        FST_APP_E_NO_ENTRY = 1, /* the module lacks the function: Spark exits with 101 */
};

/* Compiles if needed, loads, and finds the entry. Returns -errno with @error for any other failure. */
int app_load(const struct app_options *options, struct app *out, struct fst_error *error);
