/*
 * save_as_text_file, save_as_binary_records and save_as_object_file: tasks write and commit their partitions
 * (exec/actions/action_save.c), then the driver commits the job (io/output_committer.h).
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "io/output_committer.h"
#include "io/part_writer.h"

#include <firesteel/frames.h>

static int save_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

static void save_reset(struct action *action)
{
        output_committer_forget_commits(container_of(action, struct save_action, action)->committer);
}

typedef int (*run_fn)(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
                      struct fst_error *error);

static int save_run(fst_rdd *rdd, struct save_action *self, run_fn run, fst_site site, struct fst_error *error)
{
        int r = output_committer_setup_job(self->committer, error);
        if (r)
                return r;
        r = run(rdd, &self->action, NULL, 0, site, error);
        if (r == 0)
                r = output_committer_commit_job(self->committer, error);
        if (r) {
                struct fst_error ignored = FST_ERROR_INIT;
                output_committer_abort_job(self->committer, &ignored);
                error_deinit(&ignored);
        }
        return r;
}

static int save_check_records(const fst_rdd *rdd, struct fst_error *error)
{
        char text[64];
        return part_records_of(rdd->type)
                       ? 0
                       : error_set(
                                 error, -EINVAL,
                                 "rows that are %s have no fixed length: map them to FIXED, or save them as an object "
                                 "file",
                                 fst_type_name(rdd->type, text));
}

/* @codec NULL: from the configuration. */
static int save_rows(fst_rdd *rdd, const struct action_class *class, const char *path, const char *codec, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct save_action action = {{.class = class, .type = rdd->type, .merge = save_merge, .reset = save_reset},
                                     NULL};
        int r = action_check(rdd, &error);
        if (r == 0 && (!path || !*path))
                r = error_set(&error, -EINVAL, "%s needs a path: Can not create a Path from an empty string",
                              site.operation);
        if (r == 0 && class == &save_records_action_class)
                r = save_check_records(rdd, &error);
        if (r == 0 && class == &save_java_objects_action_class && !fst_type_equal(rdd->type, FST_BYTES))
                r = error_set(&error, -EINVAL, "only frames can be saved as a Java object file");
        if (r == 0)
                r = output_options_read(rdd->sc->conf, &options, &error);
        if (r == 0 && codec)
                r = codec_parse_file(codec, &options.codec, &error);
        if (r == 0)
                r = output_committer_new(path, rdd->lineage.id, &options, &action.committer, &error);
        if (r == 0)
                r = save_run(rdd, &action, action_run, site, &error);
        output_committer_free(action.committer);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

int action_save_checkpoint(fst_rdd *rdd, const char *path, fst_site site, struct fst_error *error)
{
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct save_action action = {
                {.class = &save_objects_action_class, .type = rdd->type, .merge = save_merge, .reset = save_reset},
                NULL};
        int r = output_options_read(rdd->sc->conf, &options, error);
        options.validate = false; /* replaces the output of a failed attempt */
        if (r == 0)
                r = codec_parse_file("none", &options.codec, error);
        if (r == 0)
                r = output_committer_new(path, rdd->lineage.id, &options, &action.committer, error);
        if (r == 0)
                r = save_run(rdd, &action, action_run_job, site, error);
        output_committer_free(action.committer);
        return r;
}

FST_API int fst_save_as_text_file_at(fst_rdd *rdd, const char *path, const char *codec, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return save_rows(rdd, &save_action_class, path, codec, site);
}

FST_API int fst_save_as_object_file_at(fst_rdd *rdd, const char *path, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return save_rows(rdd, &save_objects_action_class, path, "none", site);
}

FST_API int fst_save_as_binary_records_at(fst_rdd *rdd, const char *path, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return save_rows(rdd, &save_records_action_class, path, "none", site);
}

FST_API int fst_save_as_java_object_file_at(fst_rdd *frames, const char *path, fst_site site)
{
        frames = rdd_given(frames, site);
        return save_rows(frames, &save_java_objects_action_class, path, "none", site);
}
