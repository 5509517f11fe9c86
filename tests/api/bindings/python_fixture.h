/*
 * A package "pyspark" of our own for tests without the genuine one: its daemon speaks the protocol of 4.3, and a
 * command is a word instead of a pickle. Frames are texts.
 *
 *      echo    the rows          split    "split files includes cpus property" of the task
 *      upper   in capitals       first    the first row, and the rest unread
 *      fail    an exception      crash    ends by a signal after the first row
 *      orphan  ends its daemon by a signal, then itself
 *      noise   writes to its standard output, then as echo
 *      add     the rows as accumulator updates
 *      show    the values of the broadcast variables that it has; over a socket they have 3 bytes
 *      hang    never answers     odd      an answer that is none
 *      large   a row of 3 MiB for each row
 *      pid     its process id
 *      barrier waits for the others and gathers the split of each
 *      pids    waits for the others and gathers the process ids of all
 *      slow    waits for 1.5 s, then as echo
 *      NAME=   the value of an environment variable
 */
#pragma once

#include "api/bindings/frames_fixture.h"
#include "base/fs.h"

#include <firesteel/python.h>

static const char python_fixture_daemon[] =
        "import os, signal, socket, struct, sys, time, json\n"
        "def number(f): return struct.unpack('>i', exactly(f, 4))[0]\n"
        "def exactly(f, n):\n"
        "    data = f.read(n)\n"
        "    if len(data) < n: raise EOFError\n"
        "    return data\n"
        "def text(f): return exactly(f, number(f)).decode()\n"
        "def put(*xs): return b''.join(struct.pack('>i', x) if isinstance(x, int) else\n"
        "                              struct.pack('>i', len(x)) + x for x in xs)\n"
        "def connect(port, secret):\n"
        "    f = socket.create_connection(('127.0.0.1', port)).makefile('rwb')\n"
        "    f.write(put(secret.encode())); f.flush()\n"
        "    assert text(f) == 'ok'\n"
        "    return f\n"
        "class Task: pass\n"
        "known = {}\n"
        "def head(f):\n"
        "    t = Task()\n"
        "    first = number(f)\n"
        "    assert first == -8, first\n"
        "    number(f)\n"
        "    t.split, t.python, t.context, t.files = number(f), text(f), json.loads(text(f)), text(f)\n"
        "    t.includes = [text(f) for _ in range(number(f))]\n"
        "    served, n = exactly(f, 1) == b'\\1', number(f)\n"
        "    values = connect(number(f), text(f)) if served else None\n"
        "    for _ in range(n):\n"
        "        bid = struct.unpack('>q', exactly(f, 8))[0]\n"
        "        if bid < 0: known.pop(-bid - 1)\n"
        "        elif not served: known[bid] = open(text(f), 'rb').read()\n"
        "        else:\n"
        "            assert struct.unpack('>q', exactly(values, 8))[0] == bid\n"
        "            known[bid] = exactly(values, 3)\n"
        "    if served: values.write(b'1'); values.flush()\n"
        "    assert (number(f), number(f), number(f)) == (0, 0, 0)\n"
        "    t.command = text(f)\n"
        "    return t\n"
        "def rows(f, left):\n"
        "    while True:\n"
        "        n = number(f)\n"
        "        if n == -1: left.clear(); return\n"
        "        yield exactly(f, n) if n >= 0 else b'-'\n"
        "def ask(context, call, *texts):\n"
        "    f = connect(context['connInfo'], context['secret'])\n"
        "    f.write(put(call, *texts)); f.flush()\n"
        "    return [text(f) for _ in range(number(f))]\n"
        "def compute(t, it, updates):\n"
        "    c = t.command\n"
        "    if c in ('echo', 'noise'):\n"
        "        if c == 'noise': print('noise of a worker', flush=True)\n"
        "        yield from it\n"
        "    elif c == 'upper':\n"
        "        for x in it: yield x.upper()\n"
        "    elif c == 'first': yield next(it)\n"
        "    elif c == 'fail': raise ValueError('no ' + next(it).decode())\n"
        "    elif c == 'crash': next(it); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    elif c == 'orphan': os.kill(os.getppid(), signal.SIGKILL); os._exit(1)\n"
        "    elif c == 'add': updates.extend(it)\n"
        "    elif c == 'hang': time.sleep(600)\n"
        "    elif c == 'large':\n"
        "        for x in it: yield x * (3 << 20)\n"
        "    elif c == 'pid': list(it); yield str(os.getpid()).encode()\n"
        "    elif c == 'show':\n"
        "        list(it)\n"
        "        for b in sorted(known): yield known[b]\n"
        "    elif c == 'barrier':\n"
        "        list(it)\n"
        "        assert ask(t.context, 1) == ['success']\n"
        "        yield ','.join(ask(t.context, 2, str(t.split).encode())).encode()\n"
        "        yield str(len(t.context['localProperties']['addresses'].split(','))).encode()\n"
        "    elif c == 'pids':\n"
        "        list(it)\n"
        "        yield ','.join(ask(t.context, 2, str(os.getpid()).encode())).encode()\n"
        "    elif c == 'slow':\n"
        "        while b'Idle timeout' not in os.pread(2, 1 << 20, 0): time.sleep(0.01)\n"
        "        yield from it\n"
        "    elif c.endswith('='): list(it); yield os.environ.get(c[:-1], '').encode()\n"
        "    elif c == 'split':\n"
        "        list(it)\n"
        "        yield ('%d %s %s %d %s' % (t.split, os.path.isdir(t.files), ','.join(t.includes), t.context['cpus'],\n"
        "               t.context['localProperties'].get('p'))).encode()\n"
        "def task(f, out):\n"
        "    t, updates, left = head(f), [], [1]\n"
        "    if t.command == 'odd': out.write(put(-77)); out.flush(); return False\n"
        "    try:\n"
        "        for row in compute(t, rows(f, left), updates): out.write(put(row))\n"
        "    except ValueError as e:\n"
        "        out.write(put(-2, ('Traceback: ' + str(e)).encode())); out.flush(); return False\n"
        "    out.write(put(-3) + struct.pack('>6q', 1, 2, 3, 4, 5, 6) + put(-1, len(updates), *updates))\n"
        "    again = not left and number(f) == -4\n"
        "    out.write(put(-4 if again else -1)); out.flush()\n"
        "    return again\n"
        "def worker(s):\n"
        "    f, out = s.makefile('rb'), s.makefile('wb')\n"
        "    os.dup2(os.open('/dev/null', os.O_RDONLY), 0)\n"
        "    s.sendall(put(os.getpid()))\n"
        "    leave = os.environ.get('FIXTURE_LEAVE', '')\n"
        "    if os.path.exists(leave): os.unlink(leave); return\n"
        "    assert text(f) == os.environ['PYTHON_WORKER_FACTORY_SECRET']\n"
        "    s.sendall(put(b'ok'))\n"
        "    while task(f, out) and os.environ.get('SPARK_REUSE_WORKER'): pass\n"
        "    try:\n" /* as pyspark's daemon: a socket that closes with unread input would discard the answer */
        "        while s.recv(65536): pass\n"
        "    except OSError: pass\n"
        "def serve():\n"
        "    if os.environ.get('FIXTURE_STRAY'): print('hello', flush=True)\n"
        "    listener = socket.create_server(('127.0.0.1', 0))\n"
        "    os.write(1, put(listener.getsockname()[1]))\n"
        "    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "    import select\n"
        "    while True:\n"
        "        ready, _, _ = select.select([0, listener], [], [])\n"
        "        if 0 in ready:\n"
        "            data = os.read(0, 4)\n"
        "            if not data: os._exit(0)\n"
        "            try: os.kill(struct.unpack('>i', data)[0], signal.SIGKILL)\n"
        "            except OSError: pass\n"
        "        if listener in ready:\n"
        "            s, _ = listener.accept()\n"
        "            if os.fork() == 0:\n"
        "                listener.close()\n"
        "                try: worker(s)\n"
        "                finally: os._exit(0)\n"
        "            s.close()\n"
        "if __name__ == '__main__': serve()\n";

static char python_fixture_dir[] = "/tmp/firesteel-python-XXXXXX";

static inline void python_fixture_put(const char *name, const char *content)
{
        _cleanup_free_ char *path = mem_printf("%s/pyspark/%s", python_fixture_dir, name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(content, file);
        assert_int_equal(fclose(file), 0);
}

/* Makes the package. Returns false without python3. */
static inline bool python_fixture_make(void)
{
        if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null") != 0)
                return false;
        assert_non_null(mkdtemp(python_fixture_dir));
        _cleanup_free_ char *dir = mem_printf("%s/pyspark", python_fixture_dir);
        assert_int_equal(make_dirs(dir, 0700), 0);
        python_fixture_put("__init__.py", "");
        python_fixture_put("worker.py", "");
        python_fixture_put("version.py", "__version__ = '4.3.0'\n");
        python_fixture_put("daemon.py", python_fixture_daemon);
        return true;
}

static inline void python_fixture_remove(void)
{
        remove_tree(python_fixture_dir);
}

/* A function of the package: @command is one of the words above. */
static inline struct fst_python_function python_fixture_function(const char *command)
{
        return (struct fst_python_function){.command = fst_bytes_of(command),
                                            .exec = "python3",
                                            .version = "3.11",
                                            .package_path = python_fixture_dir};
}

static inline fst_rdd *python_fixture_rdd(fst_rdd *frames, const char *command)
{
        struct fst_python_function f = python_fixture_function(command);
        return fst_python_rdd(frames, &f, false, false);
}
