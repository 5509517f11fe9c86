/*
 * Submits many applications from one program.   submitting COPIES WORD …
 *
 * The words are the arguments of spark-submit; each copy is one submission. Build it with
 * `cc submitting.c -lfiresteel`, or let spark-submit run it: it makes no context, but it has a main.
 *
 *      submitting 3 --master 'local[2]' wordcount.so in.txt
 */
#include <firesteel/firesteel.h>
#include <firesteel/submit.h>

#include <stdio.h>
#include <stdlib.h>

static void changed(void *context, fst_submission *app, int event)
{
        char id[100], error[1000];
        int state = fst_submit_state(app);
        if (event != FST_SUBMIT_STATE_CHANGED)
                return;
        fst_submit_id(app, id, sizeof(id));
        fst_submit_error(app, error, sizeof(error));
        printf("%s %s %s\n", *id ? id : "(no id yet)", fst_submit_state_name(state),
               fst_submit_is_final(state) ? error : "");
}

int main(int argc, char **argv)
{
        int copies = argc > 2 ? atoi(argv[1]) : 0, failed = 0;
        fst_submitter *submitter;
        if (copies < 1) {
                fprintf(stderr, "usage: submitting COPIES WORD …\n");
                return 2;
        }
        if (fst_submit_open(&submitter) < 0) {
                perror("fst_submit_open");
                return 1;
        }
        fst_submission **apps = calloc((size_t)copies, sizeof(*apps));
        for (int i = 0; i < copies; i++) {
                char error[1000];
                if (fst_submit_parse(submitter, (size_t)argc - 2, (const char *const *)argv + 2, &apps[i]) < 0) {
                        fst_submit_error(apps[i], error, sizeof(error));
                        fprintf(stderr, "%s\n", error);
                        failed++;
                        continue;
                }
                fst_submit_on_change(apps[i], changed, NULL);
                fst_submit_start(apps[i]);
        }
        for (int i = 0; i < copies && !failed; i++) {
                while (!fst_submit_is_final(fst_submit_state(apps[i])))
                        fst_submit_dispatch(submitter, -1);
        }
        fst_submit_dispatch(submitter, 0);
        for (int i = 0; i < copies; i++) {
                failed += !failed && fst_submit_state(apps[i]) != FST_SUBMIT_FINISHED;
                fst_submit_free(apps[i]);
        }
        fst_submit_close(submitter);
        free(apps);
        return failed > 0;
}
