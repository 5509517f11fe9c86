/*
 * A feature step that annotates pods with their team, and creates a resource quota with the driver pod.
 *
 *      cc -shared -fPIC -I include -o team_step.so examples/team_step.c -ljansson
 *      spark-submit --conf spark.kubernetes.driver.pod.featureSteps=$PWD/team_step.so --conf spark.example.team=data …
 *
 * The step uses jansson. Any other JSON library works too.
 */
#include <firesteel/pod_step.h>

#include <jansson.h>
#include <stdlib.h>

/* Returns the object's member @name, creating it if it is missing. */
static json_t *child(json_t *object, const char *name)
{
        if (!json_object_get(object, name))
                json_object_set_new(object, name, json_object());
        return json_object_get(object, name);
}

static int annotate(struct fst_pod_step *step, const char *team)
{
        json_error_t at;
        json_t *pod = json_loads(step->pod, 0, &at);
        if (!pod)
                return step->refuse(step, at.text);
        json_object_set_new(child(child(pod, "metadata"), "annotations"), "example.com/team", json_string(team));
        char *text = json_dumps(pod, JSON_COMPACT);
        int r = step->set_pod(step, text);
        free(text);
        json_decref(pod);
        return r;
}

/* Only for the driver pod: otherwise each executor pod would create it again. */
static int add_quota(struct fst_pod_step *step, const char *team)
{
        json_t *quota =
                json_pack("{s:s,s:s,s:{s:o},s:{s:{s:s}}}", "apiVersion", "v1", "kind", "ResourceQuota", "metadata",
                          "name", json_sprintf("%s-%s", team, step->application_id), "spec", "hard", "pods", "100");
        char *text = json_dumps(quota, JSON_COMPACT);
        int r = step->add_after(step, text);
        free(text);
        json_decref(quota);
        return r ? r : step->set_property(step, "spark.example.quota", "100");
}

int fst_pod_step(struct fst_pod_step *step)
{
        const char *team = step->setting(step, "spark.example.team");
        if (!team)
                return step->refuse(step, "spark.example.team must say whose pods these are");
        int r = annotate(step, team);
        return r == 0 && !step->executor_id ? add_quota(step, team) : r;
}
