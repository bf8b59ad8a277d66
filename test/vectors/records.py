"""JSON as scripts/record-lines.js writes it: a record on a line, so that the change of a record is the change of one line."""
import json


def record_lines(value, levels=2, indent=''):
    if levels == 0 or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, separators=(',', ':'))
    is_list = isinstance(value, list)
    entries = [('', entry) for entry in value] if is_list else [
        (json.dumps(name) + ': ', entry) for name, entry in value.items()]
    first, last = '[]' if is_list else '{}'
    parts = [indent + ' ' + name + record_lines(entry, levels - 1, indent + ' ') for name, entry in entries]
    return first + '\n' + ',\n'.join(parts) + '\n' + indent + last
