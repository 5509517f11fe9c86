/*
 * Spark's launcher messages in Java's serialization.
 *
 * A stream is a header, then objects: a class description, a number for the object, its fields. Class descriptions, the
 * strings that name types of fields, strings, objects, and constants of an enumeration get ascending numbers, in the
 * order in which they begin, and later references use the number. Writer and reader count alike.
 *
 * The reader descends this grammar, with the shapes below in place of a class loader. It reads complete messages only:
 * when bytes are missing, it discards the numbers of the message, and reads it again when more bytes have arrived.
 */
#include "rpc/launcher_wire.h"

#include "base/error.h"
#include "base/mem.h"

/* ------------------------------------------------------------------------------------------------------ shapes */

enum {
        TC_NULL = 0x70,
        TC_REFERENCE,
        TC_CLASSDESC,
        TC_OBJECT,
        TC_STRING,
        TC_ENDBLOCKDATA = 0x78,
        TC_RESET,
        TC_ENUM = 0x7e
};
enum { FLAGS_SERIALIZABLE = 0x02, FLAGS_ENUM = 0x12 };

#define HEADER "\xac\xed\0\5"
#define FIRST_HANDLE 0x7e0000u

enum shape_id {
        SHAPE_HELLO,
        SHAPE_SET_APP_ID,
        SHAPE_SET_STATE,
        SHAPE_STOP,
        SHAPE_MESSAGE,
        SHAPE_STATE,
        SHAPE_ENUM,
        SHAPES
};
enum type_id { TYPE_STRING, TYPE_STATE, TYPES };

#define PACKAGE "org.apache.spark.launcher."
#define NO_PARENT (-1)

static const char *const type_names[TYPES] = {
        [TYPE_STRING] = "Ljava/lang/String;", [TYPE_STATE] = "Lorg/apache/spark/launcher/SparkAppHandle$State;"};

static const struct shape {
        const char *name;
        uint64_t uid; /* serialVersionUID, which Java computes from the class's members, 0 for enumerations */
        int flags, n_fields;
        struct {
                const char *name;
                enum type_id type;
        } fields[2];
        int parent;
} shapes[SHAPES] = {
        [SHAPE_HELLO] = {.name = PACKAGE "LauncherProtocol$Hello",
                         .uid = 0x7f5afac86517b0cdu,
                         .flags = FLAGS_SERIALIZABLE,
                         .n_fields = 2,
                         .fields = {{"secret", TYPE_STRING}, {"sparkVersion", TYPE_STRING}},
                         .parent = SHAPE_MESSAGE},
        [SHAPE_SET_APP_ID] = {.name = PACKAGE "LauncherProtocol$SetAppId",
                              .uid = 0x1786d3a135827e48u,
                              .flags = FLAGS_SERIALIZABLE,
                              .n_fields = 1,
                              .fields = {{"appId", TYPE_STRING}},
                              .parent = SHAPE_MESSAGE},
        [SHAPE_SET_STATE] = {.name = PACKAGE "LauncherProtocol$SetState",
                             .uid = 0xef751ff39fe4c988u,
                             .flags = FLAGS_SERIALIZABLE,
                             .n_fields = 1,
                             .fields = {{"state", TYPE_STATE}},
                             .parent = SHAPE_MESSAGE},
        [SHAPE_STOP] = {.name = PACKAGE "LauncherProtocol$Stop",
                        .uid = 0x1805482f54cd2301u,
                        .flags = FLAGS_SERIALIZABLE,
                        .parent = SHAPE_MESSAGE},
        [SHAPE_MESSAGE] = {.name = PACKAGE "LauncherProtocol$Message",
                           .uid = 0xba91306956ca8835u,
                           .flags = FLAGS_SERIALIZABLE,
                           .parent = NO_PARENT},
        [SHAPE_STATE] = {.name = PACKAGE "SparkAppHandle$State", .flags = FLAGS_ENUM, .parent = SHAPE_ENUM},
        [SHAPE_ENUM] = {.name = "java.lang.Enum", .flags = FLAGS_ENUM, .parent = NO_PARENT},
};

static const char *const state_names[LAUNCHER_STATES] = {
        [LAUNCHER_UNKNOWN] = "UNKNOWN", [LAUNCHER_CONNECTED] = "CONNECTED", [LAUNCHER_SUBMITTED] = "SUBMITTED",
        [LAUNCHER_RUNNING] = "RUNNING", [LAUNCHER_FINISHED] = "FINISHED",   [LAUNCHER_FAILED] = "FAILED",
        [LAUNCHER_KILLED] = "KILLED",   [LAUNCHER_LOST] = "LOST",
};

const char *launcher_state_name(enum launcher_state state)
{
        return (unsigned)state < LAUNCHER_STATES ? state_names[state] : state_names[LAUNCHER_UNKNOWN];
}

bool launcher_state_is_final(enum launcher_state state)
{
        return state >= LAUNCHER_FINISHED && state < LAUNCHER_STATES;
}

void launcher_message_deinit(struct launcher_message *m)
{
        free(m->text);
        free(m->version);
        *m = (struct launcher_message){0};
}

/* ------------------------------------------------------------------------------------- text as Java writes it */

/*
 * Java's "modified UTF-8": a character beyond U+FFFF becomes two of three bytes each. (A NUL would become two bytes,
 * but our texts have none.)
 */
static int put_characters(const char *text, struct buf *out)
{
        const unsigned char *p = (const unsigned char *)text;
        while (*p) {
                static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
                int n = *p < 0x80 ? 1 : (*p & 0xe0) == 0xc0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : (*p & 0xf8) == 0xf0 ? 4 : 0;
                if (n == 0)
                        return -EILSEQ;
                uint32_t c = n == 1 ? *p : *p & (0x7fu >> n);
                for (int i = 1; i < n; i++) {
                        if ((p[i] & 0xc0) != 0x80)
                                return -EILSEQ;
                        c = c << 6 | (p[i] & 0x3f);
                }
                if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                        return -EILSEQ;
                if (n < 4)
                        buf_append(out, p, (size_t)n);
                uint32_t half[2] = {0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff)};
                for (int i = 0; n == 4 && i < 2; i++) {
                        buf_putc(out, (char)(0xe0 | half[i] >> 12));
                        buf_putc(out, (char)(0x80 | (half[i] >> 6 & 0x3f)));
                        buf_putc(out, (char)(0x80 | (half[i] & 0x3f)));
                }
                p += n;
        }
        return 0;
}

/* Decodes one 16-bit unit at @p of @n bytes. Returns its length, or 0 if it is invalid. */
static size_t get_unit(const unsigned char *p, size_t n, uint32_t *unit)
{
        if (p[0] > 0 && p[0] < 0x80) {
                *unit = p[0];
                return 1;
        }
        if ((p[0] & 0xe0) == 0xc0 && n >= 2 && (p[1] & 0xc0) == 0x80) {
                *unit = (p[0] & 0x1fu) << 6 | (p[1] & 0x3f);
                return *unit >= 0x80 ? 2 : 0;
        }
        if ((p[0] & 0xf0) == 0xe0 && n >= 3 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
                *unit = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3f);
                return *unit >= 0x800 ? 3 : 0;
        }
        return 0;
}

/* Returns the text as UTF-8, or NULL if it is not a valid Java string or contains a NUL. */
static char *get_characters(const unsigned char *p, size_t n)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        while (n > 0) {
                uint32_t high, low;
                size_t used = get_unit(p, n, &high);
                if (used == 0)
                        return NULL;
                if (high >= 0xd800 && high < 0xe000) {
                        size_t more = high < 0xdc00 && n > used ? get_unit(p + used, n - used, &low) : 0;
                        if (more == 0 || low < 0xdc00 || low >= 0xe000)
                                return NULL;
                        uint32_t c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        buf_putc(&text, (char)(0xf0 | c >> 18));
                        buf_putc(&text, (char)(0x80 | (c >> 12 & 0x3f)));
                        buf_putc(&text, (char)(0x80 | (c >> 6 & 0x3f)));
                        buf_putc(&text, (char)(0x80 | (c & 0x3f)));
                        used += more;
                } else {
                        buf_append(&text, p, used);
                }
                p += used;
                n -= used;
        }
        return buf_steal(&text);
}

/* ----------------------------------------------------------------------------------------------------- writing */

static void launcher_wire_put_number(struct buf *out, uint64_t value, int bytes)
{
        while (bytes-- > 0)
                buf_putc(out, (char)(value >> (8 * bytes)));
}

static void put_utf(struct buf *out, const char *ascii)
{
        launcher_wire_put_number(out, strlen(ascii), 2);
        buf_puts(out, ascii);
}

/* Writes a reference and returns true if it was described before. Else assigns its number. */
static bool put_reference(struct launcher_writer *w, uint32_t *number, struct buf *out)
{
        if (*number == 0) {
                *number = ++w->next;
                return false;
        }
        buf_putc(out, TC_REFERENCE);
        launcher_wire_put_number(out, FIRST_HANDLE + *number - 1, 4);
        return true;
}

static void put_type(struct launcher_writer *w, enum type_id type, struct buf *out)
{
        if (put_reference(w, &w->types[type], out))
                return;
        buf_putc(out, TC_STRING);
        put_utf(out, type_names[type]);
}

static void put_class(struct launcher_writer *w, int id, struct buf *out)
{
        for (; id != NO_PARENT; id = shapes[id].parent) {
                const struct shape *shape = &shapes[id];
                if (put_reference(w, &w->classes[id], out))
                        return;
                buf_putc(out, TC_CLASSDESC);
                put_utf(out, shape->name);
                launcher_wire_put_number(out, shape->uid, 8);
                buf_putc(out, (char)shape->flags);
                launcher_wire_put_number(out, (uint64_t)shape->n_fields, 2);
                for (int i = 0; i < shape->n_fields; i++) {
                        buf_putc(out, 'L');
                        put_utf(out, shape->fields[i].name);
                        put_type(w, shape->fields[i].type, out);
                }
                buf_putc(out, TC_ENDBLOCKDATA);
        }
        buf_putc(out, TC_NULL);
}

static void put_state(struct launcher_writer *w, enum launcher_state state, struct buf *out)
{
        if (w->states[state]) {
                put_reference(w, &w->states[state], out);
                return;
        }
        buf_putc(out, TC_ENUM);
        put_class(w, SHAPE_STATE, out);
        w->states[state] = ++w->next;
        w->next++; /* its name */
        buf_putc(out, TC_STRING);
        put_utf(out, state_names[state]);
}

static int launcher_wire_put_text(struct launcher_writer *w, const char *text, struct buf *out, struct fst_error *error)
{
        if (!text) {
                buf_putc(out, TC_NULL);
                return 0;
        }
        w->next++;
        buf_putc(out, TC_STRING);
        size_t at = out->len;
        launcher_wire_put_number(out, 0, 2);
        int r = put_characters(text, out);
        size_t n = out->len - at - 2;
        if (r == 0 && n > MAX_LAUNCHER_MESSAGE / 4)
                r = -EMSGSIZE;
        if (r < 0)
                return error_set(error, r, "a text for the launcher of this application %s",
                                 r == -EILSEQ ? "is not UTF-8" : "is too long");
        out->data[at] = (char)(n >> 8);
        out->data[at + 1] = (char)n;
        return 0;
}

int launcher_writer_put(struct launcher_writer *writer, const struct launcher_message *m, struct buf *out,
                        struct fst_error *error)
{
        static const enum shape_id of_kind[] = {[LAUNCHER_HELLO] = SHAPE_HELLO,
                                                [LAUNCHER_SET_APP_ID] = SHAPE_SET_APP_ID,
                                                [LAUNCHER_SET_STATE] = SHAPE_SET_STATE,
                                                [LAUNCHER_STOP] = SHAPE_STOP};
        struct launcher_writer w = *writer;
        size_t before = out->len;
        int r = 0;
        if (!w.started)
                buf_append(out, HEADER, 4);
        w.started = true;
        buf_putc(out, TC_OBJECT);
        put_class(&w, (int)of_kind[m->kind], out);
        w.next++; /* the object */
        if (m->kind == LAUNCHER_HELLO || m->kind == LAUNCHER_SET_APP_ID)
                r = launcher_wire_put_text(&w, m->text, out, error);
        if (r == 0 && m->kind == LAUNCHER_HELLO)
                r = launcher_wire_put_text(&w, m->version, out, error);
        if (m->kind == LAUNCHER_SET_STATE)
                put_state(&w, m->state, out);
        if (r < 0)
                buf_truncate(out, before);
        else
                *writer = w;
        return r;
}

/* ----------------------------------------------------------------------------------------------------- reading */

struct launcher_known {
        enum { KNOWN_CLASS, KNOWN_TYPE, KNOWN_TEXT, KNOWN_STATE, KNOWN_OBJECT } kind;
        int which;  /* of shapes, of types, of states */
        char *text; /* KNOWN_TEXT */
};

/* Position in a message. Reading stops after an error, and when bytes are missing. */
struct cursor {
        struct launcher_reader *reader;
        const unsigned char *at, *end;
        struct fst_error *error;
};

#define MISSING 1 /* the functions below return 0, MISSING, or a negative error */

static int launcher_wire_refuse(struct cursor *c, const char *what)
{
        return error_set(c->error, -EBADMSG, "not a launcher's message: %s", what);
}

static int get_number(struct cursor *c, int bytes, uint64_t *value)
{
        if (c->end - c->at < bytes)
                return MISSING;
        for (*value = 0; bytes > 0; bytes--)
                *value = *value << 8 | *c->at++;
        return 0;
}

static int get_tag(struct cursor *c, int *tag)
{
        uint64_t value;
        int r = get_number(c, 1, &value);
        if (r == 0)
                *tag = (int)value;
        return r;
}

/* Reads a number of @bytes, which must be @value. */
static int get_exactly(struct cursor *c, int bytes, uint64_t value, const char *what)
{
        uint64_t found;
        int r = get_number(c, bytes, &found);
        return r ? r : found == value ? 0 : launcher_wire_refuse(c, what);
}

/* Reads a length and returns that many bytes in place. */
static int get_utf(struct cursor *c, const unsigned char **text, size_t *n)
{
        uint64_t length;
        int r = get_number(c, 2, &length);
        if (r)
                return r;
        if (length > MAX_LAUNCHER_MESSAGE / 4)
                return launcher_wire_refuse(c, "a text is too long");
        if (c->end - c->at < (ptrdiff_t)length)
                return MISSING;
        *text = c->at;
        *n = (size_t)length;
        c->at += length;
        return 0;
}

static bool is_text(const unsigned char *text, size_t n, const char *expected)
{
        return n == strlen(expected) && memcmp(text, expected, n) == 0;
}

static int get_expected_utf(struct cursor *c, const char *expected, const char *what)
{
        const unsigned char *text;
        size_t n;
        int r = get_utf(c, &text, &n);
        return r ? r : is_text(text, n, expected) ? 0 : launcher_wire_refuse(c, what);
}

static int assign_number(struct cursor *c, struct launcher_known known)
{
        if (c->reader->known.len >= MAX_LAUNCHER_HANDLES) {
                free(known.text);
                return error_set(c->error, -EMSGSIZE, "a launcher's connection has sent too many objects");
        }
        vec_push(&c->reader->known, known);
        return 0;
}

static int get_reference(struct cursor *c, int kind, const struct launcher_known **known)
{
        uint64_t number;
        int r = get_number(c, 4, &number);
        if (r)
                return r;
        if (number < FIRST_HANDLE || number - FIRST_HANDLE >= c->reader->known.len)
                return launcher_wire_refuse(c, "a dangling reference");
        *known = &c->reader->known.data[number - FIRST_HANDLE];
        return (int)(*known)->kind == kind ? 0 : launcher_wire_refuse(c, "a reference to an object of another type");
}

static int get_type(struct cursor *c, enum type_id type)
{
        const struct launcher_known *known;
        int tag, r = get_tag(c, &tag);
        if (r)
                return r;
        if (tag == TC_REFERENCE) {
                r = get_reference(c, KNOWN_TYPE, &known);
                return r ? r : known->which == (int)type ? 0 : launcher_wire_refuse(c, "a field of another type");
        }
        if (tag != TC_STRING)
                return launcher_wire_refuse(c, "a field's type is missing");
        r = assign_number(c, (struct launcher_known){.kind = KNOWN_TYPE, .which = (int)type});
        return r ? r : get_expected_utf(c, type_names[type], "a field of another type");
}

static int get_shape_id(struct cursor *c, int *id)
{
        const unsigned char *text;
        size_t n;
        int r = get_utf(c, &text, &n);
        if (r)
                return r;
        for (*id = 0; *id < SHAPES; ++*id) {
                if (is_text(text, n, shapes[*id].name))
                        return 0;
        }
        return launcher_wire_refuse(c, "an object of an unknown class");
}

/* Reads the rest of a class description before its parent. It must equal the shape. */
static int get_shape(struct cursor *c, const struct shape *shape)
{
        int r = get_exactly(c, 1, (uint64_t)shape->flags, "a class of another kind");
        if (r == 0)
                r = get_exactly(c, 2, (uint64_t)shape->n_fields, "a class with other fields");
        for (int i = 0; r == 0 && i < shape->n_fields; i++) {
                r = get_exactly(c, 1, 'L', "a field of another type");
                if (r == 0)
                        r = get_expected_utf(c, shape->fields[i].name, "a class with other fields");
                if (r == 0)
                        r = get_type(c, shape->fields[i].type);
        }
        return r ? r : get_exactly(c, 1, TC_ENDBLOCKDATA, "a class with annotations");
}

/* Reads a class description and its parents, which must equal @expected's (SHAPES: those of any message). */
static int get_class(struct cursor *c, int expected, int *found)
{
        for (bool first = true;; first = false) {
                const struct launcher_known *known;
                int id, tag, r = get_tag(c, &tag);
                if (r)
                        return r;
                if (expected == NO_PARENT)
                        return tag == TC_NULL ? 0 : launcher_wire_refuse(c, "a class with another parent");
                if (tag == TC_REFERENCE) {
                        if ((r = get_reference(c, KNOWN_CLASS, &known)))
                                return r;
                        id = known->which;
                } else if (tag == TC_CLASSDESC) {
                        if ((r = get_shape_id(c, &id)) ||
                            (r = get_exactly(c, 8, shapes[id].uid, "a class of another version")) ||
                            (r = assign_number(c, (struct launcher_known){.kind = KNOWN_CLASS, .which = id})) ||
                            (r = get_shape(c, &shapes[id])))
                                return r;
                } else {
                        return launcher_wire_refuse(c, "a class description is missing");
                }
                if (expected == SHAPES ? id > SHAPE_STOP : id != expected)
                        return launcher_wire_refuse(c, "an object of another class");
                if (first)
                        *found = id;
                if (tag == TC_REFERENCE)
                        return 0;
                expected = shapes[id].parent;
        }
}

static int launcher_wire_get_text(struct cursor *c, char **out)
{
        const struct launcher_known *known;
        const unsigned char *text;
        size_t n;
        int tag, r = get_tag(c, &tag);
        if (r || tag == TC_NULL)
                return r;
        if (tag == TC_REFERENCE) {
                if ((r = get_reference(c, KNOWN_TEXT, &known)))
                        return r;
                *out = mem_strdup(known->text);
                return 0;
        }
        if (tag != TC_STRING)
                return launcher_wire_refuse(c, "a text is missing");
        if ((r = get_utf(c, &text, &n)))
                return r;
        char *utf8 = get_characters(text, n);
        if (!utf8)
                return launcher_wire_refuse(c, "an invalid string");
        if ((r = assign_number(c, (struct launcher_known){.kind = KNOWN_TEXT, .text = utf8})))
                return r;
        *out = mem_strdup(utf8);
        return 0;
}

/* Reads the name of a constant. Java writes it once and never refers to it. */
static int get_state_name(struct cursor *c, int *state)
{
        const unsigned char *text;
        size_t n;
        int r = get_exactly(c, 1, TC_STRING, "the name of a state is missing");
        if (r || (r = get_utf(c, &text, &n)))
                return r;
        for (*state = 0; *state < LAUNCHER_STATES; ++*state) {
                if (is_text(text, n, state_names[*state]))
                        return assign_number(c, (struct launcher_known){.kind = KNOWN_TEXT,
                                                                        .text = mem_strdup(state_names[*state])});
        }
        return launcher_wire_refuse(c, "an unknown state");
}

static int get_state(struct cursor *c, enum launcher_state *out)
{
        const struct launcher_known *known;
        int id, state, tag, r = get_tag(c, &tag);
        if (r)
                return r;
        if (tag == TC_REFERENCE) {
                if ((r = get_reference(c, KNOWN_STATE, &known)))
                        return r;
                *out = (enum launcher_state)known->which;
                return 0;
        }
        if (tag != TC_ENUM)
                return launcher_wire_refuse(c, "a state is missing");
        if ((r = get_class(c, SHAPE_STATE, &id)))
                return r;
        size_t at = c->reader->known.len;
        if ((r = assign_number(c, (struct launcher_known){.kind = KNOWN_STATE})) || (r = get_state_name(c, &state)))
                return r;
        c->reader->known.data[at].which = state;
        *out = (enum launcher_state)state;
        return 0;
}

static int get_message(struct cursor *c, struct launcher_message *m)
{
        int id, tag, r = c->reader->started ? 0 : get_exactly(c, 4, 0xaced0005u, "another header");
        if (r || (r = get_tag(c, &tag)))
                return r;
        if (tag != TC_OBJECT)
                return launcher_wire_refuse(c, "an object is missing");
        if ((r = get_class(c, SHAPES, &id)) || (r = assign_number(c, (struct launcher_known){.kind = KNOWN_OBJECT})))
                return r;
        m->kind = id == SHAPE_HELLO        ? LAUNCHER_HELLO
                  : id == SHAPE_SET_APP_ID ? LAUNCHER_SET_APP_ID
                  : id == SHAPE_SET_STATE  ? LAUNCHER_SET_STATE
                                           : LAUNCHER_STOP;
        if (m->kind == LAUNCHER_HELLO || m->kind == LAUNCHER_SET_APP_ID)
                r = launcher_wire_get_text(c, &m->text);
        if (r == 0 && m->kind == LAUNCHER_HELLO)
                r = launcher_wire_get_text(c, &m->version);
        if (m->kind == LAUNCHER_SET_STATE)
                r = get_state(c, &m->state);
        return r;
}

static void launcher_wire_forget(struct launcher_reader *r, size_t known)
{
        while (r->known.len > known)
                free(r->known.data[--r->known.len].text);
}

void launcher_reader_deinit(struct launcher_reader *r)
{
        launcher_wire_forget(r, 0);
        vec_deinit(&r->known);
        buf_deinit(&r->in);
}

void launcher_reader_feed(struct launcher_reader *r, const void *data, size_t n)
{
        buf_append(&r->in, data, n);
}

int launcher_reader_next(struct launcher_reader *reader, struct launcher_message *m, struct fst_error *error)
{
        const unsigned char *data = (const unsigned char *)buf_text(&reader->in);
        struct cursor c = {.reader = reader, .at = data, .end = data + reader->in.len, .error = error};
        struct launcher_message read = {0};
        size_t known = reader->known.len;
        int r = get_message(&c, &read);
        if (r != 0) {
                launcher_wire_forget(reader, known);
                launcher_message_deinit(&read);
                if (r == MISSING && reader->in.len > MAX_LAUNCHER_MESSAGE)
                        return error_set(error, -EMSGSIZE, "a launcher's message is longer than %d bytes",
                                         MAX_LAUNCHER_MESSAGE);
                return r == MISSING ? 0 : r;
        }
        size_t used = (size_t)(c.at - data);
        memmove(reader->in.data, reader->in.data + used, reader->in.len - used);
        buf_truncate(&reader->in, reader->in.len - used);
        reader->started = true;
        *m = read;
        return 1;
}
