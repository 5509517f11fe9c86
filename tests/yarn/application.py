"""An application of tests/yarn/unmanaged_am, and calls of a ResourceManager by tests/yarn/rm_calls."""
import os
import subprocess
import threading
import time

TIMEOUT = 300  # seconds: until something that must happen is given up


class Client:
    """Calls the ResourceManagers of the configuration in @conf."""

    def __init__(self, build, conf, environment=None):
        self.build = build
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "YARN_", "SPARK_", "KRB5"))}
        self.environment = {**kept, "HADOOP_CONF_DIR": conf, "HADOOP_USER_NAME": "alice", **(environment or {})}

    def call(self, *words):
        """The answer, or the error."""
        done = subprocess.run([os.path.join(self.build, "tests", "rm_calls"), *words], env=self.environment,
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()

    def start(self, command, max_failures=100):
        return Application([os.path.join(self.build, "tests", "unmanaged_am"), str(max_failures), command],
                           self.environment)


class Application:
    """An ApplicationMaster and its events so far, as lists of words."""

    def __init__(self, words, environment):
        self.events, self.log, self.changed = [], "", threading.Condition()
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1)
        self.threads = [threading.Thread(target=self.read_events), threading.Thread(target=self.read_log)]
        for thread in self.threads:
            thread.start()

    def read_events(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(line.rstrip("\n").split(" "))
                self.changed.notify_all()

    def read_log(self):
        for line in self.process.stderr:
            self.log += line

    def send(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))

    def of(self, kind):
        return [event for event in self.events if event[0] == kind]

    def wait(self, kind, count=1):
        """Waits for @count events of a kind, and returns all of that kind."""
        end = time.monotonic() + TIMEOUT
        with self.changed:
            while len(self.of(kind)) < count:
                if not self.changed.wait(max(0.0, end - time.monotonic())):
                    raise RuntimeError(f"no {count} events {kind}: {self.events}\n{self.log[-3000:]}")
            return self.of(kind)

    @property
    def id(self):
        return self.wait("application")[0][1]

    def end(self, command="finish"):
        """Ends the process with @command. Returns its exit status."""
        self.send(command)
        status = self.process.wait(TIMEOUT)
        for thread in self.threads:
            thread.join()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
