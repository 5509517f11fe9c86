"""The man pages (man/) have every option that --help prints and no other, and are good mdoc."""
import os
import re
import shutil
import subprocess

import pytest

from folders import BIN, BUILD, FIRESTEEL, TOP

MAN = os.path.join(TOP, "man")
PAGES = sorted(name for name in os.listdir(MAN) if name.endswith(".1"))

HELP = {  # commands whose options a page has, empty for pages without options
    "docker-image-tool.sh.1": [[os.path.join(TOP, "scripts/docker-image-tool.sh"), "-h"]],
    "firesteel.1": [[FIRESTEEL, "--help"]],
    "firesteel-simulate.1": [[FIRESTEEL, "help", "simulate"], [FIRESTEEL, "simulate", "--standalone", "--help"],
                             [FIRESTEEL, "simulate", "--yarn", "--help"],
                             [FIRESTEEL, "simulate", "--mesos", "--help"],
                             [FIRESTEEL, "simulate", "--operator", "--help"]],
    "spark-class.1": [[FIRESTEEL, "help", "class"]],
    "spark-shell.1": [],
    "spark-submit.1": [[FIRESTEEL, "help", "submit"], [os.path.join(BIN, "spark-submit"), "--help"]],
}


def printed(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
    return done.stdout


def options_of_help(text):
    """The options at the beginning of lines before a description, and those of the usage lines."""
    found, usage = set(), False
    for line in text.splitlines():
        usage = line.startswith("Usage:") or (usage and line.startswith("     "))
        words = line.split(": a ")[0] if usage else line if re.match(r" {2,4}-", line) else ""
        if not usage:
            words = re.split(r"(?<=\S) {2,}", words.lstrip())[0]
        found.update(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", words))
    return found


def source(page):
    with open(os.path.join(MAN, page), encoding="utf-8") as file:
        return file.read()


def options_of_page(text):
    """The defined options: .It Fl c Ar n , Fl -cores Ar n."""
    lines = re.findall(r"^\.It (Fl .*)$", text, re.M)
    return {"-" + name for line in lines for name in re.findall(r"\bFl (-?[\w-]+)", line)}


@pytest.mark.parametrize("page", PAGES)
def test_options_are_those_of_help(page):
    commands = HELP.get(page, [[FIRESTEEL, "help", page[len("firesteel-"):-2]]])
    helps = [printed(command) for command in commands]
    assert all("Usage" in text for text in helps)
    told = set().union(*map(options_of_help, helps))
    assert options_of_page(source(page)) == told
    mentioned = {"-" + name for name in re.findall(r"\bFl (--?\w[\w-]*|\w\b)", source(page))}
    assert mentioned - told <= {"--deploy-mode"}  # of another command


def test_every_command_has_a_page():
    commands = re.findall(r"^  ([a-z][\w-]*) +\S", printed([FIRESTEEL, "--help"]), re.M)
    assert len(commands) >= 12
    other = {"submit": "spark-submit.1", "class": "spark-class.1",
             **dict.fromkeys(("applications", "compare", "executors", "stages"), "firesteel-jobs.1")}
    assert [name for name in commands if other.get(name, f"firesteel-{name}.1") not in PAGES] == []
    summaries = source("firesteel.1")
    assert [name for name in commands if f".It Cm {name}\n" not in summaries] == []


@pytest.mark.parametrize("page", PAGES)
def test_sections(page):
    text = source(page)
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"]
    assert [name for name in wanted if f".Sh {name}\n" not in text] == []
    for name in re.findall(r"^\.Xr (\S+) 1", text, re.M):
        assert name == "kubectl" or f"{name}.1" in PAGES, name


@pytest.mark.parametrize("page", PAGES)
def test_page_is_good_mdoc(page):
    path = os.path.join(MAN, page)
    if shutil.which("mandoc"):
        command = ["mandoc", "-T", "lint", "-W", "warning", path]
    elif shutil.which("groff"):
        command = ["groff", "-mandoc", "-Tutf8", "-ww", "-z", path]
    else:
        pytest.skip("neither mandoc nor groff is here")
    assert printed(command) == ""


def test_pages_are_installed(tmp_path):
    listed = printed(["meson", "introspect", BUILD, "--installed"])
    assert [page for page in PAGES if f"man1/{page}" not in listed] == []
