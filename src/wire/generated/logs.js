// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["keelson-logs"] || ($protobuf.roots["keelson-logs"] = {});

export const keelson = $root.keelson = (() => {

    const keelson = {};

    keelson.v1 = (function() {

        const v1 = {};

        v1.StudyState = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "STUDY_STATE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "STUDY_STATE_OPEN"] = 1;
            values[valuesById[2] = "STUDY_STATE_EXHAUSTED"] = 2;
            values[valuesById[3] = "STUDY_STATE_ENDED"] = 3;
            return values;
        })();

        v1.ReleaseBody = (function() {

            const ReleaseBody = function () {
                this.columns = [];
            };

            ReleaseBody.prototype.serverKey = $util.newBuffer([]);
            ReleaseBody.prototype.studyId = $util.newBuffer([]);
            ReleaseBody.prototype.index = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ReleaseBody.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ReleaseBody.prototype.study = "";
            ReleaseBody.prototype.estimator = "";
            ReleaseBody.prototype.parameters = "";
            ReleaseBody.prototype.participation = "";
            ReleaseBody.prototype.outcome = null;
            ReleaseBody.prototype.cost = null;
            ReleaseBody.prototype.ledger = null;
            ReleaseBody.prototype.previousDigest = $util.newBuffer([]);
            ReleaseBody.prototype.mechanisms = "";
            ReleaseBody.prototype.closedAtMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ReleaseBody.prototype.columns = $util.emptyArray;
            ReleaseBody.prototype.cohort = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ReleaseBody.prototype.guarantee = "";

            ReleaseBody.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.serverKey != null && $Object.hasOwnProperty.call(message, "serverKey") && message.serverKey.length)
                    writer.uint32(10).bytes(message.serverKey);
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(18).bytes(message.studyId);
                if (message.index != null && $Object.hasOwnProperty.call(message, "index") && (typeof message.index === "object" ? message.index.low || message.index.high : message.index !== 0))
                    writer.uint32(24).uint64(message.index);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(32).uint64(message.epoch);
                if (message.study != null && $Object.hasOwnProperty.call(message, "study") && message.study !== "")
                    writer.uint32(42).string(message.study);
                if (message.estimator != null && $Object.hasOwnProperty.call(message, "estimator") && message.estimator !== "")
                    writer.uint32(50).string(message.estimator);
                if (message.parameters != null && $Object.hasOwnProperty.call(message, "parameters") && message.parameters !== "")
                    writer.uint32(58).string(message.parameters);
                if (message.participation != null && $Object.hasOwnProperty.call(message, "participation") && message.participation !== "")
                    writer.uint32(66).string(message.participation);
                if (message.outcome != null && $Object.hasOwnProperty.call(message, "outcome"))
                    $root.keelson.v1.Outcome.encode(message.outcome, writer.uint32(74).fork(), _depth + 1).ldelim();
                if (message.cost != null && $Object.hasOwnProperty.call(message, "cost"))
                    $root.keelson.v1.Cost.encode(message.cost, writer.uint32(82).fork(), _depth + 1).ldelim();
                if (message.ledger != null && $Object.hasOwnProperty.call(message, "ledger"))
                    $root.keelson.v1.LedgerPosition.encode(message.ledger, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.previousDigest != null && $Object.hasOwnProperty.call(message, "previousDigest") && message.previousDigest.length)
                    writer.uint32(98).bytes(message.previousDigest);
                if (message.mechanisms != null && $Object.hasOwnProperty.call(message, "mechanisms") && message.mechanisms !== "")
                    writer.uint32(106).string(message.mechanisms);
                if (message.closedAtMs != null && $Object.hasOwnProperty.call(message, "closedAtMs") && (typeof message.closedAtMs === "object" ? message.closedAtMs.low || message.closedAtMs.high : message.closedAtMs !== 0))
                    writer.uint32(112).uint64(message.closedAtMs);
                if (message.columns != null && message.columns.length)
                    for (let i = 0; i < message.columns.length; ++i)
                        writer.uint32(122).string(message.columns[i]);
                if (message.cohort != null && $Object.hasOwnProperty.call(message, "cohort") && (typeof message.cohort === "object" ? message.cohort.low || message.cohort.high : message.cohort !== 0))
                    writer.uint32(128).uint64(message.cohort);
                if (message.guarantee != null && $Object.hasOwnProperty.call(message, "guarantee") && message.guarantee !== "")
                    writer.uint32(138).string(message.guarantee);
                return writer;
            };

            ReleaseBody.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.ReleaseBody();
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
                                message.serverKey = value;
                            else
                                delete message.serverKey;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.studyId = value;
                            else
                                delete message.studyId;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.index = value;
                            else
                                delete message.index;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.study = value;
                            else
                                delete message.study;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.estimator = value;
                            else
                                delete message.estimator;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.parameters = value;
                            else
                                delete message.parameters;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.participation = value;
                            else
                                delete message.participation;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            message.outcome = $root.keelson.v1.Outcome.decode(reader, reader.size(), $undefined, _depth + 1, message.outcome);
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.cost = $root.keelson.v1.Cost.decode(reader, reader.size(), $undefined, _depth + 1, message.cost);
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.ledger = $root.keelson.v1.LedgerPosition.decode(reader, reader.size(), $undefined, _depth + 1, message.ledger);
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.previousDigest = value;
                            else
                                delete message.previousDigest;
                            continue;
                        }
                    case 13: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mechanisms = value;
                            else
                                delete message.mechanisms;
                            continue;
                        }
                    case 14: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.closedAtMs = value;
                            else
                                delete message.closedAtMs;
                            continue;
                        }
                    case 15: {
                            if (wireType !== 2)
                                break;
                            if (!(message.columns && message.columns.length))
                                message.columns = [];
                            message.columns.push(reader.stringVerify());
                            continue;
                        }
                    case 16: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.cohort = value;
                            else
                                delete message.cohort;
                            continue;
                        }
                    case 17: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.guarantee = value;
                            else
                                delete message.guarantee;
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

            return ReleaseBody;
        })();

        v1.Outcome = (function() {

            const Outcome = function () {
            };

            Outcome.prototype.value = null;
            Outcome.prototype.refused = null;

            let $oneOfFields;

            $Object.defineProperty(Outcome.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["value", "refused"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            Outcome.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value"))
                    $root.keelson.v1.Value.encode(message.value, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.refused != null && $Object.hasOwnProperty.call(message, "refused"))
                    $root.keelson.v1.Refused.encode(message.refused, writer.uint32(18).fork(), _depth + 1).ldelim();
                return writer;
            };

            Outcome.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.keelson.v1.Outcome();
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
                            message.value = $root.keelson.v1.Value.decode(reader, reader.size(), $undefined, _depth + 1, message.value);
                            message.kind = "value";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.refused = $root.keelson.v1.Refused.decode(reader, reader.size(), $undefined, _depth + 1, message.refused);
                            message.kind = "refused";
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

            return Outcome;
        })();

        v1.Value = (function() {

            const Value = function () {
                this.estimate = [];
                this.shape = [];
                this.intervalLow = [];
                this.intervalHigh = [];
                this.parts = [];
            };

            Value.prototype.estimate = $util.emptyArray;
            Value.prototype.shape = $util.emptyArray;
            Value.prototype.uncertainty = null;
            Value.prototype.intervalLow = $util.emptyArray;
            Value.prototype.intervalHigh = $util.emptyArray;
            Value.prototype.parts = $util.emptyArray;

            Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.estimate != null && message.estimate.length)
                    writer.uint32(10).doubles(message.estimate);
                if (message.shape != null && message.shape.length)
                    writer.uint32(18).uint32s(message.shape);
                if (message.uncertainty != null && $Object.hasOwnProperty.call(message, "uncertainty"))
                    $root.keelson.v1.Uncertainty.encode(message.uncertainty, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.intervalLow != null && message.intervalLow.length)
                    writer.uint32(34).doubles(message.intervalLow);
                if (message.intervalHigh != null && message.intervalHigh.length)
                    writer.uint32(42).doubles(message.intervalHigh);
                if (message.parts != null && message.parts.length)
                    for (let i = 0; i < message.parts.length; ++i)
                        $root.keelson.v1.Part.encode(message.parts[i], writer.uint32(50).fork(), _depth + 1).ldelim();
                return writer;
            };

            Value.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Value();
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
                            if (wireType === 2) {
                                if (!(message.estimate && message.estimate.length))
                                    message.estimate = [];
                                reader.doubles(message.estimate);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.estimate && message.estimate.length))
                                message.estimate = [];
                            message.estimate.push(reader.double());
                            continue;
                        }
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.shape && message.shape.length))
                                    message.shape = [];
                                reader.uint32s(message.shape);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.shape && message.shape.length))
                                message.shape = [];
                            message.shape.push(reader.uint32());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.uncertainty = $root.keelson.v1.Uncertainty.decode(reader, reader.size(), $undefined, _depth + 1, message.uncertainty);
                            continue;
                        }
                    case 4: {
                            if (wireType === 2) {
                                if (!(message.intervalLow && message.intervalLow.length))
                                    message.intervalLow = [];
                                reader.doubles(message.intervalLow);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.intervalLow && message.intervalLow.length))
                                message.intervalLow = [];
                            message.intervalLow.push(reader.double());
                            continue;
                        }
                    case 5: {
                            if (wireType === 2) {
                                if (!(message.intervalHigh && message.intervalHigh.length))
                                    message.intervalHigh = [];
                                reader.doubles(message.intervalHigh);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.intervalHigh && message.intervalHigh.length))
                                message.intervalHigh = [];
                            message.intervalHigh.push(reader.double());
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if (!(message.parts && message.parts.length))
                                message.parts = [];
                            message.parts.push($root.keelson.v1.Part.decode(reader, reader.size(), $undefined, _depth + 1));
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

            return Value;
        })();

        v1.Part = (function() {

            const Part = function () {
                this.shape = [];
            };

            Part.prototype.name = "";
            Part.prototype.shape = $util.emptyArray;

            Part.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.shape != null && message.shape.length)
                    writer.uint32(18).uint32s(message.shape);
                return writer;
            };

            Part.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Part();
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
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.shape && message.shape.length))
                                    message.shape = [];
                                reader.uint32s(message.shape);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.shape && message.shape.length))
                                message.shape = [];
                            message.shape.push(reader.uint32());
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

            return Part;
        })();

        v1.Uncertainty = (function() {

            const Uncertainty = function () {
            };

            Uncertainty.prototype.gaussian = null;
            Uncertainty.prototype.relativeOperator = null;
            Uncertainty.prototype.gridSpacing = null;

            let $oneOfFields;

            $Object.defineProperty(Uncertainty.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["gaussian", "relativeOperator", "gridSpacing"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            Uncertainty.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.gaussian != null && $Object.hasOwnProperty.call(message, "gaussian"))
                    $root.keelson.v1.GaussianUncertainty.encode(message.gaussian, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.relativeOperator != null && $Object.hasOwnProperty.call(message, "relativeOperator"))
                    writer.uint32(17).double(message.relativeOperator);
                if (message.gridSpacing != null && $Object.hasOwnProperty.call(message, "gridSpacing"))
                    writer.uint32(25).double(message.gridSpacing);
                return writer;
            };

            Uncertainty.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.keelson.v1.Uncertainty();
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
                            message.gaussian = $root.keelson.v1.GaussianUncertainty.decode(reader, reader.size(), $undefined, _depth + 1, message.gaussian);
                            message.kind = "gaussian";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 1)
                                break;
                            message.relativeOperator = reader.double();
                            message.kind = "relativeOperator";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 1)
                                break;
                            message.gridSpacing = reader.double();
                            message.kind = "gridSpacing";
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

            return Uncertainty;
        })();

        v1.GaussianUncertainty = (function() {

            const GaussianUncertainty = function () {
                this.standardDeviation = [];
            };

            GaussianUncertainty.prototype.standardDeviation = $util.emptyArray;

            GaussianUncertainty.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.standardDeviation != null && message.standardDeviation.length)
                    writer.uint32(10).doubles(message.standardDeviation);
                return writer;
            };

            GaussianUncertainty.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.keelson.v1.GaussianUncertainty();
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
                            if (wireType === 2) {
                                if (!(message.standardDeviation && message.standardDeviation.length))
                                    message.standardDeviation = [];
                                reader.doubles(message.standardDeviation);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.standardDeviation && message.standardDeviation.length))
                                message.standardDeviation = [];
                            message.standardDeviation.push(reader.double());
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

            return GaussianUncertainty;
        })();

        v1.Refused = (function() {

            const Refused = function () {
            };

            Refused.prototype.reason = "";
            Refused.prototype.text = "";

            Refused.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(10).string(message.reason);
                if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                    writer.uint32(18).string(message.text);
                return writer;
            };

            Refused.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Refused();
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
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.text = value;
                            else
                                delete message.text;
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

            return Refused;
        })();

        v1.Cost = (function() {

            const Cost = function () {
            };

            Cost.prototype.epsilon = 0;
            Cost.prototype.delta = 0;
            Cost.prototype.rhoAmount = "";
            Cost.prototype.deltaAmount = "";

            Cost.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.epsilon != null && $Object.hasOwnProperty.call(message, "epsilon") && !$Object.is(message.epsilon, 0))
                    writer.uint32(9).double(message.epsilon);
                if (message.delta != null && $Object.hasOwnProperty.call(message, "delta") && !$Object.is(message.delta, 0))
                    writer.uint32(17).double(message.delta);
                if (message.rhoAmount != null && $Object.hasOwnProperty.call(message, "rhoAmount") && message.rhoAmount !== "")
                    writer.uint32(26).string(message.rhoAmount);
                if (message.deltaAmount != null && $Object.hasOwnProperty.call(message, "deltaAmount") && message.deltaAmount !== "")
                    writer.uint32(34).string(message.deltaAmount);
                return writer;
            };

            Cost.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Cost();
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
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.epsilon = value;
                            else
                                delete message.epsilon;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.delta = value;
                            else
                                delete message.delta;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.rhoAmount = value;
                            else
                                delete message.rhoAmount;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.deltaAmount = value;
                            else
                                delete message.deltaAmount;
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

            return Cost;
        })();

        v1.LedgerPosition = (function() {

            const LedgerPosition = function () {
            };

            LedgerPosition.prototype.scope = "";
            LedgerPosition.prototype.rule = "";
            LedgerPosition.prototype.rhoSpent = "";
            LedgerPosition.prototype.rhoCap = "";
            LedgerPosition.prototype.deltaSpent = "";
            LedgerPosition.prototype.deltaCap = "";
            LedgerPosition.prototype.epsilonSpent = 0;
            LedgerPosition.prototype.epsilonCap = 0;
            LedgerPosition.prototype.windowMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            LedgerPosition.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.scope != null && $Object.hasOwnProperty.call(message, "scope") && message.scope !== "")
                    writer.uint32(10).string(message.scope);
                if (message.rule != null && $Object.hasOwnProperty.call(message, "rule") && message.rule !== "")
                    writer.uint32(18).string(message.rule);
                if (message.rhoSpent != null && $Object.hasOwnProperty.call(message, "rhoSpent") && message.rhoSpent !== "")
                    writer.uint32(26).string(message.rhoSpent);
                if (message.rhoCap != null && $Object.hasOwnProperty.call(message, "rhoCap") && message.rhoCap !== "")
                    writer.uint32(34).string(message.rhoCap);
                if (message.deltaSpent != null && $Object.hasOwnProperty.call(message, "deltaSpent") && message.deltaSpent !== "")
                    writer.uint32(42).string(message.deltaSpent);
                if (message.deltaCap != null && $Object.hasOwnProperty.call(message, "deltaCap") && message.deltaCap !== "")
                    writer.uint32(50).string(message.deltaCap);
                if (message.epsilonSpent != null && $Object.hasOwnProperty.call(message, "epsilonSpent") && !$Object.is(message.epsilonSpent, 0))
                    writer.uint32(57).double(message.epsilonSpent);
                if (message.epsilonCap != null && $Object.hasOwnProperty.call(message, "epsilonCap") && !$Object.is(message.epsilonCap, 0))
                    writer.uint32(65).double(message.epsilonCap);
                if (message.windowMs != null && $Object.hasOwnProperty.call(message, "windowMs") && (typeof message.windowMs === "object" ? message.windowMs.low || message.windowMs.high : message.windowMs !== 0))
                    writer.uint32(72).uint64(message.windowMs);
                return writer;
            };

            LedgerPosition.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.LedgerPosition();
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
                            if ((value = reader.stringVerify()).length)
                                message.scope = value;
                            else
                                delete message.scope;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.rule = value;
                            else
                                delete message.rule;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.rhoSpent = value;
                            else
                                delete message.rhoSpent;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.rhoCap = value;
                            else
                                delete message.rhoCap;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.deltaSpent = value;
                            else
                                delete message.deltaSpent;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.deltaCap = value;
                            else
                                delete message.deltaCap;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.epsilonSpent = value;
                            else
                                delete message.epsilonSpent;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.epsilonCap = value;
                            else
                                delete message.epsilonCap;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.windowMs = value;
                            else
                                delete message.windowMs;
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

            return LedgerPosition;
        })();

        v1.HeadBody = (function() {

            const HeadBody = function () {
            };

            HeadBody.prototype.serverKey = $util.newBuffer([]);
            HeadBody.prototype.studyId = $util.newBuffer([]);
            HeadBody.prototype.count = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            HeadBody.prototype.digest = $util.newBuffer([]);
            HeadBody.prototype.state = 0;

            HeadBody.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.serverKey != null && $Object.hasOwnProperty.call(message, "serverKey") && message.serverKey.length)
                    writer.uint32(10).bytes(message.serverKey);
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(18).bytes(message.studyId);
                if (message.count != null && $Object.hasOwnProperty.call(message, "count") && (typeof message.count === "object" ? message.count.low || message.count.high : message.count !== 0))
                    writer.uint32(24).uint64(message.count);
                if (message.digest != null && $Object.hasOwnProperty.call(message, "digest") && message.digest.length)
                    writer.uint32(34).bytes(message.digest);
                if (message.state != null && $Object.hasOwnProperty.call(message, "state") && message.state !== 0)
                    writer.uint32(40).int32(message.state);
                return writer;
            };

            HeadBody.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.HeadBody();
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
                                message.serverKey = value;
                            else
                                delete message.serverKey;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.studyId = value;
                            else
                                delete message.studyId;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.count = value;
                            else
                                delete message.count;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.digest = value;
                            else
                                delete message.digest;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.state = value;
                            else
                                delete message.state;
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

            return HeadBody;
        })();

        return v1;
    })();

    return keelson;
})();

export {
  $root as default
};
