/*
 * The heavy keys of a join (rdd/cogroup/heavy_keys.h): preliminary jobs sample the keys of both sides.
 *
 * The number of samples grows with that of partitions, because a key that is heavy among more partitions may have fewer
 * rows. The same program on the same input draws the same samples in each run (exec/actions/action_sample.c).
 */
#include "driver/actions/preliminary_jobs.h"

#include "base/mem.h"
#include "driver/actions/sample_job.h"
#include "rdd/aggregate/hash.h"
#include "rdd/pipeline/record.h"

#define LEAST_SAMPLES 4000.0
#define MOST_SAMPLES 1e6
#define SAMPLES_PER_PARTITION 100.0

bool heavy_keys_ready(const fst_rdd *rdd)
{
        return rdd->op != RDD_COGROUP || !rdd->cogroup.spread || __atomic_load_n(&rdd->cogroup.ready, __ATOMIC_ACQUIRE);
}

/* The hash of a sampled key of @type. */
static uint64_t sample_key_hash(fst_type type, const struct sample_key *key)
{
        int64_t number = record_i64_of(key->prefix);
        const uint64_t bits = record_f64_bits_of(key->prefix);
        uint64_t hash;
        fst_bytes bytes = key->bytes;
        fst_batch batch = {.rows = 1, .type = {.key = type.key, .key_size = type.key_size}};
        if (type.key == FST_KIND_F64)
                memcpy(&number, &bits, sizeof(number));
        if (type.key == FST_KIND_BYTES)
                batch.key.bytes = &bytes;
        else if (type.key == FST_KIND_FIXED)
                batch.key.fixed = (char *)bytes.data;
        else
                batch.key.i64 = &number;
        hash_keys(&batch, &hash);
        return hash;
}

static struct heavy_samples heavy_samples_of(const struct sample_job *sample, fst_type type)
{
        struct heavy_samples samples = {new_array(struct heavy_sample, sample_job_count(sample)), 0};
        for (int i = 0; i < sample->partitions; i++) {
                const struct sampled_keys *d = sample->drawn[i];
                for (size_t k = 0; d && k < d->n; k++)
                        samples.keys[samples.n++] =
                                (struct heavy_sample){sample_key_hash(type, &d->keys[k]), d->keys[k].weight};
        }
        return samples;
}

/* Draws about @wanted keys of @rdd. */
static int heavy_samples_draw(struct heavy_samples *samples, fst_rdd *rdd, double wanted, fst_site site,
                              struct fst_error *error)
{
        const int inputs = MAX(rdd->lineage.partitions, 1);
        const size_t each = (size_t)(2 * wanted / inputs) + 1;
        bool quick = sample_job_can_be_quick(rdd);
        for (;; quick = false) {
                struct sample_job sample = {0};
                int r = sample_job_draw(&sample, rdd, each, quick, site, error);
                bool enough = !quick || (double)sample_job_count(&sample) >= wanted;
                if (r == 0 && enough)
                        *samples = heavy_samples_of(&sample, rdd->type);
                sample_job_deinit(&sample);
                if (r || enough)
                        return r;
        }
}

int heavy_keys_compute(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        struct heavy_samples samples[2] = {{NULL, 0}, {NULL, 0}};
        struct partitioner *p[] = {&rdd->parents[JOIN_LEFT]->shuffle.partitioner,
                                   &rdd->parents[JOIN_RIGHT]->shuffle.partitioner};
        const double wanted = MIN(MAX(SAMPLES_PER_PARTITION * p[0]->partitions, LEAST_SAMPLES), MOST_SAMPLES);
        int r = 0;
        for (int side = 0; side < 2 && r == 0; side++)
                r = heavy_samples_draw(&samples[side], rdd_parent(rdd->parents[side]), wanted, site, error);
        if (r == 0) {
                struct heavy_keys heavy;
                heavy_keys_choose(&heavy, samples, p[0]->partitions, rdd->cogroup.spread);
                for (int side = 0; side < 2; side++)
                        partitioner_set_heavy_keys(p[side], &heavy);
                heavy_keys_deinit(&heavy);
                __atomic_store_n(&rdd->cogroup.ready, true, __ATOMIC_RELEASE);
        }
        free(samples[JOIN_LEFT].keys);
        free(samples[JOIN_RIGHT].keys);
        return r;
}
