/* dev.firesteel.Native: functions in C on RDDs of Python, which python/firesteel/native.py calls. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "driver/actions/native_call.h"
#include "py4j/collections.h"
#include "pyspark_driver/call_site.h"
#include "pyspark_driver/errors.h"
#include "pyspark_driver/rdd_object.h"
#include "rdd/pipeline/op.h"

/* Parses "person(name BYTES, age I64)" at *@at. Returns 0, or -ENOENT with @error if no program describes it so. */
static int native_struct_column(const char **at, uint8_t *kind, uint32_t *size, struct fst_error *error)
{
        const char *end = strchr(*at, ')');
        _cleanup_free_ char *text = end ? mem_strndup(*at, (size_t)(end + 1 - *at)) : mem_strdup(*at);
        const struct struct_type *namesake;
        const struct struct_type *s = struct_type_find_text(text, &namesake);
        if (!s && namesake)
                return error_set(
                        error, -ENOENT,
                        "the C file describes the struct %s, and the program in Python %s: give the Struct the "
                        "fields of FST_FIELDS, in their order",
                        namesake->text, text);
        if (!s)
                return error_set(error, -ENOENT, "the C file describes no struct %s: write FST_FIELDS there", text);
        *at = end + 1;
        *kind = FST_KIND_BYTES;
        *size = s->number;
        return 0;
}

static int native_column(const char **at, uint8_t *kind, uint32_t *size, struct fst_error *error)
{
        static const struct {
                const char *name;
                fst_type type;
        } columns[] = {{"I64", FST_I64}, {"F64", FST_F64}, {"BYTES", FST_BYTES}};
        if (text_starts_with(*at, "STRUCT ")) {
                *at += strlen("STRUCT ");
                return native_struct_column(at, kind, size, error);
        }
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
                if (text_starts_with(*at, columns[i].name)) {
                        *at += strlen(columns[i].name);
                        *kind = columns[i].type.key;
                        *size = columns[i].type.key_size;
                        return 0;
                }
        return error_set(error, -EINVAL, "%s does not begin with a type of rows", *at);
}

/* Parses "I64" or "PAIR(BYTES, STRUCT word(text BYTES, length I64))". Returns 0, or negative with @error. */
static int native_type_parse(const char *text, fst_type *type, struct fst_error *error)
{
        const char *at = text;
        const bool pair = text_starts_with(text, "PAIR(");
        *type = (fst_type){0};
        at += pair ? strlen("PAIR(") : 0;
        int r = native_column(&at, &type->key, &type->key_size, error);
        if (r == 0 && pair && text_starts_with(at, ", ")) {
                at += strlen(", ");
                r = native_column(&at, &type->value, &type->value_size, error);
        }
        if (r || strcmp(at, pair && type->value ? ")" : "") == 0)
                return r;
        return error_set(error, -EINVAL, "%s is not a type of rows", text);
}

static void native_put_column(struct buf *text, uint8_t kind, uint32_t size)
{
        const struct struct_type *s = struct_type_of_column(kind, size);
        char name[64];
        if (s)
                buf_printf(text, "STRUCT %s", s->text);
        else
                buf_puts(text, fst_type_name((fst_type){.key = kind, .key_size = size}, name));
}

/* Writes @type for Python, with the fields of structs: "PAIR(I64, STRUCT person(name BYTES, age I64))". */
static void native_put_type(struct buf *text, fst_type type)
{
        buf_puts(text, type.value ? "PAIR(" : "");
        native_put_column(text, type.key, type.key_size);
        if (!type.value)
                return;
        buf_puts(text, ", ");
        native_put_column(text, type.value, type.value_size);
        buf_puts(text, ")");
}

static void native_call_function(struct py4j_call *call, struct rdd_object *rdd, int n, char **arguments, fst_type type)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        fst_site site = call_site("rdd_native");
        fst_rdd *rows = fst_frames_to_elements_at(rdd->rdd, type, site);
        fst_rdd *made =
                fst_native_call_at(rows, py4j_text_argument(call, 1), py4j_text_argument(call, 2), n, arguments, site);
        rdd_return(call, &java_rdd_class, rdd->session, fst_frames_from_elements_at(made, site), rdd);
        struct py4j_object *array = py4j_array_new("java.lang.Object", 0);
        py4j_add(array, call->result);
        native_put_type(&text, fst_rdd_type(made));
        py4j_add(array, py4j_string(buf_text(&text)));
        call->result = py4j_object_value(array);
}

/*
 * call(JavaRDD of packed rows, file, function, list of arguments, type) → array of the JavaRDD of packed rows that the
 * function made, and their type.
 */
static void native_call(struct py4j_call *call)
{
        struct rdd_object *rdd = rdd_argument(call, 0);
        struct py4j_object *list = rdd ? py4j_argument(call, 3, &py4j_list_class) : NULL;
        const char *type_name = py4j_text_argument(call, 4);
        struct fst_error error = FST_ERROR_INIT;
        fst_type type = FST_BYTES;
        if (!list)
                return;
        /* The structs of a file are known when it is loaded. If it cannot be loaded, the call reports that. */
        bool loaded = !strstr(type_name, "STRUCT ") || native_call_load(rdd->rdd->sc, py4j_text_argument(call, 1),
                                                                        py4j_text_argument(call, 2), NULL) == 0;
        if (loaded && native_type_parse(type_name, &type, &error)) {
                py4j_throw(call, "java.lang.IllegalArgumentException", "%s", error_message(&error));
                error_deinit(&error);
                return;
        }
        list = py4j_collection_copy(list); /* which keeps the texts */
        size_t n = py4j_length(list);
        _cleanup_free_ char **arguments = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++) {
                if (py4j_element(list, i)->type != PY4J_STRING)
                        py4j_throw(call, "java.lang.ClassCastException", "argument %zu of a function in C is not text",
                                   i);
                arguments[i] = py4j_element(list, i)->text;
        }
        if (!call->thrown)
                native_call_function(call, rdd, (int)n, arguments, type);
        py4j_object_unref(list);
}

static const struct py4j_member native_members[] = {
        {"call", "rssrs", native_call, PY4J_STATIC_METHOD},
};

const struct py4j_class native_class = {.name = "dev.firesteel.Native", PY4J_MEMBERS(native_members)};
