/*
 * See signature.h. A signature is the hash of the hashes of the stages: each map stage behind the action, in the order
 * of the walk, then the result stage.
 */
#include "driver/resume/signature.h"

#include "base/error.h"
#include "base/mem.h"
#include "driver/job_runner.h"
#include "driver/resume/pickled_classes.h"
#include "exec/task/stage_wire.h"
#include "rdd/rdd_visit.h"

#include <xxhash.h>

/* Functions of the program itself have no other process to go to, but they have a build-id. */
static const struct stage_modules_source signature_modules = {.same_program = true};

void signatures_init(struct signatures *s)
{
        *s = (struct signatures){0};
        pthread_mutex_init(&s->lock, NULL);
}

void signatures_deinit(struct signatures *s)
{
        pthread_mutex_destroy(&s->lock);
        vec_deinit(&s->shuffles);
}

void signatures_add_broadcast(struct signatures *s, int64_t id, const void *data, size_t size)
{
        uint64_t hash = XXH3_64bits_withSeed(data, size, (uint64_t)id);
        pthread_mutex_lock(&s->lock);
        s->broadcasts ^= hash;
        pthread_mutex_unlock(&s->lock);
}

static int signature_add_module(void *owner, const struct stage_module *file, struct fst_error *error)
{
        uint32_t *hash = owner;
        *hash ^= (uint32_t)XXH3_64bits(file->build_id, strlen(file->build_id));
        return 0;
}

/* The data of sources that the encoded stage does not have: files' times, and rows that tasks fetch. */
static uint64_t signature_of_source(const fst_rdd *rdd)
{
        switch (rdd->op) {
        case RDD_TEXT_FILE:
        case RDD_BINARY_RECORDS:
        case RDD_OBJECT_FILE:
        case RDD_JAVA_OBJECT_FILE:
                return rdd->text.splits.stamp;
        case RDD_WHOLE_FILES:
                return rdd->whole.splits.stamp;
        default:
                return 0;
        }
}

static uint64_t signature_of_rows(const fst_rdd *rdd)
{
        if (rdd->op == RDD_BROADCAST_JOIN)
                return rdd->broadcast_join.digest;
        if (rdd->op != RDD_PARALLELIZE || !rdd->parallelize.count)
                return 0;
        if (rdd->type.key != FST_KIND_BYTES)
                return XXH3_64bits(rdd->parallelize.data, rdd->parallelize.count * rdd->type.key_size);
        uint64_t hash = XXH3_64bits(rdd->parallelize.bytes, rdd->parallelize.n_bytes);
        const fst_bytes *rows = rdd->parallelize.data;
        for (size_t i = 0; rows && i < rdd->parallelize.count; i++)
                hash = hash * 31 + rows[i].len;
        return hash;
}

static int signature_of_stage(struct stage_context *work, struct stage_hash *hash, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf encoded = BUF_INIT;
        struct rdd_visit walk;
        int r = stage_encode(work, &signature_modules, &encoded, error);
        if (r == 0)
                r = stage_modules(encoded.data, encoded.len, signature_add_module, &hash->modules, error);
        if (r)
                return r;
        uint64_t rows = 0, inputs = 0;
        bool python = false;
        rdd_visit_init(&walk, (fst_rdd *)work->final, RDD_VISIT_STAGE);
        for (uint32_t i = 0; i < walk.n; i++) {
                python |= walk.rdds[i]->op == RDD_PYTHON;
                rows = rows * 31 + signature_of_rows(walk.rdds[i]);
                inputs = inputs * 31 + signature_of_source(walk.rdds[i]);
        }
        rdd_visit_deinit(&walk);
        if (python)
                pickled_classes_mask(encoded.data, encoded.len);
        XXH128_hash_t h = XXH3_128bits_withSeed(encoded.data, encoded.len, rows);
        hash->whole[0] = h.low64 ^ inputs * UINT64_C(0x9E3779B97F4A7C15);
        hash->whole[1] = h.high64;
        hash->inputs = (uint32_t)(inputs ^ inputs >> 32);
        hash->known = true;
        return 0;
}

/* The hash of the map stage that writes @shuffled. */
static int signature_of_shuffle(struct signatures *s, const fst_rdd *shuffled, struct stage_hash *hash,
                                struct fst_error *error)
{
        const size_t id = (size_t)shuffled->shuffle.id;
        struct stage_context work = {.final = rdd_parent(shuffled), .shuffled = shuffled};
        *hash = (struct stage_hash){0};
        pthread_mutex_lock(&s->lock);
        while (s->shuffles.len <= id)
                vec_push(&s->shuffles, (struct stage_hash){0});
        *hash = s->shuffles.data[id];
        pthread_mutex_unlock(&s->lock);
        if (hash->known)
                return 0;
        int r = signature_of_stage(&work, hash, error);
        if (r)
                return r;
        pthread_mutex_lock(&s->lock);
        s->shuffles.data[id] = *hash;
        pthread_mutex_unlock(&s->lock);
        return 0;
}

static void signature_add(XXH3_state_t *state, struct resume_signature *signature, const struct stage_hash *hash)
{
        XXH3_128bits_update(state, hash->whole, sizeof(hash->whole));
        signature->modules = signature->modules * 31 + hash->modules;
        signature->inputs = signature->inputs * 31 + hash->inputs;
}

/* Adds the stages of a job to the hash. */
static int signature_add_stages(struct signatures *s, const struct job_request *request, XXH3_state_t *state,
                                struct resume_signature *signature, struct fst_error *error)
{
        struct stage_context work = {.final = request->rdd, .action = request->action};
        struct stage_hash hash = {0};
        struct rdd_visit walk;
        int r = 0;
        rdd_visit_init(&walk, request->rdd, RDD_VISIT_ALL);
        for (uint32_t i = 0; i < walk.n && r == 0; i++)
                if (walk.rdds[i]->op == RDD_SHUFFLED && !walk.sources[i]) { /* a checkpoint needs no shuffle */
                        r = signature_of_shuffle(s, walk.rdds[i], &hash, error);
                        signature_add(state, signature, &hash);
                }
        rdd_visit_deinit(&walk);
        if (r == 0) {
                hash = (struct stage_hash){0};
                r = signature_of_stage(&work, &hash, error);
                signature_add(state, signature, &hash);
        }
        return r;
}

int signatures_of_job(struct signatures *s, const struct job_request *request, struct resume_signature *signature,
                      struct fst_error *error)
{
        XXH3_state_t *state = XXH3_createState();
        *signature = (struct resume_signature){0};
        if (!state)
                return error_set(error, -ENOMEM, "no memory for a hash");
        XXH3_128bits_reset(state);
        int r = signature_add_stages(s, request, state, signature, error);
        pthread_mutex_lock(&s->lock);
        XXH3_128bits_update(state, &s->broadcasts, sizeof(s->broadcasts));
        pthread_mutex_unlock(&s->lock);
        XXH3_128bits_update(state, &request->n, sizeof(request->n));
        if (request->partitions)
                XXH3_128bits_update(state, request->partitions, (size_t)request->n * sizeof(int));
        XXH128_hash_t h = XXH3_128bits_digest(state);
        XXH3_freeState(state);
        signature->whole[0] = h.low64;
        signature->whole[1] = h.high64;
        return r;
}
