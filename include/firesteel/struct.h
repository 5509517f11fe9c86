/*
 * Rows with named columns: a struct of yours whose members the engine knows, texts included.
 *
 *      struct person {
 *              fst_bytes name;
 *              int64_t age;
 *              double weight;
 *      };
 *      FST_FIELDS(person, name, age, weight);
 *
 *      static int parse(fst_task *task, fst_bytes line, fst_out *out)
 *      {
 *              struct person p = {…};
 *              fst_emit(out, &p);
 *              return 0;
 *      }
 *      static bool is_adult(fst_task *task, const void *row)
 *      {
 *              const struct person *p = row;
 *              return p->age >= 18;
 *      }
 *
 *      fst_rdd *people = fst_map(lines, parse, FST_STRUCT(person));
 *      fst_rdd *adults = fst_filter(people, is_adult);
 *      fst_save_as_text_file(adults, "out");          // (Ann,30,61.5)
 *
 * FST_STRUCT(person) is a type as FST_I64 and FST_BYTES are, also as key or value: FST_PAIR(STRUCT(person), I64).
 *
 * Fields are int64_t, int32_t, double, bool or fst_bytes; others do not compile. FST_FIELDS names 1 to 32 of them,
 * in the order of their columns. Members that it does not name are not part of the row: they are 0 when a row is read.
 *
 * Functions get and emit pointers, as with FIXED: `const void *` in parameters, `const struct person *` in fst_next. A
 * row that a function gets, and its texts, live as long as other rows do: until the function returns, or until the next
 * call of fst_next. Texts that are emitted are copied.
 *
 * Equality, groups, joins and hashing go by the fields: texts by their bytes, -0.0 equals 0.0, NaNs are equal. A row
 * keeps 0.0 for -0.0, and one NaN. Sorting goes by the first field, then by the second, …: numbers by value with NaN as
 * the greatest, false before true, texts as unsigned bytes. FST_DESCENDING reverses all of it.
 *
 * Two descriptions of one name and with other fields are different types, which no operator mixes. A program that
 * describes a struct in two files must describe it alike.
 */
#pragma once

#include <firesteel/rdd.h>
#include <firesteel/types.h>

FST_BEGIN_DECLS

/* The kinds of fields. */
enum fst_field_kind {
        FST_FIELD_I64 = 1,
        FST_FIELD_F64 = 2,
        FST_FIELD_BYTES = 3,
        FST_FIELD_I32 = 4,
        FST_FIELD_BOOL = 5,
};

typedef struct fst_field {
        const char *name;
        uint32_t offset; /* in the struct */
        uint32_t kind;   /* enum fst_field_kind */
} fst_field;

/* The description of a struct: what FST_FIELDS makes. A binding fills one itself. */
typedef struct fst_struct {
        const char *name;
        uint32_t size; /* of the struct; at most FST_STRUCT_MAX */
        uint32_t n_fields;
        const fst_field *fields;
} fst_struct;

#define FST_STRUCT_MAX 4096
#define FST_FIELDS_MAX 32

FST_END_DECLS

#include <firesteel/detail/struct.h>

FST_BEGIN_DECLS

/*
 * FST_FIELDS(name, member, …)
 *
 * Describes `struct name`. Write it once, outside of functions, after the struct. The program knows the struct as soon
 * as it is loaded.
 */
#define FST_FIELDS(name, ...)                                                                                          \
        FST_EACH_FIELD(FST_CHECK_FIELD, name, __VA_ARGS__)                                                             \
        static const fst_field fst_fields_of_##name[] = {FST_EACH_FIELD(FST_DESCRIBE_FIELD, name, __VA_ARGS__)};       \
        static const fst_struct fst_struct_##name __attribute__((unused)) = {                                          \
                #name, sizeof(struct name), sizeof(fst_fields_of_##name) / sizeof(fst_field), fst_fields_of_##name};   \
        __attribute__((constructor)) static void fst_describe_##name(void)                                             \
        {                                                                                                              \
                fst_struct_type(&fst_struct_##name);                                                                   \
        }                                                                                                              \
        struct name

/* fst_type FST_STRUCT(name): the type of rows that FST_FIELDS describes. */
#define FST_STRUCT(name) fst_struct_type(&fst_struct_##name)

/*
 * The same for a description made at run time, which is copied. For an invalid description, such as NULL, and for a
 * second one with the same fields at other places of the struct, logs an error and returns a type that no operator
 * takes. Any thread; also in functions of tasks.
 */
FST_API fst_type fst_struct_type(const fst_struct *description);

/*
 * fst_rdd *fst_parallelize_structs(fst_context *sc, name, const struct name *data, size_t count)
 *
 * The elements of an array of structs as rows of FST_STRUCT(name). Everything is copied, texts too.
 */
#define fst_parallelize_structs(sc, name, data, count) fst_parallelize_structs_n(sc, name, data, count, 0)
#define fst_parallelize_structs_n(sc, name, data, count, partitions)                                                   \
        fst_parallelize_at((sc), FST_STRUCTS(name, data), (count), FST_STRUCT(name), (partitions),                     \
                           FST_HERE("parallelize"))

/*
 * int fst_struct_read(fst_bytes encoded, fst_type type, T *row, char *space)
 * int64_t fst_struct_write(const T *row, fst_type type, char *space, size_t room)
 *
 * The bytes that stand for a row of @type, FST_STRUCT(name), in lists (list.h: read the elements as fst_bytes) and in
 * frames.
 * fst_struct_read sets @row. Its texts are views into @encoded; those with NUL bytes, which are stored in another form,
 * are copied to @space, which has room for encoded.len bytes. Returns 0; -EBADMSG if the bytes are not such a row, or
 * -EINVAL if @type is another type or T has another size, with *@row unchanged.
 * fst_struct_write returns the number of bytes, of which it writes none if @room is smaller, or -EINVAL.
 */
#define fst_struct_read(encoded, type, row, space) fst_struct_read_at((encoded), (type), (row), sizeof(*(row)), (space))
#define fst_struct_write(row, type, space, room) fst_struct_write_at((row), sizeof(*(row)), (type), (space), (room))
FST_API int fst_struct_read_at(fst_bytes encoded, fst_type type, void *row, size_t size, char *space);
FST_API int64_t fst_struct_write_at(const void *row, size_t size, fst_type type, char *space, size_t room);

FST_END_DECLS
