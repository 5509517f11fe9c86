/* The name of this process's account, which is looked up once. */
#include "process/os_user.h"

#include <pthread.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static void *other_thread(void *context)
{
        return (void *)os_user_name();
}

static void names_the_account_of_this_process(void **state)
{
        const struct passwd *account = getpwuid(geteuid());
        const char *name = os_user_name();
        void *elsewhere;
        pthread_t thread;
        if (!account) {
                assert_null(name);
                return;
        }
        assert_string_equal(name, account->pw_name);
        assert_ptr_equal(os_user_name(), name);
        pthread_create(&thread, NULL, other_thread, NULL);
        pthread_join(thread, &elsewhere);
        assert_ptr_equal(elsewhere, name);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(names_the_account_of_this_process)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
