// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error;

const $root = $protobuf.roots["keelson-client-writer"] || ($protobuf.roots["keelson-client-writer"] = {});

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

            ClientFrame.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.hello != null && $Object.hasOwnProperty.call(message, "hello"))
                    $root.keelson.v1.Hello.encode(message.hello, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.batch != null && $Object.hasOwnProperty.call(message, "batch"))
                    $root.keelson.v1.SignedBatch.encode(message.batch, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.subscribe != null && $Object.hasOwnProperty.call(message, "subscribe"))
                    $root.keelson.v1.Subscribe.encode(message.subscribe, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.unsubscribe != null && $Object.hasOwnProperty.call(message, "unsubscribe"))
                    $root.keelson.v1.Unsubscribe.encode(message.unsubscribe, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.withdraw != null && $Object.hasOwnProperty.call(message, "withdraw"))
                    $root.keelson.v1.Withdraw.encode(message.withdraw, writer.uint32(42).fork(), _depth + 1).ldelim();
                return writer;
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

            Hello.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(10).bytes(message.studyId);
                if (message.publicKey != null && $Object.hasOwnProperty.call(message, "publicKey") && message.publicKey.length)
                    writer.uint32(18).bytes(message.publicKey);
                if (message.clientNonce != null && $Object.hasOwnProperty.call(message, "clientNonce") && message.clientNonce.length)
                    writer.uint32(26).bytes(message.clientNonce);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(34).bytes(message.signature);
                if (message.enrolment != null && $Object.hasOwnProperty.call(message, "enrolment") && message.enrolment.length)
                    writer.uint32(42).bytes(message.enrolment);
                return writer;
            };

            return Hello;
        })();

        v1.SignedBatch = (function() {

            const SignedBatch = function () {
            };

            SignedBatch.prototype.channel = 0;
            SignedBatch.prototype.body = $util.newBuffer([]);
            SignedBatch.prototype.signature = $util.newBuffer([]);

            SignedBatch.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && message.channel !== 0)
                    writer.uint32(8).uint32(message.channel);
                if (message.body != null && $Object.hasOwnProperty.call(message, "body") && message.body.length)
                    writer.uint32(18).bytes(message.body);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(26).bytes(message.signature);
                return writer;
            };

            return SignedBatch;
        })();

        v1.Withdraw = (function() {

            const Withdraw = function () {
            };

            Withdraw.prototype.channel = 0;
            Withdraw.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Withdraw.prototype.signature = $util.newBuffer([]);

            Withdraw.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && message.channel !== 0)
                    writer.uint32(8).uint32(message.channel);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(16).uint64(message.epoch);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(26).bytes(message.signature);
                return writer;
            };

            return Withdraw;
        })();

        v1.Subscribe = (function() {

            const Subscribe = function () {
            };

            Subscribe.prototype.studyId = $util.newBuffer([]);
            Subscribe.prototype.fromRelease = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            Subscribe.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(10).bytes(message.studyId);
                if (message.fromRelease != null && $Object.hasOwnProperty.call(message, "fromRelease") && (typeof message.fromRelease === "object" ? message.fromRelease.low || message.fromRelease.high : message.fromRelease !== 0))
                    writer.uint32(16).uint64(message.fromRelease);
                return writer;
            };

            return Subscribe;
        })();

        v1.Unsubscribe = (function() {

            const Unsubscribe = function () {
            };

            Unsubscribe.prototype.studyId = $util.newBuffer([]);

            Unsubscribe.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(10).bytes(message.studyId);
                return writer;
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
