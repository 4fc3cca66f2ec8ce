"""Arrow's schema in a Parquet file: the only place that tells durations from integers."""

import base64
import struct

_DURATION = 18  # in the enumeration of Arrow's types
_NAME, _TYPE = 0, 2  # slots of a field
_HEADER = 2  # slot of a message
_FIELDS = 1  # slot of a schema


def durations(encoded: bytes) -> dict[str, bool]:
    """Return which columns hold durations; a schema that cannot be read tells of none.

    The schema is a flatbuffer: a table begins with the distance to its list of slots, which holds
    the place of each field in the table.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
        start = 8 if data.startswith(b"\xff\xff\xff\xff") else 4
        schema = _child(data, start + _read_unsigned(data, start), _HEADER)
        fields = _child(data, schema, _FIELDS)
        # a generator, for a damaged file may claim any number of fields
        places = (fields + 4 + 4 * at for at in range(_read_unsigned(data, fields)))
        return dict(_field(data, place + _read_unsigned(data, place)) for place in places)
    except (ValueError, struct.error):
        return {}


def _field(data: bytes, table: int) -> tuple[str, bool]:
    name, type_ = _child(data, table, _NAME), _slot(data, table, _TYPE)
    text = data[name + 4 : name + 4 + _read_unsigned(data, name)].decode()
    return text, type_ is not None and data[type_ : type_ + 1] == bytes([_DURATION])


def _child(data: bytes, table: int, slot: int) -> int:
    place = _slot(data, table, slot)
    if place is None:
        raise ValueError("a field is absent")
    return place + _read_unsigned(data, place)


def _slot(data: bytes, table: int, slot: int) -> int | None:
    slots = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * slot >= struct.unpack_from("<H", data, slots)[0]:
        return None
    distance = struct.unpack_from("<H", data, slots + 4 + 2 * slot)[0]
    return table + distance if distance else None


def _read_unsigned(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
