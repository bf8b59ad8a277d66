// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["keelson-batches"] || ($protobuf.roots["keelson-batches"] = {});

export const keelson = $root.keelson = (() => {

    const keelson = {};

    keelson.v1 = (function() {

        const v1 = {};

        v1.BatchBody = (function() {

            const BatchBody = function () {
            };

            BatchBody.prototype.studyId = $util.newBuffer([]);
            BatchBody.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            BatchBody.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            BatchBody.prototype.last = false;
            BatchBody.prototype.rows = 0;
            BatchBody.prototype.columns = 0;
            BatchBody.prototype.dataType = 0;
            BatchBody.prototype.data = $util.newBuffer([]);

            BatchBody.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(10).bytes(message.studyId);
                if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                    writer.uint32(16).uint64(message.sequence);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(24).uint64(message.epoch);
                if (message.last != null && $Object.hasOwnProperty.call(message, "last") && message.last !== false)
                    writer.uint32(32).bool(message.last);
                if (message.rows != null && $Object.hasOwnProperty.call(message, "rows") && message.rows !== 0)
                    writer.uint32(40).uint32(message.rows);
                if (message.columns != null && $Object.hasOwnProperty.call(message, "columns") && message.columns !== 0)
                    writer.uint32(48).uint32(message.columns);
                if (message.dataType != null && $Object.hasOwnProperty.call(message, "dataType") && message.dataType !== 0)
                    writer.uint32(56).int32(message.dataType);
                if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                    writer.uint32(66).bytes(message.data);
                return writer;
            };

            BatchBody.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.keelson.v1.BatchBody();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.studyId = value;
                            else
                                delete message.studyId;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.sequence = value;
                            else
                                delete message.sequence;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.last = value;
                            else
                                delete message.last;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.rows = value;
                            else
                                delete message.rows;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.columns = value;
                            else
                                delete message.columns;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.dataType = value;
                            else
                                delete message.dataType;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.data = value;
                            else
                                delete message.data;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return BatchBody;
        })();

        v1.DataType = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "DATA_TYPE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "DATA_TYPE_FLOAT32"] = 1;
            values[valuesById[2] = "DATA_TYPE_FLOAT64"] = 2;
            return values;
        })();

        return v1;
    })();

    return keelson;
})();

export {
  $root as default
};
