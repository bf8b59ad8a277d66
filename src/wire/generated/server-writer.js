// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error;

const $root = $protobuf.roots["keelson-server-writer"] || ($protobuf.roots["keelson-server-writer"] = {});

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

            ServerFrame.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.welcome != null && $Object.hasOwnProperty.call(message, "welcome"))
                    $root.keelson.v1.Welcome.encode(message.welcome, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.ready != null && $Object.hasOwnProperty.call(message, "ready"))
                    $root.keelson.v1.Ready.encode(message.ready, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.ack != null && $Object.hasOwnProperty.call(message, "ack"))
                    $root.keelson.v1.Ack.encode(message.ack, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.release != null && $Object.hasOwnProperty.call(message, "release"))
                    $root.keelson.v1.SignedRelease.encode(message.release, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.head != null && $Object.hasOwnProperty.call(message, "head"))
                    $root.keelson.v1.SignedHead.encode(message.head, writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.notice != null && $Object.hasOwnProperty.call(message, "notice"))
                    $root.keelson.v1.Notice.encode(message.notice, writer.uint32(50).fork(), _depth + 1).ldelim();
                if (message.refusal != null && $Object.hasOwnProperty.call(message, "refusal"))
                    $root.keelson.v1.Refusal.encode(message.refusal, writer.uint32(58).fork(), _depth + 1).ldelim();
                return writer;
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

            Welcome.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.serverKey != null && $Object.hasOwnProperty.call(message, "serverKey") && message.serverKey.length)
                    writer.uint32(10).bytes(message.serverKey);
                if (message.serverNonce != null && $Object.hasOwnProperty.call(message, "serverNonce") && message.serverNonce.length)
                    writer.uint32(18).bytes(message.serverNonce);
                if (message.limits != null && $Object.hasOwnProperty.call(message, "limits"))
                    $root.keelson.v1.Limits.encode(message.limits, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.studies != null && message.studies.length)
                    for (let i = 0; i < message.studies.length; ++i)
                        $root.keelson.v1.SignedStudy.encode(message.studies[i], writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.rotations != null && message.rotations.length)
                    for (let i = 0; i < message.rotations.length; ++i)
                        writer.uint32(42).bytes(message.rotations[i]);
                return writer;
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

            Limits.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.frameBytes != null && $Object.hasOwnProperty.call(message, "frameBytes") && message.frameBytes !== 0)
                    writer.uint32(8).uint32(message.frameBytes);
                if (message.rowsPerBatch != null && $Object.hasOwnProperty.call(message, "rowsPerBatch") && message.rowsPerBatch !== 0)
                    writer.uint32(16).uint32(message.rowsPerBatch);
                if (message.creditBatches != null && $Object.hasOwnProperty.call(message, "creditBatches") && message.creditBatches !== 0)
                    writer.uint32(24).uint32(message.creditBatches);
                if (message.channelsPerSocket != null && $Object.hasOwnProperty.call(message, "channelsPerSocket") && message.channelsPerSocket !== 0)
                    writer.uint32(32).uint32(message.channelsPerSocket);
                if (message.sequenceWindow != null && $Object.hasOwnProperty.call(message, "sequenceWindow") && message.sequenceWindow !== 0)
                    writer.uint32(40).uint32(message.sequenceWindow);
                return writer;
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

            SignedStudy.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.facts != null && $Object.hasOwnProperty.call(message, "facts") && message.facts.length)
                    writer.uint32(10).bytes(message.facts);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(18).bytes(message.signature);
                if (message.state != null && $Object.hasOwnProperty.call(message, "state") && message.state !== 0)
                    writer.uint32(24).int32(message.state);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(32).uint64(message.epoch);
                return writer;
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

            Ready.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && message.channel !== 0)
                    writer.uint32(8).uint32(message.channel);
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(18).bytes(message.studyId);
                if (message.publicKey != null && $Object.hasOwnProperty.call(message, "publicKey") && message.publicKey.length)
                    writer.uint32(26).bytes(message.publicKey);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(34).bytes(message.signature);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(40).uint64(message.epoch);
                if (message.nextSequence != null && $Object.hasOwnProperty.call(message, "nextSequence") && (typeof message.nextSequence === "object" ? message.nextSequence.low || message.nextSequence.high : message.nextSequence !== 0))
                    writer.uint32(48).uint64(message.nextSequence);
                if (message.holes != null && message.holes.length)
                    writer.uint32(58).uint64s(message.holes);
                if (message.credit != null && $Object.hasOwnProperty.call(message, "credit") && message.credit !== 0)
                    writer.uint32(64).uint32(message.credit);
                if (message.ownSpend != null && $Object.hasOwnProperty.call(message, "ownSpend"))
                    $root.keelson.v1.Spend.encode(message.ownSpend, writer.uint32(74).fork(), _depth + 1).ldelim();
                return writer;
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

            Spend.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.rho != null && $Object.hasOwnProperty.call(message, "rho") && !$Object.is(message.rho, 0))
                    writer.uint32(9).double(message.rho);
                if (message.rhoCap != null && $Object.hasOwnProperty.call(message, "rhoCap") && !$Object.is(message.rhoCap, 0))
                    writer.uint32(17).double(message.rhoCap);
                if (message.delta != null && $Object.hasOwnProperty.call(message, "delta") && !$Object.is(message.delta, 0))
                    writer.uint32(25).double(message.delta);
                if (message.deltaCap != null && $Object.hasOwnProperty.call(message, "deltaCap") && !$Object.is(message.deltaCap, 0))
                    writer.uint32(33).double(message.deltaCap);
                return writer;
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

            Ack.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && message.channel !== 0)
                    writer.uint32(8).uint32(message.channel);
                if (message.accepted != null && message.accepted.length)
                    writer.uint32(18).uint64s(message.accepted);
                if (message.rejections != null && message.rejections.length)
                    for (let i = 0; i < message.rejections.length; ++i)
                        $root.keelson.v1.Rejection.encode(message.rejections[i], writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(32).uint64(message.epoch);
                if (message.credit != null && $Object.hasOwnProperty.call(message, "credit") && message.credit !== 0)
                    writer.uint32(40).uint32(message.credit);
                if (message.ownSpend != null && $Object.hasOwnProperty.call(message, "ownSpend"))
                    $root.keelson.v1.Spend.encode(message.ownSpend, writer.uint32(50).fork(), _depth + 1).ldelim();
                if (message.withdrawn != null && $Object.hasOwnProperty.call(message, "withdrawn") && (typeof message.withdrawn === "object" ? message.withdrawn.low || message.withdrawn.high : message.withdrawn !== 0))
                    writer.uint32(56).uint64(message.withdrawn);
                return writer;
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

            Rejection.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                    writer.uint32(8).uint64(message.sequence);
                if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                    writer.uint32(16).int32(message.code);
                if (message.retryable != null && $Object.hasOwnProperty.call(message, "retryable") && message.retryable !== false)
                    writer.uint32(24).bool(message.retryable);
                if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                    writer.uint32(34).string(message.text);
                return writer;
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

            Notice.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(10).bytes(message.studyId);
                if (message.state != null && $Object.hasOwnProperty.call(message, "state") && message.state !== 0)
                    writer.uint32(16).int32(message.state);
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(24).uint64(message.epoch);
                if (message.closesInMs != null && $Object.hasOwnProperty.call(message, "closesInMs") && (typeof message.closesInMs === "object" ? message.closesInMs.low || message.closesInMs.high : message.closesInMs !== 0))
                    writer.uint32(32).uint64(message.closesInMs);
                return writer;
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

            Refusal.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                    writer.uint32(8).int32(message.code);
                if (message.retryable != null && $Object.hasOwnProperty.call(message, "retryable") && message.retryable !== false)
                    writer.uint32(16).bool(message.retryable);
                if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                    writer.uint32(26).string(message.text);
                if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && message.channel !== 0)
                    writer.uint32(32).uint32(message.channel);
                if (message.studyId != null && $Object.hasOwnProperty.call(message, "studyId") && message.studyId.length)
                    writer.uint32(42).bytes(message.studyId);
                if (message.publicKey != null && $Object.hasOwnProperty.call(message, "publicKey") && message.publicKey.length)
                    writer.uint32(50).bytes(message.publicKey);
                return writer;
            };

            return Refusal;
        })();

        v1.SignedRelease = (function() {

            const SignedRelease = function () {
            };

            SignedRelease.prototype.body = $util.newBuffer([]);
            SignedRelease.prototype.signature = $util.newBuffer([]);

            SignedRelease.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.body != null && $Object.hasOwnProperty.call(message, "body") && message.body.length)
                    writer.uint32(10).bytes(message.body);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(18).bytes(message.signature);
                return writer;
            };

            return SignedRelease;
        })();

        v1.SignedHead = (function() {

            const SignedHead = function () {
            };

            SignedHead.prototype.body = $util.newBuffer([]);
            SignedHead.prototype.signature = $util.newBuffer([]);

            SignedHead.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.body != null && $Object.hasOwnProperty.call(message, "body") && message.body.length)
                    writer.uint32(10).bytes(message.body);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                    writer.uint32(18).bytes(message.signature);
                return writer;
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
