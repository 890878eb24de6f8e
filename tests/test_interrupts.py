"""Signals and too little memory: one message, the right exit code, nothing left, in two seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rote import interrupts

FACTS = "random:vocab=20,context=2,facts=200,seed=1"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
WAITING = """
import os, sys, time
from rote import interrupts
interrupts.install()
{inside}
"""


def script(inside: str, folder: Path) -> subprocess.Popen[str]:
    """A process with rote's handlers; it has written a line when it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING.format(inside=inside)], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    start = time.monotonic()
    process.send_signal(number)
    said = process.communicate(timeout=20)[1]
    assert time.monotonic() - start < 2
    return process.returncode, said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_modules_are_imported_is_one_message(tmp_path, number, code):
    (tmp_path / "slow.py").write_text(
        "try:\n    print('ready', flush=True)\n    import time\n    time.sleep(9)\n"
        "except BaseException:\n    raise ImportError"
    )
    process = script("sys.path.insert(0, '.')\nimport slow", tmp_path)
    assert ended(process, number) == (
        code, f"rote: {'interrupted' if code == 130 else 'terminated'}; nothing was written\n",
    )  # fmt: skip


def test_a_library_that_does_not_return_is_left_and_unfinished_output_is_removed(tmp_path):
    inside = """
os.makedirs('.part/inner')
with interrupts.unfinished('.part'):
    try:
        print('ready', flush=True)
        time.sleep(30)
    finally:
        time.sleep(30)
"""
    code, said = ended(script(inside, tmp_path), signal.SIGINT)
    assert (code, said) == (130, "rote: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_as_soon_as_handlers_stand_is_one_message(tmp_path):
    """Before the command line is entered: here inside `install`, where the watching thread is started."""
    code = (
        "import os, signal, sys, threading; sys.argv = ['rote', 'list', 'methods']\n"
        "start = threading.Thread.start\n"
        "threading.Thread.start = lambda self: (os.kill(os.getpid(), signal.SIGINT), start(self))\n"
        "from rote.__main__ import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "rote: interrupted; nothing was written\n"


HOLDING = """
import _signal, os, sys
loaded, held = set(sys.modules), _signal.pthread_sigmask
def hold(*given):
    held(*given)
    _signal.pthread_sigmask = held
    {then}
_signal.pthread_sigmask, sys.argv = hold, ['rote', 'list', 'methods']
from rote.__main__ import run
run()
"""


def held_back(then: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the entry point, and this line as soon as it has held signals back."""
    words = [sys.executable, "-c", HOLDING.format(then=then)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_nothing_is_imported_before_signals_are_held_back(tmp_path):
    """A signal before that is Python's to answer: rote's own part of it is these four small files."""
    done = held_back("print(*sorted(set(sys.modules) - loaded), flush=True); os._exit(0)", tmp_path)
    assert done.stdout.split() == ["__future__", "rote", "rote.__main__", "rote.lazy"], done.stderr


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("limit", ["", "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**36, 2**36)); "])
def test_a_signal_before_handlers_stand_waits_for_them(tmp_path, name, code, limit):
    """With a limit on addresses, the command runs in a child process, and the signal is the parent's to pass on."""
    done = held_back(f"{limit}os.kill(os.getpid(), _signal.{name})", tmp_path)
    word = "interrupted" if code == 130 else "terminated"
    assert (done.returncode, done.stderr) == (code, f"rote: {word}; nothing was written\n")


def test_child_processes_are_stopped(tmp_path):
    inside = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("fork"), interrupts.be_a_child) as pool:
        child = pool.submit(os.getpid).result()
        work = pool.submit(time.sleep, 30)
        while not work.running(): time.sleep(0.01)
        try:
            print(child, file=open("child", "w"), flush=True)
            print('ready', flush=True)
            work.result()
        except BaseException:
            interrupts.end(130)
"""
    code, _ = ended(script(inside, tmp_path), signal.SIGINT)
    assert code == 130
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not _alive(child):
            return
        time.sleep(0.02)
    raise AssertionError("the child runs on")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_was_complete_before_the_signal_is_named(tmp_path):
    inside = """
interrupts.completed('model')
try:
    print('ready', flush=True)
    time.sleep(9)
except KeyboardInterrupt:
    interrupts.leave()
"""
    code, said = ended(script(inside, tmp_path), signal.SIGINT)
    assert (code, said) == (130, "rote: interrupted; already written and complete: model\n")


def rote(*words: str, folder: Path, **more) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rote", *words], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        **more,
    )  # fmt: skip


LONG = {
    "sweep": "sweep --vocab 8 --dim 4 --head-dim 2 --heads 1:9 --seeds 50 --steps 20000 -o run",
    "lm capacity": "lm capacity gpt2 --vocab 16 --steps 4000 -o run",
}


@pytest.mark.parametrize("name", LONG)
def test_a_command_is_interrupted_during_its_work(name, tmp_path):
    """Heavy training, whose loop is inside the native engine or inside torch."""
    process = rote(*LONG[name].split(), folder=tmp_path)
    while not (tmp_path / "run" / "ledger.sqlite").exists():
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)
    code, said = ended(process, signal.SIGTERM)
    assert code == 143
    assert said.splitlines()[-1] == ("rote: terminated; what had ended is kept in run, and the same command resumes")
    assert "Traceback" not in said
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {"ledger.sqlite", ".lock"}


@pytest.mark.parametrize("kilobytes", [40_000, 100_000, 400_000])
def test_too_little_address_space_is_one_message(tmp_path, kilobytes):
    import resource

    limit = (kilobytes * 1024, kilobytes * 1024)
    process = rote("build", FACTS, "-o", "model", folder=tmp_path,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))  # fmt: skip
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert "memory" in said
    assert "ulimit -v" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_lack_of_memory_is_found_below_the_errors_it_caused():
    error = ImportError("Cannot import module 'rote.cli.build'")
    assert interrupts.out_of_memory(error) is None
    error.__cause__ = SystemError("error return without exception set")
    assert "not enough memory" in (interrupts.out_of_memory(error) or "")


SPIN = """
import mmap, os, resource, sys, time
from rote import interrupts, supervisor
supervisor.FRUITLESS = 0.3
size = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + 2**27, size + 2**27))
supervisor.supervise()
filled = mmap.mmap(-1, 2**27 - 2**25)
os.mkdir("begun")
null = os.open("/dev/null", os.O_WRONLY)
with interrupts.unfinished("done"):
    pass
with interrupts.unfinished("begun"):
    end = time.process_time() + 1.0
    while time.process_time() < end:
        WORK
interrupts.end(7)
"""


def spun(folder: Path, work: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", SPIN.replace("WORK", work)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the supervisor looks at /proc")
@pytest.mark.parametrize(
    ("work", "code"), [("os.listdir('/proc')", 2), ("sum(range(1000))", 7), ("os.write(null, b'x')", 7)]
)
def test_a_library_that_asks_for_memory_for_ever_is_ended(tmp_path, work, code):
    """System calls without effect at the limit of addresses; work and writing are left alone."""
    done = spun(tmp_path, work)
    assert done.returncode == code, done.stderr
    if code == 2:
        assert done.stderr.startswith("rote: a library asks again and again for memory")
        assert "ulimit -v" in done.stderr
        assert list(tmp_path.iterdir()) == []
    else:
        assert done.stderr == ""
        assert (tmp_path / "begun").is_dir()


def test_what_a_library_leaves_when_it_aborts_is_removed(tmp_path):
    done = spun(tmp_path, "os.abort()")
    assert done.returncode == 2
    assert "ran out of memory" in done.stderr
    assert list(tmp_path.iterdir()) == []
