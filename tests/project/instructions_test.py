"""No workload needs a fifth more instructions than tests/instructions/counts.json says (tests/instructions/count)."""
import importlib.machinery
import importlib.util
import subprocess

import pytest

from folders import TESTS

loader = importlib.machinery.SourceFileLoader("count", f"{TESTS}/instructions/count")
count = importlib.util.module_from_spec(importlib.util.spec_from_loader("count", loader))
loader.exec_module(count)


def is_sanitized():
    """A build with AddressSanitizer, which valgrind cannot run."""
    said = subprocess.run(["nm", "-D", f"{count.BIN}/firesteel"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return "__asan_init" in said or "__tsan_init" in said


pytestmark = [pytest.mark.skipif(count.MISSING is not None, reason=str(count.MISSING)),
              pytest.mark.skipif(is_sanitized(), reason="valgrind cannot run a build with sanitizers")]


@pytest.mark.parametrize("name", count.WORKLOADS)
def test_instructions_have_not_grown(name, tmp_path):
    seen, known = count.count(name, str(tmp_path)), count.recorded()[name]
    assert seen <= count.LIMIT * known, (
        f"{name} takes {seen:,} instructions, {seen / known:.2f} times the recorded {known:,}: find out why "
        f"(callgrind_annotate), or record the new cost with its reason: tests/instructions/count --record {name}")
