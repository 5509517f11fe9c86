/* The status tracker: jobs and stages, as pyspark's StatusTracker reads them. */
#include "pyspark_driver/classes.h"

#include "base/mem.h"
#include "driver/context.h"
#include "driver/events/app_status.h"
#include "driver/events/listener_bus.h"
#include "py4j/collections.h"

struct tracker_object {
        struct py4j_object object;
        struct driver_session *session;
};

struct info_object {
        struct py4j_object object;
        struct fst_job_info job;
        struct fst_stage_info stage;
        struct py4j_object *stages; /* of a job: the array of their ids */
};

struct executor_object {
        struct py4j_object object;
        struct executor_status status;
};

static const struct py4j_class executor_info_class;

/* How long a program waits for the status of what it has seen already: that a job ended. */
#define STATUS_TIMEOUT_MS 1000

/* The context of the tracker, whose status has caught up with the scheduler; NULL once it was stopped. */
static fst_context *tracker_context(const struct py4j_call *call)
{
        struct driver_session *session = ((const struct tracker_object *)call->self)->session;
        if (session_has_ended(session))
                return NULL;
        listener_bus_wait_until_empty(session->sc->bus, STATUS_TIMEOUT_MS);
        return session->sc;
}

static struct info_object *info_of(const struct py4j_call *call)
{
        return (struct info_object *)call->self;
}

struct py4j_object *status_tracker_new(struct driver_session *session)
{
        struct tracker_object *tracker = new0(struct tracker_object);
        py4j_object_init(&tracker->object, &status_tracker_class);
        tracker->session = session_ref(session);
        return &tracker->object;
}

static void tracker_free(struct py4j_object *object)
{
        session_unref(((struct tracker_object *)object)->session);
        free(object);
}

typedef int list_ids(fst_context *sc, int *ids, size_t max);

/* Reads a list that may grow between two calls. It is empty without a context. */
static struct py4j_object *tracker_ids(fst_context *sc, list_ids *list)
{
        struct py4j_object *array = py4j_array_new("int", 0);
        _cleanup_free_ int *ids = NULL;
        int room = 64, n = 0;
        for (; sc; room = n) {
                ids = mem_grow(ids, (size_t)room * sizeof(*ids));
                n = list(sc, ids, (size_t)room);
                if (n <= room)
                        break;
        }
        for (int i = 0; i < n; i++)
                py4j_add(array, py4j_int(ids[i]));
        return array;
}

static void tracker_active_jobs(struct py4j_call *call)
{
        call->result = py4j_object_value(tracker_ids(tracker_context(call), fst_active_jobs));
}

static void tracker_active_stages(struct py4j_call *call)
{
        call->result = py4j_object_value(tracker_ids(tracker_context(call), fst_active_stages));
}

/* The argument of the list that is being read; the lists of the library differ in their arguments. */
static _Thread_local const char *wanted_group;
static _Thread_local int wanted_job;

static int tracker_list_group(fst_context *sc, int *ids, size_t max)
{
        return fst_jobs_of_group(sc, wanted_group, ids, max);
}

static int tracker_list_stages(fst_context *sc, int *ids, size_t max)
{
        return fst_stages_of_job(sc, wanted_job, ids, max);
}

static void tracker_jobs_of_group(struct py4j_call *call)
{
        wanted_group = py4j_text_argument(call, 0);
        call->result = py4j_object_value(tracker_ids(tracker_context(call), tracker_list_group));
}

static struct py4j_object *info_new(const struct py4j_class *class)
{
        struct info_object *info = new0(struct info_object);
        py4j_object_init(&info->object, class);
        return &info->object;
}

static void info_free(struct py4j_object *object)
{
        py4j_object_unref(((struct info_object *)object)->stages);
        free(object);
}

static void tracker_job_info(struct py4j_call *call)
{
        struct fst_job_info job;
        fst_context *sc = tracker_context(call);
        wanted_job = (int)call->args[0].number;
        if (!sc || !fst_get_job_info(sc, wanted_job, &job)) {
                call->result = py4j_object_value(NULL);
                return;
        }
        struct info_object *info = (struct info_object *)info_new(&job_info_class);
        info->job = job;
        info->stages = tracker_ids(sc, tracker_list_stages);
        call->result = py4j_object_value(&info->object);
}

static void tracker_stage_info(struct py4j_call *call)
{
        struct fst_stage_info stage;
        fst_context *sc = tracker_context(call);
        if (!sc || !fst_get_stage_info(sc, (int)call->args[0].number, &stage)) {
                call->result = py4j_object_value(NULL);
                return;
        }
        struct info_object *info = (struct info_object *)info_new(&stage_info_class);
        info->stage = stage;
        call->result = py4j_object_value(&info->object);
}

/* The driver and the executors that are alive. */
static void tracker_executor_infos(struct py4j_call *call)
{
        fst_context *sc = tracker_context(call);
        struct py4j_object *array = py4j_array_new("org.apache.spark.SparkExecutorInfo", 0);
        _cleanup_free_ struct executor_status *list = NULL;
        size_t room = 16, n = 0;
        for (; sc && sc->app_status; room = n) {
                list = mem_grow(list, room * sizeof(*list));
                n = app_status_executors(sc->app_status, list, room);
                if (n <= room)
                        break;
        }
        for (size_t i = 0; i < n; i++) {
                if (!list[i].is_active)
                        continue;
                struct executor_object *info = new0(struct executor_object);
                py4j_object_init(&info->object, &executor_info_class);
                info->status = list[i];
                py4j_add(array, py4j_object_value(&info->object));
        }
        call->result = py4j_object_value(array);
}

static const struct py4j_member tracker_members[] = {
        {"getJobIdsForGroup", "S", tracker_jobs_of_group}, {"getActiveJobIds", "", tracker_active_jobs},
        {"getActiveStageIds", "", tracker_active_stages},  {"getJobInfo", "i", tracker_job_info},
        {"getStageInfo", "i", tracker_stage_info},         {"getExecutorInfos", "", tracker_executor_infos},
};

const struct py4j_class status_tracker_class = {.name = "org.apache.spark.api.java.JavaSparkStatusTracker",
                                                PY4J_MEMBERS(tracker_members),
                                                .free = tracker_free};

/* ---------------------------------------------------------------------------------------------------- infos */

static void job_info_id(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->job.id);
}

static void job_info_stages(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(info_of(call)->stages));
}

static void job_info_status(struct py4j_call *call)
{
        static const char *const names[] = {
                [FST_JOB_RUNNING] = "RUNNING", [FST_JOB_SUCCEEDED] = "SUCCEEDED", [FST_JOB_FAILED] = "FAILED"};
        call->result = py4j_string(names[info_of(call)->job.state]);
}

static const struct py4j_member job_info_members[] = {
        {"jobId", "", job_info_id},
        {"stageIds", "", job_info_stages},
        {"status", "", job_info_status},
};

const struct py4j_class job_info_class = {
        .name = "org.apache.spark.SparkJobInfoImpl", PY4J_MEMBERS(job_info_members), .free = info_free};

static void stage_info_id(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.id);
}

static void stage_info_attempt(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.attempt);
}

static void stage_info_submission(struct py4j_call *call)
{
        call->result = py4j_long(info_of(call)->stage.submission_ms);
}

static void stage_info_name(struct py4j_call *call)
{
        call->result = py4j_string("");
}

static void stage_info_tasks(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.tasks);
}

static void stage_info_active(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.active_tasks);
}

static void stage_info_completed(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.completed_tasks);
}

static void stage_info_failed(struct py4j_call *call)
{
        call->result = py4j_int(info_of(call)->stage.failed_tasks);
}

static const struct py4j_member stage_info_members[] = {
        {"stageId", "", stage_info_id},
        {"currentAttemptId", "", stage_info_attempt},
        {"submissionTime", "", stage_info_submission},
        {"name", "", stage_info_name},
        {"numTasks", "", stage_info_tasks},
        {"numActiveTasks", "", stage_info_active},
        {"numCompletedTasks", "", stage_info_completed},
        {"numFailedTasks", "", stage_info_failed},
};

const struct py4j_class stage_info_class = {
        .name = "org.apache.spark.SparkStageInfoImpl", PY4J_MEMBERS(stage_info_members), .free = info_free};

/* --------------------------------------------------------------------------------------------------- executors */

static const struct executor_status *executor_info_of(const struct py4j_call *call)
{
        return &((const struct executor_object *)call->self)->status;
}

static void executor_info_free(struct py4j_object *object)
{
        free(object);
}

static void executor_info_host(struct py4j_call *call)
{
        call->result = py4j_string(executor_info_of(call)->host);
}

static void executor_info_port(struct py4j_call *call)
{
        call->result = py4j_int(executor_info_of(call)->port);
}

static void executor_info_cache_size(struct py4j_call *call)
{
        call->result = py4j_long(executor_info_of(call)->memory_used);
}

static void executor_info_running_tasks(struct py4j_call *call)
{
        call->result = py4j_int((int)executor_info_of(call)->active_tasks);
}

static void executor_info_used_on_heap(struct py4j_call *call)
{
        call->result = py4j_long(executor_info_of(call)->used_on_heap);
}

static void executor_info_used_off_heap(struct py4j_call *call)
{
        call->result = py4j_long(executor_info_of(call)->used_off_heap);
}

static void executor_info_total_on_heap(struct py4j_call *call)
{
        call->result = py4j_long(executor_info_of(call)->max_on_heap);
}

static void executor_info_total_off_heap(struct py4j_call *call)
{
        call->result = py4j_long(executor_info_of(call)->max_off_heap);
}

static const struct py4j_member executor_info_members[] = {
        {"host", "", executor_info_host},
        {"port", "", executor_info_port},
        {"cacheSize", "", executor_info_cache_size},
        {"numRunningTasks", "", executor_info_running_tasks},
        {"usedOnHeapStorageMemory", "", executor_info_used_on_heap},
        {"usedOffHeapStorageMemory", "", executor_info_used_off_heap},
        {"totalOnHeapStorageMemory", "", executor_info_total_on_heap},
        {"totalOffHeapStorageMemory", "", executor_info_total_off_heap},
};

static const struct py4j_class executor_info_class = {.name = "org.apache.spark.SparkExecutorInfoImpl",
                                                      PY4J_MEMBERS(executor_info_members),
                                                      .free = executor_info_free};
