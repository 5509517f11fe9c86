/*
 * The main class and arguments of a submission, as Spark's SparkSubmit passes them. In client mode the main class is
 * the application's (or the program that runs its language), with the application's jars on the class path. In cluster
 * mode it is the client of the manager, and the manager's `prepare` slot adds its arguments.
 */
#include "submit/prepare/preparation.h"

#include "base/error.h"
#include "base/mem.h"

void child_command_add(struct preparation *p, const char *word)
{
        vec_push(&p->s->arguments, word ? mem_strdup(word) : NULL);
}

void child_command_add_own(struct preparation *p, const char *before_each)
{
        for (size_t i = 0; i < p->a->application_arguments.len; i++) {
                if (before_each)
                        child_command_add(p, before_each);
                child_command_add(p, p->a->application_arguments.data[i]);
        }
}

void child_command_set_class(struct preparation *p, const char *class)
{
        free(p->s->main_class);
        p->s->main_class = class ? mem_strdup(class) : NULL;
}

/* Splits a comma list as Java's split does: drops empty names at the end, and an empty list has one name. */
void child_command_add_classpath(struct preparation *p, const char *list)
{
        size_t length = list ? strlen(list) : 0;
        if (list && length == 0)
                vec_push(&p->s->classpath, mem_strdup(""));
        while (length > 0 && list[length - 1] == ',')
                length--;
        for (size_t i = 0; i < length;) {
                size_t n = strcspn(list + i, ",");
                vec_push(&p->s->classpath, mem_strndup(list + i, n));
                i += n + 1;
        }
}

static void child_command_put_client(struct preparation *p)
{
        child_command_set_class(p, p->a->value[SUBMIT_CLASS]);
        if (p->local_primary && submit_is_user_jar(p->local_primary, p->compat))
                vec_push(&p->s->classpath, mem_strdup(p->local_primary));
        child_command_add_classpath(p, p->local_jars);
        child_command_add_own(p, NULL);
}

int child_command_put(struct preparation *p, struct fst_error *error)
{
        child_command_set_class(p, "");
        if (!p->s->cluster_mode)
                child_command_put_client(p);
        else if (p->s->manager->prepare)
                return p->s->manager->prepare(p, error);
        return 0;
}
