// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["keelson-client-reader"] || ($protobuf.roots["keelson-client-reader"] = {});

export const keelson = $root.keelson = (() => {

    const keelson = {};

    keelson.v1 = (function() {

        const v1 = {};

        v1.ClientFrame = (function() {

            const ClientFrame = function () {
            };

            ClientFrame.prototype.hello = null;
            ClientFrame.prototype.batch = null;
            ClientFrame.prototype.subscribe = null;
            ClientFrame.prototype.unsubscribe = null;
            ClientFrame.prototype.withdraw = null;

            let $oneOfFields;

            $Object.defineProperty(ClientFrame.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["hello", "batch", "subscribe", "unsubscribe", "withdraw"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            ClientFrame.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.ClientFrame();
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
                            message.hello = $root.keelson.v1.Hello.decode(reader, reader.size(), $undefined, _depth + 1, message.hello);
                            message.kind = "hello";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.batch = $root.keelson.v1.SignedBatch.decode(reader, reader.size(), $undefined, _depth + 1, message.batch);
                            message.kind = "batch";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.subscribe = $root.keelson.v1.Subscribe.decode(reader, reader.size(), $undefined, _depth + 1, message.subscribe);
                            message.kind = "subscribe";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.unsubscribe = $root.keelson.v1.Unsubscribe.decode(reader, reader.size(), $undefined, _depth + 1, message.unsubscribe);
                            message.kind = "unsubscribe";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.withdraw = $root.keelson.v1.Withdraw.decode(reader, reader.size(), $undefined, _depth + 1, message.withdraw);
                            message.kind = "withdraw";
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

            return ClientFrame;
        })();

        v1.Hello = (function() {

            const Hello = function () {
            };

            Hello.prototype.studyId = $util.newBuffer([]);
            Hello.prototype.publicKey = $util.newBuffer([]);
            Hello.prototype.clientNonce = $util.newBuffer([]);
            Hello.prototype.signature = $util.newBuffer([]);
            Hello.prototype.enrolment = $util.newBuffer([]);

            Hello.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Hello();
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
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.publicKey = value;
                            else
                                delete message.publicKey;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.clientNonce = value;
                            else
                                delete message.clientNonce;
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
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.enrolment = value;
                            else
                                delete message.enrolment;
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

            return Hello;
        })();

        v1.SignedBatch = (function() {

            const SignedBatch = function () {
            };

            SignedBatch.prototype.channel = 0;
            SignedBatch.prototype.body = $util.newBuffer([]);
            SignedBatch.prototype.signature = $util.newBuffer([]);

            SignedBatch.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.SignedBatch();
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
                                message.body = value;
                            else
                                delete message.body;
                            continue;
                        }
                    case 3: {
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

            return SignedBatch;
        })();

        v1.Withdraw = (function() {

            const Withdraw = function () {
            };

            Withdraw.prototype.channel = 0;
            Withdraw.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Withdraw.prototype.signature = $util.newBuffer([]);

            Withdraw.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Withdraw();
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
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 3: {
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

            return Withdraw;
        })();

        v1.Subscribe = (function() {

            const Subscribe = function () {
            };

            Subscribe.prototype.studyId = $util.newBuffer([]);
            Subscribe.prototype.fromRelease = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            Subscribe.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Subscribe();
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
                                message.fromRelease = value;
                            else
                                delete message.fromRelease;
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

            return Subscribe;
        })();

        v1.Unsubscribe = (function() {

            const Unsubscribe = function () {
            };

            Unsubscribe.prototype.studyId = $util.newBuffer([]);

            Unsubscribe.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.keelson.v1.Unsubscribe();
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

            return Unsubscribe;
        })();

        return v1;
    })();

    return keelson;
})();

export {
  $root as default
};
