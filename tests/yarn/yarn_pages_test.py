"""The pages of native applications on YARN behind the ResourceManager's proxy, on tests/yarn/fake_yarn.py."""
import http.client
import json
import re
import socket
import urllib.parse
import urllib.request

import pytest

from conditions import wait_until
from fake_yarn_web import OPENER
from yarn_submit import cache, submit, yarn  # noqa: F401

MODES = {"client": ((), False), "unmanaged": (("spark.yarn.unmanagedAM.enabled=true",), False),
         # A driver whose address is not on loopback would be asked from there, and the proxy has another address.
         "cluster": (("spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS=127.0.0.1",), True)}


def get(url):
    with OPENER.open(url, timeout=120) as answer:
        return answer.read().decode()


def get_from(address, url, cookie=""):
    """The answer to a request from another @address of this machine."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120, source_address=(address, 0))
    connection.request("GET", f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", headers={"Cookie": cookie})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, body


@pytest.mark.parametrize("mode", MODES)
def test_pages_are_shown_through_the_proxy(submit, yarn, mode):
    conf, cluster = MODES[mode]
    with submit.waiting(conf=conf, cluster=cluster) as (process, app):
        assert re.fullmatch(r"http://[^/]+:\d+", app.tracking_url), app.tracking_url
        proxy = f"http://127.0.0.1:{yarn.web.port}"
        page = get(f"{proxy}/proxy/{app.name}/")
        links = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', page))
        assert f"/proxy/{app.name}/stages/" in links and len(links) > 5, links
        for link in links:
            assert link.startswith(f"/proxy/{app.name}/"), link
            if "/kill/" not in link:  # a form
                get(proxy + link.replace("&amp;", "&"))
        found = json.loads(get(f"{proxy}/proxy/{app.name}/api/v1/applications"))
        assert [a["id"] for a in found] == [app.name]
        assert submit.open(process) == 0, submit.log()


@pytest.mark.parametrize("mode", MODES)
def test_browsers_at_the_driver_are_sent_to_the_proxy(submit, yarn, mode):
    conf, cluster = MODES[mode]
    with submit.waiting(conf=conf, cluster=cluster) as (_, app):
        status, headers, body = get_from("127.0.0.9", f"{app.tracking_url}/jobs/?x=1", cookie="proxy-user=alice")
        assert (status, headers["Location"], body) == (302, f"http://127.0.0.1:{yarn.web.port}/proxy/{app.name}/jobs/?x=1", "")


def test_browsers_are_sent_to_the_active_resource_manager(submit, yarn):
    """The first of two ResourceManagers is gone."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        dead = f"127.0.0.1:{gone.getsockname()[1]}"
    settings = {"yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "a,b"}
    for name, port in (("address", yarn.ports["client"]), ("scheduler.address", yarn.ports["scheduler"]),
                       ("webapp.address", yarn.web.port)):
        settings.update({f"yarn.resourcemanager.{name}.a": dead, f"yarn.resourcemanager.{name}.b": f"127.0.0.1:{port}"})
    yarn.write_conf(settings)
    with submit.waiting() as (process, app):
        def location():
            return get_from("127.0.0.9", f"{app.tracking_url}/jobs/")[1]["Location"]
        wait_until(lambda: location() == f"http://127.0.0.1:{yarn.web.port}/proxy/{app.name}/jobs/", "the active ResourceManager", 120)
        assert submit.open(process) == 0, submit.log()


def test_the_proxy_names_the_user(submit, yarn):
    conf = ["spark.acls.enable=true", "spark.ui.view.acls=viewer"]
    with submit.waiting(conf=conf) as (_, app):
        for user, expected in (("viewer", 200), ("other", 403), ("", 403)):
            status, _, body = get_from("127.0.0.1", f"{app.tracking_url}/jobs/", cookie=f"proxy-user={user}" if user else "")
            assert status == expected, (user, body)


def test_an_application_without_pages_has_no_address(submit, yarn):
    with submit.waiting(conf=["spark.ui.enabled=false"]) as (_, app):
        assert app.tracking_url == ""


def test_a_separate_proxy_is_used(submit, yarn):
    with submit.waiting(conf=["spark.hadoop.yarn.web-proxy.address=127.0.0.8:99"]) as (_, app):
        status, headers, _ = get_from("127.0.0.1", f"{app.tracking_url}/stages/")
        assert (status, headers["Location"]) == (302, f"http://127.0.0.8:99/proxy/{app.name}/stages/")
        assert get_from("127.0.0.8", f"{app.tracking_url}/stages/")[0] == 200
