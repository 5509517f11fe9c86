/* The fields of FST_FIELDS, one by one. Private: do not use these names. */
#pragma once

#include <firesteel/detail/refuse.h>

#ifdef __cplusplus
extern "C++" {
/* The kind of a field by its type. Other types have no kind, and FST_CHECK_FIELD does not compile. */
template <class T> struct fst_field_kind_of {
        static constexpr uint32_t value = 0;
};
template <> struct fst_field_kind_of<int64_t> {
        static constexpr uint32_t value = FST_FIELD_I64;
};
template <> struct fst_field_kind_of<double> {
        static constexpr uint32_t value = FST_FIELD_F64;
};
template <> struct fst_field_kind_of<fst_bytes> {
        static constexpr uint32_t value = FST_FIELD_BYTES;
};
template <> struct fst_field_kind_of<int32_t> {
        static constexpr uint32_t value = FST_FIELD_I32;
};
template <> struct fst_field_kind_of<bool> {
        static constexpr uint32_t value = FST_FIELD_BOOL;
};
}
#define FST_KIND_OF_FIELD(name, member) (fst_field_kind_of<decltype(name::member)>::value)
#define FST_ASSERT_FIELD static_assert
#else
#define FST_KIND_OF_FIELD(name, member)                                                                                \
        _Generic(((struct name *)0)->member, int64_t                                                                   \
                 : FST_FIELD_I64, long long                                                                            \
                 : FST_FIELD_I64, double                                                                               \
                 : FST_FIELD_F64, fst_bytes                                                                            \
                 : FST_FIELD_BYTES, int32_t                                                                            \
                 : FST_FIELD_I32, bool                                                                                 \
                 : FST_FIELD_BOOL, default : 0)
#define FST_ASSERT_FIELD _Static_assert
#endif

#define FST_CHECK_FIELD(name, member)                                                                                  \
        FST_ASSERT_FIELD(FST_KIND_OF_FIELD(name, member) != 0,                                                         \
                         "the member " #member " of struct " #name                                                     \
                         " cannot be a field: fields are int64_t, int32_t, double, bool or fst_bytes, see "            \
                         "firesteel/struct.h");
#define FST_CHECK_FIELD_MANY(name)                                                                                     \
        FST_ASSERT_FIELD(sizeof(struct name) == 0, "FST_FIELDS(" #name ", ...) names more than 32 members: a row has " \
                                                   "at most 32 columns, see firesteel/struct.h");
#define FST_DESCRIBE_FIELD_MANY(name)                                                                                  \
        {                                                                                                              \
                "", 0, FST_FIELD_I64                                                                                   \
        }
#define FST_DESCRIBE_FIELD(name, member)                                                                               \
        {#member, (uint32_t)offsetof(struct name, member), FST_KIND_OF_FIELD(name, member)},

/* @data, which must be a pointer to struct @name. */
#ifdef __cplusplus
#define FST_STRUCTS(name, data) static_cast<const struct name *>(data)
#else
FST_REFUSE(const void *, fst_refuse_structs,
           "fst_parallelize_structs takes an array of the struct that it names: see firesteel/struct.h");
#define FST_STRUCTS(name, data)                                                                                        \
        _Generic((data), struct name * : (data), const struct name * : (data), default : fst_refuse_structs("", (data)))
#endif

/*
 * X(name, member) for each member, up to FST_FIELDS_MAX. With more of them, one becomes the name of the macro that is
 * chosen, FST_EACH_FIELD_MANY: 96 further places after the last name tell.
 */
#define FST_EACH_FIELD_PICK(                                                                                           \
        name, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22,     \
        m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, \
        x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, x33, x34, x35, x36,  \
        x37, x38, x39, x40, x41, x42, x43, x44, x45, x46, x47, x48, x49, x50, x51, x52, x53, x54, x55, x56, x57, x58,  \
        x59, x60, x61, x62, x63, x64, x65, x66, x67, x68, x69, x70, x71, x72, x73, x74, x75, x76, x77, x78, x79, x80,  \
        x81, x82, x83, x84, x85, x86, x87, x88, x89, x90, x91, x92, x93, x94, x95, x96, each, ...)                     \
        each
#define FST_EACH_FIELD_PICK_OF(...) FST_EACH_FIELD_PICK(__VA_ARGS__)
#define FST_EACH_FIELD_MANY_8                                                                                          \
        FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY,       \
                FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY, FST_EACH_FIELD_MANY
#define FST_EACH_FIELD_MANY_32                                                                                         \
        FST_EACH_FIELD_MANY_8, FST_EACH_FIELD_MANY_8, FST_EACH_FIELD_MANY_8, FST_EACH_FIELD_MANY_8
#define FST_EACH_FIELD(X, name, ...)                                                                                   \
        FST_EACH_FIELD_PICK_OF(                                                                                        \
                name, __VA_ARGS__, FST_EACH_FIELD_MANY_32, FST_EACH_FIELD_MANY_32, FST_EACH_FIELD_MANY_32,             \
                FST_EACH_FIELD_32, FST_EACH_FIELD_31, FST_EACH_FIELD_30, FST_EACH_FIELD_29, FST_EACH_FIELD_28,         \
                FST_EACH_FIELD_27, FST_EACH_FIELD_26, FST_EACH_FIELD_25, FST_EACH_FIELD_24, FST_EACH_FIELD_23,         \
                FST_EACH_FIELD_22, FST_EACH_FIELD_21, FST_EACH_FIELD_20, FST_EACH_FIELD_19, FST_EACH_FIELD_18,         \
                FST_EACH_FIELD_17, FST_EACH_FIELD_16, FST_EACH_FIELD_15, FST_EACH_FIELD_14, FST_EACH_FIELD_13,         \
                FST_EACH_FIELD_12, FST_EACH_FIELD_11, FST_EACH_FIELD_10, FST_EACH_FIELD_9, FST_EACH_FIELD_8,           \
                FST_EACH_FIELD_7, FST_EACH_FIELD_6, FST_EACH_FIELD_5, FST_EACH_FIELD_4, FST_EACH_FIELD_3,              \
                FST_EACH_FIELD_2, FST_EACH_FIELD_1, FST_EACH_FIELD_NONE)                                               \
        (X, name, __VA_ARGS__)
#define FST_EACH_FIELD_MANY(X, name, ...) X##_MANY(name)
#define FST_EACH_FIELD_1(X, name, m) X(name, m)
#define FST_EACH_FIELD_2(X, name, m, ...) X(name, m) FST_EACH_FIELD_1(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_3(X, name, m, ...) X(name, m) FST_EACH_FIELD_2(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_4(X, name, m, ...) X(name, m) FST_EACH_FIELD_3(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_5(X, name, m, ...) X(name, m) FST_EACH_FIELD_4(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_6(X, name, m, ...) X(name, m) FST_EACH_FIELD_5(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_7(X, name, m, ...) X(name, m) FST_EACH_FIELD_6(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_8(X, name, m, ...) X(name, m) FST_EACH_FIELD_7(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_9(X, name, m, ...) X(name, m) FST_EACH_FIELD_8(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_10(X, name, m, ...) X(name, m) FST_EACH_FIELD_9(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_11(X, name, m, ...) X(name, m) FST_EACH_FIELD_10(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_12(X, name, m, ...) X(name, m) FST_EACH_FIELD_11(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_13(X, name, m, ...) X(name, m) FST_EACH_FIELD_12(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_14(X, name, m, ...) X(name, m) FST_EACH_FIELD_13(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_15(X, name, m, ...) X(name, m) FST_EACH_FIELD_14(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_16(X, name, m, ...) X(name, m) FST_EACH_FIELD_15(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_17(X, name, m, ...) X(name, m) FST_EACH_FIELD_16(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_18(X, name, m, ...) X(name, m) FST_EACH_FIELD_17(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_19(X, name, m, ...) X(name, m) FST_EACH_FIELD_18(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_20(X, name, m, ...) X(name, m) FST_EACH_FIELD_19(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_21(X, name, m, ...) X(name, m) FST_EACH_FIELD_20(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_22(X, name, m, ...) X(name, m) FST_EACH_FIELD_21(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_23(X, name, m, ...) X(name, m) FST_EACH_FIELD_22(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_24(X, name, m, ...) X(name, m) FST_EACH_FIELD_23(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_25(X, name, m, ...) X(name, m) FST_EACH_FIELD_24(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_26(X, name, m, ...) X(name, m) FST_EACH_FIELD_25(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_27(X, name, m, ...) X(name, m) FST_EACH_FIELD_26(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_28(X, name, m, ...) X(name, m) FST_EACH_FIELD_27(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_29(X, name, m, ...) X(name, m) FST_EACH_FIELD_28(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_30(X, name, m, ...) X(name, m) FST_EACH_FIELD_29(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_31(X, name, m, ...) X(name, m) FST_EACH_FIELD_30(X, name, __VA_ARGS__)
#define FST_EACH_FIELD_32(X, name, m, ...) X(name, m) FST_EACH_FIELD_31(X, name, __VA_ARGS__)
