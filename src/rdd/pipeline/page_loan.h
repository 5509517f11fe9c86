/* Keeps a page of another owner in memory until `end` is called, which frees the loan. */
#pragma once

struct page_loan {
        struct page_loan *next; /* of the borrower */
        void (*end)(struct page_loan *loan);
};
