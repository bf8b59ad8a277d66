// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

export namespace keelson {

    namespace v1 {

        interface IServerFrame extends keelson.v1.ServerFrame.$Properties {
        }

        class ServerFrame {
            constructor();
            $unknowns?: Uint8Array[];
            welcome?: (keelson.v1.Welcome.$Properties|null);
            ready?: (keelson.v1.Ready.$Properties|null);
            ack?: (keelson.v1.Ack.$Properties|null);
            release?: (keelson.v1.SignedRelease.$Properties|null);
            head?: (keelson.v1.SignedHead.$Properties|null);
            notice?: (keelson.v1.Notice.$Properties|null);
            refusal?: (keelson.v1.Refusal.$Properties|null);
            kind?: ("welcome"|"ready"|"ack"|"release"|"head"|"notice"|"refusal");
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.ServerFrame & keelson.v1.ServerFrame.$Shape;
        }

        namespace ServerFrame {
            interface $Properties {
                welcome?: (keelson.v1.Welcome.$Properties|null);
                ready?: (keelson.v1.Ready.$Properties|null);
                ack?: (keelson.v1.Ack.$Properties|null);
                release?: (keelson.v1.SignedRelease.$Properties|null);
                head?: (keelson.v1.SignedHead.$Properties|null);
                notice?: (keelson.v1.Notice.$Properties|null);
                refusal?: (keelson.v1.Refusal.$Properties|null);
                kind?: ("welcome"|"ready"|"ack"|"release"|"head"|"notice"|"refusal");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              welcome?: keelson.v1.Welcome.$Shape|null;
              ready?: keelson.v1.Ready.$Shape|null;
              ack?: keelson.v1.Ack.$Shape|null;
              release?: keelson.v1.SignedRelease.$Shape|null;
              head?: keelson.v1.SignedHead.$Shape|null;
              notice?: keelson.v1.Notice.$Shape|null;
              refusal?: keelson.v1.Refusal.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; welcome?: null; ready?: null; ack?: null; release?: null; head?: null; notice?: null; refusal?: null }|{ kind?: "welcome"; welcome: keelson.v1.Welcome.$Shape; ready?: null; ack?: null; release?: null; head?: null; notice?: null; refusal?: null }|{ kind?: "ready"; welcome?: null; ready: keelson.v1.Ready.$Shape; ack?: null; release?: null; head?: null; notice?: null; refusal?: null }|{ kind?: "ack"; welcome?: null; ready?: null; ack: keelson.v1.Ack.$Shape; release?: null; head?: null; notice?: null; refusal?: null }|{ kind?: "release"; welcome?: null; ready?: null; ack?: null; release: keelson.v1.SignedRelease.$Shape; head?: null; notice?: null; refusal?: null }|{ kind?: "head"; welcome?: null; ready?: null; ack?: null; release?: null; head: keelson.v1.SignedHead.$Shape; notice?: null; refusal?: null }|{ kind?: "notice"; welcome?: null; ready?: null; ack?: null; release?: null; head?: null; notice: keelson.v1.Notice.$Shape; refusal?: null }|{ kind?: "refusal"; welcome?: null; ready?: null; ack?: null; release?: null; head?: null; notice?: null; refusal: keelson.v1.Refusal.$Shape })
            );
        }

        interface IWelcome extends keelson.v1.Welcome.$Properties {
        }

        class Welcome {
            constructor();
            $unknowns?: Uint8Array[];
            serverKey: Uint8Array;
            serverNonce: Uint8Array;
            limits?: (keelson.v1.Limits.$Properties|null);
            studies: keelson.v1.SignedStudy.$Properties[];
            rotations: Uint8Array[];
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Welcome & keelson.v1.Welcome.$Shape;
        }

        namespace Welcome {
            interface $Properties {
                serverKey?: (Uint8Array|null);
                serverNonce?: (Uint8Array|null);
                limits?: (keelson.v1.Limits.$Properties|null);
                studies?: (keelson.v1.SignedStudy.$Properties[]|null);
                rotations?: (Uint8Array[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Welcome.$Properties;
        }

        interface ILimits extends keelson.v1.Limits.$Properties {
        }

        class Limits {
            constructor();
            $unknowns?: Uint8Array[];
            frameBytes: number;
            rowsPerBatch: number;
            creditBatches: number;
            channelsPerSocket: number;
            sequenceWindow: number;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Limits & keelson.v1.Limits.$Shape;
        }

        namespace Limits {
            interface $Properties {
                frameBytes?: (number|null);
                rowsPerBatch?: (number|null);
                creditBatches?: (number|null);
                channelsPerSocket?: (number|null);
                sequenceWindow?: (number|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Limits.$Properties;
        }

        interface ISignedStudy extends keelson.v1.SignedStudy.$Properties {
        }

        class SignedStudy {
            constructor();
            $unknowns?: Uint8Array[];
            facts: Uint8Array;
            signature: Uint8Array;
            state: keelson.v1.StudyState;
            epoch: (number|Long);
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.SignedStudy & keelson.v1.SignedStudy.$Shape;
        }

        namespace SignedStudy {
            interface $Properties {
                facts?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                state?: (keelson.v1.StudyState|null);
                epoch?: (number|Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.SignedStudy.$Properties;
        }

        enum StudyState {
            STUDY_STATE_UNSPECIFIED = 0,
            STUDY_STATE_OPEN = 1,
            STUDY_STATE_EXHAUSTED = 2,
            STUDY_STATE_ENDED = 3
        }

        interface IReady extends keelson.v1.Ready.$Properties {
        }

        class Ready {
            constructor();
            $unknowns?: Uint8Array[];
            channel: number;
            studyId: Uint8Array;
            publicKey: Uint8Array;
            signature: Uint8Array;
            epoch: (number|Long);
            nextSequence: (number|Long);
            holes: (number|Long)[];
            credit: number;
            ownSpend?: (keelson.v1.Spend.$Properties|null);
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Ready & keelson.v1.Ready.$Shape;
        }

        namespace Ready {
            interface $Properties {
                channel?: (number|null);
                studyId?: (Uint8Array|null);
                publicKey?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                epoch?: (number|Long|null);
                nextSequence?: (number|Long|null);
                holes?: ((number|Long)[]|null);
                credit?: (number|null);
                ownSpend?: (keelson.v1.Spend.$Properties|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Ready.$Properties;
        }

        interface ISpend extends keelson.v1.Spend.$Properties {
        }

        class Spend {
            constructor();
            $unknowns?: Uint8Array[];
            rho: number;
            rhoCap: number;
            delta: number;
            deltaCap: number;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Spend & keelson.v1.Spend.$Shape;
        }

        namespace Spend {
            interface $Properties {
                rho?: (number|null);
                rhoCap?: (number|null);
                delta?: (number|null);
                deltaCap?: (number|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Spend.$Properties;
        }

        interface IAck extends keelson.v1.Ack.$Properties {
        }

        class Ack {
            constructor();
            $unknowns?: Uint8Array[];
            channel: number;
            accepted: (number|Long)[];
            rejections: keelson.v1.Rejection.$Properties[];
            epoch: (number|Long);
            credit: number;
            ownSpend?: (keelson.v1.Spend.$Properties|null);
            withdrawn: (number|Long);
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Ack & keelson.v1.Ack.$Shape;
        }

        namespace Ack {
            interface $Properties {
                channel?: (number|null);
                accepted?: ((number|Long)[]|null);
                rejections?: (keelson.v1.Rejection.$Properties[]|null);
                epoch?: (number|Long|null);
                credit?: (number|null);
                ownSpend?: (keelson.v1.Spend.$Properties|null);
                withdrawn?: (number|Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Ack.$Properties;
        }

        interface IRejection extends keelson.v1.Rejection.$Properties {
        }

        class Rejection {
            constructor();
            $unknowns?: Uint8Array[];
            sequence: (number|Long);
            code: keelson.v1.Code;
            retryable: boolean;
            text: string;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Rejection & keelson.v1.Rejection.$Shape;
        }

        namespace Rejection {
            interface $Properties {
                sequence?: (number|Long|null);
                code?: (keelson.v1.Code|null);
                retryable?: (boolean|null);
                text?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Rejection.$Properties;
        }

        interface INotice extends keelson.v1.Notice.$Properties {
        }

        class Notice {
            constructor();
            $unknowns?: Uint8Array[];
            studyId: Uint8Array;
            state: keelson.v1.StudyState;
            epoch: (number|Long);
            closesInMs: (number|Long);
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Notice & keelson.v1.Notice.$Shape;
        }

        namespace Notice {
            interface $Properties {
                studyId?: (Uint8Array|null);
                state?: (keelson.v1.StudyState|null);
                epoch?: (number|Long|null);
                closesInMs?: (number|Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Notice.$Properties;
        }

        interface IRefusal extends keelson.v1.Refusal.$Properties {
        }

        class Refusal {
            constructor();
            $unknowns?: Uint8Array[];
            code: keelson.v1.Code;
            retryable: boolean;
            text: string;
            channel: number;
            studyId: Uint8Array;
            publicKey: Uint8Array;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Refusal & keelson.v1.Refusal.$Shape;
        }

        namespace Refusal {
            interface $Properties {
                code?: (keelson.v1.Code|null);
                retryable?: (boolean|null);
                text?: (string|null);
                channel?: (number|null);
                studyId?: (Uint8Array|null);
                publicKey?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Refusal.$Properties;
        }

        interface ISignedRelease extends keelson.v1.SignedRelease.$Properties {
        }

        class SignedRelease {
            constructor();
            $unknowns?: Uint8Array[];
            body: Uint8Array;
            signature: Uint8Array;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.SignedRelease & keelson.v1.SignedRelease.$Shape;
        }

        namespace SignedRelease {
            interface $Properties {
                body?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.SignedRelease.$Properties;
        }

        interface ISignedHead extends keelson.v1.SignedHead.$Properties {
        }

        class SignedHead {
            constructor();
            $unknowns?: Uint8Array[];
            body: Uint8Array;
            signature: Uint8Array;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.SignedHead & keelson.v1.SignedHead.$Shape;
        }

        namespace SignedHead {
            interface $Properties {
                body?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.SignedHead.$Properties;
        }

        enum Code {
            CODE_UNSPECIFIED = 0,
            CODE_MALFORMED = 1,
            CODE_UNKNOWN_STUDY = 2,
            CODE_INVALID_KEY = 3,
            CODE_KEY_NOT_ALLOWED = 4,
            CODE_BAD_SIGNATURE = 5,
            CODE_UNKNOWN_CHANNEL = 6,
            CODE_WRONG_DIMENSION = 7,
            CODE_NOT_FINITE = 8,
            CODE_TOO_MANY_ROWS = 9,
            CODE_CONTRIBUTION_FULL = 10,
            CODE_MUTATED = 11,
            CODE_STALE_EPOCH = 12,
            CODE_EPOCH_NOT_OPEN = 13,
            CODE_STUDY_ENDED = 14,
            CODE_BUDGET_EXHAUSTED = 15,
            CODE_SEQUENCE_TOO_FAR = 16,
            CODE_CREDIT_EXCEEDED = 17,
            CODE_OVERLOADED = 18,
            CODE_RATE_LIMITED = 19,
            CODE_TOO_MANY_CHANNELS = 20,
            CODE_CONTRIBUTOR_BUDGET_EXHAUSTED = 21,
            CODE_SHUTTING_DOWN = 22,
            CODE_UNSUPPORTED = 23,
            CODE_INTERNAL = 24,
            CODE_QUARANTINED = 25,
            CODE_NOT_ENROLLED = 26,
            CODE_ENROLMENT_EXPIRED = 27,
            CODE_TOO_MANY_NEW_KEYS = 28,
            CODE_TOO_LATE = 29
        }
    }
}
