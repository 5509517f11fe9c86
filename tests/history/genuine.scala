// Jobs whose event log has what pages of a history server show: skipped and repeated stages, failures, speculation,
// pools, cached RDDs, a barrier, resource profiles, named accumulators, a lost executor. For spark-shell -i.
import org.apache.spark.{BarrierTaskContext, TaskContext}
import org.apache.spark.resource.{ResourceProfileBuilder, TaskResourceRequests}
import org.apache.spark.storage.StorageLevel

def attempt(name: String)(job: => Unit): Unit =
  try job catch { case e: Throwable => println("job " + name + " failed: " + e.getMessage.takeWhile(_ != '\n')) }

val dir = sc.getConf.get("spark.test.dir")
val words = sc.parallelize(1 to 20000, 6).map(i => ("w" + i % 97, i)).setName("words")
val counts = words.reduceByKey(_ + _, 5)

sc.setJobGroup("group \"one\"", "Counts <words> & sums", false)
sc.addJobTag("nightly")
sc.setLocalProperty("spark.scheduler.pool", "production")
attempt("count")(counts.count())
attempt("again")(counts.map(_._2).sum())
sc.clearJobTags()
sc.clearJobGroup()
sc.setLocalProperty("spark.scheduler.pool", null)

val cached = sc.parallelize(1 to 40000, 4).map(i => "x" * 20 + i).setName("cached in memory").persist(StorageLevel.MEMORY_ONLY)
val both = sc.parallelize(1 to 40000, 3).map(_ * 2).setName("memory and disk").persist(StorageLevel.MEMORY_AND_DISK_SER)
val disk = sc.parallelize(1 to 4000, 2).persist(StorageLevel.DISK_ONLY)
val gone = sc.parallelize(1 to 4000, 2).persist(StorageLevel.MEMORY_ONLY_2)
attempt("cache")(cached.union(both.map(_.toString)).count())
attempt("cache")(disk.count() + gone.count() + cached.count())
gone.unpersist(true)

val rows = sc.longAccumulator("rows")
val unnamed = sc.longAccumulator
attempt("accumulators")(words.foreach { _ => rows.add(1); unnamed.add(2) })

attempt("retry")(sc.parallelize(1 to 100, 4).map { i =>
  if (TaskContext.get.attemptNumber == 0 && TaskContext.get.partitionId == 2) throw new IllegalStateException("first\nattempt \u00e9")
  i
}.count())
attempt("failure")(sc.parallelize(1 to 100, 3).map(i => if (i == 70) sys.error("row 70 is bad") else i).map(i => (i, i)).groupByKey(2).count())

attempt("speculation")(sc.parallelize(1 to 8, 8).map { i =>
  Thread.sleep(if (i == 8 && TaskContext.get.attemptNumber == 0) 8000 else 100)
  i
}.count())

attempt("barrier")(sc.parallelize(1 to 100, 2).barrier().mapPartitions { rows =>
  BarrierTaskContext.get().barrier()
  rows
}.count())

attempt("profile") {
  val profile = new ResourceProfileBuilder().require(new TaskResourceRequests().cpus(2)).build()
  sc.parallelize(1 to 10, 2).withResources(profile).map(_ + 1).count()
}

attempt("large result")(sc.parallelize(1 to 4, 2).map(i => new Array[Byte](3000000)).collect())
attempt("sort")(words.sortByKey(true, 4).map(_._1.length).collect())
attempt("cartesian")(sc.parallelize(1 to 30, 2).cartesian(sc.parallelize(1 to 30, 2)).count())
attempt("output")(counts.map(_.toString).saveAsTextFile(dir + "/out"))
attempt("input")(sc.textFile(dir + "/out", 4).map(_.length).distinct().count())

// An executor ends while its map outputs are needed: FetchFailed or Resubmitted tasks, a second attempt of the stage.
val outputs = sc.parallelize(1 to 2000, 6).map(i => (i % 10, i)).reduceByKey(_ + _, 6)
attempt("lost executor")(outputs.map { kv =>
  val marker = new java.io.File(dir + "/ended")
  if (marker.createNewFile()) Runtime.getRuntime.halt(3)
  Thread.sleep(300)
  kv
}.count())

// An executor ends while the stage that made its map outputs still runs: they are resubmitted.
attempt("resubmitted")(sc.parallelize(1 to 6, 6).map { i =>
  if (i == 6) {
    Thread.sleep(3000)
    if (new java.io.File(dir + "/resubmit").createNewFile()) Runtime.getRuntime.halt(3)
  }
  (i % 3, i)
}.reduceByKey(_ + _, 2).count())

// A job that is cancelled: killed tasks with a reason.
val late = new Thread(() => { Thread.sleep(1500); sc.cancelAllJobs() })
late.start()
attempt("cancelled")(sc.parallelize(1 to 4, 4).map { i => Thread.sleep(20000); i }.count())
late.join()
attempt("after")(counts.count())
System.exit(0)
