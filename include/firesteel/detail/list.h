/* Elements of fst_list_next. Private: do not use these names. */
#pragma once

FST_BEGIN_DECLS

/* Ends the list and reports that its elements are not of @tag, or that it is damaged. Returns false. */
FST_API bool fst_list_bad(fst_list *list, uint32_t tag) __attribute__((cold));

static inline bool fst_list_length(fst_list *list, uint32_t kind, uint32_t fixed, size_t *len)
{
        uint32_t stored;
        *len = fixed;
        if (kind != FST_KIND_BYTES)
                return true;
        if (list->end - list->at < (ptrdiff_t)sizeof(stored))
                return false;
        memcpy(&stored, list->at, sizeof(stored));
        list->at += sizeof(stored);
        *len = stored;
        return true;
}

static inline bool fst_list_step(fst_list *list, uint32_t tag, fst_bytes *key, fst_bytes *value)
{
        if (list->at == list->end || list->status)
                return false;
        if (!fst_likely(FST_TAG(list->type.key, list->type.value) == tag) ||
            !fst_list_length(list, tag & 0xff, list->type.key_size, &key->len) ||
            !fst_list_length(list, tag >> 8, list->type.value_size, &value->len) ||
            (size_t)(list->end - list->at) < key->len || (size_t)(list->end - list->at) - key->len < value->len)
                return fst_list_bad(list, tag);
        key->data = list->at;
        value->data = list->at + key->len;
        list->at = value->data + value->len;
        return true;
}

__attribute__((error("elements of a list are read into int64_t, double, fst_bytes, or const void * for FIXED: see "
                     "firesteel/list.h"))) void
fst_refuse_element(fst_bytes element, ...);

#define FST_LIST_READER_OF(p)                                                                                          \
        _Generic((p),                                                                                                  \
                int64_t *: fst_list_i64,                                                                               \
                long long *: fst_list_long_long,                                                                       \
                double *: fst_list_f64,                                                                                \
                fst_bytes *: fst_list_bytes,                                                                           \
                const void **: fst_list_fixed,                                                                         \
                default: fst_refuse_element)

static inline void fst_list_i64(fst_bytes element, int64_t *x)
{
        memcpy(x, element.data, sizeof(*x));
}

static inline void fst_list_long_long(fst_bytes element, long long *x)
{
        memcpy(x, element.data, sizeof(*x));
}

static inline void fst_list_f64(fst_bytes element, double *x)
{
        memcpy(x, element.data, sizeof(*x));
}

static inline void fst_list_bytes(fst_bytes element, fst_bytes *x)
{
        *x = element;
}

static inline void fst_list_fixed(fst_bytes element, const void **x)
{
        *x = element.data;
}

#define FST_LIST_NEXT_1(list, x)                                                                                       \
        ({                                                                                                             \
                fst_bytes key_ = {0}, value_ = {0};                                                                    \
                bool more_ = fst_list_step((list), FST_TAG(FST_KIND_OF_POINTER(x), FST_KIND_NONE), &key_, &value_);    \
                if (more_)                                                                                             \
                        FST_LIST_READER_OF(x)(key_, x);                                                                \
                more_;                                                                                                 \
        })

#define FST_LIST_NEXT_2(list, k, v)                                                                                    \
        ({                                                                                                             \
                fst_bytes key_ = {0}, value_ = {0};                                                                    \
                bool more_ = fst_list_step((list), FST_TAG(FST_KIND_OF_POINTER(k), FST_KIND_OF_POINTER(v)), &key_,     \
                                           &value_);                                                                   \
                if (more_) {                                                                                           \
                        FST_LIST_READER_OF(k)(key_, k);                                                                \
                        FST_LIST_READER_OF(v)(value_, v);                                                              \
                }                                                                                                      \
                more_;                                                                                                 \
        })

FST_END_DECLS
