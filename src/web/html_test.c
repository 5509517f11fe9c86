/* Values in pages stay text, whatever they contain. */
#include "web/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void escapes_texts(void **state)
{
        struct buf b = BUF_INIT;
        html_put(&b, "<a href=\"/app/?appId=%q\">%s</a> %d %D 100%%", "a&b=\"<c>", "<script>alert('x')&\"</script>", -7,
                 (int64_t)1 << 40);
        assert_string_equal(
                buf_text(&b),
                "<a href=\"/app/?appId=a%26b%3D%22%3Cc%3E\">&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;&lt;/"
                "script&gt;</a> -7 1099511627776 100%");
        buf_reset(&b);
        html_put(&b, "%s|%s", (const char *)NULL,
                 "\x01 \xff \xc3\xa9 \xed\xa0\x80 \xe2\x82\xac \xf4\x90\x80\x80 \xc0\xbc");
        assert_string_equal(buf_text(&b),
                            "|\xef\xbf\xbd \xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xe2\x82\xac "
                            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
        buf_deinit(&b);
}

static void formats_numbers_as_spark(void **state)
{
        struct buf b = BUF_INIT;
        setenv("TZ", "UTC", 1);
        tzset();
        html_put(&b, "%m|%m|%t|%u|%u|%u|%u|%u|%u", (int64_t)1234, (int64_t)4096, (int64_t)1795326077117, (int64_t)99,
                 (int64_t)500, (int64_t)12000, (int64_t)90000, (int64_t)1200000, (int64_t)5400000);
        assert_string_equal(buf_text(&b),
                            "1234.0 MiB|4.0 GiB|2026/11/22 05:41:17|99 ms|0.5 s|12 s|1.5 min|20 min|1.5 h");
        buf_deinit(&b);
}

static void empty_table_shows_message(void **state)
{
        struct buf b = BUF_INIT;
        html_table_begin(&b, "workers", "Workers", "Id|#Cores", 0, "none yet");
        html_table_end(&b, 0);
        assert_non_null(strstr(buf_text(&b), "none yet"));
        assert_null(strstr(buf_text(&b), "<table>"));
        buf_reset(&b);
        html_table_begin(&b, "workers", "Workers", "Id|#Cores", 2, "none yet");
        html_table_end(&b, 2);
        assert_non_null(strstr(buf_text(&b), "(2)"));
        assert_non_null(strstr(buf_text(&b), "<th>Id</th><th class=\"number\">Cores</th>"));
        buf_reset(&b);
        html_kill_form(&b, "/gate", "/app/kill/", "a\"><b", "application", "t0ken");
        assert_null(strstr(buf_text(&b), "<b"
                                         "\""));
        assert_non_null(strstr(buf_text(&b), "value=\"a&quot;&gt;&lt;b\""));
        buf_deinit(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(escapes_texts),
                cmocka_unit_test(formats_numbers_as_spark),
                cmocka_unit_test(empty_table_shows_message),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
