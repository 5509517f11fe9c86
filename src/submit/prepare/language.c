/*
 * Python and R: the program that runs a file of that language in client mode, and the files that travel with it. The
 * driver gets the downloaded file. Executors get Python files as files, and R packages as archives.
 */
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"

#include "base/error.h"
#include "base/mem.h"

static void language_merge_into(struct preparation *p, enum submit_field field, const char *more)
{
        preparation_set(p, field, file_list_merge(p->a->value[field], more));
}

static void language_put_python(struct preparation *p)
{
        bool client = !p->s->cluster_mode, python = p->language == LANGUAGE_PYTHON;
        if (python && client && submit_is_shell(p->a->primary_resource)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_PYTHON_SHELL));
        } else if (python && client) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_PYTHON_RUNNER));
                preparation_prepend(p, mem_strdup_if(p->local_primary), true, mem_strdup_if(p->local_py_files));
        }
        /* Since 3.1, applications of other languages may use Python too. */
        if (client && !p->own_python_list && (python || p->compat > COMPAT_2_4))
                language_merge_into(p, SUBMIT_FILES, p->a->value[SUBMIT_PY_FILES]);
        if (!p->local_py_files)
                return;
        _cleanup_free_ char *list = mem_strdup(p->local_py_files);
        for (size_t n = strlen(list); n > 0 && list[n - 1] == ',';)
                list[--n] = 0;
        strmap_set(&p->s->conf, "spark.submit.pyFiles", list);
}

static void language_put_r(struct preparation *p)
{
        if (!p->s->cluster_mode && submit_is_shell(p->a->primary_resource)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_R_SHELL));
        } else if (!p->s->cluster_mode) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_R_RUNNER));
                preparation_prepend(p, mem_strdup_if(p->local_primary), false, NULL);
                language_merge_into(p, SUBMIT_FILES, p->a->primary_resource);
        }
}

int preparation_put_language(struct preparation *p, struct fst_error *error)
{
        language_put_python(p);
        int r = p->s->manager->add_language ? p->s->manager->add_language(p, error) : 0;
        if (r == 0 && p->language == LANGUAGE_R)
                language_put_r(p);
        return r;
}
