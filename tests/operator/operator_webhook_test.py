"""firesteel operator webhook start: the certificate, the trust of the API server, and reviews over HTTPS. The API server is
one in memory."""
import base64
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import threading

import pytest

from conditions import wait_until
from folders import FIRESTEEL
from object_api_server import ObjectApiServer

HOST = "spark-operator-webhook-svc.ops.svc"
CONFIGURATION = {"metadata": {"name": "spark-operator-webhook"}, "webhooks": [
    {"name": "apps", "clientConfig": {"service": {}}}, {"name": "schedules", "clientConfig": {"service": {}}}]}


class Webhook:
    """The process, whose log is read while it runs."""

    def __init__(self, server, folder, *flags):
        self.process = subprocess.Popen(
            [FIRESTEEL, "operator", "webhook", "start", "--webhook-port=0", "--health-probe-bind-address=127.0.0.1:0", *flags],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "KUBECONFIG": server.kubeconfig(folder, "ops")})
        self.log = []
        self.reader = threading.Thread(target=lambda: self.log.extend(iter(self.process.stderr.readline, "")))
        self.reader.start()

    def find(self, pattern):
        """Waits for a line of the log, and returns the match."""
        return wait_until(lambda: next((m for m in map(re.compile(pattern).search, self.log) if m), None), f"a line with {pattern}")

    def ask(self, trust, body, path="/validate-sparkoperator-k8s-io-v1beta2-sparkapplication", kind="application/json"):
        """Returns status and body. Verifies the certificate as the API server does."""
        port = int(self.find(r"Listening on port (\d+) with a certificate")[1])
        context = ssl.create_default_context(cadata=trust)
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
        connection.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname=HOST)
        connection.request("POST", path, body if isinstance(body, (str, bytes)) else json.dumps(body), {"Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def probe(self, path):
        port = int(self.find(r"HealthProbe: Listening on port (\d+)")[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        return connection.getresponse().status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.status = self.process.wait(timeout=60)
        self.reader.join()
        self.process.stderr.close()


@pytest.fixture
def server():
    with ObjectApiServer() as server:
        yield server


def trust_of(server):
    """Waits until all webhooks have the same caBundle, and returns it as PEM."""
    def bundles():
        configuration = server.get("validatingwebhookconfigurations", None, "spark-operator-webhook")
        found = {w["clientConfig"].get("caBundle") for w in configuration["webhooks"]}
        return None not in found and len(found) == 1 and found
    return base64.b64decode(next(iter(wait_until(bundles, "a caBundle")))).decode()


def review(spec, operation="CREATE", old=None):
    def application(s):
        return {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                "metadata": {"name": "pi", "namespace": "jobs"}, "spec": s}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-1", "kind": {"group": "sparkoperator.k8s.io", "version": "v1beta2", "kind": "SparkApplication"},
        "operation": operation, "namespace": "jobs", "name": "pi", "object": application(spec),
        "oldObject": old and application(old)}}


SPEC = {"type": "Scala", "sparkVersion": "4.0.0", "mainApplicationFile": "local:///a.jar", "driver": {}, "executor": {}}


def test_reviews_are_answered_over_https(server, tmp_path):
    server.insert("validatingwebhookconfigurations", None, CONFIGURATION)
    with Webhook(server, tmp_path) as webhook:
        trust = trust_of(server)
        webhook.find("The API server trusts this webhook")
        assert (webhook.probe("/healthz"), webhook.probe("/readyz")) == (200, 200)
        status, text = webhook.ask(trust, review(SPEC))
        assert status == 200 and json.loads(text)["response"] == {"uid": "u-1", "allowed": True}
        _, text = webhook.ask(trust, review({**SPEC, "sparkConf": {"spark.master": "yarn"}}))
        response = json.loads(text)["response"]
        said = 'sparkConf key "spark.master" is not allowed: this value is managed by the operator'
        assert response["allowed"] is False and response["status"]["message"] == said
        webhook.find("Refused SparkApplication jobs/pi: " + re.escape(said))
        large = review({**SPEC, "arguments": ["x" * 1_000_000]}, "UPDATE", SPEC)
        assert json.loads(webhook.ask(trust, large)[1])["response"]["allowed"] is True
        assert webhook.ask(trust, "{")[0] == 400
        assert webhook.ask(trust, {"kind": "Pod"}) == (400, "the body is no AdmissionReview with a request\n")
        assert webhook.ask(trust, "{}", path="/other")[0] == 404
        assert webhook.ask(trust, "{}", kind="text/plain")[0] == 415
    assert webhook.status == 0


def quota(name="q", **hard):
    hard = {key.replace("_", "."): value for key, value in hard.items()}
    return {"metadata": {"name": name}, "spec": {"hard": hard}, "status": {"hard": hard, "used": {key: "0" for key in hard}}}


def test_applications_beyond_a_quota_are_refused(server, tmp_path):
    """Only with the flag. Quotas are read for each application, and those of other namespaces do not count."""
    server.insert("validatingwebhookconfigurations", None, CONFIGURATION)
    server.insert("resourcequotas", "other", quota(cpu="0"))
    with Webhook(server, tmp_path, "--enable-resource-quota-enforcement") as webhook, Webhook(server, tmp_path) as without:
        webhook.find("The API server trusts this webhook")
        without.find("The API server trusts this webhook")
        trust = trust_of(server)
        assert json.loads(webhook.ask(trust, review(SPEC))[1])["response"]["allowed"] is True
        server.insert("resourcequotas", "jobs", quota(requests_cpu="1"))
        response = json.loads(webhook.ask(trust, review(SPEC))[1])["response"]
        assert response["allowed"] is False and response["uid"] == "u-1"
        assert response["status"]["message"].startswith(
            'failed to validate resource quota "jobs/q": requests.cpu is limited to 1, of which 0 are used, and the application requests 2')
        assert json.loads(webhook.ask(trust, review({**SPEC, "suspend": True}))[1])["response"]["allowed"] is True
        assert json.loads(webhook.ask(trust, review({**SPEC, "mode": "clustre"}))[1])["response"]["status"]["message"].startswith("spec.mode")
        assert json.loads(without.ask(trust, review(SPEC))[1])["response"]["allowed"] is True
        server.failure = lambda method, path, body: (403, "Forbidden") if path.endswith("/resourcequotas") else None
        status, text = webhook.ask(trust, review(SPEC))
        assert status == 500 and text.startswith("failed to list resource quotas: ")
    assert (webhook.status, without.status) == (0, 0)


def test_replicas_share_a_certificate(server, tmp_path):
    server.insert("validatingwebhookconfigurations", None, CONFIGURATION)
    with Webhook(server, tmp_path) as one, Webhook(server, tmp_path) as two:
        for webhook in (one, two):
            webhook.find("The API server trusts this webhook")
        trust = trust_of(server)
        assert one.ask(trust, review(SPEC))[0] == two.ask(trust, review(SPEC))[0] == 200
    assert len(server.all("secrets", "ops")) == 1


def test_a_certificate_for_another_service_is_replaced(server, tmp_path):
    server.insert("validatingwebhookconfigurations", None, CONFIGURATION)
    with Webhook(server, tmp_path, "--webhook-svc-name=other") as webhook:
        webhook.find("The API server trusts this webhook")
        before = trust_of(server)
    with Webhook(server, tmp_path) as webhook:
        webhook.find("Makes a certificate in the Secret ops/spark-operator-webhook-certs: it is not for " + HOST)
        webhook.find("The API server trusts this webhook")
        trust = trust_of(server)
        assert trust.endswith(before) and trust.count("BEGIN CERTIFICATE") == 2
        assert webhook.ask(trust, review(SPEC))[0] == 200


def test_a_missing_configuration_is_waited_for(server, tmp_path):
    with Webhook(server, tmp_path) as webhook:
        webhook.find("There is no ValidatingWebhookConfiguration: apply packaging/kubernetes/operator-webhook")
        assert webhook.probe("/readyz") == 500
        server.insert("validatingwebhookconfigurations", None, CONFIGURATION)
        webhook.find("The API server trusts this webhook")
        assert webhook.probe("/readyz") == 200


def test_refused_rights_are_named(server, tmp_path):
    server.failure = lambda method, path, body: (403, "Forbidden", "no secrets for you") if "secrets" in path else None
    with Webhook(server, tmp_path) as webhook:
        webhook.find("Cannot read the Secret of the certificate: .*no secrets for you")


def test_flags_of_the_webhook_are_not_flags_of_the_operator():
    done = subprocess.run([FIRESTEEL, "operator", "--webhook-port=1"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "--webhook-port is a flag of `firesteel operator webhook start`" in done.stderr
