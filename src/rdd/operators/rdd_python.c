/* Spark's PythonRDD: workers of pyspark compute the partitions. The operator is in op_python.c. */
#include "rdd/operators/rdd_python.h"

#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "base/public_struct.h"

/* The limit of a blob on a worker's socket, less the rest of the head. */
#define MAX_COMMAND ((size_t)INT32_MAX - (1 << 20))

#define MAX_BROADCASTS (1 << 20)

static size_t python_list_length(char *const *list)
{
        size_t n = 0;
        while (list && list[n])
                n++;
        return n;
}

static char **python_list_copy(const char *const *list)
{
        size_t n = python_list_length((char *const *)list);
        char **copy = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                copy[i] = mem_strdup(list[i]);
        return copy;
}

static void python_list_free(char **list)
{
        for (char **l = list; l && *l; l++)
                free(*l);
        free(list);
}

static struct rdd_python *python_function_copy(const struct fst_python_function *f)
{
        struct rdd_python *copy = new0(struct rdd_python);
        char *command = mem_alloc(f->command.len + 1);
        if (f->command.len)
                memcpy(command, f->command.data, f->command.len);
        copy->command = (fst_bytes){command, f->command.len};
        copy->program = mem_strdup(f->exec);
        copy->version = mem_strdup(f->version);
        copy->package_path = mem_strdup(f->package_path ? f->package_path : "");
        copy->package_version = mem_strdup(f->package_version ? f->package_version : "");
        copy->package_files = mem_strdup(f->package_files ? f->package_files : "");
        copy->environment = python_list_copy(f->environment);
        copy->includes = python_list_copy(f->includes);
        copy->broadcasts = new_array(fst_broadcast, f->n_broadcasts + 1);
        for (size_t i = 0; i < f->n_broadcasts; i++)
                copy->broadcasts[i] = f->broadcasts[i];
        copy->n_broadcasts = f->n_broadcasts;
        copy->accumulator = f->accumulator;
        return copy;
}

static void python_rdd_free(fst_rdd *rdd)
{
        struct rdd_python *f = rdd->python;
        if (!f)
                return;
        free((void *)f->command.data);
        free((void *)f->program);
        free((void *)f->version);
        free((void *)f->package_path);
        free((void *)f->package_version);
        free((void *)f->package_files);
        python_list_free(f->environment);
        python_list_free(f->includes);
        free(f->broadcasts);
        free(f);
}

/* Returns what is wrong with @f, or NULL. */
static const char *python_function_refusal(const struct fst_python_function *f)
{
        if (!f->command.data || f->command.len == 0 || f->command.len > MAX_COMMAND)
                return "a function of Python has a command of 1 byte to 2 GiB: broadcast what is larger";
        if (!f->exec || !*f->exec)
                return "a function of Python needs the name of the executors' Python: \"python3\"";
        if (!f->version || !*f->version)
                return "a function of Python needs the version of the driver's Python: \"3.11\"";
        if (f->n_broadcasts > MAX_BROADCASTS || (f->n_broadcasts && !f->broadcasts))
                return "the list of its broadcast variables is missing or too long";
        if (f->accumulator.id && f->accumulator.kind != FST_ACCUMULATOR_LIST)
                return "its accumulator is not one of fst_accumulator_list";
        return NULL;
}

FST_API fst_rdd *fst_python_rdd_at(fst_rdd *frames, const struct fst_python_function *f, size_t size,
                                   bool preserves_partitioning, bool from_barrier, fst_site site)
{
        struct fst_python_function own = {0};
        frames = rdd_given(frames, site);
        fst_rdd *rdd = rdd_new(frames->sc, RDD_PYTHON, FST_BYTES, frames, site);
        rdd_depend_narrowly(rdd, preserves_partitioning);
        rdd->lineage.barrier = from_barrier;
        if (!f)
                return rdd_fail(rdd, -EINVAL, "python needs a function");
        public_struct_copy(&own, sizeof(own), f, size);
        const char *refusal = python_function_refusal(&own);
        if (refusal)
                return rdd_fail(rdd, -EINVAL, refusal);
        rdd->python = python_function_copy(&own);
        if (!rdd->status && (frames->type.key != FST_KIND_BYTES || frames->type.value))
                rdd_fail(rdd, -EINVAL, "python needs rows of BYTES, each one or more frames");
        return rdd;
}

/* ---------------------------------------------------------------------------------------------------- on the wire */

static int python_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        const struct rdd_python *f = rdd->python;
        Firesteel__Python *p = arena_alloc(&w->arena, sizeof(*p));
        firesteel__python__init(p);
        p->command = (ProtobufCBinaryData){f->command.len, (uint8_t *)f->command.data};
        p->program = (char *)f->program;
        p->version = (char *)f->version;
        p->package_path = (char *)f->package_path;
        p->package_version = (char *)f->package_version;
        p->package_files = (char *)f->package_files;
        p->environment = f->environment;
        p->n_environment = python_list_length(f->environment);
        p->includes = f->includes;
        p->n_includes = python_list_length(f->includes);
        p->broadcast_ids = arena_alloc(&w->arena, (f->n_broadcasts + 1) * sizeof(*p->broadcast_ids));
        p->broadcast_sizes = arena_alloc(&w->arena, (f->n_broadcasts + 1) * sizeof(*p->broadcast_sizes));
        for (size_t i = 0; i < f->n_broadcasts; i++) {
                p->broadcast_ids[i] = f->broadcasts[i].id;
                p->broadcast_sizes[i] = f->broadcasts[i].size;
        }
        p->n_broadcast_ids = p->n_broadcast_sizes = f->n_broadcasts;
        p->accumulator = f->accumulator.id;
        m->python = p;
        return 0;
}

static char **python_decode_list(struct rdd_wire_reader *reader, char **list, size_t n)
{
        char **ended = wire_array(reader->memory, n + 1, sizeof(*ended));
        if (ended && n)
                memcpy(ended, list, n * sizeof(*ended));
        return ended;
}

static int python_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        const Firesteel__Python *p = m->python;
        const fst_rdd *parent = rdd_parent(rdd);
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value || !fst_type_equal(parent->type, rdd->type))
                return rdd_wire_bad(rdd, error, "its rows or those of its parent are not BYTES");
        if (!p || p->command.len == 0 || p->command.len > MAX_COMMAND || !*rdd_wire_text(p->program) ||
            p->n_broadcast_ids != p->n_broadcast_sizes || p->n_broadcast_ids > MAX_BROADCASTS || p->accumulator < 0)
                return rdd_wire_bad(rdd, error, "its function of Python is missing or invalid");
        struct rdd_python *f = wire_array(reader->memory, 1, sizeof(*f));
        if (!f)
                return rdd_wire_too_big(error);
        *f = (struct rdd_python){.program = p->program,
                                 .version = rdd_wire_text(p->version),
                                 .package_path = rdd_wire_text(p->package_path),
                                 .package_version = rdd_wire_text(p->package_version),
                                 .package_files = rdd_wire_text(p->package_files),
                                 .command = {(const char *)p->command.data, p->command.len},
                                 .n_broadcasts = p->n_broadcast_ids};
        if (p->accumulator)
                f->accumulator = (fst_accumulator){.id = p->accumulator, .kind = FST_ACCUMULATOR_LIST};
        f->environment = python_decode_list(reader, p->environment, p->n_environment);
        f->includes = python_decode_list(reader, p->includes, p->n_includes);
        f->broadcasts = wire_array(reader->memory, f->n_broadcasts + 1, sizeof(*f->broadcasts));
        if (!f->environment || !f->includes || !f->broadcasts)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < f->n_broadcasts; i++)
                f->broadcasts[i] = (fst_broadcast){p->broadcast_ids[i], p->broadcast_sizes[i]};
        rdd->python = f;
        return rdd_wire_check_partitions(rdd, error);
}

static struct op *python_rdd_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return python_op_new(run, rdd->python);
}

const struct rdd_class rdd_python_class = {
        .spark = "PythonRDD",
        .parents = 1,
        .free = python_rdd_free,
        .encode = python_encode,
        .decode = python_decode,
        .op_new = python_rdd_op_new,
};
