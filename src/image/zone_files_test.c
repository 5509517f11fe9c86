/* Time zones of an image: files, links, and what is left out. */
#include "image/image_layer.h"
#include "image/zone_files.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void zone_write(const char *folder, const char *name, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
        _cleanup_free_ char *parent = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
        assert_int_equal(make_dirs(parent, 0755), 0);
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
}

static void zone_write_all(const char *folder)
{
        _cleanup_free_ char *link = mem_printf("%s/Arctic", folder);
        zone_write(folder, "Europe/Oslo", "TZif2 berlin");
        zone_write(folder, "Europe/Berlin", "TZif2 berlin");
        zone_write(folder, "America/Argentina/Jujuy", "TZif2 jujuy");
        zone_write(folder, "posix/Europe/Berlin", "TZif2 berlin");
        zone_write(folder, "right/Europe/Berlin", "TZif2 leap");
        zone_write(folder, "localtime", "TZif2 here");
        zone_write(folder, "zone.tab", "a table");
        zone_write(folder, "empty", "");
        assert_int_equal(mkdir(link, 0755), 0);
        free(link);
        link = mem_printf("%s/Arctic/Longyearbyen", folder);
        assert_int_equal(symlink("../Europe/Berlin", link), 0);
        free(link);
        link = mem_printf("%s/Nowhere", folder);
        assert_int_equal(symlink("Missing", link), 0);
}

static void adds_zones_once(void **state)
{
        (void)state;
        struct image_layer *layer = image_layer_new();
        struct image_sealed sealed;
        struct fst_error error = FST_ERROR_INIT;
        zone_write_all(temp_dir);
        assert_int_equal(zone_files_add(layer, temp_dir, &error), 0);
        assert_true(image_layer_has(layer, ZONE_FOLDER "/Europe/Berlin"));
        assert_true(image_layer_has(layer, ZONE_FOLDER "/Europe/Oslo"));
        assert_true(image_layer_has(layer, ZONE_FOLDER "/Arctic/Longyearbyen"));
        assert_true(image_layer_has(layer, ZONE_FOLDER "/America/Argentina/Jujuy"));
        static const char *const absent[] = {"posix", "right", "localtime", "zone.tab", "empty", "Nowhere"};
        for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
                _cleanup_free_ char *path = mem_printf(ZONE_FOLDER "/%s", absent[i]);
                assert_false(image_layer_has(layer, path));
        }
        assert_int_equal(image_layer_seal(layer, &sealed, &error), 0);
        assert_int_equal(sealed.files, 2); /* Berlin, of which the others are links, and Jujuy */
        image_sealed_deinit(&sealed);
        image_layer_free(layer);
}

static void missing_database_adds_nothing(void **state)
{
        (void)state;
        _cleanup_free_ char *missing = temp_dir_path("none");
        struct image_layer *layer = image_layer_new();
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(zone_files_add(layer, missing, &error), 0);
        assert_false(image_layer_has(layer, ZONE_FOLDER));
        image_layer_free(layer);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(adds_zones_once),
                cmocka_unit_test(missing_database_adds_nothing),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
