/*
 * save_as_text_file, save_as_binary_records and save_as_object_file: tasks write and commit their partitions
 * (exec/actions/action_save.c), then the driver commits the job (io/output_committer.h).
 */
#include "driver/actions/actions.h"
#include "driver/actions/preliminary_jobs.h"
#include "driver/resume/resume.h"

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

static bool save_kept(const struct action *action, int output)
{
        const struct save_action *self = container_of(action, struct save_action, action);
        return !self->committed || self->committed[output];
}

typedef int (*run_fn)(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
                      struct fst_error *error);

/* Finds out what an earlier driver has left of this output, and journals that this one is about to make it. */
static int save_begin_output(fst_rdd *rdd, struct save_action *self, bool made, struct resume_output *output,
                             fst_site site, struct fst_error *error)
{
        struct job_request request = {.rdd = rdd, .n = rdd->lineage.partitions, .action = &self->action};
        _cleanup_free_ char *call_site = rdd_call_site(rdd->sc, site);
        request.call_site = call_site;
        int r = action_check(rdd, error);
        if (r == 0 && resume_is_resumed(rdd->sc->resume))
                r = preliminary_jobs_run(rdd, site, error);
        request.n = rdd->lineage.partitions;
        if (r == 0)
                r = resume_output_begin(rdd->sc->resume, &request, self->committer, output, error);
        self->committed = output->committed;
        if (r == 0)
                r = output_committer_check_output(self->committer, error);
        if (r == 0)
                resume_output_making(rdd->sc->resume, self->committer, made, output);
        return r;
}

static int save_commit(fst_rdd *rdd, struct save_action *self, struct resume_output *output, struct fst_error *error)
{
        struct resume *resume = rdd->sc->resume;
        if (!resume_output_state(resume, output, RESUME_OUTPUT_COMMITTING))
                return error_set(error, -ESTALE, "another driver has taken over the application");
        int r = output_committer_commit_job(self->committer, error);
        if (r == 0)
                resume_output_state(resume, output, RESUME_OUTPUT_COMMITTED);
        return r;
}

/* @made: what is in the directory at the end is the application's own. */
static int save_run(fst_rdd *rdd, struct save_action *self, run_fn run, bool made, fst_site site,
                    struct fst_error *error)
{
        _cleanup_(resume_output_deinit) struct resume_output output = {0};
        int r = rdd->sc->resume ? save_begin_output(rdd, self, made, &output, site, error) : 0;
        if (r == 0 && !(output.resumed && output.state == RESUME_OUTPUT_COMMITTED))
                r = output_committer_setup_job(self->committer, error);
        if (r)
                return r;
        r = run(rdd, &self->action, NULL, 0, site, error);
        if (r == 0)
                r = save_commit(rdd, self, &output, error);
        if (r) {
                struct fst_error ignored = FST_ERROR_INIT;
                output_committer_abort_job(self->committer, &ignored);
                error_deinit(&ignored);
                resume_output_state(rdd->sc->resume, &output, RESUME_OUTPUT_ABORTED);
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
        struct save_action action = {
                {.class = class, .type = rdd->type, .merge = save_merge, .reset = save_reset, .kept = save_kept}};
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
                r = save_run(rdd, &action, action_run, options.validate, site, &error);
        output_committer_free(action.committer);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

int action_save_checkpoint(fst_rdd *rdd, const char *path, fst_site site, struct fst_error *error)
{
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct save_action action = {{.class = &save_objects_action_class,
                                      .type = rdd->type,
                                      .merge = save_merge,
                                      .reset = save_reset,
                                      .kept = save_kept}};
        int r = output_options_read(rdd->sc->conf, &options, error);
        options.validate = false; /* replaces the output of a failed attempt */
        if (r == 0)
                r = codec_parse_file("none", &options.codec, error);
        if (r == 0)
                r = output_committer_new(path, rdd->lineage.id, &options, &action.committer, error);
        if (r == 0)
                r = save_run(rdd, &action, action_run_job, true, site, error);
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
