"""Reads the journal of a driver (src/journal/frame.h, src/driver/resume/records.h)."""
FIRST_LINE = b"Firesteel driver journal, version 1. Not a text: do not edit.\n"
RESULTS, RESET, MAP_OUTPUTS, MAP_LOST, RESULT_RANGE = 5, 7, 13, 14, 31  # kinds of records
FRAME_HEADER, RECORD_HEADER = 20, 5


def records_of(epoch):
    """(kind, content) of each record in the complete frames of an epoch's file."""
    at = len(FIRST_LINE)
    while at + FRAME_HEADER <= len(epoch):
        end = at + FRAME_HEADER + int.from_bytes(epoch[at + 4:at + 8], "little")
        if end > len(epoch):
            return
        at += FRAME_HEADER
        while at < end:
            start = at + RECORD_HEADER
            at = start + int.from_bytes(epoch[start - 4:start], "little")
            yield epoch[start - RECORD_HEADER], epoch[start:at]


def records(epochs):
    return (record for epoch in epochs for record in records_of(epoch))


class Fields:
    """The fields of a record, one after another."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def more(self):
        return self.at < len(self.content)

    def number(self):
        value = shift = 0
        while True:
            byte = self.content[self.at]
            value, shift, self.at = value | (byte & 127) << shift, shift + 7, self.at + 1
            if byte < 128:
                return value

    def skip_bytes(self):
        self.at = self.number() + self.at


def results(*epochs):
    """The outputs of jobs whose results the epochs have: [(job, output)], without those of jobs that were reset later."""
    found = []
    for kind, content in records(epochs):
        fields = Fields(content)
        if kind == RESULTS:
            job = fields.number()
            while fields.more():
                found.append((job, fields.number()))
                fields.skip_bytes()
                fields.skip_bytes()
        elif kind == RESULT_RANGE:
            job, first, count = fields.number(), fields.number(), fields.number()
            found += [(job, first + i) for i in range(count)]
        elif kind == RESET:
            job = fields.number()
            found = [result for result in found if result[0] != job]
    return found


def map_outputs(*epochs):
    """The map outputs that the epochs name: [(job, task id)], without those that were lost later."""
    found = []
    for kind, content in records(epochs):
        fields = Fields(content)
        if kind == MAP_OUTPUTS:  # job, shuffle, writer; partition, task id, place of each
            job = fields.number()
            fields.number()
            fields.number()
            while fields.more():
                fields.number()
                found.append((job, fields.number()))
                fields.number()
        elif kind == MAP_LOST:  # shuffle, partition, task id
            fields.number()
            fields.number()
            lost = fields.number()
            found = [output for output in found if output[1] != lost]
    return found
