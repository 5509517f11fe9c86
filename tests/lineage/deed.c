/* See deed.h. */
#include "deed.h"

uint32_t deed_copies(const struct deed *d, uint64_t hash)
{
        return d->one ? 1 : (uint32_t)(mix(hash, d->number + 1) % 3);
}

struct row deed_row(const struct deed *d, uint64_t hash, uint32_t i, struct cell key, struct cell_room *room)
{
        uint64_t h = mix(hash, d->number + i);
        struct row r;
        r.key = d->keep_key ? key : cell_make(type_key(d->into), h % d->key_spread, d->odd, room->key);
        r.value = cell_make(type_value(d->into), mix(h, 5) % d->value_spread, d->odd, room->value);
        return r;
}

bool deed_keeps(const struct deed *d, uint64_t hash)
{
        return mix(hash, d->number) % 4 != 0;
}

uint64_t deed_hash_joined(struct cell key, struct cell left, struct cell right)
{
        return mix(mix(cell_hash(key), cell_hash(left)), cell_hash(right));
}

int deed_place(const struct deed *d, struct cell key, int partitions)
{
        return (int)(mix(cell_hash(key), d->number) % (uint64_t)partitions);
}

void deed_see(const struct deed *d, struct deed_summary *s, struct row r)
{
        s->hash = d->in_order ? mix(s->hash, row_hash(r)) : s->hash + row_hash(r);
        s->n++;
}

bool deed_has_seen_enough(const struct deed *d, const struct deed_summary *s)
{
        return d->reads && s->n >= d->reads;
}

uint64_t deed_summary_hash(struct deed_summary s)
{
        return mix(s.hash, s.n);
}

uint64_t deed_gather(int part, const uint64_t *told, int n)
{
        uint64_t hash = (uint64_t)part;
        for (int i = 0; i < n; i++)
                hash = mix(hash, told[i]);
        return hash;
}

void deed_chain_take(struct deed_chain *c, uint64_t hash)
{
        c->sum = c->sum * 31 + hash;
        c->factor *= 31;
}

void deed_chain_join(struct deed_chain *a, const struct deed_chain *b)
{
        a->sum = a->sum * b->factor + b->sum;
        a->factor *= b->factor;
}

/* x → fx + s with 32 bits each for f and s. f is odd, so that the map is invertible. */
int64_t deed_compose(int64_t a, int64_t b)
{
        uint32_t fa = (uint32_t)a | 1, sa = (uint32_t)((uint64_t)a >> 32);
        uint32_t fb = (uint32_t)b | 1, sb = (uint32_t)((uint64_t)b >> 32);
        return (int64_t)((uint64_t)(sa * fb + sb) << 32 | fa * fb);
}
