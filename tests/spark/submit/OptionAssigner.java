/*
 * Stands in front of Spark's class of this name, so that the table of options tells what it is asked.
 *
 * prepareSubmitEnvironment makes one object a row of its table, then asks each matching row for the name of its
 * option or configuration key. Each row is numbered in the order of making; `rows` says which were made, which were
 * applied and which were merged with a value that was there. The table itself stays Spark's.
 */
package org.apache.spark.deploy;

import java.util.ArrayList;
import java.util.List;
import scala.Function2;
import scala.Option;

public class OptionAssigner {
    public static final List<OptionAssigner> rows = new ArrayList<>();

    private final String value, clOption, confKey;
    private final int clusterManager, deployMode;
    private final Option<Function2<String, String, String>> mergeFn;
    public boolean applied;
    public int mergeQuestions;

    public OptionAssigner(String value, int clusterManager, int deployMode, String clOption, String confKey,
                          Option<Function2<String, String, String>> mergeFn) {
        this.value = value;
        this.clusterManager = clusterManager;
        this.deployMode = deployMode;
        this.clOption = clOption;
        this.confKey = confKey;
        this.mergeFn = mergeFn;
        rows.add(this);
    }

    /* Spark 2.4.0 merges nothing. */
    public OptionAssigner(String value, int clusterManager, int deployMode, String clOption, String confKey) {
        this(value, clusterManager, deployMode, clOption, confKey, Option.apply(null));
    }

    public String value() { return value; }
    public int clusterManager() { return clusterManager; }
    public int deployMode() { return deployMode; }
    public String clOption() { applied = true; return clOption; }
    public String confKey() { applied = true; return confKey; }

    /* Asked once whether there is one, and a second time only to merge. */
    public Option<Function2<String, String, String>> mergeFn() { mergeQuestions++; return mergeFn; }

    /* [managers, modes, option or key, applied, merged, can merge] */
    public Object[] summary() {
        return new Object[] {clusterManager, deployMode, confKey != null ? confKey : clOption, applied,
                             applied && mergeQuestions > 1, mergeFn.isDefined()};
    }
}
