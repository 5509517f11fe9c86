/* See draw.h. This file has the restrictions of rows, operators and actions, each once. */
#include "draw.h"

#include "base/mem.h"
#include "evaluate.h"
#include "place.h"

#define ROWS_USUALLY 1500
#define ROWS_OF_LARGE 60000
#define MAX_PARTITIONS 96

int draw_plan(struct dice *d, struct plan *p)
{
        p->odd = dice_one_in(d, 3) ? ODD_VALUES : 0;
        if (dice_one_in(d, 8))
                p->odd |= ODD_ZEROS;
        p->most_rows = dice_one_in(d, 150) ? ROWS_OF_LARGE : ROWS_USUALLY;
        return 1 + dice_roll(d, PLAN_NODES - 4);
}

static fst_type draw_column(struct dice *d)
{
        static const size_t sizes[] = {3, 12, 16, 40};
        switch (dice_roll(d, 6)) {
        case 0:
        case 1:
                return FST_I64;
        case 2:
                return FST_F64;
        case 3:
        case 4:
                return FST_BYTES;
        default:
                return FST_FIXED(sizes[dice_roll(d, 4)]);
        }
}

static fst_type draw_type(struct dice *d)
{
        fst_type key = draw_column(d);
        return dice_one_in(d, 3) ? key : fst_type_pair(key, draw_column(d));
}

static int draw_partitions(struct dice *d)
{
        return dice_one_in(d, 12) ? 1 + dice_roll(d, 64) : 1 + dice_roll(d, 5);
}

static void draw_deed(struct dice *d, struct plan *p, struct deed *deed, fst_type from, fst_type into)
{
        deed->from = from;
        deed->into = into;
        deed->odd = p->odd;
        deed->number = 1 + (uint64_t)dice_roll(d, 100000);
        deed->key_spread = (uint32_t)(const int[]){1, 6, 40, 300, 100000}[dice_roll(d, 5)];
        deed->value_spread = (uint32_t)(const int[]){3, 1000, 100000}[dice_roll(d, 3)];
        if (dice_one_in(d, 6)) {
                deed->fail_one_in = 1 + (uint32_t)dice_roll(d, dice_one_in(d, 2) ? 10 : 400);
                deed->fail_attempts = 1 + dice_roll(d, 2);
                deed->fail_silently = dice_one_in(d, 2);
        }
}

/* A placement that operators with equal functions share: nothing else may differ. */
static void draw_place(struct dice *d, struct deed *deed, fst_type key)
{
        deed->from = key;
        deed->number = 1 + (uint64_t)dice_roll(d, 3);
}

static fst_type keep_key(struct dice *d, struct deed *deed, fst_type key)
{
        deed->keep_key = dice_one_in(d, 2);
        return deed->keep_key ? fst_type_pair(key, draw_column(d)) : draw_type(d);
}

/* ------------------------------------------------------------------------------------------------------- sources */

static void draw_source(struct dice *d, struct plan *p, struct node *n)
{
        int kind = dice_roll(d, 300);
        n->operator= kind<100 ? RANGE : kind<297 ? PARALLELIZE : kind<299 ? TEXT_FILE : BINARY_RECORDS;
        n->count = (size_t)dice_roll(d, dice_one_in(d, 6) ? 3 : dice_one_in(d, 6) ? 1000 : 60);
        if (p->most_rows == ROWS_OF_LARGE)
                n->count = (size_t)dice_roll(d, 20000);
        n->n = dice_one_in(d, 10) ? 0 : draw_partitions(d);
        n->seed = dice_roll(d, 100) - 50;
        n->type = FST_I64;
        if (n->operator== PARALLELIZE)
                n->type = draw_type(d);
        if (n->operator== TEXT_FILE || n->operator== BINARY_RECORDS) {
                n->type = n->operator== TEXT_FILE ? FST_BYTES : FST_FIXED(12);
                n->variant = 1 + dice_roll(d, 6);
                n->count += n->operator== BINARY_RECORDS;
                n->n = 0;
        }
        if (n->operator!= RANGE) {
                draw_deed(d, p, &n->deed, FST_I64, n->type);
                n->deed.fail_one_in = 0;
                if (n->operator== TEXT_FILE)
                        n->deed.odd = 0;
        }
}

/* ------------------------------------------------------------------------------------------------------- parents */

static const struct node *parent_of(const struct plan *p, const struct node *n, int k)
{
        return &p->nodes[n->parents[k]];
}

static bool has_odd_columns(const struct plan *p, fst_type type)
{
        return p->odd & ODD_ZEROS && (type.key == FST_KIND_F64 || type.value == FST_KIND_F64);
}

/* Returns true if rows of this type can be compared as a whole or be in lists: it may be either -0.0 or 0.0. */
static bool is_whole(const struct plan *p, fst_type type)
{
        return !type.value || !has_odd_columns(p, type);
}

/* Draws another parent for which @fits returns true with the first one, or the first itself. */
static bool find_parent(struct dice *d, const struct plan *p, struct node *n,
                        bool (*fits)(const struct plan *, const struct node *a, const struct node *b))
{
        int found = -1, seen = 0;
        for (int i = 0; i < p->n_nodes; i++)
                if (fits(p, parent_of(p, n, 0), &p->nodes[i]) && dice_one_in(d, ++seen))
                        found = i;
        if (found < 0)
                return false;
        n->parents[n->n_parents++] = found;
        return true;
}

static bool same_type(const struct plan *p, const struct node *a, const struct node *b)
{
        return type_equal(a->type, b->type);
}

static bool same_keys(const struct plan *p, const struct node *a, const struct node *b)
{
        return a->type.value && b->type.value && type_equal(type_key(a->type), type_key(b->type));
}

static bool same_partitions(const struct plan *p, const struct node *a, const struct node *b)
{
        return a->table.n == b->table.n && b->table.ordered;
}

static bool same_counts(const struct plan *p, const struct node *a, const struct node *b)
{
        bool same = !a->type.value && !b->type.value && same_partitions(p, a, b);
        for (int i = 0; i < a->table.n && same; i++)
                same = a->table.parts[i].n == b->table.parts[i].n;
        return same;
}

static bool of_one_column(const struct plan *p, const struct node *a, const struct node *b)
{
        return !a->type.value && !b->type.value && a->table.n * b->table.n <= MAX_PARTITIONS;
}

/* ------------------------------------------------------------------------------------------------ one family each */

/* Bounds are known only for the keys that they were sampled from: other keys cannot be placed here. */
static bool can_be_placed(const struct plan *p, const struct node *n)
{
        int of = n->operator== SUBTRACT_BY_KEY ? 1 : n->n_parents;
        struct placement by = evaluate_placement(p, n->parents, of, n->n);
        if (n->operator== SUBTRACT_BY_KEY && !n->n)
                by = parent_of(p, n, 0)->table.by;
        for (int k = 0; k < n->n_parents && by.how == BY_RANGE; k++)
                if (!placement_equal(parent_of(p, n, k)->table.by, by))
                        return false;
        return true;
}

static bool draw_grouping(struct dice *d, struct plan *p, struct node *n, fst_type in)
{
        int more = n->operator== FLAT_MAP_GROUPS ? 0 : n->operator== COGROUP ? dice_roll(d, NODE_PARENTS) : 1;
        bool known = true;
        for (int k = 0; k < more; k++)
                if (!find_parent(d, p, n, same_keys))
                        return false;
        n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
        if (n->operator== JOIN || n->operator== LEFT_OUTER_JOIN || n->operator== RIGHT_OUTER_JOIN)
                n->variant = dice_roll(d, 4);
        if (node_is_skewed_join(n) && !(table_is_sampled_whole(&parent_of(p, n, 0)->table) &&
                                        table_is_sampled_whole(&parent_of(p, n, 1)->table)))
                return false;
        if (!node_is_skewed_join(n) && !can_be_placed(p, n))
                return false;
        if (n->operator== SUBTRACT_BY_KEY) {
                n->type = in;
                return true;
        }
        draw_deed(d, p, &n->deed, type_key(in), in);
        n->type = n->deed.into = keep_key(d, &n->deed, type_key(in));
        n->deed.n_sides = n->n_parents;
        for (int k = 0; k < n->n_parents; k++) {
                n->deed.sides[k] = type_value(parent_of(p, n, k)->type);
                known = known && table_is_keyed(&parent_of(p, n, k)->table);
        }
        if (known && dice_one_in(d, 2))
                n->deed.in_order = true;
        if (known && dice_one_in(d, 4))
                n->deed.reads = 1 + (uint32_t)dice_roll(d, 3);
        return true;
}

static bool draw_combining(struct dice *d, struct plan *p, struct node *n, fst_type in)
{
        fst_type value = type_value(in), made = draw_column(d);
        bool number = value.key == FST_KIND_I64 || value.key == FST_KIND_F64, exact = !(p->odd & ODD_VALUES);
        n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
        if (n->operator== REDUCE_BY_KEY || n->operator== FOLD_BY_KEY)
                made = value;
        if (n->operator== REDUCE_BY_KEY)
                n->variant = dice_roll(d, number && exact ? 5 : value.key == FST_KIND_I64 ? 3 : 2);
        if (n->variant != 1 && n->variant < 3 && made.key == FST_KIND_F64 && !exact)
                return false; /* sums depend on the order */
        n->type = fst_type_pair(in, made);
        draw_deed(d, p, &n->deed, made, made);
        if (n->operator== AGGREGATE_BY_KEY || n->operator== COMBINE_BY_KEY)
                n->deed.from = fst_type_pair(made, value);
        return can_be_placed(p, n);
}

static bool draw_partition_function(struct dice *d, struct plan *p, struct node *n, fst_type in)
{
        bool ordered = parent_of(p, n, 0)->table.ordered;
        draw_deed(d, p, &n->deed, in, in);
        n->type = n->deed.into = in.value ? keep_key(d, &n->deed, type_key(in)) : draw_type(d);
        n->deed.in_order = ordered && dice_one_in(d, 2);
        if (ordered && dice_one_in(d, 5))
                n->deed.reads = 1 + (uint32_t)dice_roll(d, 20);
        return true;
}

static bool draw_zip_partitions(struct dice *d, struct plan *p, struct node *n)
{
        int more = 1 + dice_roll(d, NODE_PARENTS - 1);
        for (int k = 0; k < more; k++)
                if (!find_parent(d, p, n, same_partitions))
                        return false;
        draw_deed(d, p, &n->deed, FST_I64, FST_I64);
        n->type = n->deed.into = draw_type(d);
        n->deed.n_sides = n->n_parents;
        for (int k = 0; k < n->n_parents; k++)
                n->deed.sides[k] = parent_of(p, n, k)->type;
        n->deed.in_order = true;
        if (dice_one_in(d, 4))
                n->deed.reads = 1 + (uint32_t)dice_roll(d, 20);
        return true;
}

static bool draw_computed_key(struct dice *d, struct plan *p, struct node *n, fst_type in)
{
        fst_type key = draw_column(d);
        draw_deed(d, p, &n->deed, in, key);
        n->deed.one = true;
        n->type = n->operator== KEY_BY     ? fst_type_pair(key, in.value ? FST_BYTES : in)
                  : n->operator== GROUP_BY ? fst_type_pair(key, FST_BYTES)
                                           : in;
        if (n->operator!= KEY_BY)
                n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
        n->descending = n->operator== SORT_BY && dice_one_in(d, 2);
        return n->operator== SORT_BY || is_whole(p, in);
}

static bool draw_element(struct dice *d, struct plan *p, struct node *n, fst_type in)
{
        bool values = n->operator== MAP_VALUES || n->operator== FLAT_MAP_VALUES;
        draw_deed(d, p, &n->deed, values ? type_value(in) : in, in);
        n->deed.one = n->operator== MAP || n->operator== MAP_VALUES || n->operator== MAP_TO_NUMBER;
        n->deed.into = values                        ? draw_column(d)
                       : n->operator== MAP_TO_NUMBER ? dice_one_in(d, 2) ? FST_I64 : FST_F64
                       : n->operator== FILTER        ? in
                                                     : draw_type(d);
        n->type = values ? fst_type_pair(in, n->deed.into) : n->deed.into;
        if (values)
                n->deed.key_spread = n->deed.value_spread;
        return true;
}

static void draw_sample(struct dice *d, struct node *n)
{
        static const double weights[] = {1, 2, 4};
        n->seed = dice_roll(d, 1000) - 100;
        n->variant = dice_roll(d, n->operator== SAMPLE ? 2 : 3);
        if (n->operator== SAMPLE) {
                n->fraction = dice_roll(d, n->variant ? 40 : 21) / 20.0;
                return;
        }
        for (int i = 0; i <= n->variant; i++) {
                n->fraction = n->upper;
                n->upper = n->fraction + weights[i] / 7;
        }
}

static bool rows_are_lines(const struct table *t)
{
        for (int part = 0; part < t->n; part++)
                for (size_t k = 0; k < t->parts[part].n; k++) {
                        fst_bytes line = t->parts[part].at[k].key.bytes;
                        if (line.len && (memchr(line.data, '\n', line.len) || line.data[line.len - 1] == '\r'))
                                return false;
                }
        return true;
}

/* Text has one column: numbers, or bytes that are lines if it is read line by line. */
static bool draw_saved(struct dice *d, struct plan *p, struct node *n, const struct node *parent)
{
        fst_type in = parent->type;
        const struct table *t = &parent->table;
        if (t->n > 4 || !t->ordered || !dice_one_in(d, 8))
                return false;
        n->variant = dice_roll(d, 4);
        switch (n->operator) {
        case OBJECT_FILE:
                return true;
        case BINARY_FILES:
                n->type = fst_type_pair(FST_BYTES, FST_BYTES);
                return in.key != FST_KIND_BYTES && in.value != FST_KIND_BYTES && !has_odd_columns(p, in);
        default:
                n->codec = dice_roll(d, FILE_CODECS);
                n->type = n->operator== SAVED_TEXT ? FST_BYTES : fst_type_pair(FST_BYTES, FST_BYTES);
                return !in.value && (in.key == FST_KIND_I64 ||
                                     (in.key == FST_KIND_BYTES && (n->operator!= SAVED_TEXT || rows_are_lines(t))));
        }
}

/* Returns true if all RDDs of the stage have the same number of partitions, as barrier stages require. */
static bool has_partitions(const struct plan *p, int node, int partitions)
{
        const struct node *n = &p->nodes[node];
        bool same = n->table.n == partitions;
        for (int k = 0; k < n->n_parents && same; k++)
                same = has_partitions(p, n->parents[k], partitions);
        return same;
}

static bool draw_barrier(struct dice *d, struct plan *p, struct node *n, const struct node *parent)
{
        int tasks = parent->table.n;
        draw_deed(d, p, &n->deed, parent->type, FST_I64);
        n->type = n->deed.into = draw_type(d);
        n->deed.in_order = parent->table.ordered;
        n->n = draw_partitions(d);
        return tasks <= MIN(p->cores, MAX_GATHERED) && has_partitions(p, n->parents[0], tasks);
}

/* Checks what an operator requires of these rows beyond its family's checks, and sets its type if it is theirs. */
static bool draw_operator(struct dice *d, struct plan *p, struct node *n, const struct node *parent)
{
        fst_type in = parent->type;
        const struct table *t = &parent->table;
        n->type = in;
        switch (n->operator) {
        case MAP:
        case MAP_TO_NUMBER:
        case FLAT_MAP:
        case FILTER:
        case MAP_BATCHES:
                return draw_element(d, p, n, in);
        case MAP_VALUES:
        case FLAT_MAP_VALUES:
                return in.value && draw_element(d, p, n, in);
        case KEYS:
        case VALUES:
                n->type = n->operator== KEYS ? type_key(in) : type_value(in);
                return in.value;
        case KEY_BY:
        case SORT_BY:
                return draw_computed_key(d, p, n, in);
        case GROUP_BY:
                return t->ordered && draw_computed_key(d, p, n, in);
        case MAP_PARTITIONS:
        case MAP_PARTITIONS_WITH_INDEX:
                return draw_partition_function(d, p, n, in);
        case SORT_ROWS:
        case SORT_BY_KEY:
        case PARTITION_BY_RANGE:
                n->n = n->operator!= PARTITION_BY_RANGE && dice_one_in(d, 2) ? 0 : draw_partitions(d);
                n->descending = dice_one_in(d, 2);
                return (n->operator== SORT_ROWS) == !in.value;
        case UNION:
                for (int more = 1 + dice_roll(d, 2); more > 0; more--)
                        if (!find_parent(d, p, n, same_type))
                                return false;
                n->variant = dice_roll(d, 2);
                return t->n * n->n_parents <= MAX_PARTITIONS;
        case REPARTITION:
                n->n = draw_partitions(d);
                return t->ordered;
        case COALESCE:
                n->n = draw_partitions(d);
                return true;
        case SAMPLE:
        case RANDOM_SPLIT:
                draw_sample(d, n);
                return t->ordered;
        case ZIP_WITH_INDEX:
        case ZIP_WITH_UNIQUE_ID:
                n->type = fst_type_pair(in.value ? FST_BYTES : in, FST_I64);
                return t->ordered && is_whole(p, in);
        case ZIP:
                if (!t->ordered || in.value || !find_parent(d, p, n, same_counts))
                        return false;
                n->type = fst_type_pair(in, parent_of(p, n, 1)->type);
                return true;
        case ZIP_PARTITIONS:
                return t->ordered && draw_zip_partitions(d, p, n);
        case CARTESIAN:
                if (in.value || !find_parent(d, p, n, of_one_column))
                        return false;
                n->type = fst_type_pair(in, parent_of(p, n, 1)->type);
                return true;
        case SORT_WITHIN_PARTITIONS:
                n->descending = dice_one_in(d, 2);
                return true;
        case PIPE:
                n->type = FST_BYTES;
                return !in.value && t->n <= 2 && t->ordered && parent->operator== RANGE && dice_one_in(d, 20);
        case OBJECT_FILE:
        case SAVED_TEXT:
        case WHOLE_TEXT_FILES:
        case BINARY_FILES:
                return draw_saved(d, p, n, parent);
        case BARRIER:
                return draw_barrier(d, p, n, parent);
        case DISTINCT:
                n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
                return is_whole(p, in);
        case INTERSECTION:
        case SUBTRACT:
                n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
                return is_whole(p, in) && find_parent(d, p, n, same_type);
        case GLOM:
                n->type = FST_BYTES;
                return t->ordered && !has_odd_columns(p, in);
        case REDUCE_BY_KEY:
        case FOLD_BY_KEY:
        case AGGREGATE_BY_KEY:
        case COMBINE_BY_KEY:
                return in.value && draw_combining(d, p, n, in);
        case GROUP_BY_KEY:
                n->type = fst_type_pair(in, FST_BYTES);
                n->n = dice_one_in(d, 2) ? 0 : draw_partitions(d);
                return in.value && table_is_keyed(t) && can_be_placed(p, n);
        case PARTITION_BY:
        case PLACE_AND_SORT:
                n->n = dice_one_in(d, 3) ? MIN(MAX(t->n, 1), MAX_PARTITIONS) : draw_partitions(d);
                n->descending = n->operator== PLACE_AND_SORT && dice_one_in(d, 2);
                return in.value;
        case PARTITION_BY_FUNCTION:
                n->n = dice_one_in(d, 3) ? MIN(MAX(t->n, 1), MAX_PARTITIONS) : draw_partitions(d);
                draw_place(d, &n->deed, type_key(in));
                return in.value;
        default:
                return in.value && draw_grouping(d, p, n, in);
        }
}

/* ----------------------------------------------------------------------------------------------------- all of it */

static void draw_storage(struct dice *d, struct node *n)
{
        if (dice_one_in(d, 5))
                n->level = (enum fst_storage_level)(1 + dice_roll(d, FST_STORAGE_OFF_HEAP));
        if (dice_one_in(d, 60))
                n->checkpoint = CHECKPOINT;
        else if (dice_one_in(d, 20))
                n->checkpoint = LOCAL_CHECKPOINT;
}

bool draw_node(struct dice *d, struct plan *p)
{
        struct node *n = &p->nodes[p->n_nodes];
        memset(n, 0, sizeof(*n));
        if (p->n_nodes == 0 || dice_one_in(d, 25)) {
                draw_source(d, p, n);
        } else {
                n->operator=(enum operator)(OBJECT_FILE + dice_roll(d, OPERATORS_N - OBJECT_FILE));
                n->parents[0] = dice_one_in(d, 4) ? dice_roll(d, p->n_nodes) : p->n_nodes - 1;
                n->n_parents = 1;
                if (!draw_operator(d, p, n, &p->nodes[n->parents[0]]))
                        return false;
        }
        draw_storage(d, n);
        return true;
}

void draw_poison(struct dice *d, struct plan *p)
{
        struct node *n = &p->nodes[p->n_nodes];
        memset(n, 0, sizeof(*n));
        n->operator= dice_one_in(d, 2) ? MAP : FILTER;
        n->n_parents = 1;
        n->parents[0] = p->n_nodes - 1;
        draw_element(d, p, n, p->nodes[n->parents[0]].type);
        n->deed.fail_one_in = 1 + (uint32_t)dice_roll(d, 50);
        n->deed.fail_attempts = DEED_POISON;
        p->poisoned = true;
        p->actions[0] = (struct action){
                .act = dice_one_in(d, 2) ? ACT_COUNT : ACT_COLLECT, .node = p->n_nodes, .async = dice_one_in(d, 3)};
        p->n_actions = 1;
}

static bool can_act(const struct plan *p, struct dice *d, struct action *a)
{
        const struct node *n = &p->nodes[a->node];
        bool one = !n->type.value, number = one && (n->type.key == FST_KIND_I64 || n->type.key == FST_KIND_F64);
        bool exact = !(p->odd & ODD_VALUES), ordered = n->table.ordered;
        bool sums = one && (n->type.key != FST_KIND_F64 || exact);
        a->deed.from = n->type;
        a->deed.number = 1;
        switch (a->act) {
        case ACT_COLLECT:
        case ACT_COUNT:
                a->async = dice_one_in(d, 3);
                return true;
        case ACT_TAKE:
                a->async = dice_one_in(d, 3);
                a->n = dice_roll(d, dice_one_in(d, 2) ? 5 : 200);
                return true;
        case ACT_TOP:
        case ACT_TAKE_ORDERED:
                a->n = dice_roll(d, dice_one_in(d, 2) ? 5 : 200);
                return true;
        case ACT_FIRST:
                return ordered;
        case ACT_REDUCE:
        case ACT_TREE_REDUCE:
                a->n = 1 + dice_roll(d, 3);
                return sums;
        case ACT_FOLD:
        case ACT_COUNT_BY_VALUE:
                return a->act == ACT_FOLD ? sums : one;
        case ACT_AGGREGATE:
        case ACT_TREE_AGGREGATE:
                a->n = 1 + dice_roll(d, 3);
                return ordered;
        case ACT_MIN:
        case ACT_MAX:
                return one;
        case ACT_SUM:
        case ACT_STATS:
        case ACT_HISTOGRAM:
                a->n = 1 + dice_roll(d, 10);
                return number && exact && sums;
        case ACT_TAKE_ORDERED_BY:
                draw_deed(d, (struct plan *)p, &a->deed, n->type, draw_column(d));
                a->deed.one = true;
                a->n = dice_roll(d, 60);
                return ordered;
        case ACT_COUNT_BY_KEY:
                return n->type.value;
        case ACT_COLLECT_AS_MAP:
                return n->type.value && table_is_keyed(&n->table);
        case ACT_REDUCE_BY_KEY_LOCALLY:
                a->deed.from = type_value(n->type);
                return n->type.value && (n->type.value != FST_KIND_F64 || exact);
        case ACT_COUNT_APPROX_DISTINCT:
                return is_whole(p, n->type);
        case ACT_LOOKUP:
                a->n = dice_roll(d, 1000);
                return n->type.value && n->table.rows > 0;
        case ACT_TAKE_SAMPLE:
                a->n = dice_roll(d, 30);
                return dice_one_in(d, 2);
        case ACT_RUN_JOB:
                a->n = dice_roll(d, 1000);
                return n->table.n > 0;
        case ACT_TO_LOCAL_ITERATOR:
                return n->table.n <= 6;
        case ACT_FOREACH:
                draw_deed(d, (struct plan *)p, &a->deed, n->type, FST_I64);
                a->whole = dice_one_in(d, 2);
                a->async = dice_one_in(d, 3);
                return true;
        case ACT_SAVE_AS_TEXT_FILE:
                return one && ordered && n->table.n <= 4 && dice_one_in(d, 10) &&
                       (n->type.key == FST_KIND_I64 || (n->type.key == FST_KIND_BYTES && rows_are_lines(&n->table)));
        default:
                return true;
        }
}

void draw_actions(struct dice *d, struct plan *p)
{
        int n = 1 + dice_roll(d, PLAN_ACTIONS);
        for (int tries = 0; p->n_actions < n && tries < 100; tries++) {
                struct action *a = &p->actions[p->n_actions];
                memset(a, 0, sizeof(*a));
                a->node = dice_one_in(d, 3) ? dice_roll(d, p->n_nodes) : p->n_nodes - 1;
                a->act = p->n_actions == 0 ? ACT_COLLECT : (enum act)dice_roll(d, ACTIONS_N);
                if (p->n_actions == 0)
                        a->node = p->n_nodes - 1;
                if (can_act(p, d, a))
                        p->n_actions++;
        }
}
