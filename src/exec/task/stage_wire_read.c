/*
 * Decodes stages; see stage_wire.h.
 *
 * The message is unpacked into the memory that becomes the stage's own: names, captured structs and paths stay where
 * protobuf-c put them. Only captured structs are moved, to align them as malloc does.
 */
#include "exec/task/stage_wire.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "rdd/builtins.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_store.h"

struct stage_reader {
        struct rdd_wire_reader base;
        Firesteel__Module *const *modules;
        size_t n_modules;
};

static int bad_stage(struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "malformed stage: %s", what);
}

/* ----------------------------------------------------------------------------------------------- outermost fields */

struct fields {
        const unsigned char *at, *end;
};

struct field {
        uint64_t number, value; /* value: a varint or a length */
        const unsigned char *data;
        bool is_bytes;
};

static bool read_varint(struct fields *f, uint64_t *value)
{
        *value = 0;
        for (int shift = 0; shift < 64 && f->at < f->end; shift += 7) {
                unsigned char byte = *f->at++;
                *value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return true;
        }
        return false;
}

/* Reads the next field of the outermost message: 1, 0 at the end, or -1 for malformed bytes. */
static int next_field(struct fields *f, struct field *field)
{
        uint64_t key;
        if (f->at == f->end)
                return 0;
        if (!read_varint(f, &key))
                return -1;
        *field = (struct field){.number = key >> 3};
        switch (key & 7) {
        case 0:
                return read_varint(f, &field->value) ? 1 : -1;
        case 1:
                field->value = 8;
                break;
        case 2:
                if (!read_varint(f, &field->value))
                        return -1;
                field->is_bytes = true;
                break;
        case 5:
                field->value = 4;
                break;
        default:
                return -1;
        }
        if (field->value > (uint64_t)(f->end - f->at))
                return -1;
        field->data = f->at;
        f->at += field->value;
        return 1;
}

/* Every stage begins with its version, in all versions. */
static int check_version(const void *data, size_t len, struct fst_error *error)
{
        struct fields fields = {data, (const unsigned char *)data + len};
        struct field field;
        if (len > MAX_STAGE_WIRE)
                return bad_stage(error, "it is too large");
        if (next_field(&fields, &field) != 1 || field.number != 1 || field.is_bytes)
                return bad_stage(error, "not a stage");
        if (field.value != STAGE_WIRE_VERSION)
                return error_set(error, -EBADMSG,
                                 "the stage has version %llu, but this process supports version %d: driver "
                                 "and executors must run the same Firesteel",
                                 (unsigned long long)field.value, STAGE_WIRE_VERSION);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- modules */

static bool read_hex_digits(ProtobufCBinaryData id, char text[2 * MODULE_BUILD_ID_MAX + 1])
{
        static const char digits[] = "0123456789abcdef";
        if (id.len == 0 || id.len > MODULE_BUILD_ID_MAX)
                return false;
        for (size_t i = 0; i < id.len; i++) {
                text[2 * i] = digits[id.data[i] >> 4];
                text[2 * i + 1] = digits[id.data[i] & 15];
        }
        text[2 * id.len] = 0;
        return true;
}

static int pass_module(const struct field *field, int (*each)(void *, const struct stage_module *, struct fst_error *),
                       void *owner, struct fst_error *error)
{
        struct wire_memory memory = wire_memory_for(field->value);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        struct stage_module file = {0};
        Firesteel__Module *m = firesteel__module__unpack(&allocator, field->value, field->data);
        int r;
        if (!m || !read_hex_digits(m->build_id, file.build_id) || (m->sha256.len && m->sha256.len != 32)) {
                r = bad_stage(error, "a module is damaged");
        } else {
                file.name = m->name;
                file.has_sha256 = m->sha256.len == 32;
                file.size = m->size;
                if (file.has_sha256)
                        memcpy(file.sha256, m->sha256.data, 32);
                r = each(owner, &file, error);
        }
        arena_deinit(&memory.arena);
        return r;
}

int stage_modules(const void *data, size_t len,
                  int (*each)(void *owner, const struct stage_module *file, struct fst_error *error), void *owner,
                  struct fst_error *error)
{
        struct fields fields = {data, (const unsigned char *)data + len};
        struct field field;
        int r = check_version(data, len, error), more = 0;
        while (r == 0 && (more = next_field(&fields, &field)) == 1)
                if (field.number == 2 && field.is_bytes)
                        r = pass_module(&field, each, owner, error);
        return r == 0 && more < 0 ? bad_stage(error, "it is damaged") : r;
}

/* ----------------------------------------------------------------------------------------------------- functions */

static int decode_builtin(const Firesteel__Function *m, fst_fn *fn, struct fst_error *error)
{
        const fst_fn *found = builtin_find(m->name, m->shape);
        if (!found)
                return error_set(error, -EBADMSG, "this Firesteel has no built-in function %s", m->name);
        *fn = *found;
        return 0;
}

static int decode_function(struct rdd_wire_reader *base, const Firesteel__Function *m, fst_fn *fn,
                           struct fst_error *error)
{
        struct stage_reader *reader = container_of(base, struct stage_reader, base);
        char build_id[2 * MODULE_BUILD_ID_MAX + 1];
        fst_fn found = {.shape = m->shape, .name = m->name};
        int r;
        if (m->module == 0) {
                r = decode_builtin(m, &found, error);
        } else if (m->module > reader->n_modules ||
                   !read_hex_digits(reader->modules[m->module - 1]->build_id, build_id)) {
                r = bad_stage(error, "a function has no module");
        } else if (FST_SHAPE_FORM(m->shape) == FST_FORM_NONE || FST_SHAPE_FORM(m->shape) == FST_FORM_BUILTIN ||
                   FST_SHAPE_FORM(m->shape) > FST_FORM_PLACE) {
                r = bad_stage(error, "a function has an unknown form");
        } else {
                r = module_resolve(build_id, m->offset, &found.code, error);
                if (r)
                        error_wrap(error, r, "%s", m->name);
        }
        if (r == 0 && m->captured.len) {
                char *captured = m->captured.len > UINT32_MAX ? NULL : wire_array(base->memory, 1, m->captured.len);
                if (!captured)
                        return rdd_wire_too_big(error);
                memcpy(captured, m->captured.data, m->captured.len);
                found.captured = captured;
                found.captured_size = (uint32_t)m->captured.len;
        }
        if (r == 0)
                *fn = found;
        return r;
}

/* -------------------------------------------------------------------------------------------------------- inputs */

static int decode_locations(const Firesteel__Stage *stage, const struct exec_env *env,
                            struct shuffle_reader_env *inputs, struct fst_error *error)
{
        const char *own = env->executor_id ? env->executor_id : "";
        inputs->here = -1;
        inputs->locations = new_array(struct shuffle_location, stage->n_locations);
        for (size_t i = 0; i < stage->n_locations; i++) {
                const Firesteel__Location *m = stage->locations[i];
                if (m->port > 65535 || m->executor < 0)
                        return bad_stage(error, "an executor's location is invalid");
                inputs->locations[i] = (struct shuffle_location){.executor = m->executor,
                                                                 .executor_id = mem_strdup(m->executor_id),
                                                                 .host = mem_strdup(m->host),
                                                                 .port = (int)m->port,
                                                                 .service = m->service};
                inputs->n_locations = (int)i + 1;
                if (strcmp(m->executor_id, own) == 0)
                        inputs->here = (int)i;
        }
        return 0;
}

static int decode_inputs(const Firesteel__Stage *stage, struct shuffle_reader_env *inputs, struct fst_error *error)
{
        inputs->inputs = new_array(struct shuffle_inputs, stage->n_inputs);
        for (size_t i = 0; i < stage->n_inputs; i++) {
                const Firesteel__ShuffleInput *m = stage->inputs[i];
                struct shuffle_inputs *to = &inputs->inputs[i];
                uint64_t id = 0;
                if (m->n_location != m->n_task_id || m->n_writer != m->n_place ||
                    (m->n_writer && m->n_writer != m->n_location))
                        return bad_stage(error, "a shuffle has a wrong number of map output locations");
                to->shuffle_id = m->shuffle;
                to->maps = new_array(struct shuffle_map, m->n_location);
                to->n = (int)m->n_location;
                inputs->n_inputs = (int)i + 1;
                for (size_t j = 0; j < m->n_location; j++) {
                        if (m->location[j] > (uint32_t)inputs->n_locations)
                                return bad_stage(error, "a map output has an invalid location");
                        id += (uint64_t)m->task_id[j];
                        to->maps[j] =
                                (struct shuffle_map){.task_id = (int64_t)id, .location = (int32_t)m->location[j] - 1};
                        if (!m->n_writer || !m->writer[j])
                                continue;
                        if (m->location[j] || m->writer[j] > INT32_MAX / 2 || m->place[j] >= REMOTE_PLACES)
                                return bad_stage(error, "a map output has an invalid place");
                        to->maps[j].location = SHUFFLE_REMOTE - (int32_t)(m->writer[j] - 1);
                        to->maps[j].place = m->place[j];
                }
        }
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- stages */

static int decode_action(struct stage_reader *reader, const Firesteel__Action *m, struct stage_context *work,
                         struct fst_error *error)
{
        const struct action_class *class = action_class_of(m->name);
        if (!class)
                return error_set(error, -EBADMSG, "this Firesteel has no action %s", m->name);
        struct action *action = NULL;
        if (class->decode) {
                int r = class->decode(&reader->base, m, work->final->type, &action, error);
                if (r)
                        return r;
        } else if (!(action = wire_array(reader->base.memory, 1, sizeof(*action)))) {
                return rdd_wire_too_big(error);
        }
        action->class = class;
        action->type = work->final->type;
        action->sample_budget = m->sample_budget;
        work->action = action;
        return 0;
}

static int decode_stage(struct stage_reader *reader, const Firesteel__Stage *stage, struct stage_context *work,
                        struct fst_error *error)
{
        reader->modules = stage->modules;
        reader->n_modules = stage->n_modules;
        work->stage_id = stage->stage_id;
        work->stage_attempt = stage->stage_attempt;
        work->barrier = stage->barrier;
        work->task_cpus = stage->task_cpus;
        work->output_place = stage->output_place;
        if (work->output_place >= REMOTE_PLACES)
                return bad_stage(error, "the place of its outputs is invalid");
        for (size_t i = 0; i < stage->n_properties; i++)
                strmap_set(&work->properties, stage->properties[i]->key, stage->properties[i]->value);
        if (!stage->shuffle_write == !stage->action)
                return bad_stage(error, "it has neither an action nor a shuffle");
        int r = rdd_wire_decode(&reader->base, stage->rdds, stage->n_rdds, &work->final, error);
        if (r)
                return r;
        r = stage->action ? decode_action(reader, stage->action, work, error)
                          : rdd_wire_decode_shuffle(&reader->base, stage->shuffle_write, work->final->type,
                                                    &work->shuffled, error);
        if (r == 0)
                r = decode_locations(stage, work->env, &work->inputs, error);
        return r ? r : decode_inputs(stage, &work->inputs, error);
}

int stage_decode(const void *data, size_t len, const struct exec_env *env, struct stage_context **out,
                 struct fst_error *error)
{
        int r = check_version(data, len, error);
        if (r)
                return r;
        struct wire_memory memory = wire_memory_for(len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        struct stage_reader reader = {.base = {.memory = &memory, .function = decode_function}};
        struct stage_context *work = new0(struct stage_context);
        work->refs = 1;
        work->env = env;
        Firesteel__Stage *stage = firesteel__stage__unpack(&allocator, len, data);
        r = stage ? decode_stage(&reader, stage, work, error)
                  : bad_stage(error, "it is damaged, or needs too much memory for its size");
        work->memory = memory.arena;
        if (r) {
                stage_context_unref(work);
                return r;
        }
        work->inputs.store = env->shuffles;
        work->inputs.space = env->shuffles ? &env->shuffles->space : NULL;
        work->inputs.client = env->transfers;
        work->inputs.service_client = env->service_transfers;
        work->inputs.app_id = env->app_id;
        work->inputs.remote = env->remote_outputs;
        work->inputs.limits = env->fetch_limits;
        *out = work;
        return 0;
}
