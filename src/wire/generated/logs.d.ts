// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

export namespace keelson {

    namespace v1 {

        enum StudyState {
            STUDY_STATE_UNSPECIFIED = 0,
            STUDY_STATE_OPEN = 1,
            STUDY_STATE_EXHAUSTED = 2,
            STUDY_STATE_ENDED = 3
        }

        interface IReleaseBody extends keelson.v1.ReleaseBody.$Properties {
        }

        class ReleaseBody {
            constructor();
            $unknowns?: Uint8Array[];
            serverKey: Uint8Array;
            studyId: Uint8Array;
            index: (number|Long);
            epoch: (number|Long);
            study: string;
            estimator: string;
            parameters: string;
            participation: string;
            outcome?: (keelson.v1.Outcome.$Properties|null);
            cost?: (keelson.v1.Cost.$Properties|null);
            ledger?: (keelson.v1.LedgerPosition.$Properties|null);
            previousDigest: Uint8Array;
            mechanisms: string;
            closedAtMs: (number|Long);
            columns: string[];
            cohort: (number|Long);
            guarantee: string;
            static encode(message: keelson.v1.ReleaseBody.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.ReleaseBody & keelson.v1.ReleaseBody.$Shape;
        }

        namespace ReleaseBody {
            interface $Properties {
                serverKey?: (Uint8Array|null);
                studyId?: (Uint8Array|null);
                index?: (number|Long|null);
                epoch?: (number|Long|null);
                study?: (string|null);
                estimator?: (string|null);
                parameters?: (string|null);
                participation?: (string|null);
                outcome?: (keelson.v1.Outcome.$Properties|null);
                cost?: (keelson.v1.Cost.$Properties|null);
                ledger?: (keelson.v1.LedgerPosition.$Properties|null);
                previousDigest?: (Uint8Array|null);
                mechanisms?: (string|null);
                closedAtMs?: (number|Long|null);
                columns?: (string[]|null);
                cohort?: (number|Long|null);
                guarantee?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              serverKey?: Uint8Array|null;
              studyId?: Uint8Array|null;
              index?: number|Long|null;
              epoch?: number|Long|null;
              study?: string|null;
              estimator?: string|null;
              parameters?: string|null;
              participation?: string|null;
              outcome?: keelson.v1.Outcome.$Shape|null;
              cost?: keelson.v1.Cost.$Shape|null;
              ledger?: keelson.v1.LedgerPosition.$Shape|null;
              previousDigest?: Uint8Array|null;
              mechanisms?: string|null;
              closedAtMs?: number|Long|null;
              columns?: string[]|null;
              cohort?: number|Long|null;
              guarantee?: string|null;
              $unknowns?: Uint8Array[];
            };
        }

        interface IOutcome extends keelson.v1.Outcome.$Properties {
        }

        class Outcome {
            constructor();
            $unknowns?: Uint8Array[];
            value?: (keelson.v1.Value.$Properties|null);
            refused?: (keelson.v1.Refused.$Properties|null);
            kind?: ("value"|"refused");
            static encode(message: keelson.v1.Outcome.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Outcome & keelson.v1.Outcome.$Shape;
        }

        namespace Outcome {
            interface $Properties {
                value?: (keelson.v1.Value.$Properties|null);
                refused?: (keelson.v1.Refused.$Properties|null);
                kind?: ("value"|"refused");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              value?: keelson.v1.Value.$Shape|null;
              refused?: keelson.v1.Refused.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; value?: null; refused?: null }|{ kind?: "value"; value: keelson.v1.Value.$Shape; refused?: null }|{ kind?: "refused"; value?: null; refused: keelson.v1.Refused.$Shape })
            );
        }

        interface IValue extends keelson.v1.Value.$Properties {
        }

        class Value {
            constructor();
            $unknowns?: Uint8Array[];
            estimate: number[];
            shape: number[];
            uncertainty?: (keelson.v1.Uncertainty.$Properties|null);
            intervalLow: number[];
            intervalHigh: number[];
            parts: keelson.v1.Part.$Properties[];
            static encode(message: keelson.v1.Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Value & keelson.v1.Value.$Shape;
        }

        namespace Value {
            interface $Properties {
                estimate?: (number[]|null);
                shape?: (number[]|null);
                uncertainty?: (keelson.v1.Uncertainty.$Properties|null);
                intervalLow?: (number[]|null);
                intervalHigh?: (number[]|null);
                parts?: (keelson.v1.Part.$Properties[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              estimate?: number[]|null;
              shape?: number[]|null;
              uncertainty?: keelson.v1.Uncertainty.$Shape|null;
              intervalLow?: number[]|null;
              intervalHigh?: number[]|null;
              parts?: keelson.v1.Part.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }

        interface IPart extends keelson.v1.Part.$Properties {
        }

        class Part {
            constructor();
            $unknowns?: Uint8Array[];
            name: string;
            shape: number[];
            static encode(message: keelson.v1.Part.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Part & keelson.v1.Part.$Shape;
        }

        namespace Part {
            interface $Properties {
                name?: (string|null);
                shape?: (number[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Part.$Properties;
        }

        interface IUncertainty extends keelson.v1.Uncertainty.$Properties {
        }

        class Uncertainty {
            constructor();
            $unknowns?: Uint8Array[];
            gaussian?: (keelson.v1.GaussianUncertainty.$Properties|null);
            relativeOperator?: (number|null);
            gridSpacing?: (number|null);
            kind?: ("gaussian"|"relativeOperator"|"gridSpacing");
            static encode(message: keelson.v1.Uncertainty.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Uncertainty & keelson.v1.Uncertainty.$Shape;
        }

        namespace Uncertainty {
            interface $Properties {
                gaussian?: (keelson.v1.GaussianUncertainty.$Properties|null);
                relativeOperator?: (number|null);
                gridSpacing?: (number|null);
                kind?: ("gaussian"|"relativeOperator"|"gridSpacing");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              gaussian?: keelson.v1.GaussianUncertainty.$Shape|null;
              relativeOperator?: number|null;
              gridSpacing?: number|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; gaussian?: null; relativeOperator?: null; gridSpacing?: null }|{ kind?: "gaussian"; gaussian: keelson.v1.GaussianUncertainty.$Shape; relativeOperator?: null; gridSpacing?: null }|{ kind?: "relativeOperator"; gaussian?: null; relativeOperator: number; gridSpacing?: null }|{ kind?: "gridSpacing"; gaussian?: null; relativeOperator?: null; gridSpacing: number })
            );
        }

        interface IGaussianUncertainty extends keelson.v1.GaussianUncertainty.$Properties {
        }

        class GaussianUncertainty {
            constructor();
            $unknowns?: Uint8Array[];
            standardDeviation: number[];
            static encode(message: keelson.v1.GaussianUncertainty.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.GaussianUncertainty & keelson.v1.GaussianUncertainty.$Shape;
        }

        namespace GaussianUncertainty {
            interface $Properties {
                standardDeviation?: (number[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.GaussianUncertainty.$Properties;
        }

        interface IRefused extends keelson.v1.Refused.$Properties {
        }

        class Refused {
            constructor();
            $unknowns?: Uint8Array[];
            reason: string;
            text: string;
            static encode(message: keelson.v1.Refused.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Refused & keelson.v1.Refused.$Shape;
        }

        namespace Refused {
            interface $Properties {
                reason?: (string|null);
                text?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Refused.$Properties;
        }

        interface ICost extends keelson.v1.Cost.$Properties {
        }

        class Cost {
            constructor();
            $unknowns?: Uint8Array[];
            epsilon: number;
            delta: number;
            rhoAmount: string;
            deltaAmount: string;
            static encode(message: keelson.v1.Cost.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.Cost & keelson.v1.Cost.$Shape;
        }

        namespace Cost {
            interface $Properties {
                epsilon?: (number|null);
                delta?: (number|null);
                rhoAmount?: (string|null);
                deltaAmount?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Cost.$Properties;
        }

        interface ILedgerPosition extends keelson.v1.LedgerPosition.$Properties {
        }

        class LedgerPosition {
            constructor();
            $unknowns?: Uint8Array[];
            scope: string;
            rule: string;
            rhoSpent: string;
            rhoCap: string;
            deltaSpent: string;
            deltaCap: string;
            epsilonSpent: number;
            epsilonCap: number;
            windowMs: (number|Long);
            static encode(message: keelson.v1.LedgerPosition.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.LedgerPosition & keelson.v1.LedgerPosition.$Shape;
        }

        namespace LedgerPosition {
            interface $Properties {
                scope?: (string|null);
                rule?: (string|null);
                rhoSpent?: (string|null);
                rhoCap?: (string|null);
                deltaSpent?: (string|null);
                deltaCap?: (string|null);
                epsilonSpent?: (number|null);
                epsilonCap?: (number|null);
                windowMs?: (number|Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.LedgerPosition.$Properties;
        }

        interface IHeadBody extends keelson.v1.HeadBody.$Properties {
        }

        class HeadBody {
            constructor();
            $unknowns?: Uint8Array[];
            serverKey: Uint8Array;
            studyId: Uint8Array;
            count: (number|Long);
            digest: Uint8Array;
            state: keelson.v1.StudyState;
            static encode(message: keelson.v1.HeadBody.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.HeadBody & keelson.v1.HeadBody.$Shape;
        }

        namespace HeadBody {
            interface $Properties {
                serverKey?: (Uint8Array|null);
                studyId?: (Uint8Array|null);
                count?: (number|Long|null);
                digest?: (Uint8Array|null);
                state?: (keelson.v1.StudyState|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.HeadBody.$Properties;
        }
    }
}
