"""Resources of offers and tasks: amounts by name, role and reservation."""
import json
import re


def parse_resources(text):
    """Returns the resources of an agent's flag: 'cpus:4;cpus(dev):2;mem:4096;ports:[31000-31099,32000-32000]'."""
    return [parse_value({"name": name.strip(), "role": role or "*"}, value.strip())
            for name, role, value in re.findall(r"([^;:(]+)(?:\(([^)]*)\))?:([^;]+)", text)]


def parse_attributes(text):
    """Returns the attributes of an agent's flag: 'os:debian;rack:12;zones:[1-3]'."""
    return [parse_value({"name": name.strip()}, value.strip()) for name, value in re.findall(r"([^;:]+):([^;]+)", text)]


def parse_value(entry, value):
    if value.startswith("["):
        ranges = [{"begin": int(begin), "end": int(end)} for begin, end in re.findall(r"(\d+)\s*-\s*(\d+)", value)]
        return dict(entry, type="RANGES", ranges={"range": ranges})
    if value.startswith("{"):
        return dict(entry, type="SET", set={"item": [item.strip() for item in value.strip("{}").split(",")]})
    try:
        return dict(entry, type="SCALAR", scalar={"value": float(value)})
    except ValueError:
        return dict(entry, type="TEXT", text={"value": value})


class Resources:
    """A sum of resources. Amounts are multiples of 0.001, ports a set."""

    def __init__(self, entries=()):
        self.scalars, self.ports = {}, {}
        for entry in entries:
            reservation = json.dumps(entry["reservation"], sort_keys=True) if "reservation" in entry else ""
            key = (entry["name"], entry.get("role", "*"), reservation)
            if entry["type"] == "SCALAR":
                self.scalars[key] = self.scalars.get(key, 0) + round(entry["scalar"]["value"] * 1000)
            elif entry["type"] == "RANGES":
                self.ports.setdefault(key, set()).update(
                    port for span in entry["ranges"].get("range", []) for port in range(span["begin"], span["end"] + 1))

    def copy(self):
        other = Resources()
        other.scalars, other.ports = dict(self.scalars), {key: set(ports) for key, ports in self.ports.items()}
        return other

    def __add__(self, other):
        total = self.copy()
        for key, amount in other.scalars.items():
            total.scalars[key] = total.scalars.get(key, 0) + amount
        for key, ports in other.ports.items():
            total.ports.setdefault(key, set()).update(ports)
        return total

    def __sub__(self, other):
        rest = self.copy()
        for key, amount in other.scalars.items():
            rest.scalars[key] = rest.scalars.get(key, 0) - amount
        for key, ports in other.ports.items():
            rest.ports[key] = rest.ports.get(key, set()) - ports
        return rest

    def contains(self, other):
        return (all(amount <= self.scalars.get(key, 0) for key, amount in other.scalars.items())
                and all(ports <= self.ports.get(key, set()) for key, ports in other.ports.items()))

    def of_role(self, role):
        """Returns what a framework of @role may get."""
        part = Resources()
        part.scalars = {key: amount for key, amount in self.scalars.items() if key[1] in ("*", role)}
        part.ports = {key: ports for key, ports in self.ports.items() if key[1] in ("*", role)}
        return part

    def amount(self, name):
        return sum(amount for key, amount in self.scalars.items() if key[0] == name) / 1000

    def __bool__(self):
        return any(amount > 0 for amount in self.scalars.values()) or any(self.ports.values())

    def __repr__(self):
        return f"Resources({self.entries()})"

    def entries(self):
        """Returns the resources as a message has them."""
        out = []
        for (name, role, reservation), amount in self.scalars.items():
            if amount > 0:
                out.append({"name": name, "type": "SCALAR", "scalar": {"value": amount / 1000}, "role": role,
                            **({"reservation": json.loads(reservation)} if reservation else {})})
        for (name, role, reservation), ports in self.ports.items():
            if ports:
                out.append({"name": name, "type": "RANGES", "ranges": {"range": spans(ports)}, "role": role,
                            **({"reservation": json.loads(reservation)} if reservation else {})})
        return out


def spans(ports):
    out = []
    for port in sorted(ports):
        if out and out[-1]["end"] == port - 1:
            out[-1]["end"] = port
        else:
            out.append({"begin": port, "end": port})
    return out
