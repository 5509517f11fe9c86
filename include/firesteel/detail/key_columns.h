/* How fst_key_append_… write columns. Nothing here is meant to be called by name. */
#pragma once

static inline void fst_key_put(fst_key_buffer *key, unsigned char byte, enum fst_order order)
{
        key->data[key->len++] = order == FST_DESCENDING ? (unsigned char)~byte : byte;
}

/* The most significant byte first. */
static inline int fst_key_append_u64(fst_key_buffer *key, uint64_t x, enum fst_order order)
{
        if (key->room - key->len < sizeof(x))
                return -ENOSPC;
        for (int shift = 56; shift >= 0; shift -= 8)
                fst_key_put(key, (unsigned char)(x >> shift), order);
        return 0;
}
