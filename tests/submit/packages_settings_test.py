"""--packages with ivysettings.xml: resolvers, and the hosts that get passwords."""
import pytest

from maven_repository import Repository, dependency, server


def test_ivysettings(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"))
    flat = place.folder / "flat"
    flat.mkdir()
    (flat / "b-1.jar").write_bytes(b"jar")
    settings = place.folder / "ivysettings.xml"
    settings.write_text(f"""<ivysettings><property name="where" value="{place.folder}"/>
      <settings defaultResolver="all"/><caches defaultCacheDir="/ignored"/>
      <resolvers><ibiblio name="mine" m2compatible="true" root="file:${{where}}/repository"/>
        <chain name="all" returnFirst="true"><resolver ref="mine"/>
          <filesystem name="flat"><artifact pattern="${{ivy.settings.dir}}/flat/[artifact]-[revision].[ext]"/>
          </filesystem></chain></resolvers></ivysettings>""")
    assert place.jars("g:a:1", ivy_settings=settings) == ["a-1", "b-1"]
    assert place.jars("g:a:1", ivy_settings=f"file:{settings}") == ["a-1", "b-1"]


def test_each_repository_of_a_chain_has_its_own_checksums(place):
    """Disabled checks of one repository do not affect the next, at any position in the chain."""
    careless, careful = Repository(place.folder / "careless"), Repository(place.folder / "careful")
    for repository, name in ((careless, "a"), (careful, "b")):
        repository.module(f"g:{name}:1")
        repository.path(f"g:{name}:1", ".jar.sha1").write_text("0" * 40)
    settings = place.folder / "ivysettings.xml"

    def write(order, of_all="", property=""):
        members = "".join(f'<ibiblio name="{r.folder.name}" m2compatible="true" root="{r.url}"'
                          + (' checksums="none"' if r is careless else "") + "/>" for r in order)
        settings.write_text(f"""<ivysettings>{property}<settings defaultResolver="all"/>
          <resolvers><chain name="all"{of_all}>{members}</chain></resolvers></ivysettings>""")

    for order in ((careless, careful), (careful, careless)):
        write(order)
        ivy = place.folder / f"ivy-{order[0].folder.name}"
        assert place.jars("g:a:1", ivy_settings=settings, ivy_path=ivy) == ["a-1"]
        # Its description is in the cache, and its repository is no longer known.
        for data in ivy.rglob("ivydata-*"):
            data.unlink()
        for jar in ivy.rglob("*.jar"):
            jar.unlink()
        assert place.jars("g:a:1", ivy_settings=settings, ivy_path=ivy) == ["a-1"]
        assert place.error("g:b:1", ivy_settings=settings, ivy_path=ivy) == "error ENOENT: [download failed: g#b;1!b.jar]"
    write((careful,), property='<property name="ivy.checksums" value="none"/>')
    assert place.jars("g:b:1", ivy_settings=settings, ivy_path=place.folder / "unchecked") == ["b-1"]
    write((careless, careful), of_all=' checksums="none"')  # Ivy's chains do not have this attribute either
    assert "the attribute checksums of <chain> is not supported" in place.error("g:a:1", ivy_settings=settings)


def test_passwords_of_repositories_are_not_told(place):
    place.repository.module("g:a:1")
    with server(place.repository.folder) as (url, _):
        with_password = url.replace("http://", "http://me:pass-word@")
        done = place.run("g:a:1,g:none:1", central="file:/nowhere", repositories=with_password)
        found = place.run("g:a:1", central="file:/nowhere", repositories=with_password)
    assert done.returncode == 1 and found.returncode == 0
    assert f"{url} added as a remote repository with the name: repo-1\n" in done.stderr
    assert f"  {url}/g/none/1/none-1.pom\n" in done.stderr
    assert f"downloading {url}/g/a/1/a-1.jar ...\n" in done.stderr
    assert "pass-word" not in done.stderr + found.stderr


def test_credentials_go_to_their_host_only(place):
    said = []

    def ask_who(handler):
        who = handler.headers.get("Authorization")
        said.append((handler.path, who))
        if who is None:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", "Basic realm=x")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        return who is None

    place.repository.module("g:a:1")
    settings = place.folder / "ivysettings.xml"
    with server(place.repository.folder, ask_who) as (url, _):
        for root, host, goes in ((url, "127.0.0.1", True), (url + "/.", "127.0.0.1", True),
                                 (url.replace("http://", "http://known:x@"), "known", False)):
            around = ("", "") if root == url else ("<credentials>", "</credentials>")
            settings.write_text(f"""<ivysettings><settings defaultResolver="r"/>
              {around[0]}<credentials host="{host}" username="me" passwd="secret"/>{around[1]}
              <resolvers><ibiblio name="r" m2compatible="true" root="{root}"/></resolvers></ivysettings>""")
            said.clear()
            place.run("g:a:1", ivy_settings=settings, ivy_path=place.folder / f"ivy-{len(root)}")
            assert said
            assert ("Basic bWU6c2VjcmV0" in {who for _, who in said}) == goes, root


@pytest.mark.parametrize("content, says", [
    ("<ivysettings><resolvers><sftp name='x'/></resolvers></ivysettings>", "the resolver <sftp> is not supported"),
    ("<ivysettings><conflict-managers/></ivysettings>", "the element <conflict-managers> is not supported"),
    ("<ivysettings><settings defaultResolver='x'/></ivysettings>", "unknown resolver 'x'"),
    ("<ivysettings>", "no element found"),
])
def test_ivysettings_that_cannot_be_followed(place, content, says):
    settings = place.folder / "ivysettings.xml"
    settings.write_text(content)
    line = place.error("g:a:1", ivy_settings=settings)
    assert f"Failed when loading Ivy settings from {settings}: " in line and says in line


def test_ivysettings_that_are_not_there(place):
    assert place.error("g:a:1", ivy_settings="/no/such").endswith(
        "requirement failed: Ivy settings file /no/such does not exist")
    assert place.error("g:a:1", ivy_settings=place.folder).endswith(
        f"requirement failed: Ivy settings file {place.folder} is not a normal file")
    assert place.error("g:a:1", ivy_settings="http://x/y").endswith(
        "Scheme http not supported in spark.jars.ivySettings")
    settings = place.folder / "empty.xml"
    settings.write_text("<ivysettings/>")
    assert "no resolver found for g#a: check your configuration" in place.error("g:a:1", ivy_settings=settings)
