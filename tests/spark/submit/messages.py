"""Errors and warnings of spark-submit. Genuine Spark must show each at least once.

A row: the versions with the message, and a regular expression for a whole error or a printed line. Sentences
of Spark's classes that are not here cannot be reached from a command line: the launcher library refuses the same words
first in its own way ("Unrecognized option '%s'.", "Unexpected argument", "Properties file %s does not exist", "Must
specify a primary resource", "Spark config without '='"), they speak of an incomplete installation ("Could not load YARN
classes"), or they assert what always holds ("Classpath of spark-submit should not change in cluster mode").
"""
import re

ALL, NEW, MIDDLE, OLD, TWO_NEW, TWO_OLD = ("4.3", "3.5", "2.4"), ("4.3",), ("3.5",), ("2.4",), ("4.3", "3.5"), ("3.5", "2.4")

ERRORS = [
    (ALL, r"Unrecognized option: .*"),
    (ALL, r"Invalid argument to --conf: .*"),
    (ALL, r"Malformed \\uxxxx encoding\."),
    (ALL, r"Missing argument for option '.*'\."),
    (ALL, r"Missing application resource\."),
    (ALL, r"Not allowed to specify max heap\(Xmx\) memory settings through java options \(was .*\)\. Use the corresponding "
          r"--driver-memory or spark\.driver\.memory configuration instead\."),
    (ALL, r"Invalid properties file '.*'\."),
    (ALL, r"--deploy-mode must be either \"client\" or \"cluster\""),
    (ALL, r"Action cannot be both KILL and REQUEST_STATUS\."),
    (ALL, r"Action cannot be both REQUEST_STATUS and KILL\."),
    (ALL, r"Driver memory must be a positive number"),
    (ALL, r"Executor memory must be a positive number"),
    (ALL, r"Executor cores must be a positive number"),
    (ALL, r"Total executor cores must be a positive number"),
    (ALL, r"Number of executors must be a positive number"),
    (NEW, r"Driver cores must be a positive number"),
    (ALL, r"Only one of --proxy-user or --principal can be provided\."),
    (ALL, r"When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment\."),
    (TWO_NEW, r"Remote cannot be specified with master and/or deploy mode\."),
    (NEW, r"Master must either be yarn or start with spark, k8s, or local"),
    (TWO_OLD, r"Master must either be yarn or start with spark, mesos, k8s, or local"),
    (ALL, r"Deploy mode must be either client or cluster"),
    (OLD, r"Client deploy mode is not compatible with master \"yarn-cluster\""),
    (OLD, r"Cluster deploy mode is not compatible with master \"yarn-client\""),
    (ALL, r"Cluster deploy mode is currently not supported for python applications on standalone clusters\."),
    (ALL, r"Cluster deploy mode is currently not supported for R applications on standalone clusters\."),
    (ALL, r"Cluster deploy mode is not compatible with master \"local\""),
    (ALL, r"Cluster deploy mode is not applicable to Spark shells\."),
    (ALL, r"Cluster deploy mode is not applicable to Spark SQL shell\."),
    (ALL, r"Cluster deploy mode is not applicable to Spark Thrift server\."),
    (MIDDLE, r"Cluster deploy mode is not applicable to Spark Connect server\."),
    (NEW, r"Launching Spark Connect server in cluster deploy mode is supported only for YARN"),
    (ALL, r"(requirement failed: )?Keytab file: .* does not exist"),
    (TWO_NEW, r"Failed to get main class in JAR with error '.*'\.  Please specify one with --class\."),
    (TWO_NEW, r"No main class set in JAR; please specify one with --class\."),
    (OLD, r"No main class set in JAR; please specify one with --class"),
    (OLD, r"Cannot load main class from JAR .* with URI .*\. Please specify a class through --class\."),
    (OLD, r"Cannot load main class from JAR .*"),
    (ALL, r"SPARK_HOME does not exist for R application in YARN mode\."),
    (ALL, r"sparkr\.zip does not exist for R application in YARN mode\."),
    (ALL, r"Distributing R packages with standalone cluster is not supported\."),
    (TWO_OLD, r"Distributing R packages with mesos cluster is not supported\."),
    (ALL, r".* resolves ambiguously to multiple files: .*"),
    (TWO_OLD, r"(requirement failed: )?Kubernetes master URL must start with k8s://\."),
    (TWO_NEW, r"Invalid Kubernetes master scheme: .* found in URL: .*"),
    (TWO_OLD, r"assertion failed: Mesos cluster mode is only supported through the REST submission API"),
    (ALL, r"requirement failed: Provided Maven Coordinates must be in the form 'groupId:artifactId:version'\. The coordinate "
          r"provided is: .*"),
    (ALL, r"requirement failed: The groupId cannot be null or be whitespace\. The groupId provided is: .*"),
    (ALL, r"requirement failed: The artifactId cannot be null or be whitespace\. The artifactId provided is: .*"),
    (ALL, r"requirement failed: The version cannot be null or be whitespace\. The version provided is: .*"),
    (ALL, r"\[unresolved dependency: .*\]"),
    (ALL, r"(requirement failed: )?Ivy settings file .* does not exist"),
    (ALL, r"(requirement failed: )?Ivy settings file .* is not a normal file"),
    (ALL, r"Failed when loading Ivy settings from .*"),
    (OLD, r"Killing submissions is only supported in standalone or Mesos mode!"),
    (OLD, r"Requesting submission statuses is only supported in standalone or Mesos mode!"),
]

PRINTED = [
    (TWO_NEW, r"Warning: Ignoring non-Spark config property: .*"),
    (OLD, r"Warning: Ignoring non-spark config property: .*"),
    (ALL, r"Using properties file: .*"),
    (ALL, r"Adding default property: .*"),
    (OLD, r"Warning: Master yarn-c.* is deprecated since 2\.0\. Please use master \"yarn\" with specified deploy mode instead\."),
]


def unseen(version, errors, lines):
    """The rows that match neither an error nor a printed line of this version."""
    missing = []
    for table, texts in ((ERRORS, errors), (PRINTED, lines)):
        for versions, pattern in table:
            expression = re.compile(pattern, re.DOTALL)
            if version in versions and not any(expression.fullmatch(text) for text in texts):
                missing.append(pattern)
    return missing


def unknown(version, errors):
    """Errors that match no row: those of Java, Hadoop or Ivy."""
    expressions = [re.compile(pattern, re.DOTALL) for versions, pattern in ERRORS if version in versions]
    return sorted({error for error in errors if not any(expression.fullmatch(error) for expression in expressions)})
