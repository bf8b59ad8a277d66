// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["keelson-server-reader"] || ($protobuf.roots["keelson-server-reader"] = {});

export const keelson = $root.keelson = (() => {

    const keelson = {};

    keelson.v1 = (function() {

        const v1 = {};

        v1.ServerFrame = (function() {

            const ServerFrame = function () {
            };

            ServerFrame.prototype.welcome = null;
            ServerFrame.prototype.ready = null;
            ServerFrame.prototype.ack = null;
            ServerFrame.prototype.release = null;
            ServerFrame.prototype.head = null;
            ServerFrame.prototype.notice = null;
            ServerFrame.prototype.refusal = null;

            let $oneOfFields;

            $Object.defineProperty(ServerFrame.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["welcome", "ready", "ack", "release", "head", "notice", "refusal"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            ServerFrame.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.ServerFrame();
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
                            message.welcome = $root.keelson.v1.Welcome.decode(reader, reader.size(), $undefined, _depth + 1, message.welcome);
                            message.kind = "welcome";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.ready = $root.keelson.v1.Ready.decode(reader, reader.size(), $undefined, _depth + 1, message.ready);
                            message.kind = "ready";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.ack = $root.keelson.v1.Ack.decode(reader, reader.size(), $undefined, _depth + 1, message.ack);
                            message.kind = "ack";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.release = $root.keelson.v1.SignedRelease.decode(reader, reader.size(), $undefined, _depth + 1, message.release);
                            message.kind = "release";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.head = $root.keelson.v1.SignedHead.decode(reader, reader.size(), $undefined, _depth + 1, message.head);
                            message.kind = "head";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.notice = $root.keelson.v1.Notice.decode(reader, reader.size(), $undefined, _depth + 1, message.notice);
                            message.kind = "notice";
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            message.refusal = $root.keelson.v1.Refusal.decode(reader, reader.size(), $undefined, _depth + 1, message.refusal);
                            message.kind = "refusal";
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

            return ServerFrame;
        })();

        v1.Welcome = (function() {

            const Welcome = function () {
                this.studies = [];
                this.rotations = [];
            };

            Welcome.prototype.serverKey = $util.newBuffer([]);
            Welcome.prototype.serverNonce = $util.newBuffer([]);
            Welcome.prototype.limits = null;
            Welcome.prototype.studies = $util.emptyArray;
            Welcome.prototype.rotations = $util.emptyArray;

            Welcome.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Welcome();
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
                                message.serverNonce = value;
                            else
                                delete message.serverNonce;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.limits = $root.keelson.v1.Limits.decode(reader, reader.size(), $undefined, _depth + 1, message.limits);
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.studies && message.studies.length))
                                message.studies = [];
                            message.studies.push($root.keelson.v1.SignedStudy.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.rotations && message.rotations.length))
                                message.rotations = [];
                            message.rotations.push(reader.bytes());
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

            return Welcome;
        })();

        v1.Limits = (function() {

            const Limits = function () {
            };

            Limits.prototype.frameBytes = 0;
            Limits.prototype.rowsPerBatch = 0;
            Limits.prototype.creditBatches = 0;
            Limits.prototype.channelsPerSocket = 0;
            Limits.prototype.sequenceWindow = 0;

            Limits.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Limits();
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
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.frameBytes = value;
                            else
                                delete message.frameBytes;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.rowsPerBatch = value;
                            else
                                delete message.rowsPerBatch;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.creditBatches = value;
                            else
                                delete message.creditBatches;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.channelsPerSocket = value;
                            else
                                delete message.channelsPerSocket;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.sequenceWindow = value;
                            else
                                delete message.sequenceWindow;
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

            return Limits;
        })();

        v1.SignedStudy = (function() {

            const SignedStudy = function () {
            };

            SignedStudy.prototype.facts = $util.newBuffer([]);
            SignedStudy.prototype.signature = $util.newBuffer([]);
            SignedStudy.prototype.state = 0;
            SignedStudy.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            SignedStudy.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.SignedStudy();
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
                                message.facts = value;
                            else
                                delete message.facts;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.signature = value;
                            else
                                delete message.signature;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.state = value;
                            else
                                delete message.state;
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

            return SignedStudy;
        })();

        v1.StudyState = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "STUDY_STATE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "STUDY_STATE_OPEN"] = 1;
            values[valuesById[2] = "STUDY_STATE_EXHAUSTED"] = 2;
            values[valuesById[3] = "STUDY_STATE_ENDED"] = 3;
            return values;
        })();

        v1.Ready = (function() {

            const Ready = function () {
                this.holes = [];
            };

            Ready.prototype.channel = 0;
            Ready.prototype.studyId = $util.newBuffer([]);
            Ready.prototype.publicKey = $util.newBuffer([]);
            Ready.prototype.signature = $util.newBuffer([]);
            Ready.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Ready.prototype.nextSequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Ready.prototype.holes = $util.emptyArray;
            Ready.prototype.credit = 0;
            Ready.prototype.ownSpend = null;

            Ready.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Ready();
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
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.channel = value;
                            else
                                delete message.channel;
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
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.publicKey = value;
                            else
                                delete message.publicKey;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.signature = value;
                            else
                                delete message.signature;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.nextSequence = value;
                            else
                                delete message.nextSequence;
                            continue;
                        }
                    case 7: {
                            if (wireType === 2) {
                                if (!(message.holes && message.holes.length))
                                    message.holes = [];
                                reader.uint64s(message.holes);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.holes && message.holes.length))
                                message.holes = [];
                            message.holes.push(reader.uint64());
                            continue;
                        }
                    case 8: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.credit = value;
                            else
                                delete message.credit;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            message.ownSpend = $root.keelson.v1.Spend.decode(reader, reader.size(), $undefined, _depth + 1, message.ownSpend);
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

            return Ready;
        })();

        v1.Spend = (function() {

            const Spend = function () {
            };

            Spend.prototype.rho = 0;
            Spend.prototype.rhoCap = 0;
            Spend.prototype.delta = 0;
            Spend.prototype.deltaCap = 0;

            Spend.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Spend();
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
                                message.rho = value;
                            else
                                delete message.rho;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.rhoCap = value;
                            else
                                delete message.rhoCap;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.delta = value;
                            else
                                delete message.delta;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.deltaCap = value;
                            else
                                delete message.deltaCap;
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

            return Spend;
        })();

        v1.Ack = (function() {

            const Ack = function () {
                this.accepted = [];
                this.rejections = [];
            };

            Ack.prototype.channel = 0;
            Ack.prototype.accepted = $util.emptyArray;
            Ack.prototype.rejections = $util.emptyArray;
            Ack.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Ack.prototype.credit = 0;
            Ack.prototype.ownSpend = null;
            Ack.prototype.withdrawn = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            Ack.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Ack();
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
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.channel = value;
                            else
                                delete message.channel;
                            continue;
                        }
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.accepted && message.accepted.length))
                                    message.accepted = [];
                                reader.uint64s(message.accepted);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.accepted && message.accepted.length))
                                message.accepted = [];
                            message.accepted.push(reader.uint64());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.rejections && message.rejections.length))
                                message.rejections = [];
                            message.rejections.push($root.keelson.v1.Rejection.decode(reader, reader.size(), $undefined, _depth + 1));
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
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.credit = value;
                            else
                                delete message.credit;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.ownSpend = $root.keelson.v1.Spend.decode(reader, reader.size(), $undefined, _depth + 1, message.ownSpend);
                            continue;
                        }
                    case 7: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.withdrawn = value;
                            else
                                delete message.withdrawn;
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

            return Ack;
        })();

        v1.Rejection = (function() {

            const Rejection = function () {
            };

            Rejection.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Rejection.prototype.code = 0;
            Rejection.prototype.retryable = false;
            Rejection.prototype.text = "";

            Rejection.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Rejection();
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
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.sequence = value;
                            else
                                delete message.sequence;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.code = value;
                            else
                                delete message.code;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.retryable = value;
                            else
                                delete message.retryable;
                            continue;
                        }
                    case 4: {
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

            return Rejection;
        })();

        v1.Notice = (function() {

            const Notice = function () {
            };

            Notice.prototype.studyId = $util.newBuffer([]);
            Notice.prototype.state = 0;
            Notice.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Notice.prototype.closesInMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            Notice.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Notice();
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
                            if (value = reader.int32())
                                message.state = value;
                            else
                                delete message.state;
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
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.closesInMs = value;
                            else
                                delete message.closesInMs;
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

            return Notice;
        })();

        v1.Refusal = (function() {

            const Refusal = function () {
            };

            Refusal.prototype.code = 0;
            Refusal.prototype.retryable = false;
            Refusal.prototype.text = "";
            Refusal.prototype.channel = 0;
            Refusal.prototype.studyId = $util.newBuffer([]);
            Refusal.prototype.publicKey = $util.newBuffer([]);

            Refusal.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Refusal();
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
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.code = value;
                            else
                                delete message.code;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.retryable = value;
                            else
                                delete message.retryable;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.text = value;
                            else
                                delete message.text;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.channel = value;
                            else
                                delete message.channel;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.studyId = value;
                            else
                                delete message.studyId;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.publicKey = value;
                            else
                                delete message.publicKey;
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

            return Refusal;
        })();

        v1.SignedRelease = (function() {

            const SignedRelease = function () {
            };

            SignedRelease.prototype.body = $util.newBuffer([]);
            SignedRelease.prototype.signature = $util.newBuffer([]);

            SignedRelease.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.SignedRelease();
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
                                message.body = value;
                            else
                                delete message.body;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.signature = value;
                            else
                                delete message.signature;
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

            return SignedRelease;
        })();

        v1.SignedHead = (function() {

            const SignedHead = function () {
            };

            SignedHead.prototype.body = $util.newBuffer([]);
            SignedHead.prototype.signature = $util.newBuffer([]);

            SignedHead.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.SignedHead();
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
                                message.body = value;
                            else
                                delete message.body;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.signature = value;
                            else
                                delete message.signature;
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

            return SignedHead;
        })();

        v1.Code = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "CODE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "CODE_MALFORMED"] = 1;
            values[valuesById[2] = "CODE_UNKNOWN_STUDY"] = 2;
            values[valuesById[3] = "CODE_INVALID_KEY"] = 3;
            values[valuesById[4] = "CODE_KEY_NOT_ALLOWED"] = 4;
            values[valuesById[5] = "CODE_BAD_SIGNATURE"] = 5;
            values[valuesById[6] = "CODE_UNKNOWN_CHANNEL"] = 6;
            values[valuesById[7] = "CODE_WRONG_DIMENSION"] = 7;
            values[valuesById[8] = "CODE_NOT_FINITE"] = 8;
            values[valuesById[9] = "CODE_TOO_MANY_ROWS"] = 9;
            values[valuesById[10] = "CODE_CONTRIBUTION_FULL"] = 10;
            values[valuesById[11] = "CODE_MUTATED"] = 11;
            values[valuesById[12] = "CODE_STALE_EPOCH"] = 12;
            values[valuesById[13] = "CODE_EPOCH_NOT_OPEN"] = 13;
            values[valuesById[14] = "CODE_STUDY_ENDED"] = 14;
            values[valuesById[15] = "CODE_BUDGET_EXHAUSTED"] = 15;
            values[valuesById[16] = "CODE_SEQUENCE_TOO_FAR"] = 16;
            values[valuesById[17] = "CODE_CREDIT_EXCEEDED"] = 17;
            values[valuesById[18] = "CODE_OVERLOADED"] = 18;
            values[valuesById[19] = "CODE_RATE_LIMITED"] = 19;
            values[valuesById[20] = "CODE_TOO_MANY_CHANNELS"] = 20;
            values[valuesById[21] = "CODE_CONTRIBUTOR_BUDGET_EXHAUSTED"] = 21;
            values[valuesById[22] = "CODE_SHUTTING_DOWN"] = 22;
            values[valuesById[23] = "CODE_UNSUPPORTED"] = 23;
            values[valuesById[24] = "CODE_INTERNAL"] = 24;
            values[valuesById[25] = "CODE_QUARANTINED"] = 25;
            values[valuesById[26] = "CODE_NOT_ENROLLED"] = 26;
            values[valuesById[27] = "CODE_ENROLMENT_EXPIRED"] = 27;
            values[valuesById[28] = "CODE_TOO_MANY_NEW_KEYS"] = 28;
            values[valuesById[29] = "CODE_TOO_LATE"] = 29;
            return values;
        })();

        return v1;
    })();

    return keelson;
})();

export {
  $root as default
};
