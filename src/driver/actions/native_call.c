/*
 * Calls functions of C files by name, for programs in other languages (fst_native_call in firesteel/frames.h).
 *
 * The file is compiled and loaded as the application of spark-submit is. Executors get the module like that of any
 * function in lineage.
 */
#include "driver/actions/native_call.h"

#include "driver/context.h"
#include "driver/context_handles.h"
#include "exec/app/app_loader.h"
#include "exec/app/module.h"
#include "rdd/rdd_build.h"

#include "base/mem.h"

#include <firesteel/frames.h>

typedef fst_rdd *(*native_function)(fst_rdd *rdd, int argc, char **argv);

static int native_load(const fst_context *sc, const char *file, const char *function, native_function *out,
                       struct fst_error *error)
{
        const struct fst_conf *conf = sc->conf;
        struct app_options options = {.path = file,
                                      .entry = function,
                                      .cc_flags = conf_get_value(conf, "spark.firesteel.cc.flags"),
                                      .cc_march = conf_get_value(conf, "spark.firesteel.cc.march"),
                                      .master = conf_get_value(conf, "spark.master"),
                                      .cc_sanitize = conf_get_value(conf, "spark.firesteel.cc.sanitize")};
        struct app app;
        if (!file || !*file || !function || !*function)
                return error_set(error, -EINVAL, "a native call needs a file and the name of a function");
        int r = app_load(&options, &app, error);
        if (r == FST_APP_E_NO_ENTRY)
                r = error_set(error, -ENOENT, "%s has no function %s that is not static: %s", file, function,
                              error_message(error));
        if (r == 0)
                *out = (native_function)(void (*)(void))app.main;
        return r;
}

int native_call_load(const fst_context *sc, const char *file, const char *function, struct fst_error *error)
{
        native_function f;
        return native_load(sc, file, function, &f, error);
}

FST_API fst_rdd *fst_native_call_at(fst_rdd *rdd, const char *file, const char *function, int argc, char **argv,
                                    fst_site site)
{
        rdd = rdd_given(rdd, site);
        struct fst_error error = FST_ERROR_INIT;
        native_function f = NULL;
        int r = native_load(rdd->sc, file, function, &f, &error);
        fst_rdd *made = r ? NULL : f(rdd, argc, argv);
        if (made)
                return rdd_given(made, site);
        if (r == 0)
                r = error_set(&error, -EINVAL, "the function %s of %s returned NULL instead of an RDD", function, file);
        return rdd_fail_with(rdd_new(rdd->sc, RDD_UNION, FST_BYTES, NULL, site), r, &error);
}
