/* Tests rows served on sockets: a client in C, as a binding's driver program. */
#include "api/bindings/frames_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int client_connect(const fst_served *served)
{
        struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fst_served_port(served))};
        struct sockaddr_un local = {.sun_family = AF_UNIX};
        bool unix_socket = fst_served_path(served) != NULL;
        int fd = socket(unix_socket ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
        tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (unix_socket) {
                strcpy(local.sun_path, fst_served_path(served));
                assert_int_equal(connect(fd, (struct sockaddr *)&local, sizeof(local)), 0);
        } else {
                assert_int_equal(connect(fd, (struct sockaddr *)&tcp, sizeof(tcp)), 0);
        }
        return fd;
}

static void client_put(int fd, const void *data, size_t len)
{
        assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

static void client_put_int(int fd, int32_t value)
{
        uint32_t number = htonl((uint32_t)value);
        client_put(fd, &number, 4);
}

static bool client_read(int fd, void *data, size_t len)
{
        ssize_t n = recv(fd, data, len, MSG_WAITALL);
        assert_true(n == 0 || n == (ssize_t)len);
        return n > 0;
}

/* The next int32, or INT32_MIN at the end. */
static int32_t client_int(int fd)
{
        uint32_t number;
        return client_read(fd, &number, 4) ? (int32_t)ntohl(number) : INT32_MIN;
}

/* Sends @secret. Returns whether the answer is "ok". */
static bool client_handshake(int fd, const char *secret)
{
        char answer[4] = {0};
        client_put_int(fd, (int32_t)strlen(secret));
        client_put(fd, secret, strlen(secret));
        int32_t len = client_int(fd);
        assert_in_range(len, 2, 3);
        client_read(fd, answer, (size_t)len);
        return strcmp(answer, "ok") == 0;
}

static int client_open(const fst_served *served)
{
        int fd = client_connect(served);
        if (!fst_served_path(served))
                assert_true(client_handshake(fd, fst_served_secret(served)));
        return fd;
}

/* Reads frames up to the end or a negative int, which *@last receives, as text. The caller frees it. */
static char *client_frames(int fd, int32_t *last)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        while ((*last = client_int(fd)) >= 0 || *last == -5) {
                if (*last == -5) {
                        fputs("- ", out);
                        continue;
                }
                char *frame = calloc((size_t)*last + 1, 1);
                if (*last)
                        assert_true(client_read(fd, frame, (size_t)*last));
                if (*last < 100)
                        fprintf(out, "[%s] ", frame);
                else
                        fprintf(out, "(%d) ", *last);
                free(frame);
        }
        fclose(out);
        return text;
}

#define EXPECT_SERVED(fd, wanted, end)                                                                                 \
        do {                                                                                                           \
                int32_t last_;                                                                                         \
                char *text_ = client_frames(fd, &last_);                                                               \
                assert_string_equal(text_, wanted);                                                                    \
                assert_int_equal(last_, end);                                                                          \
                free(text_);                                                                                           \
        } while (0)

static void serves_rows(void **state)
{
        fst_context *sc = *state;
        fst_rdd *frames = frames_of_texts(sc, "a,-,,bc,d", 3);
        fst_served *served = NULL;
        assert_int_equal(fst_serve_rows(frames, NULL, 0, &served), 0);
        assert_null(fst_served_path(served));
        int fd = client_open(served);
        EXPECT_SERVED(fd, "[a] - [] [bc] [d] ", INT32_MIN);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        assert_null(fst_served_error(served));
        fst_served_release(served);

        int some[] = {2, 0};
        assert_int_equal(fst_serve_rows(frames, some, 2, &served), 0);
        fd = client_open(served);
        fst_served_release(served); /* the thread continues */
        EXPECT_SERVED(fd, "[bc] [d] [a] ", INT32_MIN);
        close(fd);

        assert_int_equal(fst_serve_rows(frames, some, 0, &served), 0);
        fd = client_open(served);
        EXPECT_SERVED(fd, "", INT32_MIN);
        close(fd);
        fst_served_release(served);
        fst_served_release(NULL);
}

/* Row i has i * 7 bytes, or 3 MB: more than the buffers of a socket. */
static int rows_of_many_sizes(fst_task *task, int64_t i, fst_out *out)
{
        size_t len = i % 1000 == 500 ? 3000000 : (size_t)(i % 100) * 300;
        char *text = calloc(len + 1, 1);
        fst_emit(out, fst_out_copy(out, text, len));
        free(text);
        return 0;
}

static void serves_large_rows(void **state)
{
        fst_rdd *rows = fst_flat_map(fst_range_n(*state, 0, 4000, 3), rows_of_many_sizes, FST_BYTES);
        fst_served *served;
        assert_int_equal(fst_serve_rows(fst_frames_from_rows(rows), NULL, 0, &served), 0);
        int fd = client_open(served);
        for (int64_t i = 0; i < 4000; i++) {
                int32_t len = client_int(fd), left = len;
                assert_int_equal(len, i % 1000 == 500 ? 3000000 : i % 100 * 300);
                static char data[65536];
                for (; left > 0; left -= (int32_t)MIN((size_t)left, sizeof(data)))
                        assert_true(client_read(fd, data, MIN((size_t)left, sizeof(data))));
        }
        assert_int_equal(client_int(fd), INT32_MIN);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        fst_served_release(served);
}


static bool passes_no_b(fst_task *task, fst_bytes row)
{
        if (row.len == 5 && row.data[4] == 'b')
                fst_fail(task, "a row is b");
        return true;
}

static void failed_jobs_fail_the_call(void **state)
{
        fst_context *sc = *state;
        fst_served *served = (fst_served *)1;
        fst_rdd *frames = fst_filter(frames_of_texts(sc, "a,b,c", 3), passes_no_b);
        assert_refused(fst_serve_rows(frames, NULL, 0, &served), -EIO, "a row is b");
        assert_ptr_equal(served, (fst_served *)1);
        assert_refused(fst_serve_rows(frames, (int[]){3}, 1, &served), -EINVAL, "non-existent partition: 3");
        assert_refused(fst_serve_rows(fst_range(sc, 0, 1), NULL, 0, &served), -EINVAL, "only frames can be served");
        assert_refused(fst_serve_rows(frames, NULL, 0, NULL), -EINVAL, "NULL instead of a pointer for its socket");
}

static void rejects_wrong_secrets(void **state)
{
        fst_served *served;
        char wrong[65];
        assert_int_equal(fst_serve_rows(frames_of_texts(*state, "a", 1), NULL, 0, &served), 0);
        int fd = client_connect(served);
        strcpy(wrong, fst_served_secret(served));
        wrong[63] ^= 1;
        assert_false(client_handshake(fd, wrong));
        assert_int_equal(client_int(fd), INT32_MIN);
        close(fd);
        fd = client_connect(served);
        assert_false(client_handshake(fd, "short"));
        close(fd);
        close(client_connect(served)); /* leaves without a word */
        fd = client_open(served);
        EXPECT_SERVED(fd, "[a] ", INT32_MIN);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        fst_served_release(served);
}

static void clients_that_leave_are_no_failure(void **state)
{
        fst_rdd *rows = fst_flat_map(fst_range_n(*state, 0, 4000, 3), rows_of_many_sizes, FST_BYTES);
        fst_served *served;
        assert_int_equal(fst_serve_rows(fst_frames_from_rows(rows), NULL, 0, &served), 0);
        close(client_open(served));
        assert_int_equal(fst_served_wait(served), 0);
        fst_served_release(served);
        assert_int_equal(fst_serve_partitions(fst_frames_from_rows(rows), true, &served), 0);
        int fd = client_open(served);
        client_put_int(fd, 1);
        assert_int_equal(client_int(fd), 1);
        close(fd); /* in the middle of a partition, while the next is computed */
        assert_int_equal(fst_served_wait(served), 0);
        fst_served_release(served);
}

/* ---------------------------------------------------------------------------------------------------- partitions */

static void serves_partition_by_partition(void **state)
{
        fst_context *sc = *state;
        for (int prefetch = 0; prefetch < 2; prefetch++) {
                fst_served *served;
                assert_int_equal(fst_serve_partitions(frames_of_texts(sc, "a,b,c,-", 3), prefetch, &served), 0);
                int fd = client_open(served);
                const char *wanted[] = {"[a] ", "[b] ", "[c] - "};
                for (int i = 0; i < 3; i++) {
                        client_put_int(fd, 1);
                        assert_int_equal(client_int(fd), 1);
                        EXPECT_SERVED(fd, wanted[i], -1);
                }
                client_put_int(fd, 1);
                assert_int_equal(client_int(fd), 0);
                assert_int_equal(client_int(fd), INT32_MIN);
                close(fd);
                assert_int_equal(fst_served_wait(served), 0);
                fst_served_release(served);
        }
}

static atomic_int computed;

static bool passes_counted(fst_task *task, fst_bytes row)
{
        atomic_fetch_add(&computed, 1);
        return true;
}

static void computes_only_what_is_asked_for(void **state)
{
        fst_served *served;
        atomic_store(&computed, 0);
        fst_rdd *frames = fst_filter(frames_of_texts(*state, "a,b,c", 3), passes_counted);
        assert_int_equal(fst_serve_partitions(frames, false, &served), 0);
        int fd = client_open(served);
        client_put_int(fd, 1);
        assert_int_equal(client_int(fd), 1);
        EXPECT_SERVED(fd, "[a] ", -1);
        client_put_int(fd, 0);
        assert_int_equal(client_int(fd), INT32_MIN);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        assert_int_equal(atomic_load(&computed), 1);
        fst_served_release(served);
}

static void reports_the_failure_of_a_partition(void **state)
{
        fst_context *sc = *state;
        for (int prefetch = 0; prefetch < 2; prefetch++) {
                fst_served *served;
                fst_rdd *frames = fst_filter(frames_of_texts(sc, "a,b,c", 3), passes_no_b);
                assert_int_equal(fst_serve_partitions(frames, prefetch, &served), 0);
                int fd = client_open(served), was = api_listen();
                client_put_int(fd, 1);
                assert_int_equal(client_int(fd), 1);
                EXPECT_SERVED(fd, "[a] ", -1);
                client_put_int(fd, 1);
                assert_int_equal(client_int(fd), -1);
                close(fd);
                assert_int_equal(fst_served_wait(served), -EIO);
                free(api_heard(was));
                assert_non_null(strstr(fst_served_error(served), "a row is b"));
                fst_served_release(served);
        }
}

static char property[16];

static void keep_property(fst_task *task, const char *key)
{
        const char *value = fst_task_local_property(task, key);
        snprintf(property, sizeof(property), "%s", value ? value : "");
}

static bool passes_with_property(fst_task *task, fst_bytes row)
{
        keep_property(task, "color");
        return true;
}

static void jobs_have_the_properties_of_the_call(void **state)
{
        fst_context *sc = *state;
        fst_served *served;
        fst_set_local_property(sc, "color", "green");
        fst_rdd *frames = fst_filter(frames_of_texts(sc, "a", 1), passes_with_property);
        assert_int_equal(fst_serve_partitions(frames, false, &served), 0);
        fst_set_local_property(sc, "color", "red");
        int fd = client_open(served);
        client_put_int(fd, 1);
        assert_int_equal(client_int(fd), 1);
        EXPECT_SERVED(fd, "[a] ", -1);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        assert_string_equal(property, "green");
        fst_served_release(served);
}

/* ------------------------------------------------------------------------------------------- sockets, contexts */

static void uses_unix_sockets_if_configured(void **state)
{
        char dir[] = "/tmp/firesteel-unit-XXXXXX";
        assert_non_null(mkdtemp(dir));
        fst_context *sc = api_context("local[2]", "spark.python.unix.domain.socket.enabled", "true",
                                      "spark.python.unix.domain.socket.dir", dir, NULL);
        fst_served *served;
        struct stat st;
        assert_int_equal(fst_serve_rows(frames_of_texts(sc, "a,b", 2), NULL, 0, &served), 0);
        assert_int_equal(fst_served_port(served), 0);
        assert_null(fst_served_secret(served));
        assert_int_equal(stat(fst_served_path(served), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        int fd = client_open(served);
        EXPECT_SERVED(fd, "[a] [b] ", INT32_MIN);
        close(fd);
        assert_int_equal(fst_served_wait(served), 0);
        fst_context_stop(sc);
        assert_int_equal(rmdir(dir), 0); /* the socket's file is gone */
}

static void gives_up_waiting_for_a_client(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", "spark.python.authenticate.socketTimeout",
                                      "1s", NULL);
        fst_served *served;
        int was = api_listen();
        assert_int_equal(fst_serve_rows(frames_of_texts(sc, "a", 1), NULL, 0, &served), 0);
        assert_int_equal(fst_served_wait(served), -ETIMEDOUT);
        char *heard = api_heard(was);
        assert_non_null(strstr(heard, "Accept timed out"));
        assert_non_null(strstr(fst_served_error(served), "within 1000 ms"));
        free(heard);
        fst_context_stop(sc);
}

static void contexts_stop_with_clients(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        fst_served *waits, *reads, *asks;
        fst_rdd *rows = fst_frames_from_rows(fst_flat_map(fst_range_n(sc, 0, 4000, 3), rows_of_many_sizes, FST_BYTES));
        assert_int_equal(fst_serve_rows(rows, NULL, 0, &waits), 0);
        assert_int_equal(fst_serve_rows(rows, NULL, 0, &reads), 0);
        assert_int_equal(fst_serve_partitions(rows, true, &asks), 0);
        int reader = client_open(reads), asker = client_open(asks);
        client_put_int(asker, 1);
        assert_int_equal(client_int(asker), 1);
        fst_context_stop(sc);
        close(reader);
        close(asker);
}

int main(void)
{
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(serves_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(serves_large_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(failed_jobs_fail_the_call, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_wrong_secrets, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(clients_that_leave_are_no_failure, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(serves_partition_by_partition, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(computes_only_what_is_asked_for, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_the_failure_of_a_partition, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(jobs_have_the_properties_of_the_call, loud_setup, api_teardown),
                cmocka_unit_test(uses_unix_sockets_if_configured),
                cmocka_unit_test(gives_up_waiting_for_a_client),
                cmocka_unit_test(contexts_stop_with_clients),
        };
        return cmocka_run_group_tests(cases, NULL, NULL);
}
