/*
 * Prints the turnover of each product by country, the best first.
 *                                                                              spark-submit struct_sales.c IN
 *
 * IN has lines "COUNTRY,PRODUCT,PIECES,PRICE". Shows structs with named columns as rows, as keys and as values:
 * reduce_by_key and sort_by_key compare keys column by column. A program in Python can call `turnovers` on its tuples.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>

struct sale {
        fst_bytes country, product;
        int64_t pieces;
        double price;
};
FST_FIELDS(sale, country, product, pieces, price);

struct article {
        fst_bytes country, product;
};
FST_FIELDS(article, country, product);

struct turnover {
        int64_t pieces;
        double money;
};
FST_FIELDS(turnover, pieces, money);

/* The order of the output: by country, and there from the largest sum of money on. */
struct rank {
        fst_bytes country;
        double less_money;
};
FST_FIELDS(rank, country, less_money);

static int parse(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_split fields = fst_split_of(line, ',');
        fst_bytes pieces, price;
        struct sale sale;
        if (!fst_split_next(&fields, &sale.country) || !fst_split_next(&fields, &sale.product) ||
            !fst_split_next(&fields, &pieces) || !fst_split_next(&fields, &price) ||
            !fst_parse_i64(pieces, &sale.pieces) || !fst_parse_f64(price, &sale.price))
                return fst_fail(task, "\"%.*s\" is not COUNTRY,PRODUCT,PIECES,PRICE", FST_TEXT(line));
        fst_emit(out, &sale);
        return 0;
}

static int by_article(fst_task *task, const void *row, fst_out *out)
{
        const struct sale *sale = row;
        struct article article = {sale->country, sale->product};
        struct turnover turnover = {sale->pieces, (double)sale->pieces * sale->price};
        fst_emit(out, &article, &turnover);
        return 0;
}

static int add(fst_task *task, void *into, const void *from)
{
        struct turnover *sum = into;
        const struct turnover *other = from;
        sum->pieces += other->pieces;
        sum->money += other->money;
        return 0;
}

static int by_rank(fst_task *task, const void *key, const void *value, fst_out *out)
{
        const struct article *article = key;
        const struct turnover *turnover = value;
        struct rank rank = {article->country, -turnover->money};
        struct sale sum = {article->country, article->product, turnover->pieces, turnover->money};
        fst_emit(out, &rank, &sum);
        return 0;
}

/* Sums of rows of struct sale. A function with a name of its own, so that other programs can call it. */
fst_rdd *turnovers(fst_rdd *sales, int argc, char **argv);
fst_rdd *turnovers(fst_rdd *sales, int argc, char **argv)
{
        return fst_reduce_by_key(fst_map(sales, by_article, FST_PAIR(STRUCT(article), STRUCT(turnover))), add);
}

int main(int argc, char **argv)
{
        if (argc != 2)
                return fprintf(stderr, "usage: struct_sales IN\n"), 2;
        fst_context *sc = fst_context_new("sales");
        fst_rdd *sales = fst_map(fst_text_file(sc, argv[1]), parse, FST_STRUCT(sale));
        fst_rdd *ranked = fst_map(turnovers(sales, 0, NULL), by_rank, FST_PAIR(STRUCT(rank), STRUCT(sale)));
        fst_iter *rows;
        const struct rank *rank;
        const struct sale *sum;
        if (fst_collect(fst_sort_by_key(ranked, FST_ASCENDING), &rows) == 0)
                while (fst_next(rows, &rank, &sum))
                        printf("%.*s: %.*s, %" PRId64 " pieces, %.2f\n", FST_TEXT(rank->country),
                               FST_TEXT(sum->product), sum->pieces, -rank->less_money);
        return fst_context_stop(sc);
}
