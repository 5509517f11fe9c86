"""Pages of a real master and worker: behind the master's proxy, with permissions, and their contents."""
import http.client
import re
import subprocess
import urllib.parse

from blocking_job import finish, hold, running
from folders import FIRESTEEL
from standalone_cluster import TIMEOUT, wait_for


def ask(port, path, user=None, body=None, **headers):
    """(status, Location, text)"""
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT)
    headers = {k.replace("_", "-"): v for k, v in headers.items()}
    if user:
        headers["X-Remote-User"] = user
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("POST" if body is not None else "GET", path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("Location"), text


def pages(daemon, ui="MasterUI"):
    return int(daemon.says(rf"service '{ui}' on port (\d+)").group(1))


def links(text):
    return [urllib.parse.unquote(link).replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', text)]


def test_everything_is_seen_through_the_master(cluster, blocking_job):
    proxied = {"spark.ui.reverseProxy": "true"}
    master = cluster.master(**proxied)
    worker = cluster.worker(master.url, cores=1, **proxied)
    port = pages(master)
    worker_id = re.search(r'"id" : "(worker-[^"]+)"|"id":"(worker-[^"]+)"', ask(port, "/json/")[2])
    worker_id = worker_id.group(1) or worker_id.group(2)
    app = hold(cluster, blocking_job, master.url, "seen", 1)
    wait_for(lambda: running(app), "a task")
    app_id = app.says(r"application (app-\S+)").group(1)
    base = f"/proxy/{worker_id}"
    assert base in links(ask(port, "/")[2])
    status, _, text = ask(port, base + "/")
    assert status == 200 and "Spark Worker at 127.0.0.1:" in text
    assert all(link.startswith((base + "/", "http://", "data:")) for link in links(text)), links(text)
    log = next(link for link in links(text) if "appId=" in link and "logType=stderr" in link)
    status, _, text = ask(port, log)
    assert status == 200 and f"stderr log page for {app_id}/0" in text and "Showing " in text
    log, = (link for link in links(ask(port, f"/app/?appId={app_id}")[2]) if link.endswith("logType=stderr"))
    assert log.startswith(base) and f"stderr log page for {app_id}/0" in ask(port, log)[2]
    executor, = cluster.executors().values()
    with open(f"/proc/{executor}/environ", encoding="utf-8") as variables:
        assert f"SPARK_LOG_URL_STDERR={base}/logPage/?appId={app_id}" in variables.read()
    assert ask(port, "/proxy/worker-none/")[0] == 404
    wait_for(lambda: "Active Jobs (1)" in ask(port, f"/proxy/{app_id}/jobs/")[2], "the job on the application's page")
    status, _, text = ask(port, f"/proxy/{app_id}/jobs/")
    assert status == 200
    assert all(link.startswith((f"/proxy/{app_id}/", "http://", "data:")) for link in links(text)), links(text)
    status, location, _ = ask(port, f"/proxy/{app_id}/")
    assert (status, urllib.parse.urlsplit(location).path) == (302, f"/proxy/{app_id}/jobs/")
    style = next(link for link in links(text) if "firesteel-ui.css?v=" in link)
    assert ask(port, style)[0] == 200 and ".chart" in ask(port, style)[2]
    assert f'"id" : "{app_id}"' in ask(port, f"/proxy/{app_id}/api/v1/applications")[2]
    table = subprocess.run([FIRESTEEL, "jobs", f"http://127.0.0.1:{port}/proxy/{app_id}"], capture_output=True, text=True,
                           check=False, timeout=TIMEOUT)
    assert table.returncode == 0 and "RUNNING" in table.stdout, table.stderr
    assert ask(port, f"/proxy/{app_id}/jobs/job/kill/", body="id=0")[0] == 403  # without the token of a page
    assert ask(pages(worker, "WorkerUI"), "/proxy/x/")[0] == 404  # a worker is not a proxy
    app.release()
    finish(app, 1)
    worker.kill()
    wait_for(lambda: ask(port, base + "/")[0] == 502 or ask(port, base + "/")[0] == 404, "the end of the worker's pages")


def test_a_proxy_in_front_of_the_master(cluster):
    proxied = {"spark.ui.reverseProxy": "true", "spark.ui.reverseProxyUrl": "https://gate.example/spark/"}
    master = cluster.master(**proxied)
    worker = cluster.worker(master.url, **proxied)
    master.says(r"acting as a reverse proxy\. Master, Workers and Applications UIs are available at https://gate.example/spark/\n")
    port = pages(master)
    text = ask(port, "/")[2]
    base, = (link for link in links(text) if "/proxy/worker-" in link)
    assert base.startswith("https://gate.example/spark/proxy/worker-")
    assert all(link.startswith(("https://gate.example/spark/", "#", "data:")) for link in links(text)), links(text)
    text = ask(port, base[len("https://gate.example/spark"):] + "/")[2]
    assert "https://gate.example/spark/" in links(text)  # back to the master
    assert f"{base}/logPage/?self&logType=out" in links(text)
    direct = ask(pages(worker, "WorkerUI"), "/")[2]
    assert "/logPage/?self&logType=out" in links(direct)


def test_what_a_master_shows_of_itself(cluster, blocking_job):
    logs = cluster.folder / "logs"
    logs.mkdir()
    (logs / "b.out").write_text("another\n")
    (logs / "a.out").write_text("0123456789\n")
    cluster.environment["SPARK_LOG_DIR"] = str(logs)
    cluster.environment["SHOWN_HERE"] = "shown"
    cluster.environment["SHOWN_PASSWORD"] = "hidden-one"
    master = cluster.master(**{"spark.master.ui.title": "Our <cluster>", "spark.master.ui.visibleEnvVarPrefixes": "SHOWN_,X_",
                               "spark.master.ui.historyServerUrl": "http://history:18080"})
    worker = cluster.worker(master.url)
    port = pages(master)
    text = ask(port, "/")[2]
    assert "<title>Our &lt;cluster&gt;</title>" in text and "/logPage/?self&logType=out" in links(text)
    for who, at in (("master", port), ("worker", pages(worker, "WorkerUI"))):
        assert ask(at, "/log/?self&logType=out&offset=3&byteLength=4")[2] == f"==== Bytes 3-7 of 11 of {logs}/out ====\n3456"
        status, _, text = ask(at, "/logPage/?self&logType=out")
        assert status == 200 and f"out log page for {who}" in text and "0123456789" in text
        assert "/logPage/?self&logType=out&offset=0&byteLength=5" in links(ask(at, "/logPage/?self&logType=out&byteLength=5")[2])
        assert ask(at, "/log/?self&logType=passwd")[2].endswith("Error: Log type must be one of stderr, stdout, out")
    assert ask(port, "/log/?driverId=x&logType=stdout")[0] == 400  # a master has only its own
    text = ask(port, "/environment/")[2]
    assert "<td>SHOWN_HERE</td><td>shown</td>" in text and "SPARK_LOG_DIR" not in text and "hidden-one" not in text
    app = hold(cluster, blocking_job, master.url, "ended", 1)
    app.release()
    finish(app, 1)
    app_id = app.says(r"application (app-\S+)").group(1)
    ended = lambda: f"http://history:18080/history/{app_id}" in links(ask(port, f"/app/?appId={app_id}")[2])
    wait_for(ended, "a link to the history")


def test_a_worker_names_the_master_as_it_was_told(cluster):
    master = cluster.master()
    url = f"spark://localhost:{master.port}"
    assert "registered with master " + master.url in cluster.worker(url).log()
    assert "registered with master " + url in cluster.worker(url, **{"spark.worker.preferConfiguredMasterAddress": "true"}).log()


ACLS = {"spark.acls.enable": "true", "spark.ui.filters": "firesteel.RemoteUserFilter", "spark.ui.view.acls": "viewer",
        "spark.modify.acls": "changer", "spark.admin.acls": "boss", "spark.ui.reverseProxy": "true"}


def test_who_may_see_and_who_may_end(cluster, blocking_job):
    master = cluster.master(**ACLS)
    worker = cluster.worker(master.url, cores=1, **ACLS)
    port, worker_port = pages(master), pages(worker, "WorkerUI")
    app = hold(cluster, blocking_job, master.url, "watched", 1)
    wait_for(lambda: running(app), "a task")
    app_id = app.says(r"application (app-\S+)").group(1)
    base = next(link for link in links(ask(port, "/", "boss")[2]) if link.startswith("/proxy/"))
    every = ["/", "/json/", f"/app/?appId={app_id}", "/environment/", "/metrics/master/json/", "/logPage/?self&logType=out",
             base + "/", f"{base}/logPage/?appId={app_id}&executorId=0&logType=stderr"]
    for path in every:
        for user, status in ((None, 403), ("stranger", 403), ("viewer", 200), ("boss", 200)):
            assert ask(port, path, user)[0] == status, (path, user)
    for path in ("/", "/json/", f"/log/?appId={app_id}&executorId=0&logType=stderr"):
        for user, status in ((None, 403), ("stranger", 403), ("viewer", 200), ("boss", 200)):
            assert ask(worker_port, path, user)[0] == status, (path, user)
    assert ask(port, "/?doAs=viewer", "stranger")[0] == 403 and ask(port, "/?doAs=stranger", "boss")[0] == 403
    assert ask(port, "/?doAs=viewer", "boss")[0] == 200
    button = 'action="/app/kill/"'
    assert button not in ask(port, "/", "viewer")[2] and button in ask(port, "/", "boss")[2]
    token = re.search(r'name="csrfToken" value="(\w+)"', ask(port, "/", "boss")[2]).group(1)
    form = f"id={app_id}&terminate=true&csrfToken={token}"
    for user in (None, "stranger", "viewer"):
        assert ask(port, "/app/kill/", user, form)[0] == 403, user
    assert ask(port, "/app/kill/", "boss", form[:-1])[0] == 403  # not from one of our pages
    assert ask(port, "/app/kill/", "boss", form, Origin="http://elsewhere")[0] == 403
    assert app.process.poll() is None
    assert ask(port, "/app/kill/", "boss", form)[:2] == (302, "/")
    app.says("Master removed our application: KILLED")
    app.release()
    app.end()
