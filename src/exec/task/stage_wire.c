/*
 * Encodes stages; see stage_wire.h. stage_wire_read.c decodes them.
 *
 * A message is built in an arena, borrows from lineage where possible, and is packed at once. Parts that are packed
 * repeatedly stay small (protobuf-c computes a message's size at each level).
 */
#include "exec/task/stage_wire.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "exec/app/changed_globals.h"
#include "rdd/builtins.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

#include <sys/auxv.h>

struct stage_writer {
        struct rdd_wire_writer base;
        const struct stage_modules_source *source;
        const struct module **modules; /* in the arena, as are the messages */
        Firesteel__Module **messages;
        size_t n, cap;
};

/* ----------------------------------------------------------------------------------------------------- functions */

/* True if @module is the program of this process, which other processes cannot load. */
static bool stage_wire_is_program(const struct module *module)
{
        uintptr_t entry = getauxval(AT_ENTRY);
        return entry >= module->start && entry < module->end;
}

static uint8_t hex_digit(char c)
{
        return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static int check_module(const struct stage_writer *w, const struct module *module, const char *function,
                        struct fst_error *error)
{
        if (stage_wire_is_program(module) && !w->source->same_program)
                return error_set(error, -EINVAL,
                                 "%s is a function of the program itself, which executors cannot load: build the "
                                 "application as a shared object (`firesteel compile app.c -o app.so`) and submit "
                                 "that, or use a local master",
                                 function);
        if (!module->info.build_id[0])
                return error_set(error, -EINVAL,
                                 "%s has no build-id, by which executors know its functions: link it with "
                                 "-Wl,--build-id=sha1",
                                 module->name);
        return 0;
}

static int describe_module(struct stage_writer *w, const struct module *module, Firesteel__Module *m,
                           struct fst_error *error)
{
        struct arena *arena = &w->base.arena;
        struct stage_module file = {.name = module->name};
        const char *id = module->info.build_id;
        size_t bytes = strlen(id) / 2;
        memcpy(file.build_id, id, sizeof(file.build_id));
        if (w->source->identify && !stage_wire_is_program(module)) {
                int r = w->source->identify(w->source->owner, module, &file, error);
                if (r)
                        return r;
        }
        m->name = (char *)module->name;
        m->build_id.data = arena_alloc(arena, bytes);
        m->build_id.len = bytes;
        for (size_t i = 0; i < bytes; i++)
                m->build_id.data[i] = (uint8_t)(hex_digit(id[2 * i]) << 4 | hex_digit(id[2 * i + 1]));
        if (file.has_sha256) {
                m->sha256.data = (uint8_t *)arena_copy(arena, file.sha256, sizeof(file.sha256));
                m->sha256.len = sizeof(file.sha256);
                m->size = file.size;
        }
        return 0;
}

/* Returns the index + 1 of @module among the stage's modules. */
static int add_module(struct stage_writer *w, const struct module *module, const char *function, uint32_t *number,
                      struct fst_error *error)
{
        struct arena *arena = &w->base.arena;
        for (size_t i = 0; i < w->n; i++) {
                if (w->modules[i] == module) {
                        *number = (uint32_t)i + 1;
                        return 0;
                }
        }
        Firesteel__Module *m = arena_alloc(arena, sizeof(*m));
        firesteel__module__init(m);
        int r = check_module(w, module, function, error);
        if (r == 0)
                r = describe_module(w, module, m, error);
        if (r)
                return r;
        if (w->n == w->cap) {
                size_t cap = w->cap ? 2 * w->cap : 8;
                const struct module **modules = arena_alloc(arena, cap * sizeof(*modules));
                Firesteel__Module **messages = arena_alloc(arena, cap * sizeof(*messages));
                for (size_t i = 0; i < w->n; i++) {
                        modules[i] = w->modules[i];
                        messages[i] = w->messages[i];
                }
                w->modules = modules;
                w->messages = messages;
                w->cap = cap;
        }
        w->modules[w->n] = module;
        w->messages[w->n++] = m;
        *number = (uint32_t)w->n;
        return 0;
}

static int encode_function(struct rdd_wire_writer *base, const fst_fn *fn, Firesteel__Function **out,
                           struct fst_error *error)
{
        struct stage_writer *w = container_of(base, struct stage_writer, base);
        Firesteel__Function *m = arena_alloc(&base->arena, sizeof(*m));
        firesteel__function__init(m);
        m->shape = fn->shape;
        m->captured.data = (uint8_t *)fn->captured;
        m->captured.len = fn->captured ? fn->captured_size : 0;
        if (!builtin_is(fn)) {
                struct module_function function;
                int r = module_describe(fn->code, fn->name, &function, error);
                if (r == 0)
                        r = add_module(w, function.module, function.name, &m->module, error);
                if (r == 0 && !w->source->same_program)
                        r = changed_globals_check(&function, error);
                if (r)
                        return r;
                m->offset = function.offset;
        }
        m->name = (char *)(fn->name ? fn->name : "a function");
        *out = m;
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- inputs */

static void encode_locations(struct stage_writer *w, const struct shuffle_reader_env *inputs, Firesteel__Stage *stage)
{
        size_t n = (size_t)inputs->n_locations;
        stage->locations = arena_alloc(&w->base.arena, n * sizeof(*stage->locations));
        stage->n_locations = n;
        Firesteel__Location *all = arena_alloc(&w->base.arena, n * sizeof(*all));
        for (size_t i = 0; i < n; i++) {
                const struct shuffle_location *from = &inputs->locations[i];
                Firesteel__Location *m = stage->locations[i] = &all[i];
                firesteel__location__init(m);
                m->executor = from->executor;
                m->executor_id = from->executor_id ? from->executor_id : (char *)"";
                m->host = from->host ? from->host : (char *)"";
                m->port = (uint32_t)from->port;
                m->service = from->service;
        }
}

static void encode_remote_places(struct stage_writer *w, const struct shuffle_inputs *from, Firesteel__ShuffleInput *m)
{
        size_t maps = (size_t)from->n, remote = 0;
        for (size_t j = 0; j < maps; j++)
                remote += shuffle_map_is_remote(&from->maps[j]);
        if (!remote)
                return;
        m->writer = arena_alloc(&w->base.arena, maps * sizeof(*m->writer));
        m->place = arena_alloc(&w->base.arena, maps * sizeof(*m->place));
        m->n_writer = m->n_place = maps;
        for (size_t j = 0; j < maps; j++) {
                const struct shuffle_map *map = &from->maps[j];
                m->writer[j] = shuffle_map_is_remote(map) ? (uint32_t)shuffle_map_writer(map) + 1 : 0;
                m->place[j] = map->place;
        }
}

static void encode_inputs(struct stage_writer *w, const struct shuffle_reader_env *inputs, Firesteel__Stage *stage)
{
        struct arena *arena = &w->base.arena;
        size_t n = (size_t)inputs->n_inputs;
        stage->inputs = arena_alloc(arena, n * sizeof(*stage->inputs));
        stage->n_inputs = n;
        for (size_t i = 0; i < n; i++) {
                const struct shuffle_inputs *from = &inputs->inputs[i];
                size_t maps = (size_t)from->n;
                Firesteel__ShuffleInput *m = stage->inputs[i] = arena_alloc(arena, sizeof(*m));
                firesteel__shuffle_input__init(m);
                m->shuffle = from->shuffle_id;
                m->location = arena_alloc(arena, maps * sizeof(*m->location));
                m->task_id = arena_alloc(arena, maps * sizeof(*m->task_id));
                m->n_location = m->n_task_id = maps;
                encode_remote_places(w, from, m);
                int64_t before = 0;
                for (size_t j = 0; j < maps; j++) {
                        bool there = from->maps[j].location != -1;
                        int64_t id = there ? from->maps[j].task_id : before;
                        m->location[j] = from->maps[j].location >= 0 ? (uint32_t)from->maps[j].location + 1 : 0;
                        m->task_id[j] = id - before;
                        before = id;
                }
        }
}

/* --------------------------------------------------------------------------------------------------------- stages */

static int encode_action(struct stage_writer *w, const struct action *action, Firesteel__Action **out,
                         struct fst_error *error)
{
        Firesteel__Action *m = arena_alloc(&w->base.arena, sizeof(*m));
        firesteel__action__init(m);
        m->name = (char *)action->class->name;
        m->sample_budget = action->sample_budget;
        *out = m;
        return action->class->encode ? action->class->encode(action, &w->base, m, error) : 0;
}

static void encode_properties(struct stage_writer *w, const struct strmap *properties, Firesteel__Stage *stage)
{
        stage->properties = arena_alloc(&w->base.arena, properties->count * sizeof(*stage->properties) + 1);
        for (struct strmap_entry *e = NULL; (e = strmap_next(properties, e));) {
                Firesteel__LocalProperty *m = arena_alloc(&w->base.arena, sizeof(*m));
                firesteel__local_property__init(m);
                m->key = e->key;
                m->value = e->value;
                stage->properties[stage->n_properties++] = m;
        }
}

static int encode_stage_message(struct stage_writer *w, const struct stage_context *work, Firesteel__Stage *stage,
                                struct fst_error *error)
{
        firesteel__stage__init(stage);
        stage->version = STAGE_WIRE_VERSION;
        stage->stage_id = work->stage_id;
        stage->stage_attempt = work->stage_attempt;
        stage->barrier = work->barrier;
        stage->task_cpus = work->task_cpus;
        stage->output_place = work->output_place;
        int r = rdd_wire_encode(&w->base, work->final, &stage->rdds, &stage->n_rdds, error);
        if (r == 0 && work->shuffled)
                r = rdd_wire_encode_shuffle(&w->base, work->shuffled, &stage->shuffle_write, error);
        else if (r == 0)
                r = encode_action(w, work->action, &stage->action, error);
        if (r)
                return r;
        encode_locations(w, &work->inputs, stage);
        encode_inputs(w, &work->inputs, stage);
        encode_properties(w, &work->properties, stage);
        stage->modules = w->messages;
        stage->n_modules = w->n;
        return 0;
}

int stage_encode(const struct stage_context *work, const struct stage_modules_source *modules, struct buf *out,
                 struct fst_error *error)
{
        struct stage_writer w = {.base = {.inline_left = RDD_WIRE_INLINE, .function = encode_function},
                                 .source = modules};
        Firesteel__Stage stage;
        int r = encode_stage_message(&w, work, &stage, error);
        if (r == 0) {
                size_t size = firesteel__stage__get_packed_size(&stage);
                if (size > MAX_STAGE_WIRE) {
                        r = error_set(
                                error, -E2BIG,
                                "stage %d has an encoded size of %zu bytes, more than can be sent: use fewer input "
                                "partitions, or smaller captured structs",
                                work->stage_id, size);
                } else {
                        buf_reserve(out, size);
                        firesteel__stage__pack(&stage, (uint8_t *)out->data + out->len);
                        out->len += size;
                        out->data[out->len] = 0;
                }
        }
        arena_deinit(&w.base.arena);
        return r;
}
