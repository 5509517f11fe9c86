"""Messages of Mesos's v1 scheduler and executor API, as protobuf and as JSON; records of a stream.

A message is a dict as JSON has it: enums by name, bytes as base64, absent fields absent. Unknown fields are left out.
"""
import base64
import json
import struct

JSON, PROTOBUF = "application/json", "application/x-protobuf"

# A line for each message: field, number, type. A type with * is repeated; one in <> is an enum of ENUMS.
SCHEMA = """
Id: value 1 string
Duration: nanoseconds 1 int64
Address: hostname 1 string, ip 2 string, port 3 int32
Url: scheme 1 string, address 2 Address, path 3 string
Capability: type 1 <Capability>
FrameworkInfo: user 1 string, name 2 string, id 3 Id, failover_timeout 4 double, checkpoint 5 bool, role 6 string, roles 12 string*,
    hostname 7 string, principal 8 string, webui_url 9 string, capabilities 10 Capability*, labels 11 Labels
KillPolicy: grace_period 1 Duration
Uri: value 1 string, executable 2 bool, extract 3 bool, cache 4 bool, output_file 5 string
CommandInfo: uris 1 Uri*, environment 2 Environment, shell 6 bool, value 3 string, arguments 7 string*, user 5 string
ExecutorInfo: type 15 <ExecutorType>, executor_id 1 Id, framework_id 8 Id, command 7 CommandInfo, container 11 ContainerInfo,
    resources 5 Resource*, name 9 string, source 10 string, data 4 bytes, shutdown_grace_period 13 Duration, labels 14 Labels
MasterInfo: id 1 string, ip 2 uint32, port 3 uint32, pid 4 string, hostname 5 string, version 6 string, address 7 Address
AgentInfo: hostname 1 string, port 8 int32, resources 3 Resource*, attributes 5 Attribute*, id 6 Id
Scalar: value 1 double
Range: begin 1 uint64, end 2 uint64
Ranges: range 1 Range*
Set: item 1 string*
Attribute: name 1 string, type 2 <ValueType>, scalar 3 Scalar, ranges 4 Ranges, set 6 Set, text 5 Text
Text: value 1 string
AllocationInfo: role 1 string
Reservation: type 4 <ReservationType>, role 3 string, principal 1 string, labels 2 Labels
Resource: name 1 string, type 2 <ValueType>, scalar 3 Scalar, ranges 4 Ranges, set 5 Set, role 6 string, allocation_info 11 AllocationInfo,
    reservation 8 Reservation
Offer: id 1 Id, framework_id 2 Id, agent_id 3 Id, hostname 4 string, url 8 Url, resources 5 Resource*, attributes 7 Attribute*,
    executor_ids 6 Id*
Launch: task_infos 1 TaskInfo*
Operation: type 1 <OperationType>, launch 2 Launch
TaskInfo: name 1 string, task_id 2 Id, agent_id 3 Id, resources 4 Resource*, executor 5 ExecutorInfo, command 7 CommandInfo,
    container 9 ContainerInfo, kill_policy 12 KillPolicy, data 6 bytes, labels 10 Labels
TaskStatus: task_id 1 Id, state 2 <TaskState>, message 4 string, source 9 <Source>, reason 10 <Reason>, data 3 bytes, agent_id 5 Id,
    executor_id 7 Id, timestamp 6 double, uuid 11 bytes, healthy 8 bool
Filters: refuse_seconds 1 double
Environment: variables 1 Variable*
Variable: name 1 string, type 3 <VariableType>, value 2 string, secret 4 Secret
Parameter: key 1 string, value 2 string
Secret: type 1 <SecretType>, reference 2 SecretReference, value 3 SecretValue
SecretReference: name 1 string, key 2 string
SecretValue: data 1 bytes
Image: type 1 <ImageType>, docker 3 ImageDocker, cached 4 bool
ImageDocker: name 1 string
Volume: mode 3 <VolumeMode>, container_path 1 string, host_path 2 string, source 5 VolumeSource
VolumeSource: type 1 <VolumeSourceType>, secret 4 Secret
IpAddress: protocol 1 <IpProtocol>, ip_address 2 string
PortMapping: host_port 1 uint32, container_port 2 uint32, protocol 3 string
NetworkInfo: ip_addresses 5 IpAddress*, name 6 string, groups 3 string*, labels 4 Labels, port_mappings 7 PortMapping*
DockerInfo: image 1 string, network 2 <DockerNetwork>, port_mappings 3 PortMapping*, privileged 4 bool, parameters 5 Parameter*,
    force_pull_image 6 bool
MesosInfo: image 1 Image
ContainerInfo: type 1 <ContainerType>, volumes 2 Volume*, hostname 4 string, docker 3 DockerInfo, mesos 5 MesosInfo,
    network_infos 7 NetworkInfo*
Labels: labels 1 Label*
Label: key 1 string, value 2 string
SchedulerCall: framework_id 1 Id, type 2 <SchedulerCall>, subscribe 3 Subscribe, accept 4 Accept, decline 5 Decline, kill 6 Kill,
    shutdown 7 Shutdown, acknowledge 8 Acknowledge, reconcile 9 Reconcile, message 10 Message, revive 15 Roles, suppress 16 Roles
Subscribe: framework_info 1 FrameworkInfo, suppressed_roles 2 string*
Accept: offer_ids 1 Id*, operations 2 Operation*, filters 3 Filters
Decline: offer_ids 1 Id*, filters 2 Filters
Kill: task_id 1 Id, agent_id 2 Id, kill_policy 3 KillPolicy
Shutdown: executor_id 1 Id, agent_id 2 Id
Acknowledge: agent_id 1 Id, task_id 2 Id, uuid 3 bytes
Reconcile: tasks 1 ReconcileTask*
ReconcileTask: task_id 1 Id, agent_id 2 Id
Message: agent_id 1 Id, executor_id 2 Id, data 3 bytes
Roles: roles 1 string*
SchedulerEvent: type 1 <SchedulerEvent>, subscribed 2 Subscribed, offers 3 Offers, rescind 4 Rescind, update 5 Update, message 6 Message,
    failure 7 Failure, error 8 Error
Subscribed: framework_id 1 Id, heartbeat_interval_seconds 2 double, master_info 3 MasterInfo
Offers: offers 1 Offer*
Rescind: offer_id 1 Id
Update: status 1 TaskStatus
Failure: agent_id 1 Id, executor_id 2 Id, status 3 int32
Error: message 1 string
ExecutorCall: executor_id 1 Id, framework_id 2 Id, type 3 <ExecutorCall>, subscribe 4 ExecutorSubscribe, update 5 Update,
    message 6 ExecutorMessage
ExecutorSubscribe: unacknowledged_tasks 1 TaskInfo*, unacknowledged_updates 2 Update*
ExecutorMessage: data 2 bytes
ExecutorEvent: type 1 <ExecutorEvent>, subscribed 2 ExecutorSubscribed, acknowledged 3 Acknowledged, launch 4 ExecutorLaunch,
    kill 5 ExecutorKill, message 6 EventMessage, error 7 Error
ExecutorSubscribed: executor_info 1 ExecutorInfo, framework_info 2 FrameworkInfo, agent_info 3 AgentInfo, container_id 4 Id
Acknowledged: task_id 1 Id, uuid 2 bytes
ExecutorLaunch: task 1 TaskInfo
ExecutorKill: task_id 1 Id, kill_policy 2 KillPolicy
EventMessage: data 1 bytes
"""

ENUMS = {
    "Capability": {"REVOCABLE_RESOURCES": 1, "TASK_KILLING_STATE": 2, "GPU_RESOURCES": 3, "SHARED_RESOURCES": 4, "PARTITION_AWARE": 5,
                   "MULTI_ROLE": 6, "RESERVATION_REFINEMENT": 7, "REGION_AWARE": 8},
    "ExecutorType": {"DEFAULT": 1, "CUSTOM": 2},
    "ValueType": {"SCALAR": 0, "RANGES": 1, "SET": 2, "TEXT": 3},
    "ReservationType": {"STATIC": 1, "DYNAMIC": 2},
    "OperationType": {"LAUNCH": 1, "LAUNCH_GROUP": 6, "RESERVE": 2, "UNRESERVE": 3, "CREATE": 4, "DESTROY": 5},
    "TaskState": {"TASK_STAGING": 6, "TASK_STARTING": 0, "TASK_RUNNING": 1, "TASK_KILLING": 8, "TASK_FINISHED": 2, "TASK_FAILED": 3,
                  "TASK_KILLED": 4, "TASK_ERROR": 7, "TASK_LOST": 5, "TASK_DROPPED": 9, "TASK_UNREACHABLE": 10, "TASK_GONE": 11,
                  "TASK_GONE_BY_OPERATOR": 12, "TASK_UNKNOWN": 13},
    "Source": {"SOURCE_MASTER": 0, "SOURCE_AGENT": 1, "SOURCE_EXECUTOR": 2},
    "Reason": {"REASON_COMMAND_EXECUTOR_FAILED": 0, "REASON_EXECUTOR_TERMINATED": 1, "REASON_EXECUTOR_UNREGISTERED": 2,
               "REASON_FRAMEWORK_REMOVED": 3, "REASON_INVALID_OFFERS": 6, "REASON_MASTER_DISCONNECTED": 7,
               "REASON_CONTAINER_LIMITATION_MEMORY": 8, "REASON_RECONCILIATION": 9, "REASON_AGENT_DISCONNECTED": 10,
               "REASON_AGENT_REMOVED": 11, "REASON_AGENT_RESTARTED": 12, "REASON_AGENT_UNKNOWN": 13, "REASON_TASK_INVALID": 14,
               "REASON_TASK_UNAUTHORIZED": 15, "REASON_TASK_UNKNOWN": 16, "REASON_CONTAINER_PREEMPTED": 17,
               "REASON_CONTAINER_LIMITATION": 19, "REASON_CONTAINER_LAUNCH_FAILED": 21, "REASON_EXECUTOR_REGISTRATION_TIMEOUT": 23},
    "VariableType": {"VALUE": 1, "SECRET": 2},
    "SecretType": {"REFERENCE": 1, "VALUE": 2},
    "ImageType": {"APPC": 1, "DOCKER": 2},
    "VolumeMode": {"RW": 1, "RO": 2},
    "VolumeSourceType": {"DOCKER_VOLUME": 1, "HOST_PATH": 4, "SANDBOX_PATH": 2, "SECRET": 3},
    "IpProtocol": {"IPv4": 1, "IPv6": 2},
    "DockerNetwork": {"HOST": 1, "BRIDGE": 2, "NONE": 3, "USER": 4},
    "ContainerType": {"DOCKER": 1, "MESOS": 2},
    "SchedulerCall": {"SUBSCRIBE": 1, "TEARDOWN": 2, "ACCEPT": 3, "DECLINE": 4, "REVIVE": 5, "KILL": 6, "SHUTDOWN": 7, "ACKNOWLEDGE": 8,
                      "RECONCILE": 9, "MESSAGE": 10, "REQUEST": 11, "SUPPRESS": 12},
    "SchedulerEvent": {"SUBSCRIBED": 1, "OFFERS": 2, "RESCIND": 3, "UPDATE": 4, "MESSAGE": 5, "FAILURE": 6, "ERROR": 7, "HEARTBEAT": 8},
    "ExecutorCall": {"SUBSCRIBE": 1, "UPDATE": 2, "MESSAGE": 3, "HEARTBEAT": 4},
    "ExecutorEvent": {"SUBSCRIBED": 1, "LAUNCH": 2, "KILL": 3, "ACKNOWLEDGED": 4, "MESSAGE": 5, "ERROR": 6, "SHUTDOWN": 7,
                      "LAUNCH_GROUP": 8, "HEARTBEAT": 9},
}
ENUM_NAMES = {name: {number: word for word, number in words.items()} for name, words in ENUMS.items()}
VARINTS = ("int32", "int64", "uint32", "uint64", "bool")


class Field:
    def __init__(self, name, number, kind):
        self.name, self.number, self.repeated = name, int(number), kind.endswith("*")
        self.kind = kind.rstrip("*")
        self.enum = self.kind.strip("<>") if self.kind.startswith("<") else None


def read_schema():
    messages = {}
    for line in SCHEMA.replace("\n    ", " ").split("\n"):
        if line:
            name, _, fields = line.partition(": ")
            messages[name] = [Field(*field.split()) for field in fields.split(", ")]
    return messages


MESSAGES = read_schema()


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    """Returns (value, the next position)."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def encode_field(field, value):
    if field.enum:
        return varint(field.number << 3) + varint(ENUMS[field.enum][value])
    if field.kind in VARINTS:
        return varint(field.number << 3) + varint(int(value))
    if field.kind == "double":
        return varint(field.number << 3 | 1) + struct.pack("<d", value)
    data = (value.encode() if field.kind == "string" else base64.b64decode(value) if field.kind == "bytes"
            else encode(field.kind, value))
    return varint(field.number << 3 | 2) + varint(len(data)) + data


def encode(name, message):
    """Returns a message as protobuf. A field that the schema lacks is an error of the test."""
    unknown = set(message) - {field.name for field in MESSAGES[name]}
    assert not unknown, f"{name} has no {unknown}"
    out = b""
    for field in MESSAGES[name]:
        if field.name in message:
            values = message[field.name] if field.repeated else [message[field.name]]
            out += b"".join(encode_field(field, value) for value in values)
    return out


def decode_value(field, value):
    if field.enum:
        return ENUM_NAMES[field.enum].get(value, "UNKNOWN")
    if field.kind == "bool":
        return bool(value)
    if field.kind in ("int32", "int64"):
        return value - (1 << 64) if value >> 63 else value
    if field.kind in VARINTS:
        return value
    if field.kind == "double":
        return struct.unpack("<d", value)[0]
    if field.kind == "string":
        return value.decode()
    return base64.b64encode(value).decode() if field.kind == "bytes" else decode(field.kind, value)


def decode(name, data):
    """Returns the message in protobuf @data. Raises ValueError, IndexError or struct.error if it is damaged."""
    fields = {field.number: field for field in MESSAGES[name]}
    message, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            length, at = read_varint(data, at)
            if at + length > len(data):
                raise ValueError(f"{name}: a field of {length} bytes is cut off")
            value, at = data[at:at + length], at + length
        elif tag & 7 in (1, 5):
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"{name}: wire type {tag & 7}")
        field = fields.get(tag >> 3)
        if field and field.repeated:
            message.setdefault(field.name, []).append(decode_value(field, value))
        elif field:
            message[field.name] = decode_value(field, value)
    return message


def read_body(kind, name, body):
    """Returns the message of an HTTP body with the Content-Type @kind."""
    return decode(name, body) if kind == PROTOBUF else json.loads(body)


def record(kind, name, message):
    """Returns a message as a record of a stream that a client with Accept @kind reads."""
    data = encode(name, message) if kind == PROTOBUF else json.dumps(message).encode()
    return b"%d\n" % len(data) + data
