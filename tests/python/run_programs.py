"""Runs programs one after another in this Python process, so that they share one start of the engine.

    PYTHON run_programs.py OUTPUT_FOLDER PROGRAM.py...

Each program, GROUP/NAME.py, makes its own SparkContext. Its standard output goes to OUTPUT_FOLDER/GROUP/NAME.out, with the path of its temporary
folder masked. An exception that leaves the program becomes the last line of that file. Standard output of this process gets
one line before and after each program: `begin GROUP/NAME`, `end GROUP/NAME SECONDS`. tests/python/programs.py reads them.
"""
import contextlib
import io
import os
import re
import runpy
import shutil
import sys
import tempfile
import time
import traceback


def mask(text, folder):
    """Removes what differs from run to run."""
    return re.sub(r"(app|local)-\d{13,14}(-\d+)?", "<application>", text.replace(folder, "<tmp>"))


def stop_context():
    from pyspark import SparkContext
    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()


def run(program):
    """Runs the program and returns its masked output."""
    top, folder, printed = os.getcwd(), tempfile.mkdtemp(prefix="program-"), io.StringIO()
    arguments, tempfile.tempdir, path = sys.argv, folder, list(sys.path)
    modules = set(sys.modules)
    os.chdir(folder)
    sys.argv = [program]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(program, run_name="__main__")
    except BaseException as failure:  # the output has to tell of SystemExit, too
        traceback.print_exc()
        printed.write(f"\n{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}\n")
    finally:
        stop_context()
        os.chdir(top)
        sys.argv, tempfile.tempdir, sys.path[:] = arguments, None, path
        for name in set(sys.modules) - modules:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]
        shutil.rmtree(folder, ignore_errors=True)
    return mask(printed.getvalue(), folder)


def main():
    output, programs = sys.argv[1], sys.argv[2:]
    for program in programs:
        name, start = "/".join(os.path.splitext(program)[0].split("/")[-2:]), time.monotonic()
        print("begin", name, flush=True)
        text = run(os.path.abspath(program))
        os.makedirs(os.path.dirname(os.path.join(output, name)), exist_ok=True)
        with open(os.path.join(output, name + ".out"), "w", encoding="utf-8", errors="surrogatepass") as f:
            f.write(text)
        print("end", name, f"{time.monotonic() - start:.2f}", flush=True)


if __name__ == "__main__":
    main()
