/*
 * The interactive shell; see python_shell.h.
 *
 * Spark's shell runs pyspark/shell.py, which makes a SparkSession. Ours runs a startup file of its own, which makes a
 * SparkContext. Python reads it from a temporary directory, as do the kernels that Jupyter starts later, so this
 * process stays and removes it at the end.
 */
#include "pyspark_driver/python_shell.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "exec/app/app_compiler.h"
#include "process/exit_cleanup.h"
#include "text/shell_words.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char startup_file[] =
        "import os as _os, platform as _platform, sys as _sys\n"
        "try:\n"
        "    import pyspark as _pyspark\n"
        "    from pyspark import SparkConf, SparkContext\n"
        "    sc = SparkContext.getOrCreate()\n"
        "except Exception as _e:\n"
        "    print('pyspark: the context could not start:', _e, file=_sys.stderr)\n"
        "    if isinstance(_e, ImportError):\n"
        "        print('Install the package for this interpreter: %s -m pip install pyspark' % _sys.executable,\n"
        "              file=_sys.stderr)\n"
        "    _os._exit(1)\n"
        "print('Firesteel with pyspark %s' % _pyspark.__version__)\n"
        "print('Using Python version %s (%s)' % (_platform.python_version(), ', '.join(_platform.python_build())))\n"
        "if sc.uiWebUrl:\n"
        "    print('Spark context Web UI available at %s' % sc.uiWebUrl)\n"
        "print(\"Spark context available as 'sc' (master = %s, app id = %s).\" % (sc.master, sc.applicationId))\n"
        "_startup = _os.environ.get('OLD_PYTHONSTARTUP')\n"
        "if _startup and _os.path.isfile(_startup):\n"
        "    with open(_startup) as _file:\n"
        "        exec(compile(_file.read(), _startup, 'exec'))\n";

static pid_t shell_child; /* the interpreter; 0: none. Atomic */

/* A signal to this process is meant for the interpreter: in Spark, the script becomes the interpreter. */
static void shell_forward_signal(int number)
{
        pid_t child = __atomic_load_n(&shell_child, __ATOMIC_ACQUIRE);
        if (child > 0)
                kill(child, number);
}

static bool shell_variable_is_set(const char *name)
{
        const char *value = getenv(name);
        return value && value[0];
}

/* The directory that has bin/spark-submit of this program: the one above bin/ of the program, or of the checkout. */
static int shell_set_home(struct fst_error *error)
{
        char program[4096];
        ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
        if (n < 0)
                return error_errno(error, "/proc/self/exe");
        program[n] = 0;
        for (int i = 0; i < 2; i++) {
                char *slash = strrchr(program, '/');
                if (slash)
                        *slash = 0;
        }
        const char *compiler_home = app_compiler_home();
        const char *const homes[] = {getenv("SPARK_HOME"), program, compiler_home};
        for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
                _cleanup_free_ char *submit = homes[i] ? mem_printf("%s/bin/spark-submit", homes[i]) : NULL;
                if (submit && homes[i][0] && access(submit, X_OK) == 0) {
                        setenv("SPARK_HOME", homes[i], 1);
                        return 0;
                }
        }
        return error_set(error, -ENOENT,
                         "pyspark: no bin/spark-submit of Firesteel was found: set SPARK_HOME to the directory that "
                         "has it");
}

static int shell_set_submit_arguments(int n, char *const *words, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        buf_puts(&all, "\"--name\" \"PySparkShell\" ");
        for (int i = 0; i < n; i++) {
                if (text_ends_with(words[i], ".py") && (i == 0 || words[i - 1][0] != '-'))
                        return error_set(error, -EINVAL,
                                         "Running python applications through 'pyspark' is not supported as of Spark "
                                         "2.0.\nUse ./bin/spark-submit <python file>");
                _cleanup_free_ char *word = option_string_quote(words[i]);
                buf_printf(&all, "%s ", word);
        }
        buf_puts(&all, "\"pyspark-shell\"");
        setenv("PYSPARK_SUBMIT_ARGS", buf_text(&all), 1);
        return 0;
}

static int shell_write_startup(char **directory, struct fst_error *error)
{
        int r = exit_cleanup_make_directory("/tmp/pyspark-shell", directory, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = mem_printf("%s/shell.py", *directory);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "%s", path);
        r = write_all(fd, startup_file, sizeof(startup_file) - 1);
        close(fd);
        const char *old = getenv("PYTHONSTARTUP");
        setenv("OLD_PYTHONSTARTUP", old ? old : "", 1);
        setenv("PYTHONSTARTUP", path, 1);
        return r < 0 ? error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

/* Runs the interpreter in the foreground. Ctrl-C is for it alone. */
static int shell_run_python(int *status, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_(option_words_deinit) struct option_words options = {0};
        const char *driver = getenv("PYSPARK_DRIVER_PYTHON"), *given = getenv("PYSPARK_DRIVER_PYTHON_OPTS");
        posix_spawnattr_t attributes;
        sigset_t interrupt, forwarded, before;
        pid_t pid;
        string_list_add(&words, driver);
        if (given && option_string_split(given, &options, error) < 0)
                return -EINVAL;
        for (size_t i = 0; i < options.len; i++)
                string_list_add(&words, options.data[i]);
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        sigemptyset(&forwarded);
        sigaddset(&forwarded, SIGTERM);
        sigaddset(&forwarded, SIGHUP);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigdefault(&attributes, &interrupt);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, shell_forward_signal);
        signal(SIGHUP, shell_forward_signal);
        pthread_sigmask(SIG_BLOCK, &forwarded, &before); /* until there is a child */
        posix_spawnattr_setsigmask(&attributes, &before);
        int r = posix_spawnp(&pid, driver, NULL, &attributes, string_list_argv(&words), environ), ended;
        posix_spawnattr_destroy(&attributes);
        __atomic_store_n(&shell_child, r ? 0 : pid, __ATOMIC_RELEASE);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r)
                return error_set(error, -r, "pyspark: %s: %s. Set PYSPARK_PYTHON or PYSPARK_DRIVER_PYTHON", driver,
                                 strerror(r));
        while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
                ;
        __atomic_store_n(&shell_child, 0, __ATOMIC_RELEASE);
        *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
        return 0;
}

int python_shell_run(int n, char *const *words, int *status, struct fst_error *error)
{
        _cleanup_free_ char *directory = NULL;
        if (shell_variable_is_set("IPYTHON") || shell_variable_is_set("IPYTHON_OPTS"))
                return error_set(
                        error, -EINVAL,
                        "IPYTHON and IPYTHON_OPTS are removed in Spark 2.0+. Remove these from the environment "
                        "and set PYSPARK_DRIVER_PYTHON and PYSPARK_DRIVER_PYTHON_OPTS instead.");
        if (!shell_variable_is_set("PYSPARK_PYTHON"))
                setenv("PYSPARK_PYTHON", "python3", 1);
        if (!shell_variable_is_set("PYSPARK_DRIVER_PYTHON"))
                setenv("PYSPARK_DRIVER_PYTHON", getenv("PYSPARK_PYTHON"), 1);
        setenv("PYTHONHASHSEED", "0", 1);
        exit_cleanup_on_signals();
        int r = shell_set_submit_arguments(n, words, error);
        if (r == 0)
                r = shell_set_home(error);
        if (r == 0)
                r = shell_write_startup(&directory, error);
        if (r == 0)
                r = shell_run_python(status, error);
        exit_cleanup_remove(directory);
        return r;
}
