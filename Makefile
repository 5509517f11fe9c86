# Firesteel: what people type. The build itself is Meson's; every target here is a thin call. `make help` lists them.

SHELL := /bin/bash
BUILD ?= build
CC ?= cc
PREFIX ?= /usr/local
# Anything more for `meson setup`, used when BUILD is made for the first time.
MESON_OPTIONS ?=
# A file or folder for `make run`; by default a Debian documentation package.
INPUT ?=
# For each target of `make fuzz`.
FUZZ_SECONDS ?= 30
# `make soak`: the first seed (where the last one stopped), the last (none), and what of it (worlds, lineages; both).
SOAK_FROM ?=
SOAK_TO ?=
SOAK ?=
# `make lint`: files changed since this commit, or everything with SINCE=all.
SINCE ?= main

export PREFIX INPUT FUZZ_SECONDS SINCE BUILD SOAK SOAK_FROM SOAK_TO

.DEFAULT_GOAL := all
# Only the ordinary build is what bin/ points at; build-asan and the like are for their tests.
.PHONY: all build build-all run check check-faults check-fresh check-resume check-celeborn check-hdfs check-history check-long check-mesos check-docker check-kerberos check-kubernetes check-registry check-s3 check-zookeeper check-spark check-web check-metrics check-operator check-python check-r check-yarn check-yarn-kerberos check-yarn-submissions check-dist check-wheel dist wheel bench bench-quick soak fuzz asan tsan lint format abi install docs clean clean-all help deps

all: build ## build bin/ with optimisation and debug information: ./bin/firesteel, ./bin/spark-submit, no tests

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: scripts/install-deps.sh gets what the build needs" >&2; exit 1; }
	meson setup $(BUILD) $(MESON_OPTIONS)

build: $(BUILD)/build.ninja
	ninja -C $(BUILD) product
	@[ '$(BUILD)' != build ] || scripts/link-bin

build-all: build ## build bin/ and the programs of the tests
	ninja -C $(BUILD)

deps: ## install the missing Debian packages (apt; with sudo unless you are root)
	@scripts/install-deps.sh

run: deps ## install packages, build, then count words and compute pi with spark-submit (INPUT=path for your own data)
	@$(MAKE) --no-print-directory build
	@scripts/run-demo

check: deps ## run all ordinary tests, with pyspark from pip; the last line is "N passed, N failed"
	@mkdir -p $(BUILD)/python; tests/python/environments.py $(BUILD) >$(BUILD)/python/pip.log 2>&1 & \
		$(MAKE) --no-print-directory build-all && wait
	@tests/run $(BUILD)

check-spark: build ## let genuine Spark (SPARK_HOME, or PyPI's pyspark) read what we write and take what we submit; needs Java 17
	@ninja -C $(BUILD) tests/scripted_log tests/resolve_packages
	@tests/spark/check_spark_history $(BUILD)
	@tests/spark/check_rest $(BUILD)
	@tests/spark/check_jar $(BUILD)
	@tests/spark/check_launcher $(BUILD)
	@tests/spark/check_java_command $(BUILD)
	@tests/spark/check_spark_submit $(BUILD)
	@tests/spark/check_packages $(BUILD)
	@tests/spark/check_files $(BUILD)
	@tests/spark/check_api $(BUILD)
	@tests/spark/check_pages $(BUILD)
	@ninja -C $(BUILD) tests/pods_from_conf
	@tests/spark/check_pods $(BUILD)

check-metrics: build ## compare metrics with genuine Spark's, try a real Prometheus and pushgateway (packages prometheus, prometheus-pushgateway)
	@tests/prometheus/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-history: build ## compare /api/v1 of an event log with genuine Spark's history server (Java 17, PyPI's pyspark)
	@tests/history/check_api $(BUILD)

check-web: build ## open the pages of master, worker and applications in headless Chromium (chromium, chromium-driver)
	@ninja -C $(BUILD) tests/web_pages tests/ui_pages
	@tests/web/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-kerberos: build ## try --principal and --keytab with a real KDC (krb5-kdc, krb5-admin-server)
	@ninja -C $(BUILD) tests/resolve_packages
	@tests/kerberos/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-operator: build ## run the Kubernetes operator against a real API server, with the rights of packaging/kubernetes; needs Go (builds Kubernetes, once)
	@ninja -C $(BUILD) tests/raw_posts
	@tests/cluster/kubernetes/check_operator $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-python: build ## run some 100 programs with pyspark 3.5, 4.0 and 4.3 from pip, without Java, and compare their output with genuine PySpark's
	@tests/python/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/python/members $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/python/check_kills $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/python/check_shells $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-r: build ## run some 50 programs with SparkR (FIRESTEEL_SPARKR_LIB), without Java, and compare their output with genuine Spark's; misuse the backend
	@tests/r/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@FIRESTEEL_MISUSE_CALLS=10000 FIRESTEEL_BIN=$(BUILD)/src python3 -m pytest -q tests/r/sparkr_misuse_test.py

check-kubernetes: build ## submit to a real Kubernetes, compare the objects with genuine Spark's, run pods on a real node, measure; needs Go (builds Kubernetes, once) and root
	@tests/cluster/kubernetes/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@ninja -C $(BUILD) tests/raw_posts
	@tests/cluster/kubernetes/check_submitter $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_faults $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_scale $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_executor_manager $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_executors $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_node $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_start $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/cluster/kubernetes/check_secrets $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@ninja -C $(BUILD) tests/pods_from_conf
	@tests/spark/check_pods --server $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-yarn: build ## run applications on genuine YARN: restarts, lost nodes, protection, fail-over; needs Java 17
	@ninja -C $(BUILD) tests/resolve_packages tests/rm_calls tests/unmanaged_am
	@FIRESTEEL_BUILD=$(abspath $(BUILD)) FIRESTEEL_BIN=$(abspath $(BUILD))/src /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/yarn/python_driver_checks.py
	@tests/yarn/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-yarn-kerberos: build ## the same with Kerberos, tickets, delegation tokens and a real KDC; needs Java 17, krb5-kdc, krb5-admin-server and krb5-user
	@ninja -C $(BUILD) tests/resolve_packages tests/rm_calls tests/unmanaged_am
	@tests/yarn/check_kerberos $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-yarn-submissions: build ## compare the containers of some 380 argument lists that genuine Spark's YARN client and ours submit to a real cluster; needs Java 17 (JDK)
	@ninja -C $(BUILD) tests/resolve_packages
	@tests/yarn/check_submissions $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-zookeeper: build ## try recovery mode ZOOKEEPER with a real ZooKeeper (zookeeper, Java)
	@ninja -C $(BUILD) tests/zookeeper_candidate
	@tests/zookeeper/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-registry: build ## push images to the distribution project's registry, with every kind of login; needs Go (builds it, once)
	@tests/registry/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-docker: build ## build docker/Dockerfile* without docker, and run the images (root, debootstrap; some minutes)
	@tests/docker/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-s3: build ## read, write and submit files in an S3 server that verifies signatures; needs Go
	@ninja -C $(BUILD) tests/change_files
	@tests/s3/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-celeborn: build ## keep map outputs in genuine Celeborn: splits, replicas, killed workers and masters; needs Java 17 and CELEBORN_JARS
	@tests/celeborn/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-mesos: build ## run applications on a genuine Mesos, lose executors and agents, compare calls with Spark 3.5's; needs MESOS_BUILD
	@tests/mesos/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status
	@tests/mesos/compare_drivers.py $(BUILD)
	@tests/mesos/compare_spark.py $(BUILD)

check-hdfs: build ## read, write and submit files in genuine HDFS, with two namenodes and a datanode; needs Java 17
	@ninja -C $(BUILD) tests/change_files tests/resolve_packages
	@tests/hdfs/check $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-long: build ## run the tests that make check shortens in full: 20,000 random lineages, small memory, readers
	@ninja -C $(BUILD) tests/lineage/lineages src/sched_simulator src/unit_tests
	@FIRESTEEL_FULL_NUMBER=1 $(BUILD)/src/sched_simulator && FIRESTEEL_FULL_NUMBER=1 $(BUILD)/src/unit_tests driver_resume_fold
	@$(BUILD)/tests/lineage/lineages 1..10000 & $(BUILD)/tests/lineage/lineages 10001..20000 && wait $$!
	@FIRESTEEL_FULL_NUMBER=1 FIRESTEEL_BUILD=$(abspath $(BUILD)) FIRESTEEL_BIN=$(abspath $(BUILD))/src python3 -m pytest -q -p no:cacheprovider \
		tests/jobs/control_groups_test.py tests/jobs/small_pools_test.py tests/monitoring/history_server_test.py tests/monitoring/driver_ui_readers_test.py tests/python/python_programs_test.py tests/resume/python_resume_test.py

check-faults: build ## kill, stop, cut off and damage executors, masters, workers and drivers at hundreds of moments; some minutes
	@FIRESTEEL_BIN=$(BUILD)/src tests/faults/run
	@FIRESTEEL_BIN=$(BUILD)/src tests/faults/run_standalone

check-resume: build ## kill drivers, executors and shuffle servers in 200 seeded rounds, and let other drivers go on; some 15 minutes
	@FIRESTEEL_BIN=$(BUILD)/src tests/faults/run_resume

check-fresh: ## run make run and make check in a bare Debian 12 made with debootstrap (root)
	@tests/fresh

dist: build ## write a relocatable build/firesteel-VERSION-linux-ARCH.tgz
	@scripts/dist $(BUILD)

wheel: dist ## write build/firesteel-VERSION-….whl, the Python package with program and library
	@scripts/wheel $(BUILD)

check-wheel: wheel ## install the wheel into a virtual environment and run PySpark there without java; pyspark from FIRESTEEL_PYTHON_VENVS or pip
	@tests/wheel $(BUILD); status=$$?; [ $$status = 77 ] || exit $$status

check-dist: dist ## unpack the tgz elsewhere and run it there
	@tests/dist $(BUILD)

bench: build ## measure Firesteel beside genuine Spark (bench/run)
	@test -x bench/run || { echo "there is no bench/run in this tree" >&2; exit 1; }
	@bench/run

bench-quick: build ## print ratios to yardstick programs in the same run, in three minutes (bench/quick)
	@bench/quick

soak: build ## run random worlds of the scheduler and random lineages beyond those of make check, until stopped (SOAK_FROM, SOAK_TO: seeds)
	@ninja -C $(BUILD) tests/lineage/lineages
	@scripts/soak

fuzz: ## run every fuzz target under libFuzzer, ASan and UBSan for FUZZ_SECONDS (30) each
	@scripts/fuzz

asan: ## run all tests under ASan and UBSan, in build-asan
	@$(MAKE) --no-print-directory check BUILD=build-asan MESON_OPTIONS='-Db_sanitize=address,undefined -Db_lundef=false'

tsan: ## run all tests under TSan, in build-tsan
	@$(MAKE) --no-print-directory check BUILD=build-tsan MESON_OPTIONS='-Db_sanitize=thread -Db_lundef=false'

lint: ## run clang-tidy, clang-format, shellcheck and the layer check on what changed since main (SINCE=all: everything)
	@scripts/lint

format: ## run clang-format on the sources that changed since main (SINCE=all: everything)
	@scripts/lint format

abi: build ## rewrite docs/firesteel.abi, the description of the public interface, after an intended change
	@scripts/abi write $(BUILD)

install: build ## install into PREFIX (/usr/local), below DESTDIR if it is set
	meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	ninja -C $(BUILD) product
	meson install -C $(BUILD) --no-rebuild

docs: ## write the public headers and docs/*.md as HTML to build/docs
	@scripts/docs $(BUILD)

clean: ## remove the results of builds, but not a downloaded corpus in build/corpus (make clean-all removes it too)
	@scripts/clean

clean-all: ; rm -rf build build-* bin

help: ## print this list
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r name what; do \
	        printf 'make %-22s %s\n' "$$name" "$$what"; done
