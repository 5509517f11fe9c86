"""What a framework asked of a master, without what differs from run to run: ids become numbers of agents, addresses and homes names."""
import base64
import re

# The options that Spark 3.5 passes to each JVM on its own account.
MODULE_OPTION = re.compile(r"-Djava\.net\.preferIPv6Addresses=\S+ *|-XX:\+IgnoreUnrecognizedVMOptions *|--add-opens=\S+ *"
                           r"|-Djdk\.reflect\.useDirectMethodHandle=\S+ *|-Dio\.netty\.tryReflectionSetAccessible=\S+ *")


class Names:
    """Replaces the texts of one run by names."""

    def __init__(self, master, homes, framework_id):
        self.agents = {agent.id: agent.number for agent in master.agents}
        self.texts = [(home, "$HOME") for home in sorted(homes, key=len, reverse=True)]
        self.texts += [(framework_id, "$FRAMEWORK")] if framework_id else []

    def text(self, text):
        for found, name in self.texts:
            text = text.replace(found, name)
        text = re.sub(r"given-id-\d{4}", "given-id", text)  # later contexts of one process number it
        text = re.sub(r"(CoarseGrainedScheduler@)[^ :]+:\d+", r"\1$DRIVER", text)
        return MODULE_OPTION.sub("", text).strip(" ") if "add-opens" in text else text

    def value(self, value):
        if isinstance(value, dict):
            return {key: self.value(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.value(entry) for entry in value]
        return self.text(value) if isinstance(value, str) else value


def flat_resources(entries):
    """Returns resources as "cpus(role) 4" texts in their order."""
    out = []
    for entry in entries:
        role = "" if entry.get("role", "*") == "*" else f"({entry['role']})"
        amount = (f"{entry['scalar']['value']:g}" if "scalar" in entry else
                  ",".join(f"{span['begin']}-{span['end']}" for span in entry["ranges"].get("range", [])))
        out.append(f"{entry['name']}{role} {amount}")
    return out


def normal_task(task, names):
    out = {key: value for key, value in task.items() if key not in ("agent_id", "data", "resources", "executor")}
    if "executor" in task:
        executor = {key: value for key, value in task["executor"].items() if key not in ("data", "resources", "framework_id")}
        executor["executor_id"] = f"agent {names.agents[executor['executor_id']['value']]}"
        out["executor"] = dict(executor, resources=flat_resources(task["executor"].get("resources", [])))
    out["resources"] = flat_resources(task.get("resources", []))
    out["task_id"] = task["task_id"]["value"]
    for holder in (out, out.get("executor", {})):
        variables = holder.get("command", {}).get("environment", {}).get("variables", [])
        if variables:
            holder["command"] = dict(holder["command"], environment=[
                variable_text(variable, names) for variable in variables])
    return names.value(out)


def variable_text(variable, names):
    if variable.get("type") == "SECRET":
        secret = variable["secret"]
        what = (f"value {base64.b64decode(secret['value']['data']).decode()}" if secret.get("type") == "VALUE"
                else f"reference {secret['reference']['name']}")
        return f"{variable['name']}: secret, {what}"
    return names.text(f"{variable['name']}={variable.get('value', '')}")


def normal_form(master, calls, homes, since_revive=False):
    """Returns the framework's description and its answers to offers (@since_revive: from the first REVIVE on), per agent and in
    order. Must hold the master's lock."""
    framework = next((call["subscribe"]["framework_info"] for call in calls if call["type"] == "SUBSCRIBE"), None)
    ids = [call["framework_id"]["value"] for call in calls if "framework_id" in call]
    given = (framework or {}).get("id", {}).get("value")
    names = Names(master, homes, None if given else ids[0] if ids else None)
    answers = []
    revived = not since_revive
    for call in calls:
        revived = revived or call["type"] == "REVIVE"
        if not revived:
            continue
        body = call.get(call["type"].lower(), {})
        if call["type"] not in ("ACCEPT", "DECLINE"):
            continue
        tasks = [task for operation in body.get("operations", []) for task in operation.get("launch", {}).get("task_infos", [])]
        for offer_id in body["offer_ids"]:
            agent, resources = master.offered[offer_id["value"]]
            answers.append({"agent": agent.number, "offer": flat_resources(resources),
                            "refuse_seconds": body.get("filters", {}).get("refuse_seconds", "default"),
                            **({"tasks": [normal_task(task, names) for task in tasks]} if call["type"] == "ACCEPT" else {})})
    if framework:
        framework = dict(framework, webui_url=re.sub(r"^http://[^/]*:\d+$", "http://$UI", framework.get("webui_url", "")))
    return {"framework": names.value(framework) if framework else None, "answers": answers,
            "other": sorted({call["type"] for call in calls} - {"SUBSCRIBE", "ACCEPT", "DECLINE", "ACKNOWLEDGE"})}
