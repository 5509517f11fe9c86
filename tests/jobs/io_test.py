"""Files of many kinds, read and written by jobs."""
import bz2
import gzip
import os
import shutil
import subprocess
import zlib

import pytest

from folders import BIN


FILES = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>

static int length(fst_task *task, fst_bytes path, fst_bytes content, fst_out *out)
{
        fst_emit(out, path, (int64_t)content.len);
        return 0;
}

static int number(fst_task *task, const void *record, fst_out *out)
{
        const unsigned char *p = record;
        fst_emit(out, (int64_t)((uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]), record);
        return 0;
}

static int64_t key(fst_task *task, int64_t n, const void *record) { return n; }

static void records(fst_context *sc, const char *in, const char *out)
{
        fst_type type = FST_PAIR(I64, FIXED(4));
        fst_rdd *records = fst_binary_records(sc, in, 4);
        int64_t n = 0, objects = 0, sum = 0;
        fst_count(records, &n);
        fst_save_as_object_file(fst_map(records, number, type), out);
        fst_rdd *again = fst_object_file(sc, out, type);
        fst_count(again, &objects);
        fst_reduce(fst_map(again, key, FST_I64), fst_fn_sum, &sum);
        printf("%d partitions, %lld records, %lld objects, sum %lld\n", fst_rdd_partitions(records), (long long)n,
               (long long)objects, (long long)sum);
}

int main(int argc, char **argv)
{
        int64_t n;
        fst_context *sc = fst_context_new("files");
        if (strcmp(argv[1], "recode") == 0)
                fst_save_as_text_file_codec(fst_text_file(sc, argv[2]), argv[3], argv[4]);
        else if (strcmp(argv[1], "copy") == 0)
                fst_save_as_text_file(fst_text_file(sc, argv[2]), argv[3]);
        else if (strcmp(argv[1], "whole") == 0)
                fst_save_as_text_file(fst_map(fst_whole_text_files(sc, argv[2]), length, FST_PAIR(BYTES, I64)), argv[3]);
        else if (strcmp(argv[1], "binary") == 0)
                fst_save_as_text_file(fst_map(fst_binary_files(sc, argv[2]), length, FST_PAIR(BYTES, I64)), argv[3]);
        else if (strcmp(argv[1], "records") == 0)
                records(sc, argv[2], argv[3]);
        else if (strcmp(argv[1], "objects") == 0)
                fst_count(fst_object_file(sc, argv[2], FST_PAIR(I64, FIXED(4))), &n);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("io")
    (folder / "files.c").write_text(FILES)
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"), SPARK_CONF_DIR=str(folder), SPARK_LOCAL_DIRS=str(folder))
    subprocess.run([os.path.join(BIN, "firesteel"), "compile", folder / "files.c", "-o", folder / "files.so"], check=True,
                   env=environment, timeout=120)
    return folder, environment


def submit(shared, *words, conf=(), master="local[2]", ok=True):
    folder, environment = shared
    settings = [word for pair in conf for word in ("--conf", pair)]
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *settings, folder / "files.so",
                           *map(str, words)], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == ok, done.stderr
    return done


def tool(name):
    def unpack(data):
        if not shutil.which(name):
            pytest.skip(f"the {name} tool is not here")
        return subprocess.run([name, "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return unpack


TEXT = "".join(f"line {i} of many\n" for i in range(20000)).encode()
CODECS = {"gzip": (".gz", gzip.decompress), "bzip2": (".bz2", bz2.decompress), "deflate": (".deflate", zlib.decompress),
          "zstd": (".zst", tool("zstd")), "lz4": (".lz4", None)}


def parts(folder):
    assert (folder / "_SUCCESS").exists()
    return sorted(path for path in folder.iterdir() if path.name != "_SUCCESS")


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_packed_is_unpacked(shared, tmp_path, codec):
    (tmp_path / "in").write_bytes(TEXT)
    suffix, unpack = CODECS[codec]
    submit(shared, "recode", tmp_path / "in", tmp_path / "packed", codec)
    found = parts(tmp_path / "packed")
    assert [path.name for path in found] == [f"part-00000{suffix}", f"part-00001{suffix}"]
    assert sum(path.stat().st_size for path in found) < len(TEXT) / 2
    submit(shared, "copy", tmp_path / "packed", tmp_path / "out")
    assert [path.name for path in parts(tmp_path / "out")] == ["part-00000", "part-00001"]
    assert b"".join(path.read_bytes() for path in parts(tmp_path / "out")) == TEXT
    if unpack:
        assert b"".join(unpack(path.read_bytes()) for path in found) == TEXT


def test_the_configuration_may_ask_for_a_codec(shared, tmp_path):
    (tmp_path / "in").write_bytes(TEXT)
    where = "spark.hadoop.mapreduce.output.fileoutputformat.compress"
    for name, conf, suffix in (("a", [f"{where}=true"], ".deflate"), ("b", [f"{where}=false", f"{where}.codec=gzip"], ""),
                               ("c", [f"{where}=true", f"{where}.codec=org.apache.hadoop.io.compress.BZip2Codec"], ".bz2"),
                               ("d", ["spark.hadoop.mapred.output.compress=true",
                                      "spark.hadoop.mapred.output.compression.codec=GzipCodec"], ".gz")):
        submit(shared, "copy", tmp_path / "in", tmp_path / name, conf=conf, master="local-cluster[1,2,1024]")
        assert [path.name for path in parts(tmp_path / name)] == [f"part-00000{suffix}", f"part-00001{suffix}"]
    submit(shared, "recode", tmp_path / "in", tmp_path / "e", "none", conf=[f"{where}=true"])
    assert b"".join(path.read_bytes() for path in parts(tmp_path / "e")) == TEXT
    said = submit(shared, "copy", tmp_path / "in", tmp_path / "f", conf=[f"{where}=true", f"{where}.codec=SnappyCodec"], ok=False)
    assert f"{where}.codec: compression codec SnappyCodec is not available" in said.stderr


def test_codecs_that_are_not_here_are_named(shared, tmp_path):
    (tmp_path / "in.snappy").write_bytes(b"xx")
    said = submit(shared, "copy", tmp_path / "in.snappy", tmp_path / "out", ok=False)
    assert f"file:{tmp_path}/in.snappy: files with the suffix .snappy are not supported" in said.stderr
    (tmp_path / "in.bz2").write_bytes(bz2.compress(TEXT)[:-100])
    said = submit(shared, "copy", tmp_path / "in.bz2", tmp_path / "out", ok=False)
    assert f"file:{tmp_path}/in.bz2: corrupt bzip2 data at byte" in said.stderr
    said = submit(shared, "recode", tmp_path / "in.bz2", tmp_path / "out", "zip", ok=False)
    assert "compression codec zip is not available for files: use gzip" in said.stderr


# ------------------------------------------------------------------------------------------------ files of other kinds

MASTERS = ["local[2]", "local-cluster[2,1,1024]"]


@pytest.mark.parametrize("master", MASTERS)
def test_whole_files(shared, tmp_path, master):
    (tmp_path / "in").mkdir()
    contents = {f"{i:02}.txt": (f"file {i}\n" * i * 50).encode() for i in range(20)}
    for name, content in contents.items():
        (tmp_path / "in" / name).write_bytes(content)
    (tmp_path / "in" / "20.gz").write_bytes(gzip.compress(b"packed\n" * 1000))
    contents["20.gz"] = b"packed\n" * 1000
    submit(shared, "whole", tmp_path / "in", tmp_path / "out", master=master)
    lines = b"".join(path.read_bytes() for path in parts(tmp_path / "out")).decode().splitlines()
    assert sorted(lines) == sorted(f"(file:{tmp_path}/in/{name},{len(content)})" for name, content in contents.items())
    submit(shared, "binary", tmp_path / "in", tmp_path / "out2", master=master)
    lines = b"".join(path.read_bytes() for path in parts(tmp_path / "out2")).decode().splitlines()
    assert len(lines) == 21 and f"(file:{tmp_path}/in/20.gz,{(tmp_path / 'in/20.gz').stat().st_size})" in lines


def test_small_files_share_partitions(shared, tmp_path):
    (tmp_path / "in").mkdir()
    contents = [f"line {line} of file {i}\n" * i for i in range(30) for line in [i * i]]
    for i, content in enumerate(contents):
        (tmp_path / "in" / f"{i:02}").write_text(content)
    conf = ["spark.firesteel.files.combine=true", "spark.files.openCostInBytes=100", "spark.files.maxPartitionBytes=2k",
            "spark.files.ignoreMissingFiles=true"]
    submit(shared, "copy", tmp_path / "in", tmp_path / "out", conf=conf, master="local-cluster[2,1,1024]")
    found = parts(tmp_path / "out")
    assert 2 < len(found) < 15 and all(path.stat().st_size <= 2048 for path in found)
    assert "".join(path.read_text() for path in found) == "".join(contents)
    said = submit(shared, "copy", tmp_path / "in", tmp_path / "again", conf=[*conf, "spark.files.openCostInBytes=-1"], ok=False)
    assert "spark.files.openCostInBytes must not be negative, but was -1" in said.stderr


@pytest.mark.parametrize("master", MASTERS)
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_records_and_objects(shared, tmp_path, master, isolation):
    records = [i * 0x01010101 & 0xffffffff for i in range(50000)]
    (tmp_path / "in").write_bytes(b"".join(n.to_bytes(4, "big") for n in records))
    conf = ["spark.hadoop.fs.local.block.size=70001", f"spark.firesteel.task.isolation={isolation}"]
    done = submit(shared, "records", tmp_path / "in", tmp_path / "objects", conf=conf, master=master)
    assert done.stdout == f"3 partitions, {len(records)} records, {len(records)} objects, sum {sum(records)}\n"
    assert [path.name for path in parts(tmp_path / "objects")] == ["part-00000", "part-00001", "part-00002"]


def test_damaged_objects_fail_the_job(shared, tmp_path):
    (tmp_path / "in").write_bytes(bytes(40000))
    submit(shared, "records", tmp_path / "in", tmp_path / "objects")
    part = tmp_path / "objects" / "part-00000"
    content = bytearray(part.read_bytes())
    content[50] ^= 1
    part.write_bytes(content)
    said = submit(shared, "objects", tmp_path / "objects", master="local-cluster[1,2,1024]", ok=False)
    assert f"file:{part}: the page at byte 32" in said.stderr
    content[50] ^= 1
    content[4] = 9
    part.write_bytes(content)
    said = submit(shared, "objects", tmp_path / "objects", ok=False)
    assert f"file:{part} is an object file of version 9, but this firesteel reads version 1" in said.stderr
